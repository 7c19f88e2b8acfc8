import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerDifference, isNonEmpty } from "../support/canonical-answer.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { federationTurtle } from "../support/catalog-folder.ts";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { openService } from "../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";
import { people, places, prefixes, works } from "./data.ts";
import { readAnswer } from "../support/read-answer.ts";

let fuseki: Engine;
let members: Readonly<Record<"works" | "people" | "places", SparqlTestServer>>;
const services: { readonly url: string; close(): Promise<void> }[] = [];

async function open(env: Readonly<Record<string, string>>): Promise<void> {
  const urls = Object.fromEntries(Object.entries(members).map(([id, { url }]) => [id, url]));
  const files = { "art.ttl": federationTurtle("art", 'fedway:member "works", "people", "places"') };
  const app = await openService(urls, { FEDWAY_DATA_DIR: newFolder(), ...env }, files);
  services.push({ url: await app.listen(), close: () => app.close() });
}

beforeAll(async () => {
  const [art, who, where] = await Promise.all(
    [works(100), people(), places()].map((text) => startSparqlTestServer(text)),
  );
  if (!art || !who || !where) throw new Error("three servers");
  members = { works: art, people: who, places: where };
  fuseki = await startFuseki({ data: "" });
  await open({});
  await open({ FEDWAY_REMOTE_ENGINE: fuseki.url });
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.close()));
  await Promise.all([fuseki?.stop(), ...Object.values(members ?? {}).map((member) => member.close())]);
});

async function ask(at: number, path: string, query: string) {
  const response = await fetch(`${services[at]?.url}${path}`, {
    method: "POST",
    headers: { accept: "application/sparql-results+json" },
    body: new URLSearchParams({ query: prefixes + query }),
  });
  return { plan: response.headers.get("fedway-plan"), response };
}

describe("plans at Fuseki in the place of the built-in engine", () => {
  it.each([
    [
      "SERVICE clauses",
      "/sparql",
      "SELECT ?title ?name { SERVICE <works> { ?w ex:title ?title ; ex:creator ?p } SERVICE <people> { ?p ex:name ?name } }",
    ],
    [
      "patterns over members",
      "/federations/art/sparql",
      "SELECT ?title ?name { ?w ex:title ?title ; ex:creator ?p . ?p ex:name ?name }",
    ],
    [
      "OPTIONAL, FILTER and aggregates over members",
      "/federations/art/sparql",
      "SELECT ?name (COUNT(?w) AS ?works) { ?p ex:name ?name OPTIONAL { ?w ex:creator ?p ; ex:year ?y FILTER(?y > 1550) } } GROUP BY ?name",
    ],
    [
      "brackets, with all variables",
      "/federations/art/sparql",
      "SELECT * { [] ex:creator ?p . ?p ex:birthplace [ ex:label ?place ] }",
    ],
  ])("%s", async (_, path, query) => {
    const [here, there] = await Promise.all([ask(0, path, query), ask(1, path, query)]);
    expect([here.plan, there.plan]).toEqual(["federated", "federated"]);
    const [expected, answer] = await Promise.all([readAnswer(here.response), readAnswer(there.response)]);
    expect(isNonEmpty(expected)).toBe(true);
    expect(answerDifference(expected, answer)).toBeUndefined();
  });

  it("do not say where rows come from, but direct plans do", async () => {
    const query = "SELECT ?title ?name { ?w ex:title ?title ; ex:creator ?p . ?p ex:name ?name }";
    const federated = await ask(1, "/federations/art/sparql?provenance=true", query);
    expect([federated.response.status, await federated.response.json()]).toMatchObject([
      400,
      { code: "REQUEST_INVALID", detail: "The remote engine does not say which endpoints a row came from." },
    ]);
    const direct = await ask(1, "/endpoints/people/sparql?provenance=true", "SELECT ?n { ?p ex:name ?n } LIMIT 1");
    expect(await direct.response.text()).toContain('"people"');
  });

  it("say why they cannot be sent", async () => {
    const { response } = await ask(1, "/federations/art/sparql", "SELECT * { ?a (ex:creator|ex:birthplace)+ ?b }");
    expect([response.status, await response.json()]).toMatchObject([422, { code: "PLAN_NOT_PORTABLE" }]);
  });
});
