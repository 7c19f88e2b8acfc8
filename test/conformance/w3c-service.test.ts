import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerDifference, bindingsAnswer } from "../support/canonical-answer.ts";
import { startEndpoints, startFederation, type Federation, type TestEndpoints } from "../support/federation-harness.ts";
import type { Fault } from "../support/sparql-test-server.ts";
import { freePort } from "../support/listening.ts";

/**
 * The features of the W3C tests `sparql11/service` and `sparql11/syntax-fed`, with data and queries of our own. The W3C
 * tests have a default graph beside the endpoints; here that is the endpoint `local`, because patterns outside SERVICE
 * belong to the endpoint a query is sent to. `<A>` and `<B>` are endpoints, `<GONE>` is one whose port is closed.
 */
interface ServiceCase {
  /** The W3C test whose feature it is. */
  readonly w3c: string;
  readonly name: string;
  readonly query: string;
  /** The query is sent to the endpoint `local` with this data. */
  readonly local?: string;
  readonly A?: string;
  readonly B?: string;
  readonly faultA?: Fault;
  readonly rows: readonly string[];
}

const people = '<x:ada> <x:name> "Ada" .\n<x:bela> <x:name> "Bela" .';
const towns = '<x:ada> <x:town> "Graz" .\n<x:cleo> <x:town> "Linz" .';
const join = { A: people, B: towns };

const cases: readonly ServiceCase[] = [
  {
    w3c: "service1",
    name: "patterns of the queried endpoint join a SERVICE",
    query: "SELECT ?s ?n ?t { ?s <x:town> ?t . SERVICE <A> { ?s <x:name> ?n } }",
    local: towns,
    A: people,
    rows: ['?n="Ada" ?s=<x:ada> ?t="Graz"'],
  },
  {
    w3c: "service1",
    name: "a single SERVICE and nothing else",
    query: "SELECT ?s ?n { SERVICE <A> { ?s <x:name> ?n } }",
    A: people,
    rows: ['?n="Ada" ?s=<x:ada>', '?n="Bela" ?s=<x:bela>'],
  },
  {
    w3c: "service2",
    name: "two SERVICEs, one of them in OPTIONAL",
    query: "SELECT ?s ?n ?t { SERVICE <A> { ?s <x:name> ?n } OPTIONAL { SERVICE <B> { ?s <x:town> ?t } } }",
    ...join,
    rows: ['?n="Ada" ?s=<x:ada> ?t="Graz"', '?n="Bela" ?s=<x:bela>'],
  },
  {
    w3c: "service2",
    name: "two SERVICEs side by side",
    query: "SELECT ?s ?n ?t { SERVICE <A> { ?s <x:name> ?n } SERVICE <B> { ?s <x:town> ?t } }",
    ...join,
    rows: ['?n="Ada" ?s=<x:ada> ?t="Graz"'],
  },
  {
    w3c: "service3",
    name: "a SERVICE nested in the OPTIONAL of another",
    query: "SELECT ?s ?n ?t { SERVICE <A> { ?s <x:name> ?n OPTIONAL { SERVICE <B> { ?s <x:town> ?t } } } }",
    ...join,
    rows: ['?n="Ada" ?s=<x:ada> ?t="Graz"', '?n="Bela" ?s=<x:bela>'],
  },
  {
    w3c: "service4a",
    name: "VALUES after the query bind a variable of the SERVICE",
    query: 'SELECT ?s ?t ?n { ?s <x:town> ?t . SERVICE <A> { ?s <x:name> ?n } } VALUES ?n { "Ada" }',
    local: `${towns}\n<x:bela> <x:town> "Wien" .`,
    A: people,
    rows: ['?n="Ada" ?s=<x:ada> ?t="Graz"'],
  },
  {
    w3c: "service4a",
    name: "VALUES with UNDEF beside a SERVICE",
    query: 'SELECT ?s ?n { VALUES (?s ?n) { (<x:ada> UNDEF) (UNDEF "Bela") } SERVICE <A> { ?s <x:name> ?n } }',
    A: people,
    rows: ['?n="Ada" ?s=<x:ada>', '?n="Bela" ?s=<x:bela>'],
  },
  {
    w3c: "service4a",
    name: "VALUES name the endpoints",
    query: 'SELECT ?g ?s { VALUES ?g { <A> <B> } SERVICE ?g { ?s ?p ?o FILTER (?o IN ("Bela", "Linz")) } }',
    ...join,
    rows: ["?g=<A> ?s=<x:bela>", "?g=<B> ?s=<x:cleo>"],
  },
  {
    w3c: "service5",
    name: "the data name the endpoints",
    query: "SELECT ?s ?n { ?d <x:about> ?s ; <x:endpoint> ?e . SERVICE ?e { ?s <x:name> ?n } }",
    local: "<x:d1> <x:about> <x:ada> .\n<x:d1> <x:endpoint> <A> .",
    A: people,
    rows: ['?n="Ada" ?s=<x:ada>'],
  },
  {
    w3c: "service6",
    name: "a nested SERVICE SILENT that fails leaves its variables unbound",
    query: "SELECT ?s ?n ?t { SERVICE <A> { ?s <x:name> ?n OPTIONAL { SERVICE SILENT <GONE> { ?s <x:town> ?t } } } }",
    A: people,
    rows: ['?n="Ada" ?s=<x:ada>', '?n="Bela" ?s=<x:bela>'],
  },
  {
    w3c: "service7",
    name: "SERVICE SILENT that cannot be reached beside the queried endpoint",
    query: "SELECT ?s ?t ?n { ?s <x:town> ?t . SERVICE SILENT <GONE> { ?s <x:name> ?n } }",
    local: towns,
    rows: ['?s=<x:ada> ?t="Graz"', '?s=<x:cleo> ?t="Linz"'],
  },
  {
    w3c: "service7",
    name: "SERVICE SILENT alone gives one empty solution",
    query: "SELECT ?s ?n { SERVICE SILENT <GONE> { ?s <x:name> ?n } }",
    rows: [""],
  },
  {
    w3c: "service7",
    name: "SERVICE SILENT that answers 500",
    query: "SELECT ?s ?n ?t { SERVICE SILENT <A> { ?s <x:name> ?n } SERVICE <B> { ?s <x:town> ?t } }",
    ...join,
    faultA: { kind: "status", status: 500 },
    rows: ['?s=<x:ada> ?t="Graz"', '?s=<x:cleo> ?t="Linz"'],
  },
  {
    w3c: "service7",
    name: "SERVICE SILENT that answers HTML",
    query: "SELECT ?s ?n ?t { SERVICE SILENT <A> { ?s <x:name> ?n } SERVICE <B> { ?s <x:town> ?t } }",
    ...join,
    faultA: { kind: "body", body: "<html></html>", headers: { "content-type": "text/html" } },
    rows: ['?s=<x:ada> ?t="Graz"', '?s=<x:cleo> ?t="Linz"'],
  },
  {
    w3c: "service7",
    name: "SERVICE SILENT that works is a SERVICE",
    query: "SELECT ?s ?n ?t { SERVICE SILENT <A> { ?s <x:name> ?n } SERVICE SILENT <B> { ?s <x:town> ?t } }",
    ...join,
    rows: ['?n="Ada" ?s=<x:ada> ?t="Graz"'],
  },
];

/** Queries whose answer is known to be wrong, by name, with the reason. One that passes must leave the list. */
const knownFailures: Readonly<Record<string, string>> = {};

/** Forms of SERVICE in the grammar (syntax-service-01 to 03); each must parse and plan. */
const syntaxCases = [
  "SELECT * { SERVICE <A> { ?s ?p ?o } }",
  "SELECT * { SERVICE SILENT <A> { ?s ?p ?o } }",
  "SELECT * { VALUES ?e { <A> } SERVICE ?e { ?s ?p ?o } }",
  "PREFIX x: <x:> ASK { SERVICE SILENT <A> { ?s x:p [] ; x:q (1 2) } OPTIONAL { SERVICE <B> { ?s a ?c } } }",
] as const;

let endpoints: TestEndpoints;
let federation: Federation;
let gone: string;

beforeAll(async () => {
  endpoints = await startEndpoints({ local: "", a: "", b: "" });
  gone = `http://127.0.0.1:${await freePort()}/sparql`;
  federation = await startFederation({ ...endpoints.urls, gone });
});

afterAll(async () => {
  await federation?.close();
  await endpoints?.close();
});

/** A URL on which nothing listens. */
function withUrls(text: string): string {
  return text
    .replaceAll("<A>", `<${endpoints.url("a")}>`)
    .replaceAll("<B>", `<${endpoints.url("b")}>`)
    .replaceAll("<GONE>", `<${gone}>`);
}

async function failureOf(one: ServiceCase): Promise<string | undefined> {
  endpoints.setData("local", withUrls(one.local ?? ""));
  endpoints.setData("a", one.A ?? "");
  endpoints.setData("b", one.B ?? "");
  endpoints.setFault("a", one.faultA);
  const expected = bindingsAnswer(one.rows.map(withUrls), false);
  const target = one.local === undefined ? {} : { endpointId: "local" };
  try {
    return answerDifference(expected, await federation.answer(withUrls(one.query), target));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("sparql11/service", () => {
  test("every feature has a case", () => {
    expect(cases.length).toBe(15);
    const features = ["service1", "service2", "service3", "service4a", "service5", "service6", "service7"];
    expect([...new Set(cases.map((one) => one.w3c))].toSorted()).toEqual(features);
    const names = new Set(cases.map((one) => one.name));
    expect(names.size).toBe(cases.length);
    expect(Object.keys(knownFailures).filter((name) => !names.has(name))).toEqual([]);
  });

  test.each(cases.map((one) => [one.w3c, one.name, one] as const))("%s: %s", async (_, name, one) => {
    const failure = await failureOf(one);
    if (name in knownFailures) expect(failure, "passes now: take it off the list").toBeDefined();
    else expect(failure).toBeUndefined();
  });

  test("a failing SERVICE without SILENT fails the query and names the endpoint", async () => {
    const table = await federation.table(withUrls("SELECT * { SERVICE <GONE> { ?s ?p ?o } SERVICE <B> { ?s ?q ?r } }"));
    expect([table.status, table.diagnosis?.code, table.rows]).toEqual(["failed", "ENDPOINT_UNREACHABLE", []]);
    expect(JSON.stringify(table.diagnosis)).toContain("gone");
  });
});

describe("sparql11/syntax-fed", () => {
  test.each(syntaxCases)("%s", (text) => {
    const plan = federation.app.queries.explain({
      text: withUrls(text),
      strict: false,
      defaultGraphs: [],
      namedGraphs: [],
    });
    expect(plan.problem).toBeUndefined();
    expect(plan.endpoints.map(({ endpoint }) => endpoint)).toContain("a");
  });
});
