import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CanonicalAnswer } from "../support/canonical-answer.ts";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { startVirtuoso } from "../support/engines/virtuoso.ts";
import { prefixes, termSamples, virtuosoGraph } from "./data.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";
import { readAnswer, readTable } from "../support/read-answer.ts";

const json = "application/sparql-results+json";
const xml = "application/sparql-results+xml";
const csv = "text/csv";
const tsv = "text/tab-separated-values";
const turtle = "text/turtle";
const ntriples = "application/n-triples";
const jsonld = "application/ld+json";

const samples: readonly (readonly [property: string, term: string])[] = [
  ["astral", '"\u{1F600}"'],
  ["boolean", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'],
  ["custom", '"v"^^<http://example.org/type>'],
  ["date", '"2020-02-29"^^<http://www.w3.org/2001/XMLSchema#date>'],
  ["decimal", "3.5^^decimal"],
  ["double", "1500^^double"],
  ["integer", "42^^integer"],
  ["lang", '"grüß dich"@de-at'],
  ["lines", '"line1\\nline2\\ttab"'],
  ["link", "<http://example.org/\u4E2D>"],
  ["plain", '"a \\"quoted\\" text, with comma"'],
  ["string", '"typed"'],
];
const typeTriple =
  "<http://example.org/sample> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Sample>";
const sampleRows: CanonicalAnswer = {
  kind: "bindings",
  rows: samples.map(([property, term]) => `?o=${term} ?p=<http://example.org/${property}>`).toSorted(),
};
const sampleTriples: CanonicalAnswer = {
  kind: "quads",
  triples: [
    ...samples.map(([property, term]) => `<http://example.org/sample> <http://example.org/${property}> ${term}`),
    typeTriple,
  ].toSorted(),
};
/** CSV drops types and tags; Virtuoso writes numbers and true in its own lexical forms. */
const csvCells = (engine: string): CanonicalAnswer => ({
  kind: "bindings",
  rows: [
    ["astral", "\u{1F600}"],
    ["boolean", engine === "virtuoso" ? "1" : "true"],
    ["custom", "v"],
    ["date", "2020-02-29"],
    ["decimal", "3.5"],
    ["double", "1500"],
    ["integer", "42"],
    ["lang", "grüß dich"],
    ["lines", "line1\nline2\ttab"],
    ["link", "http://example.org/\u4E2D"],
    ["plain", 'a "quoted" text, with comma'],
    ["string", "typed"],
  ]
    .map(([property, text]) => `?o=${text} ?p=http://example.org/${property}`)
    .toSorted(),
});

const select = `${prefixes}SELECT ?p ?o WHERE { ex:sample ?p ?o FILTER(?o != ex:Sample) }`;
const ask = (pattern: string): string => `${prefixes}ASK { ${pattern} }`;
const yes = ask("ex:sample ex:integer 42");
const no = ask("ex:sample ex:integer 43");
const construct = `${prefixes}CONSTRUCT { ex:sample ?p ?o } WHERE { ex:sample ?p ?o }`;
const describeQuery = `${prefixes}DESCRIBE ex:sample`;
const isTrue: CanonicalAnswer = { kind: "boolean", value: true };
const isFalse: CanonicalAnswer = { kind: "boolean", value: false };

interface Ways {
  readonly name: string;
  readonly query: string;
  readonly accept: string;
  readonly expected: CanonicalAnswer;
  /** Default: 1. The first graph of an endpoint that might have been cut costs a question for its size. */
  readonly requests?: number;
}

let engines: Readonly<Record<string, Engine>>;
let fedway: Fedway;

beforeAll(async () => {
  const [virtuoso, fuseki] = await Promise.all([
    startVirtuoso({ graphs: { [virtuosoGraph]: termSamples } }),
    startFuseki({ data: termSamples }),
  ]);
  engines = { virtuoso, fuseki };
  fedway = await startFedway({ virtuoso: virtuoso.url, fuseki: fuseki.url });
});

afterAll(async () => {
  await fedway?.close();
  await Promise.all(Object.values(engines ?? {}).map((engine) => engine.stop()));
});

const urlOf = (name: string): string => engines[name]?.url ?? "";

/** The query as it is in one SERVICE of the engine. */
const inService = (query: string, name: string): string =>
  query.replace(/\{([^{}]*)\}(?=[^{}]*$)/u, (_, body: string) => `{ SERVICE <${urlOf(name)}> {${body}} }`);

/** By the endpoint's own route, and, for query forms with a WHERE clause, wrapped in a SERVICE. */
const shouldAnswer = (title: string, { name, query, accept, expected, requests = 1 }: Ways): void => {
  it(`${title} as ${accept}`, async () => {
    const response = await fedway.sparql(`/endpoints/${name}/sparql`, { query, accept });
    expect(response.headers.get("content-type")?.split(";")[0]).toBe(accept);
    const run = response.headers.get("fedway-run");
    expect(await readAnswer(response)).toEqual(expected);
    expect(await fedway.endedRun(run)).toMatchObject({ status: "ok", sources: [{ requests, status: "ok" }] });
  });
  if (!query.includes("{")) return;
  it(`${title} as ${accept}, through SERVICE`, async () => {
    const response = await fedway.sparql("/sparql", { query: inService(query, name), accept });
    expect(response.headers.get("content-type")?.split(";")[0]).toBe(accept);
    expect(response.headers.get("fedway-plan")).toBe("direct");
    expect(await readAnswer(response)).toEqual(expected);
  });
};

describe.each(["virtuoso", "fuseki"])("%s, directly,", (name) => {
  shouldAnswer("SELECT", { name, query: select, accept: json, expected: sampleRows });
  shouldAnswer("SELECT", { name, query: select, accept: xml, expected: sampleRows });
  shouldAnswer("SELECT", { name, query: select, accept: csv, expected: csvCells(name) });
  shouldAnswer("SELECT", { name, query: select, accept: tsv, expected: sampleRows });
  shouldAnswer("ASK, true,", { name, query: yes, accept: json, expected: isTrue });
  shouldAnswer("ASK, true,", { name, query: yes, accept: xml, expected: isTrue });
  shouldAnswer("ASK, false,", { name, query: no, accept: json, expected: isFalse });
  shouldAnswer("ASK, false,", { name, query: no, accept: xml, expected: isFalse });
  shouldAnswer("CONSTRUCT", { name, query: construct, accept: turtle, expected: sampleTriples, requests: 2 });
  shouldAnswer("CONSTRUCT", { name, query: construct, accept: ntriples, expected: sampleTriples });
  shouldAnswer("CONSTRUCT", { name, query: construct, accept: jsonld, expected: sampleTriples });
  shouldAnswer("DESCRIBE", { name, query: describeQuery, accept: turtle, expected: sampleTriples });
  shouldAnswer("DESCRIBE", { name, query: describeQuery, accept: ntriples, expected: sampleTriples });
});

describe.each(["virtuoso", "fuseki"])("%s", (name) => {
  it("CONSTRUCT as JSON-LD", async () => {
    const query = `${prefixes}CONSTRUCT WHERE { ex:sample ex:date ?o }`;
    const response = await fedway.sparql(`/endpoints/${name}/sparql`, { query, accept: jsonld });
    expect(await readAnswer(response)).toEqual({
      kind: "quads",
      triples: [
        '<http://example.org/sample> <http://example.org/date> "2020-02-29"^^<http://www.w3.org/2001/XMLSchema#date>',
      ],
    });
  });

  it("decodes every kind of literal for /api/query", async () => {
    const { httpStatus, answer } = await fedway.table({ query: select, endpoint: name });
    expect(httpStatus).toBe(200);
    expect(answer).toMatchObject({ status: "ok", diagnosis: null });
    expect(readTable(answer.columns, answer.rows)).toEqual(sampleRows);
  });

  it("keeps blank nodes blank", async () => {
    const query = `${prefixes}SELECT ?b WHERE { ex:holder ex:part ?b }`;
    for (const accept of [json, xml, csv, tsv]) {
      const response = await fedway.sparql(`/endpoints/${name}/sparql`, { query, accept });
      expect(await readAnswer(response), accept).toEqual({ kind: "bindings", rows: ["?b=_:"] });
    }
  });

  it("tells an empty answer from an answer", async () => {
    const query = `${prefixes}SELECT ?o WHERE { ex:absent ex:integer ?o }`;
    const response = await fedway.sparql(`/endpoints/${name}/sparql`, { query, accept: json });
    const run = response.headers.get("fedway-run");
    expect(await readAnswer(response)).toEqual({ kind: "bindings", rows: [] });
    expect(await fedway.endedRun(run)).toMatchObject({ status: "empty" });
    expect((await fedway.table({ query, endpoint: name })).answer.status).toBe("empty");
  });

  it("leaves unbound cells unbound", async () => {
    const query = `${prefixes}SELECT ?x ?y WHERE { VALUES (?x ?y) { (1 UNDEF) (UNDEF "a"@en) } }`;
    const expected = { kind: "bindings", rows: ["?x=1^^integer", '?y="a"@en'] };
    for (const accept of [json, xml, tsv]) {
      const response = await fedway.sparql(`/endpoints/${name}/sparql`, { query, accept });
      expect(await readAnswer(response), accept).toEqual(expected);
    }
  });

  it("hands on what the engine says of a query that it rejects", async () => {
    // Legal SPARQL that neither engine evaluates: a function that does not exist is an error in Virtuoso only.
    const query = `${prefixes}SELECT ?x WHERE { BIND(BNODE() AS ?x) }`;
    const response = await fedway.sparql(`/endpoints/${name}/sparql`, { query, accept: json });
    if (name === "fuseki") {
      expect(await readAnswer(response)).toEqual({ kind: "bindings", rows: ["?x=_:"] });
      return;
    }
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "ENDPOINT_REJECTED_QUERY", where: { endpoint: "virtuoso" } });
  });
});

describe("Virtuoso's union graph", () => {
  const count = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }";

  it("holds the system graphs beside the data", async () => {
    const { answer } = await fedway.table({ query: count, endpoint: "virtuoso" });
    const number = Number(/^"?(\d+)/u.exec(answer.rows[0]?.[0] ?? "")?.[1]);
    expect(number).toBeGreaterThan(1_000);
  });

  it("shrinks to the data with the protocol's default graph", async () => {
    const parameters = { "default-graph-uri": virtuosoGraph };
    const response = await fedway.sparql("/endpoints/virtuoso/sparql", { query: count, accept: json, parameters });
    expect(await readAnswer(response)).toEqual({ kind: "bindings", rows: ["?n=15^^integer"] });
  });

  it("shrinks to the data with FROM", async () => {
    const query = count.replace("WHERE", `FROM <${virtuosoGraph}> WHERE`);
    const response = await fedway.sparql("/endpoints/virtuoso/sparql", { query, accept: json });
    expect(await readAnswer(response)).toEqual({ kind: "bindings", rows: ["?n=15^^integer"] });
  });
});
