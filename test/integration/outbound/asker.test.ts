import { createAsker, type AskRequest, type Asker } from "../../../src/outbound/whole-answer.ts";
import { createDocumentClient } from "../../../src/outbound/documents.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { shouldRejectWith } from "../../support/document-server.ts";
import { hostileSetting } from "../../support/hostile-client.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

const setting = hostileSetting();
const documents = createDocumentClient({ version: "1", allowAddresses: ["127.0.0.0/8"] });
let server: SparqlTestServer;
let asker: Asker;

beforeEach(async () => {
  const triples = Array.from({ length: 50 }, (_, n) => `<urn:s${n}> <urn:p> "${n}" .\n`);
  server = await startSparqlTestServer(triples.join(""));
  asker = createAsker({ client: setting.clientWith({ retry: { limit: 0 } }), documents });
});
afterEach(() => server.close());

const asking = (query: string, more: Partial<AskRequest> = {}): AskRequest => ({
  endpoint: { url: server.url },
  query,
  signal: new AbortController().signal,
  timeoutMs: 60_000,
  maxRows: 1000,
  maxBytes: 100_000,
  ...more,
});

describe("whole answers", () => {
  it("SELECT", async () => {
    const answer = await asker.ask(asking('SELECT ?s ?o WHERE { ?s <urn:p> ?o . FILTER(?o = "7") }'));
    expect(answer.rows.map((row) => [row.get("s")?.value, row.get("o")?.termType])).toEqual([["urn:s7", "Literal"]]);
    expect(answer).toMatchObject({ variables: ["s", "o"], httpStatus: 200, requests: 1 });
    expect(answer.mediaType).toBe("application/sparql-results+json");
    expect(answer.bytes).toBeGreaterThan(50);
    expect(answer.durationMs).toBeGreaterThan(0);
    expect(answer.partial).toBeUndefined();
  });
  it.each([
    ["ASK { ?s <urn:p> ?o }", true],
    ["PREFIX ask: <http://ask/>\n# SELECT\nBASE <http://b/> ask { ?s ask:p ?o }", false],
  ])("%s", async (query, expected) => {
    expect(await asker.ask(asking(query))).toMatchObject({ boolean: expected, rows: [], variables: [] });
  });
  it("a SELECT over a prefix named ask is no ASK", async () => {
    const answer = await asker.ask(asking("PREFIX ask: <urn:> SELECT ?s { ?s ask:p ?o } LIMIT 3"));
    expect(answer.rows).toHaveLength(3);
    expect(answer.boolean).toBeUndefined();
  });
  it("partial answers are delivered and marked", async () => {
    const body = '{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"urn:x"}}]}}';
    server.setFault({ kind: "body", body, headers: { "X-SPARQL-MaxRows": "1" } });
    const answer = await asker.ask(asking("SELECT ?x { ?x ?p ?o }"));
    expect(answer.rows).toHaveLength(1);
    expect(answer.partial?.detail).toMatch(/1/u);
  });
  it("a query that asks for no more than the cap itself gets a whole answer", async () => {
    const body = '{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"urn:x"}}]}}';
    server.setFault({ kind: "body", body, headers: { "X-SPARQL-MaxRows": "1" } });
    const answer = await asker.ask(asking("SELECT ?x { ?x ?p ?o } LIMIT 1"));
    expect(answer.partial).toBeUndefined();
  });
});

describe("failures keep what is known of them", () => {
  it("rows beyond the cap", async () => {
    await shouldRejectWith(asker.ask(asking("SELECT * { ?s ?p ?o }", { maxRows: 49 })), {
      code: "ANSWER_TOO_LARGE",
      fault: "too-large",
      upstreamStatus: 200,
    });
  });
  it("bytes beyond the cap", async () => {
    await shouldRejectWith(asker.ask(asking("SELECT * { ?s ?p ?o }", { maxBytes: 100 })), {
      code: "ANSWER_TOO_LARGE",
      fault: "too-large",
    });
  });
  it("a refusal", async () => {
    server.setFault({ kind: "status", status: 429, headers: { "retry-after": "7" } });
    await shouldRejectWith(asker.ask(asking("SELECT * { ?s ?p ?o }")), {
      code: "ENDPOINT_RATE_LIMITED",
      fault: "http-429",
      upstreamStatus: 429,
      retryAfterMs: 7000,
    });
  });
  it("a time-out", async () => {
    server.setFault({ kind: "hang" });
    await shouldRejectWith(asker.ask(asking("SELECT * { ?s ?p ?o }", { timeoutMs: 50 })), {
      code: "DEADLINE_EXCEEDED",
      fault: "timeout",
    });
  });
  it("rows where a boolean was asked for", async () => {
    server.setFault({ kind: "body", body: '{"head":{"vars":["x"]},"results":{"bindings":[]}}' });
    await shouldRejectWith(asker.ask(asking("ASK {}")), { code: "ENDPOINT_MALFORMED", fault: "malformed" });
  });
  it("a cut-off answer", async () => {
    server.setFault({ kind: "reset", afterBytes: 200 });
    await shouldRejectWith(asker.ask(asking("SELECT * { ?s ?p ?o }")), { code: "ENDPOINT_BROKE_OFF" });
  });
});
