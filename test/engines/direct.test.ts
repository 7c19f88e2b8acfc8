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

// The columns of every answer are compared with its query, so what real engines make of legal queries has to pass.

/** Formats, and how each names its columns. */
const formats: Readonly<Record<string, (text: string) => readonly string[]>> = {
  [json]: (text) => JSON.parse(text).head.vars,
  [xml]: (text) => [...text.matchAll(/<variable\s+name="([^"]*)"/gu)].map(([, name = ""]) => name),
  [csv]: (text) => text.split(/\r?\n/u, 1).flatMap((line) => line.replaceAll('"', "").split(",")),
  [tsv]: (text) => text.split(/\r?\n/u, 1).flatMap((line) => line.replaceAll("?", "").split("\t")),
};

const columnCases: readonly (readonly [title: string, columns: string, query: string])[] = [
  ["two variables", "p o", "SELECT ?p ?o { ex:sample ?p ?o }"],
  ["in another order than they appear", "o p", "SELECT ?o ?p { ex:sample ?p ?o }"],
  ["no solution", "p o", "SELECT ?p ?o { ex:nothing ?p ?o }"],
  ["LIMIT 0", "p o", "SELECT ?p ?o { ex:sample ?p ?o } LIMIT 0"],
  ["a variable written with $", "p o", "SELECT $p ?o { ex:sample ?p $o }"],
  ["a variable that occurs nowhere", "p never", "SELECT ?p ?never { ex:sample ?p ?o }"],
  ["a variable that is never bound", "p x", "SELECT ?p ?x { ex:sample ?p ?o OPTIONAL { ?o ex:never ?x } }"],
  ["names that differ in case", "p P", "SELECT ?p ?P { ex:sample ?p ?P }"],
  ["names with digits and underscores", "1 _x a_1", "SELECT ?1 ?_x ?a_1 { ?1 ?_x ?a_1 . ?1 a ex:Sample }"],
  ["a name beyond ASCII", "größe o", "SELECT ?größe ?o { ex:sample ?größe ?o }"],
  ["a number", "n", "SELECT (COUNT(*) AS ?n) { ex:sample ?p ?o }"],
  ["a number of nothing", "n", "SELECT (COUNT(*) AS ?n) { ex:nothing ?p ?o }"],
  ["groups", "t n", "SELECT ?t (COUNT(?p) AS ?n) { ?s a ?t ; ?p ?o } GROUP BY ?t"],
  ["groups of an expression", "t n", "SELECT ?t (COUNT(?p) AS ?n) { ?s ?p ?o } GROUP BY (STR(?s) AS ?t)"],
  ["an expression", "p text", "SELECT ?p (STR(?o) AS ?text) { ex:sample ?p ?o }"],
  ["DISTINCT", "s", "SELECT DISTINCT ?s { ?s ex:integer ?o }"],
  ["REDUCED", "s", "SELECT REDUCED ?s { ?s ex:integer ?o }"],
  ["sorted by another", "p", "SELECT ?p { ex:sample ?p ?o } ORDER BY ?o"],
  ["*", "p o", "SELECT * { ex:sample ?p ?o }"],
  ["* without a solution", "p o", "SELECT * { ex:nothing ?p ?o }"],
  ["* of OPTIONAL", "o x", "SELECT * { ex:sample ex:link ?o OPTIONAL { ?o ex:never ?x } }"],
  ["* of UNION", "a b", "SELECT * { { ex:sample ex:link ?a } UNION { ex:sample ex:plain ?b } }"],
  ["* of a blank node", "text", "SELECT * { ex:holder ex:part [ ex:inside ?text ] }"],
  ["* of a named blank node", "text", "SELECT * { ex:holder ex:part _:b . _:b ex:inside ?text }"],
  ["* of a subquery", "p", "SELECT * { { SELECT ?p { ex:sample ?p ?o } } }"],
  ["* of a number in a subquery", "n", "SELECT * { { SELECT (COUNT(?o) AS ?n) { ex:sample ?p ?o } } }"],
  ["* of FILTER", "o", "SELECT * { ex:sample ex:integer ?o FILTER(?o > 1) }"],
  ["* of EXISTS", "s o", "SELECT * { ?s ex:integer ?o FILTER EXISTS { ?s ex:plain ?x } }"],
  ["* of MINUS", "s o", "SELECT * { ?s ex:integer ?o MINUS { ?s ex:never ?x } }"],
  ["* of BIND", "o next", "SELECT * { ex:sample ex:integer ?o BIND(?o + 1 AS ?next) }"],
  ["* of VALUES", "p o", "SELECT * { VALUES ?p { ex:integer ex:plain } ex:sample ?p ?o }"],
  ["* of VALUES behind it", "p o", "SELECT * { ex:sample ?p ?o } VALUES ?p { ex:integer ex:plain }"],
  ["* of GRAPH", "g o", "SELECT * { GRAPH ?g { ex:sample ex:integer ?o } }"],
  ["* of a path", "s text", "SELECT * { ?s ex:part/ex:inside ?text }"],
];

it.each(columnCases)("columns of %s", async (_, columns, query) => {
  const shown: Record<string, string> = {};
  const expected: Record<string, string> = {};
  for (const engine of Object.keys(engines)) {
    for (const [accept, columnsIn] of Object.entries(formats)) {
      const response = await fedway.sparql(`/endpoints/${engine}/sparql`, { query: prefixes + query, accept });
      const text = await response.text();
      const way = `${engine} as ${accept}`;
      // The bytes of an answer pass through: where they are the endpoint's, so is the order of the columns of SELECT *.
      const inOrder = (names: readonly string[]) => (query.startsWith("SELECT *") ? names.toSorted() : names).join(" ");
      shown[way] = response.status === 200 ? inOrder(columnsIn(text)) : text;
      expected[way] = inOrder(columns.split(" "));
    }
  }
  expect(shown).toEqual(expected);
});
