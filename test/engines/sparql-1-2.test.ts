import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";

const data = `<urn:ada> <urn:knows> <urn:bob> .
<urn:claim> <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <urn:ada> <urn:knows> <urn:bob> )>> .
<urn:claim> <urn:source> <urn:letter> .
<urn:ada> <urn:name> "ada"@ar--rtl .
`;

let fuseki: Engine;
let fedway: Fedway;

beforeAll(async () => {
  fuseki = await startFuseki({ data });
  fedway = await startFedway({ fuseki: fuseki.url });
});

afterAll(async () => {
  await fedway?.close();
  await fuseki?.stop();
});

async function ask(path: string, query: string, accept = "application/sparql-results+json") {
  const response = await fedway.sparql(path, { query, accept });
  return { status: response.status, text: await response.text() };
}

describe("queries of SPARQL 1.2 at the endpoint that evaluates them", () => {
  it.each([
    [
      "a triple term",
      "SELECT ?r { ?r <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( ?s <urn:knows> ?o )>> }",
      "urn:claim",
    ],
    ["an annotation", "SELECT ?by { <urn:ada> <urn:knows> ?o {| <urn:source> ?by |} }", "urn:letter"],
    ["a reifier", "SELECT ?r { <urn:ada> <urn:knows> <urn:bob> ~ ?r }", "urn:claim"],
    ["a reified triple", "SELECT ?by { << <urn:ada> <urn:knows> <urn:bob> >> <urn:source> ?by }", "urn:letter"],
    ["VERSION", 'VERSION "1.2" SELECT ?s { ?s <urn:knows> <urn:bob> }', "urn:ada"],
    ["a function", "SELECT ?s { ?r ?p ?t FILTER(isTRIPLE(?t)) BIND(SUBJECT(?t) AS ?s) }", "urn:ada"],
    ["a directional string", 'SELECT ?s { ?s <urn:name> "ada"@ar--rtl }', "urn:ada"],
  ])("%s", async (_, query, expected) => {
    const { status, text } = await ask("/endpoints/fuseki/sparql", query);
    expect([status, text]).toEqual([200, expect.stringContaining(`"${expected}"`)]);
  });

  it("are answered with triple terms and directions", async () => {
    const query = "SELECT ?o { ?s ?p ?o }";
    const json = await ask("/endpoints/fuseki/sparql", query);
    expect(json.text).toMatch(/"type": ?"triple"/u);
    expect(json.text).toMatch(/"its:dir": ?"rtl"/u);
  });

  it("are refused where they would be evaluated here", async () => {
    const query = "SELECT ?r { <urn:ada> <urn:knows> <urn:bob> ~ ?r }";
    const { status, text } = await ask("/sparql", query);
    expect([status, JSON.parse(text)]).toMatchObject([400, { code: "VERSION_UNSUPPORTED" }]);
  });
});
