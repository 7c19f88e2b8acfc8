import { afterAll, beforeAll, expect, it } from "vitest";
import { federationTurtle } from "../../support/catalog-folder.ts";
import {
  type Federation,
  startEndpoints,
  startFederation,
  type TestEndpoints,
} from "../../support/federation-harness.ts";

const xsd = "http://www.w3.org/2001/XMLSchema#";
const values = [
  `"1.0E0"^^<${xsd}double>`,
  `"01"^^<${xsd}integer>`,
  `"1"^^<${xsd}boolean>`,
  `"1.50"^^<${xsd}decimal>`,
  `"2020-01-01T00:00:00.000Z"^^<${xsd}dateTime>`,
  `"2.0E0"^^<${xsd}float>`,
];

let endpoints: TestEndpoints;
let federation: Federation;
beforeAll(async () => {
  // The store of `a` writes them in other spellings.
  endpoints = await startEndpoints({
    a: values.map((value, at) => `<urn:s${at}> <urn:v> ${value} .\n`).join(""),
    b: "",
  });
  const files = { "all.ttl": federationTurtle("all", 'fedway:member "a", "b"') };
  federation = await startFederation(endpoints.urls, {}, files);
});
afterAll(async () => {
  await federation?.close();
  await endpoints?.close();
});

it.each(values.map((value, at) => [value, `<urn:s${at}>`] as const))("%s finds its row", async (value, subject) => {
  const texts = [
    `SELECT ?s { VALUES ?v { ${value} } ?s <urn:v> ?v }`,
    `SELECT ?s { ?s <urn:v> ?v } VALUES ?v { ${value} }`,
    `SELECT ?s { ?s <urn:v> ${value} }`,
  ];
  const asked = texts.map(async (text) => (await federation.table(text, { federationId: "all" })).rows);
  expect(await Promise.all(asked)).toEqual(texts.map(() => [[subject]]));
});
