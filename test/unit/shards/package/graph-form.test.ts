import { describe, expect, it } from "vitest";
import { graphForm, queryOfGraphs } from "../../../../shards/src/package/graph-form.ts";

const both = (pattern: string) => `{ SERVICE <urn:a> { ${pattern} } } UNION { SERVICE <urn:b> { ${pattern} } }`;
const ofGraphs = (text: string, without?: string) => queryOfGraphs(graphForm(text), without);

describe("a federated query for a store with the shards as graphs", () => {
  it("asks a pattern of several shards in a graph that is one of them", () => {
    expect(
      ofGraphs(`SELECT ?s { ${both("?s <urn:p> ?o")} ${both("?o <urn:q> ?graph1")} SERVICE <urn:a> { ?s ?p 1 } }`),
    ).toBe(
      "SELECT ?s { GRAPH ?graph2 { ?s <urn:p> ?o } FILTER(?graph2 IN (<urn:a>, <urn:b>)) GRAPH ?graph3 { ?o <urn:q> ?graph1 } FILTER(?graph3 IN (<urn:a>, <urn:b>)) GRAPH <urn:a> { ?s ?p 1 } }",
    );
  });
  it("asks it without one of them", () => {
    expect(ofGraphs(`ASK { ${both("?s <urn:p> ?o")} SERVICE <urn:b> { ?o <urn:q> 1 } }`, "urn:b")).toBe(
      "ASK { GRAPH ?graph1 { ?s <urn:p> ?o } FILTER(?graph1 IN (<urn:a>)) GRAPH <urn:fedway:down> { ?o <urn:q> 1 } }",
    );
  });
  it("shows no graphs", () => {
    expect(ofGraphs(`SELECT * { { SELECT * { ${both("?s <urn:p> ?o")} } } }`)).toBe(
      "SELECT ?s ?o { { SELECT ?s ?o { GRAPH ?graph1 { ?s <urn:p> ?o } FILTER(?graph1 IN (<urn:a>, <urn:b>)) } } }",
    );
  });
  it.each([
    ["counts of all that is bound", `SELECT (COUNT(DISTINCT *) AS ?n) { ${both("?s <urn:p> ?o")} }`],
    ["alternatives", "SELECT ?s { { SERVICE <urn:a> { ?s <urn:p> 1 } } UNION { SERVICE <urn:b> { ?s <urn:q> 1 } } }"],
    [
      "parts of branches",
      `SELECT ?s { { SERVICE <urn:a> { ?s ?p 1 } FILTER(1 = 1) } UNION { SERVICE <urn:b> { ?s ?p 1 } } }`,
    ],
  ])("leaves %s as they are", (_name, text) => expect(ofGraphs(text)).toBe(text.replaceAll("SERVICE", "GRAPH")));
});
