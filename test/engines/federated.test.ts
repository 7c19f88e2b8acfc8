import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { startVirtuoso } from "../support/engines/virtuoso.ts";
import { answerDifference, isNonEmpty } from "../support/canonical-answer.ts";
import { createOracle, type Oracle } from "../support/oracle.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";
import { people, places, prefixes, virtuosoGraph, works } from "./data.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";
import { readAnswer } from "../support/read-answer.ts";
import { type Recorder, startRecorder } from "../support/recorder.ts";

const json = "application/sparql-results+json";
const turtle = "text/turtle";

let virtuoso: Engine;
let fuseki: Engine;
let oxigraph: SparqlTestServer;
let recorder: Recorder;
let fedway: Fedway;
let oracle: Oracle;

beforeAll(async () => {
  [virtuoso, fuseki, oxigraph] = await Promise.all([
    startVirtuoso({ graphs: { [virtuosoGraph]: works(500) } }),
    startFuseki({ data: people() }),
    startSparqlTestServer(places()),
  ]);
  recorder = await startRecorder(virtuoso.url);
  fedway = await startFedway({ works: recorder.url, people: fuseki.url, places: oxigraph.url });
  oracle = createOracle(
    new Map([
      [recorder.url, works(500)],
      [fuseki.url, people()],
      [oxigraph.url, places()],
    ]),
  );
});

afterAll(async () => {
  await fedway?.close();
  await recorder?.close();
  await Promise.all([virtuoso?.stop(), fuseki?.stop(), oxigraph?.close()]);
});

/** `WORKS`, `PEOPLE` and `PLACES` stand for a SERVICE (or, for the oracle, a GRAPH) of the endpoint. */
const spelled = (query: string, keyword: "SERVICE" | "GRAPH"): string =>
  prefixes +
  query
    .replaceAll("WORKS", `${keyword} <${recorder.url}>`)
    .replaceAll("PEOPLE", `${keyword} <${fuseki.url}>`)
    .replaceAll("PLACES", `${keyword} <${oxigraph.url}>`);

/** Through Fedway over three engines the query gives what one store with three graphs gives, and that is not empty. */
const shouldFederate = (title: string, query: string, accept = json): void => {
  it(title, async () => {
    const expected = oracle.answer(spelled(query, "GRAPH"));
    expect(isNonEmpty(expected), "the oracle's answer is empty").toBe(true);
    const response = await fedway.sparql("/sparql", { query: spelled(query, "SERVICE"), accept });
    const run = response.headers.get("fedway-run");
    expect(answerDifference(expected, await readAnswer(response))).toBeUndefined();
    expect(response.headers.get("fedway-plan")).toBe("federated");
    const record = await fedway.endedRun(run);
    expect(record.status).toBe("ok");
    expect(record.sources.map(({ endpoint }) => endpoint).toSorted()).toEqual(
      ["people", "places", "works"].filter((id) => query.includes(id.toUpperCase())),
    );
  });
};

describe("over Virtuoso, Fuseki and Oxigraph", () => {
  shouldFederate(
    "joins three endpoints",
    `SELECT ?title ?name ?place WHERE {
      WORKS { ?work ex:title ?title ; ex:creator ?person }
      PEOPLE { ?person ex:name ?name ; ex:birthplace ?p }
      PLACES { ?p ex:label ?place ; ex:country <http://example.org/country/2> } }`,
  );
  shouldFederate(
    "joins Virtuoso and Fuseki on all rows",
    `SELECT ?work ?price ?year ?born WHERE {
      WORKS { ?work ex:creator ?person ; ex:price ?price OPTIONAL { ?work ex:year ?year } }
      PEOPLE { ?person ex:born ?born } }`,
  );
  shouldFederate(
    "keeps rows without a partner under OPTIONAL",
    `SELECT ?person ?place ?country WHERE {
      PEOPLE { ?person a ex:Person OPTIONAL { ?person ex:birthplace ?place } }
      OPTIONAL { PLACES { ?place ex:country ?country } } }`,
  );
  shouldFederate(
    "unites the endpoints",
    `SELECT ?x ?label WHERE {
      { WORKS { ?x ex:title ?label FILTER(?x IN (ex:nothing, <http://example.org/work/3>)) } }
      UNION { PEOPLE { ?x ex:name ?label } } UNION { PLACES { ?x ex:label ?label } } }`,
  );
  shouldFederate(
    "subtracts one endpoint from another",
    `SELECT ?person WHERE { PEOPLE { ?person a ex:Person } MINUS { WORKS { ?work ex:creator ?person } } }`,
  );
  shouldFederate(
    "filters on values of two endpoints",
    `SELECT ?work ?place WHERE {
      WORKS { ?work ex:creator ?person ; ex:price ?price }
      PEOPLE { ?person ex:birthplace ?place }
      PLACES { ?place ex:population ?population }
      FILTER(?price * 100 < ?population) }`,
  );
});

describe("over three engines, with solution modifiers and the other query forms", () => {
  shouldFederate(
    "aggregates over a join",
    `SELECT ?country (COUNT(?work) AS ?works) (SUM(?price) AS ?total) WHERE {
      WORKS { ?work ex:creator ?person ; ex:price ?price }
      PEOPLE { ?person ex:birthplace ?place }
      PLACES { ?place ex:country ?country } } GROUP BY ?country HAVING(COUNT(?work) > 10)`,
  );
  shouldFederate(
    "starts from VALUES",
    `SELECT ?title ?name WHERE {
      VALUES ?person { <http://example.org/person/1> <http://example.org/person/61> <http://example.org/person/7> }
      PEOPLE { ?person ex:name ?name } WORKS { ?work ex:creator ?person ; ex:title ?title } }`,
  );
  shouldFederate(
    "joins on typed literals",
    `SELECT ?work ?place WHERE {
      WORKS { ?work ex:year ?year FILTER(?year < 1520) }
      PLACES { ?place ex:population ?population } FILTER(?population = (?year - 1500) * 1000) }`,
  );
  shouldFederate(
    "removes duplicates",
    `SELECT DISTINCT ?country WHERE { PEOPLE { ?person ex:birthplace ?place } PLACES { ?place ex:country ?country } }`,
  );
  shouldFederate(
    "orders and limits a subquery",
    `SELECT ?title ?name WHERE {
      { SELECT ?work ?title ?person WHERE { WORKS { ?work ex:title ?title ; ex:creator ?person ; ex:price ?price } }
        ORDER BY DESC(?price) LIMIT 5 }
      PEOPLE { ?person ex:name ?name } }`,
  );
  shouldFederate(
    "asks",
    `ASK { WORKS { ?work ex:creator ?person } PEOPLE { ?person ex:birthplace ?p } PLACES { ?p ex:population 5000 } }`,
  );
  shouldFederate(
    "constructs",
    `CONSTRUCT { ?work ex:from ?country } WHERE {
      WORKS { ?work ex:creator ?person } PEOPLE { ?person ex:birthplace ?p } PLACES { ?p ex:country ?country } }`,
    turtle,
  );
});

describe("Virtuoso's own service description", () => {
  it("names an endpoint on another host", async () => {
    const response = await fetch(virtuoso.url, { headers: { accept: "text/turtle" } });
    const description = await response.text();
    expect(description).toContain("<http://localuriqaserver/>");
    expect(description).toMatch(/sd:endpoint\s+ns\d:sparql/u);
  });

  it("is neither asked for nor followed", async () => {
    recorder.clear();
    const query = `SELECT ?title ?name WHERE {
      WORKS { ?work ex:title ?title ; ex:creator ?person } PEOPLE { ?person ex:name ?name } }`;
    const response = await fedway.sparql("/sparql", { query: spelled(query, "SERVICE"), accept: json });
    expect(answerDifference(oracle.answer(spelled(query, "GRAPH")), await readAnswer(response))).toBeUndefined();
    expect(recorder.requests.length).toBeGreaterThan(0);
    for (const { url, body } of recorder.requests) {
      expect(new URLSearchParams(body).has("query") || new URL(url, recorder.url).searchParams.has("query")).toBe(true);
      expect(`${url} ${decodeURIComponent(body)}`).not.toMatch(/localuriqaserver|COUNT/iu);
    }
  });
});

/** The query costs Virtuoso this many requests, and is answered rightly. */
const shouldCost = (title: string, requests: number, query: string): void => {
  it(`${title}: ${requests}`, async () => {
    recorder.clear();
    const response = await fedway.sparql("/sparql", { query: spelled(query, "SERVICE"), accept: json });
    expect(answerDifference(oracle.answer(spelled(query, "GRAPH")), await readAnswer(response))).toBeUndefined();
    expect(recorder.requests.length).toBe(requests);
  });
};

describe("requests to a real endpoint", () => {
  shouldCost("one SERVICE", 1, "SELECT ?title WHERE { WORKS { ?work ex:title ?title } }");
  shouldCost(
    "two adjacent SERVICEs of one endpoint",
    1,
    "SELECT ?title ?price WHERE { WORKS { ?work ex:title ?title } WORKS { ?work ex:price ?price } }",
  );
  shouldCost(
    "a join that Virtuoso begins",
    1,
    `SELECT ?title ?name WHERE { WORKS { ?work ex:title ?title ; ex:creator ?person FILTER(?work = <http://example.org/work/9>) }
      PEOPLE { ?person ex:name ?name } }`,
  );
});
