import { createDocumentClient } from "../../../../src/outbound/documents.ts";
import { sparqlAsker } from "../../../support/sparql-asker.ts";
import oxigraph from "oxigraph";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createTestedEngine } from "../../../support/tested-engine.ts";
import { createPatternSources } from "../../../../src/engine/sources/pattern-source.ts";
import { createPlanner } from "../../../../src/plan/create-planner.ts";
import type { QueryPlan } from "../../../../src/plan/query-plan.ts";
import { type EndpointView, endpointView } from "../../../../src/registry/capabilities/capabilities.ts";
import { probeCapabilities } from "../../../../src/registry/capabilities/prober.ts";
import { createSparqlClient } from "../../../../src/outbound/client.ts";
import {
  bindingsAnswer,
  canonicalRow,
  canonicalTerm,
  type CanonicalAnswer,
  toAnswer,
} from "../../../support/canonical-answer.ts";
import { catalogEntry, createCatalog } from "../../../support/catalog-entry.ts";
import {
  type LimitedEndpoint,
  type LimitedEndpointOptions,
  refuse,
  startLimitedEndpoint,
} from "../../../support/limited-endpoint.ts";
import { toBounds } from "../../../support/engine-answer.ts";

const now = () => performance.timeOrigin + performance.now();
const allowAddresses = ["127.0.0.0/8"];
const client = createSparqlClient({ version: "1", allowAddresses, retry: { limit: 0 } });
const documents = createDocumentClient({ version: "1", allowAddresses });
const engine = createTestedEngine({
  client,
  openSource: createPatternSources({ documents, now }),
  maxSolutions: 100_000,
  now,
});
const bounds = { asker: sparqlAsker({ client }), pauseMs: 0, requests: 22 };

const data = [
  ...Array.from(
    { length: 40 },
    (_, n) => `<urn:p${n}> <urn:age> "${n % 7}"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
  ),
  ...Array.from(
    { length: 40 },
    (_, n) => `<urn:p${n}> <urn:knows> ${n % 3 === 0 ? `_:b${n}` : `<urn:p${(n * 7) % 40}>`} .`,
  ),
  ...Array.from({ length: 13 }, (_, n) => `_:b${3 * n} <urn:name> "blank ${n}" .`),
  '<urn:p1> <urn:retired> "true" .',
  '<urn:p2> <urn:retired> "yes" .',
].join("\n");

let opened: LimitedEndpoint | undefined;
afterEach(() => opened?.close());
afterAll(() => Promise.all([documents.close(), client.close()]));

function oracle(query: string): CanonicalAnswer {
  const store = new oxigraph.Store();
  store.load(data, { format: "nt" });
  const result = store.query(query);
  if (typeof result === "boolean") return { kind: "boolean", value: result };
  if (!Array.isArray(result)) throw new Error("Oxigraph answered with text");
  const rows = result.map((row: unknown) =>
    canonicalRow([...(row as Map<string, oxigraph.Term>)].map(([name, term]) => [name, canonicalTerm(term)] as const)),
  );
  return bindingsAnswer(rows, false);
}

/** Probes the endpoint, plans with what was found, and answers. */
async function ask(limits: LimitedEndpointOptions, query: string) {
  opened = await startLimitedEndpoint({ data, ...limits });
  const { signal } = new AbortController();
  const capabilities = await probeCapabilities({ id: "limited", url: opened.url }, { ...bounds, signal });
  const view: EndpointView | undefined = endpointView(capabilities);
  const catalog = createCatalog([catalogEntry("limited", { url: opened.url })], [], {
    publicUrl: "http://fedway.example",
  });
  const planner = createPlanner({
    catalog,
    egress: "catalog",
    publicUrl: "http://fedway.example",
    capabilities: { version: 1, view: () => view },
  });
  const { plan } = planner.plan({
    text: query,
    endpointId: "limited",
    strict: false,
    defaultGraphs: [],
    namedGraphs: [],
  });
  opened.requests.length = 0;
  return { plan, answer: await answered(plan), sent: opened.requests.map((request) => request.query) };
}

async function answered(plan: QueryPlan): Promise<CanonicalAnswer> {
  if (plan.kind !== "federated") throw new Error(`a ${plan.kind} plan`);
  return toAnswer(await engine.execute(plan, { ...toBounds(), deadlineMs: now() + 20_000 }));
}

const cases: readonly [name: string, pattern: RegExp, query: string][] = [
  ["MINUS", /MINUS/u, "SELECT * { ?s <urn:age> ?a MINUS { ?s <urn:retired> ?r } }"],
  ["OPTIONAL", /OPTIONAL/u, "SELECT ?s ?n { ?s <urn:knows> ?o OPTIONAL { ?o <urn:name> ?n } }"],
  ["aggregates", /COUNT|AVG/u, "SELECT (COUNT(*) AS ?n) (AVG(?a) AS ?m) { ?s <urn:age> ?a FILTER(?a > 2) }"],
  ["GROUP BY", /GROUP BY/u, "SELECT ?a (COUNT(?s) AS ?n) { ?s <urn:age> ?a } GROUP BY ?a HAVING(COUNT(?s) > 5)"],
  ["subqueries", /\{ SELECT/u, "SELECT ?s ?a { ?s <urn:age> ?a { SELECT ?s { ?s <urn:retired> ?r } } }"],
  ["EXISTS", /EXISTS/u, "SELECT ?s { ?s <urn:age> 3 FILTER NOT EXISTS { ?s <urn:knows> ?o . ?o <urn:name> ?n } }"],
  [
    "VALUES",
    /VALUES/u,
    "SELECT ?s ?o { VALUES ?s { <urn:p4> <urn:p5> <urn:none> } ?s <urn:knows> ?o . ?o <urn:age> ?a }",
  ],
  ["UNDEF", /UNDEF/u, "SELECT * { VALUES (?s ?a) { (<urn:p4> UNDEF) (UNDEF 5) } ?s <urn:age> ?a }"],
];

describe("an endpoint that refuses a construct", () => {
  it.each(cases)("%s", async (_, pattern, query) => {
    const { plan, answer, sent } = await ask(
      { instead: (request) => (pattern.test(request.query) ? refuse("Parse error") : undefined) },
      query,
    );
    expect(plan).toMatchObject({ kind: "federated", notes: [{ code: "EVALUATED_HERE" }] });
    expect(answer).toEqual(oracle(query));
    expect(answer).toMatchObject({ rows: expect.arrayContaining([expect.any(String)]) });
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.filter((text) => pattern.test(text))).toEqual([]);
  });
});

describe("an endpoint that answers a construct wrongly", () => {
  it.each<[string, (query: string) => string, string]>([
    ["MINUS", (query) => query.replace("MINUS", "OPTIONAL"), cases[0]?.[2] ?? ""],
    ["aggregates", (query) => query.replaceAll("COUNT(", "SUM("), cases[3]?.[2] ?? ""],
    ["EXISTS", (query) => query.replaceAll("NOT EXISTS", "EXISTS"), cases[5]?.[2] ?? ""],
  ])("%s", async (_, misread, query) => {
    const { plan, answer } = await ask({ misread }, query);
    expect(plan).toMatchObject({ kind: "federated", notes: [{ code: "EVALUATED_HERE" }] });
    expect(answer).toEqual(oracle(query));
  });
  it("paths of length zero", async () => {
    const { answer, plan } = await ask({}, "SELECT ?x { <urn:nowhere> <urn:knows>* ?x }");
    expect(plan).toMatchObject({ kind: "federated", notes: [{ code: "EVALUATED_HERE" }] });
    expect(answer).toEqual({ kind: "bindings", rows: ["?x=<urn:nowhere>"] });
  });
});
