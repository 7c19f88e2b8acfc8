import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EndpointPool } from "../../../src/hosting/endpoint-pool.ts";
import type { HostedEndpoint, HostedQuery } from "../../../src/hosting/hosted-endpoint.ts";
import { ask, endless, limits, manyTriples, one, open, queryOf } from "../../support/endpoint-under-test.ts";
import { processorMsOf } from "../../support/held-loop.ts";

const data = `<urn:a> <urn:name> "Ísland"@is .
<urn:a> <urn:size> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .
_:b <urn:name> "x,\\"y\\"" .
<urn:c> <urn:name> "in g" <urn:g> .
<urn:d> <urn:name> "in h" <urn:h> .
`;
const names = "SELECT ?name { ?s <urn:name> ?name } ORDER BY ?name";
/** Answers and refuses what these tests ask, and is the same after each of them. */
let small: HostedEndpoint;
beforeAll(() => {
  small = new EndpointPool(limits).endpoint({ id: "alpha", source: { kind: "text", text: data }, memoryMb: 64 });
});
afterAll(() => small.close());
const large = { source: { kind: "text", text: manyTriples } } as const;

const shouldAnswer =
  (query: string, ...[more, mediaType, body]: readonly [Partial<HostedQuery>, string, string]) =>
  async () => {
    const answer = await small.query(queryOf(query, more));
    expect(answer).toEqual({ mediaType, body: expect.any(Buffer) });
    expect(answer.body.toString().trimEnd()).toBe(body);
  };
const shouldFail = (query: string, more: Partial<HostedQuery>, error: object) => async () => {
  await expect(small.query(queryOf(query, more))).rejects.toMatchObject(error);
  expect(await ask(small, "SELECT * { <urn:a> <urn:size> ?n }")).toBe("n\r\n3\r\n");
};

describe("an answer in the wanted format", () => {
  const size = "SELECT ?n { <urn:a> <urn:size> ?n }";
  const json =
    '{"head":{"vars":["n"]},"results":{"bindings":[{"n":{"type":"literal","value":"3","datatype":"http://www.w3.org/2001/XMLSchema#integer"}}]}}';
  const triple = '<urn:a> <urn:name> "Ísland"@is .';
  const construct = "CONSTRUCT { <urn:a> <urn:name> ?n } WHERE { <urn:a> <urn:name> ?n }";
  it("JSON", shouldAnswer(size, { accept: "*/*" }, "application/sparql-results+json", json));
  it(
    "XML",
    shouldAnswer(
      "ASK { <urn:a> ?p ?o }",
      { kind: "boolean", accept: "application/sparql-results+xml" },
      "application/sparql-results+xml",
      '<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head></head><boolean>true</boolean></sparql>',
    ),
  );
  it("CSV", shouldAnswer(names, {}, "text/csv", 'name\r\n"x,""y"""\r\nÍsland'));
  it("TSV", shouldAnswer(size, { accept: "text/tab-separated-values" }, "text/tab-separated-values", "?n\n3"));
  it("Turtle", shouldAnswer(construct, { kind: "quads", accept: "text/turtle" }, "text/turtle", triple));
  it(
    "N-Triples",
    shouldAnswer(construct, { kind: "quads", accept: "application/n-triples" }, "application/n-triples", triple),
  );
  it(
    "JSON-LD",
    shouldAnswer(
      construct,
      { kind: "quads", accept: "application/ld+json" },
      "application/ld+json",
      '[{"@id":"urn:a","urn:name":[{"@language":"is","@value":"Ísland"}]}]',
    ),
  );
  it(
    "boolean JSON",
    shouldAnswer(
      "ASK { <urn:none> ?p ?o }",
      { kind: "boolean", accept: "*/*" },
      "application/sparql-results+json",
      '{"head":{},"boolean":false}',
    ),
  );
  it("none of them", shouldFail(size, { accept: "text/html" }, { code: "NOT_ACCEPTABLE" }));
});

describe("what Oxigraph gets wrong", () => {
  const shouldBe = (query: string, rows: string): void => it(query, shouldAnswer(query, {}, "text/csv", rows));
  const none = "<urn:none> <urn:name>* ?o";
  describe("is asked otherwise", () => {
    shouldBe("SELECT (COUNT(*) AS ?n) { ?s ?p ?o VALUES ?o {} }", "n\r\n0");
    shouldBe('SELECT (COUNT(*) AS ?n) (MAX(?o) AS ?m) { ?s ?p ?o FILTER(false) FILTER("") }', "n,m\r\n0,");
    shouldBe("SELECT ?n ?x { VALUES ?x { 1 2 } { SELECT (COUNT(*) + 1 AS ?n) { FILTER(?z) } } }", "n,x\r\n1,1\r\n1,2");
    shouldBe("SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER(false) } HAVING(COUNT(*) = 0)", "n\r\n0");
    shouldBe("SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER(false) } GROUP BY ?s", "n");
    shouldBe("SELECT (COUNT(?s) AS ?n) (?n + 1 AS ?m) (ABS(?m) * 2 AS ?k) { ?s <urn:size> ?o }", "n,m,k\r\n1,2,4");
    shouldBe("SELECT ?o (STR(?o) AS ?t) (CONCAT(?t, ?t) AS ?u) { ?s <urn:size> ?o } GROUP BY ?o", "o,t,u\r\n3,3,33");
    shouldBe(`SELECT ?o { ${none} }`, "o\r\nurn:none");
    shouldBe("SELECT ?o { <urn:a> <urn:none>? ?o ; <urn:size> 3 }", "o\r\nurn:a");
    shouldBe('SELECT ?s { ?s (<urn:name>|<urn:size>)* "none" }', "s\r\nnone");
    shouldBe("SELECT (1 AS ?n) { <urn:none> <urn:name>* <urn:none> }", "n\r\n1");
    shouldBe("SELECT ?o { <urn:none> <urn:name>* <urn:other> }", "o");
    shouldBe("SELECT ?o { VALUES ?s { <urn:none> } ?s <urn:name>* ?o }", "o");
    shouldBe("SELECT ?o { <urn:a> <urn:size>|<urn:size> ?o }", "o\r\n3\r\n3");
    shouldBe("SELECT (COUNT(*) AS ?n) { <urn:a> <urn:size>|(<urn:size>|^<urn:none>) 3 }", "n\r\n2");
    shouldBe("SELECT ?o { 3 ^(<urn:size>|<urn:size>)/(<urn:size>|<urn:none>) ?o }", "o\r\n3\r\n3");
    shouldBe("SELECT ?o { <urn:a> (<urn:size>|<urn:size>)? ?o }", "o\r\nurn:a\r\n3");
    shouldBe("SELECT ?o { <urn:none> <urn:size>|<urn:size>* ?o }", "o\r\nurn:none");
    shouldBe("SELECT ?s { GRAPH <urn:g> { ?s <urn:name>|<urn:name> 'in g' } }", "s\r\nurn:c\r\nurn:c");
  });
  describe("is refused", () => {
    it(
      "aggregates of aggregates",
      shouldFail("SELECT (SUM(COUNT(?s)) AS ?n) { ?s ?p ?o }", {}, { code: "QUERY_SYNTAX" }),
    );
    it.each([
      "SELECT (COUNT(?s) AS ?n) (BOUND(?n) AS ?m) { ?s ?p ?o }",
      "SELECT (COUNT(?s) + RAND() AS ?n) (?n + 1 AS ?m) { ?s ?p ?o }",
      `SELECT (COUNT(?s) AS ?n0) ${Array.from({ length: 12 }, (_, n) => `(?n${n} + ?n${n} AS ?n${n + 1})`).join(" ")} { ?s ?p ?o }`,
    ])("columns that cannot be written out: %s", (query) =>
      shouldFail(
        query,
        {},
        { code: "ENDPOINT_REJECTED_QUERY", message: expect.stringContaining("column ?n") as string },
      )(),
    );
  });
  describe("stays wrong", () => {
    shouldBe(`SELECT ?o { GRAPH <urn:g> { ${none} } }`, "o");
    shouldBe("SELECT (1 AS ?n) { <urn:none> <urn:name>* [] }", "n");
    shouldBe("SELECT (1 AS ?n) { [] <urn:size>|<urn:size> 3 }", "n\r\n1");
    shouldBe("SELECT ?o { <urn:none> <urn:name>?/<urn:size>? ?o }", "o");
  });
});

describe("the dataset", () => {
  const graphs = "SELECT ?g ?name { GRAPH ?g { ?s <urn:name> ?name } } ORDER BY ?g";
  it("is the stored one", shouldAnswer(graphs, {}, "text/csv", "g,name\r\nurn:g,in g\r\nurn:h,in h"));
  it("has the given default graph", shouldAnswer(names, { defaultGraphs: ["urn:g"] }, "text/csv", "name\r\nin g"));
  it(
    "merges default graphs",
    shouldAnswer(names, { defaultGraphs: ["urn:g", "urn:h"] }, "text/csv", "name\r\nin g\r\nin h"),
  );
  it("has no named graph then", shouldAnswer(graphs, { defaultGraphs: ["urn:g"] }, "text/csv", "g,name"));
  it("has the given named graph", shouldAnswer(graphs, { namedGraphs: ["urn:h"] }, "text/csv", "g,name\r\nurn:h,in h"));
  it("has an empty default graph then", shouldAnswer(names, { namedGraphs: ["urn:h"] }, "text/csv", "name"));
  it(
    "is the stored one when no graph is named",
    shouldAnswer(graphs, { defaultGraphs: [], namedGraphs: [] }, "text/csv", "g,name\r\nurn:g,in g\r\nurn:h,in h"),
  );
  it("follows FROM", shouldAnswer("SELECT ?name FROM <urn:h> { ?s <urn:name> ?name }", {}, "text/csv", "name\r\nin h"));
  it(
    "prefers the protocol's dataset to FROM",
    shouldAnswer(
      "SELECT ?name FROM <urn:h> { ?s <urn:name> ?name }",
      { defaultGraphs: ["urn:g"] },
      "text/csv",
      "name\r\nin g",
    ),
  );
  it(
    "refuses a graph that is no IRI",
    shouldFail(names, { defaultGraphs: ["not an IRI"] }, { code: "ENDPOINT_REJECTED_QUERY" }),
  );
});

describe("a query that is refused", () => {
  it(
    "has a syntax error",
    shouldFail(
      "SELECT *\n{ ?s ?p }",
      {},
      { code: "QUERY_SYNTAX", details: { where: { line: 2, column: 10, endpoint: "alpha" } } },
    ),
  );
  it(
    "has an unknown prefix",
    shouldFail(
      "SELECT * { ?s foaf:name ?n }",
      {},
      { code: "QUERY_SYNTAX", message: expect.stringContaining("prefix") },
    ),
  );
  it("is empty", shouldFail("", {}, { code: "QUERY_SYNTAX" }));
  it("is an update", shouldFail("PREFIX : <urn:> INSERT DATA { :a :b :c }", {}, { code: "UPDATE_REFUSED" }));
  it(
    "has a SERVICE",
    shouldFail(
      "SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
      {},
      { code: "ENDPOINT_REJECTED_QUERY", message: expect.stringContaining("calls no other endpoints") },
    ),
  );
  it(
    "is of another form than it says",
    shouldFail("CONSTRUCT WHERE { ?s ?p ?o }", {}, { code: "ENDPOINT_REJECTED_QUERY" }),
  );
});

describe("a hosted endpoint", () => {
  it(
    "answers SERVICE SILENT with one empty solution",
    shouldAnswer("SELECT ?x { SERVICE SILENT <http://127.0.0.1:9/> { ?x ?y ?z } }", {}, "text/csv", "x"),
  );
  it("hands over large answers whole", async () => {
    const endpoint = open(large);
    const csv = await ask(endpoint, "SELECT ?s ?p ?o { ?s ?p ?o }");
    expect(csv.length).toBeGreaterThan(65_536);
    const rows = csv.trimEnd().split("\r\n").slice(1).toSorted();
    const expected = manyTriples.split("\n").map((line) => line.replace(/<(.*)> <(.*)> "(.*)" \./, "$1,$2,$3"));
    expect(rows).toEqual(expected.toSorted());
  });
  it("refuses an answer above the cap and serves the next query", async () => {
    const endpoint = open({ ...large, limits: { maxAnswerBytes: 70_000 } });
    const refusal = { code: "ANSWER_TOO_LARGE", message: expect.stringMatching(/has \d{5} bytes; at most 70000/) };
    await expect(ask(endpoint, "SELECT * { ?s ?p ?o }")).rejects.toMatchObject(refusal);
    expect(await ask(endpoint, one)).toBe("o,p\r\nvalue 1,urn:p:1\r\n");
  });
  it("refuses a small answer above a small cap", async () => {
    const endpoint = open({ limits: { maxAnswerBytes: 10 } });
    await expect(ask(endpoint, one)).rejects.toMatchObject({ code: "ANSWER_TOO_LARGE" });
  });
  it("answers in the order of arrival", async () => {
    const endpoint = open();
    const order: number[] = [];
    await Promise.all([0, 1, 2, 3].map((n) => ask(endpoint, one).then(() => order.push(n))));
    expect(order).toEqual([0, 1, 2, 3]);
  });
  it("never blocks the event loop", async () => {
    const endpoint = open({ limits: { timeoutMs: 1_500 } });
    let ticks = 0;
    const ticker = setInterval(() => (ticks += 1), 5);
    const ms = await processorMsOf(() =>
      expect(ask(endpoint, endless)).rejects.toMatchObject({ code: "ENDPOINT_TIMEOUT" }),
    );
    clearInterval(ticker);
    // The query computes all of the time, in another thread.
    expect(ms).toBeLessThan(700);
    expect(ticks).toBeGreaterThan(5);
  });
  it("fails to open when its data is malformed, with the reason and without further attempts", async () => {
    let starts = 0;
    const onStart = (): void => void (starts += 1);
    process.on("worker", onStart);
    const endpoint = open({ source: { kind: "text", text: `${one}\n<urn:a> nonsense` } });
    for (const _ of [1, 2])
      await expect(ask(endpoint, one)).rejects.toMatchObject({
        code: "ENDPOINT_DATA_INVALID",
        message: expect.stringMatching(
          /^The data of the hosted endpoint alpha cannot be loaded: .* line 1 .*\.$/,
        ) as string,
        kind: { retryable: false },
      });
    process.off("worker", onStart);
    expect(starts).toBe(1);
  });
  it("fails to open when its data does not fit", async () => {
    const text = Array.from({ length: 100_000 }, (_, n) => `<urn:s:${n}> <urn:p> "${n}" .`).join("\n");
    const thread = { restart: { attempts: 1, delayMs: 1, cooldownMs: 1 } };
    const endpoint = open({ source: { kind: "text", text }, memoryMb: 16, thread });
    await expect(ask(endpoint, one)).rejects.toMatchObject({ code: "ENDPOINT_FAILED", cause: { reason: "memory" } });
  });
});
