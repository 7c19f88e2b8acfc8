import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import {
  type Federation,
  startEndpoints,
  startFederation,
  type TestEndpoints,
} from "../../support/federation-harness.ts";

// The order of a join by what a key brings: 20 makers have 2,000 items, of which three are wanted.

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join("\n");
const data = {
  names: lines(3, (n) => `<x:item${n * 100}> <x:name> "item ${n}" .`),
  makers: lines(2_000, (n) => `<x:item${n}> <x:maker> <x:maker${n % 20}> .`),
  countries: lines(20, (n) => `<x:maker${n}> <x:country> <x:country${n % 2}> .`),
  labels: lines(2, (n) => `<x:country${n}> <x:label> "country ${n}" .`),
};
const ids = Object.keys(data);

let endpoints: TestEndpoints;
let federation: Federation;
beforeAll(async () => {
  endpoints = await startEndpoints(data);
  federation = await startFederation(endpoints.urls);
  const base = await federation.app.listen();
  for (const id of ids) await fetch(`${base}/api/endpoints/${id}/describe`, { method: "POST" });
  await eventually(async () => {
    for (const id of ids) {
      const { text } = federation.app.queries.explain(requestOf(`ASK { ${service(id, "?s <x:none> ?o")} ${other} }`));
      expect(text).toContain("CLAUSES_LEFT_OUT");
    }
  });
});
afterAll(async () => {
  await federation.close();
  await endpoints.close();
});

const other = "SERVICE <names> { ?s <x:name> ?o }";
const requestOf = (text: string) => ({ text, defaultGraphs: [], namedGraphs: [], strict: false });
const service = (id: string, pattern: string): string => `SERVICE <${id}> { ${pattern} }`;
const chain = `SELECT * {
  ${service("labels", "?country <x:label> ?label")}
  ${service("countries", "?maker <x:country> ?country")}
  ${service("makers", "?item <x:maker> ?maker")}
  ${service("names", "?item <x:name> ?name")}
}`;

it("a chain begins where each key brings little, though not with the smallest part", async () => {
  const { status, rows, sources } = await federation.table(chain);
  expect(status).toBe("ok");
  expect(rows).toHaveLength(3);
  expect(Object.fromEntries(sources.map(({ endpoint, rows: received }) => [endpoint, received]))).toEqual({
    names: 3,
    makers: 3,
    countries: 1,
    labels: 1,
  });
});
