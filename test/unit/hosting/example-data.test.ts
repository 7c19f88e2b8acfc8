import { readFileSync } from "node:fs";
import { namedNode, Store } from "oxigraph";
import { describe, expect, it } from "vitest";
import { gunzipSync } from "node:zlib";

const exampleIds = ["museums", "people", "places", "library", "weather"];
const exampleData = (id: string) =>
  gunzipSync(readFileSync(new URL(`../../../catalog/examples/data/${id}.nt.gz`, import.meta.url))).toString();

/** The oracle: each endpoint's data in a named graph, SERVICE read as GRAPH. */
const oracle = new Store();
for (const id of exampleIds) {
  oracle.load(exampleData(id), { format: "application/n-triples", to_graph_name: namedNode(`urn:${id}`) });
}
function rows(query: string, asOneDataset = false): string[][] {
  const tsv = oracle.query(query, {
    results_format: "text/tab-separated-values",
    use_default_graph_as_union: asOneDataset,
  });
  if (typeof tsv !== "string") throw new TypeError("not serialised");
  return tsv
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split("\t"));
}
describe("the example data", () => {
  it("has about 20,000 triples", () => expect(oracle.size).toBe(21466));
});

const file = (name: string) =>
  readFileSync(new URL(`../../../catalog/examples/queries/${name}`, import.meta.url), "utf8");
const asGraph = (query: string) => {
  const services = query.split("SERVICE ").length - 1;
  return { services, query: query.replaceAll(/SERVICE <(\w+)>/g, "GRAPH <urn:$1>") };
};

describe("the example queries", () => {
  it("1 joins three endpoints", () => {
    const { services, query } = asGraph(file("1-three-endpoints.rq"));
    expect(services).toBe(3);
    const found = rows(query).map((row) => row.map((cell) => cell.replace(/"([^"]*)".*/, "$1")).join(", "));
    expect(found).toEqual([
      "Einar Þorsteinsson, 1902-02-17, Rauðafjörður, 6",
      "Ólafur Þorsteinsson, 1849-09-17, Rauðaeyri, 5",
      "Helga Pálsdóttir, 1787-06-06, Skálavík, 4",
      "Sigríður Eiríksdóttir, 1792-02-13, Brimvík, 4",
      "Þórður Magnússon, 1809-01-15, Sandnes, 4",
      "Ásta Jónsdóttir, 1813-10-14, Rauðaeyri, 4",
      "Björn Ólafsson, 1822-03-17, Skálanes, 3",
      "Einar Þorsteinsson, 1882-02-24, Hvammseyri, 3",
      "Helga Jónsdóttir, 1891-12-27, Rauðafjörður, 3",
      "Guðrún Pálsdóttir, 1931-12-28, Rauðavík, 3",
      "Guðrún Eiríksdóttir, 1942-07-16, Skálavík, 3",
      "Ólafur Sigurðsson, 1958-02-25, Sandnes, 3",
    ]);
  });
  it("2 gives the same over all five as one dataset", () => {
    expect(rows(file("2-one-dataset.rq"), true)).toEqual(rows(asGraph(file("1-three-endpoints.rq")).query));
  });
  it("3 lacks a brace", () => {
    expect(() => rows(file("3-open-group.rq"))).toThrow(/expected/);
  });
});
