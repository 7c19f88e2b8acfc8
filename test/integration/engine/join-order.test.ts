import { afterAll, beforeAll, expect, it } from "vitest";
import type { TabularAnswer } from "../../../src/query/table.ts";
import { eventually } from "../../support/eventually.ts";
import {
  type Federation,
  startEndpoints,
  startFederation,
  type TestEndpoints,
} from "../../support/federation-harness.ts";

// The order of a join by what a key brings: 20 makers have 2,000 items, of which three are wanted. Descriptions are wrong of
// `parts`, which get 20 times as many, of `marks`, which lose most, and of `many`, which become many.

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join("\n");
const data = {
  names: lines(3, (n) => `<x:item${n * 100}> <x:name> "item ${n}" .`),
  makers: lines(2_000, (n) => `<x:item${n}> <x:maker> <x:maker${n % 20}> .`),
  countries: lines(20, (n) => `<x:maker${n}> <x:country> <x:country${n % 2}> .`),
  labels: lines(2, (n) => `<x:country${n}> <x:label> "country ${n}" .`),
  wanted: lines(1_000, (n) => `<x:item${n}> <x:wanted> "${n}" .`),
  parts: lines(2_500, (n) => `<x:item${n % 1_000}> <x:part> "${n}" .`),
  marks: lines(2_600, (n) => `<x:item${n % 1_000}> <x:mark> "${n}" .`),
  many: lines(3, (n) => `<x:item${n}> <x:many> "${n}" .`),
  few: lines(50, (n) => `<x:item${n}> <x:few> "${n}" .`),
};
const later: Partial<typeof data> = {
  parts: lines(50_000, (n) => `<x:item${n % 1_000}> <x:part> "${n}" .`),
  marks: lines(10, (n) => `<x:item${n * 100}> <x:mark> "${n}" .`),
  many: lines(20_000, (n) => `<x:item${n}> <x:many> "${n}" .`),
};
const ids = Object.keys(data);

let endpoints: TestEndpoints;
let federation: Federation;
beforeAll(async () => {
  endpoints = await startEndpoints(data);
  const all = `@prefix fedway: <https://w3id.org/fedway/ns#> . @prefix dcterms: <http://purl.org/dc/terms/> .
    [] a fedway:Federation ; dcterms:identifier "all" ; dcterms:title "All" ;
      fedway:member ${ids.map((id) => `"${id}"`).join(", ")} .`;
  federation = await startFederation(endpoints.urls, { FEDWAY_READ_BYTES: "0" }, { "all.ttl": all });
  const base = await federation.app.listen();
  for (const id of ids) await fetch(`${base}/api/endpoints/${id}/describe`, { method: "POST" });
  await eventually(async () => {
    for (const id of ids) {
      const { notes } = federation.app.queries.explain(requestOf(`ASK { ${service(id, "?s <x:none> ?o")} ${other} }`));
      expect(notes.map(({ code }) => code)).toContain("CLAUSES_LEFT_OUT");
    }
  });
  for (const [id, text] of Object.entries(later)) endpoints.setData(id, text);
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

const received = ({ sources }: TabularAnswer) =>
  Object.fromEntries(sources.map(({ endpoint, rows }) => [endpoint, rows]));

it("a chain begins where each key brings little, though not with the smallest part", async () => {
  const answer = await federation.table(chain);
  expect(answer).toMatchObject({ status: "ok", rows: { length: 3 } });
  // The small ones are asked for at once.
  expect(received(answer)).toEqual({ names: 3, makers: 3, countries: 20, labels: 2 });
});

const wrong = {
  part: { wanted: "?item <x:wanted> ?wanted", parts: "?item <x:part> ?part", marks: "?item <x:mark> ?mark" },
  start: { many: "?item <x:many> ?many", few: "?item <x:few> ?few" },
};
const overClauses = (patterns: object): string =>
  Object.entries(patterns)
    .map(([id, one]) => service(id, one))
    .join("");

for (const [name, options, text] of [
  ["clauses", {}, overClauses],
  ["members", { federationId: "all" }, (patterns: object) => Object.values(patterns).join(" . ")],
] as const) {
  it(`${name}: behind its first block, a part that brings 20 times what is described is joined last`, async () => {
    const answer = await federation.table(`SELECT * { ${text(wrong.part)} }`, options);
    expect(answer).toMatchObject({ status: "ok", rows: { length: 500 } });
    expect(received(answer)["parts"]).toBeLessThan(20_000);
  });

  it(`${name}: a join begins anew when the part it began with is much larger than described`, async () => {
    const answer = await federation.table(`SELECT * { ${text(wrong.start)} }`, options);
    expect(answer).toMatchObject({ status: "ok", rows: { length: 50 } });
    expect(received(answer)["many"]).toBeLessThan(5_000);
  });
}
