import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import type { FaultKind } from "../../../src/errors/fedway-error.ts";
import { createSparqlClient, type OpenSparqlClient, type SparqlClientOptions } from "../../../src/outbound/client.ts";
import type { SparqlClient, SparqlRequest } from "../../../src/outbound/sparql-request.ts";
import { read, requestTo, shouldFail } from "../../support/hostile-client.ts";
import { type HostileServer, startHostileServer } from "../../support/hostile-server.ts";

type Case = readonly [caseName: string, code: ErrorCode, fault: FaultKind];

let server: HostileServer;
let client: OpenSparqlClient;
/** For the endpoints that hang; on a busy machine any other may be silent as long. */
let impatient: OpenSparqlClient;

const clientWith = (timeouts: SparqlClientOptions["timeouts"]): OpenSparqlClient =>
  createSparqlClient({
    version: "1.2.3",
    contact: "mailto:ops@example.org",
    allowAddresses: ["127.0.0.1"],
    maxAnswerBytes: 20_000_000,
    timeouts,
    retry: { baseMs: 5, rateLimitedBaseMs: 10 },
    breaker: { faults: 1000 },
  });

beforeAll(async () => {
  server = await startHostileServer();
  client = clientWith({});
  impatient = clientWith({ headersMs: 1_000, idleMs: 1_000 });
});

afterAll(async () => {
  await client.close();
  await impatient.close();
  await server.close();
});

const send = (caseName: string, more: Partial<SparqlRequest> = {}): SparqlRequest =>
  requestTo(server.url(caseName), more);
const clientOf = (caseName: string): SparqlClient => (caseName.startsWith("hang") ? impatient : client);
const sent = (caseName: string): number => server.requests(caseName).length;

describe("answers that are not whole never end as if they were", () => {
  const cases: readonly Case[] = [
    ["reset-in-body", "ENDPOINT_BROKE_OFF", "reset"],
    ["reset-in-chunked", "ENDPOINT_BROKE_OFF", "reset"],
    ["reset-close-delimited", "ENDPOINT_BROKE_OFF", "reset"],
    ["short-length", "ENDPOINT_BROKE_OFF", "reset"],
    ["short-small-length", "ENDPOINT_BROKE_OFF", "reset"],
    ["cut-chunked", "ENDPOINT_BROKE_OFF", "reset"],
    ["truncated-json", "ENDPOINT_BROKE_OFF", "malformed"],
    ["truncated-json-large", "ENDPOINT_BROKE_OFF", "malformed"],
    ["empty-body", "ENDPOINT_BROKE_OFF", "malformed"],
    ["cut-gzip", "ENDPOINT_BROKE_OFF", "malformed"],
    ["bad-gzip", "ENDPOINT_MALFORMED", "malformed"],
    ["bad-gzip-large", "ENDPOINT_MALFORMED", "malformed"],
    ["gzip-trailing", "ENDPOINT_MALFORMED", "malformed"],
    ["deflate-trailing", "ENDPOINT_MALFORMED", "malformed"],
    ["deflate-trailing-at-once", "ENDPOINT_MALFORMED", "malformed"],
    ["deflate-trailing-small", "ENDPOINT_MALFORMED", "malformed"],
    ["br-trailing-small", "ENDPOINT_MALFORMED", "malformed"],
    ["zstd-trailing-small", "ENDPOINT_MALFORMED", "malformed"],
    ["bad-chunk", "ENDPOINT_MALFORMED", "malformed"],
    ["hang-in-body", "ENDPOINT_TIMEOUT", "timeout"],
    ["hang-in-small-body", "ENDPOINT_TIMEOUT", "timeout"],
    ["gzip-bomb", "ANSWER_TOO_LARGE", "too-large"],
    ["endless", "ANSWER_TOO_LARGE", "too-large"],
  ];
  it.each(cases)("%s: %s, %s", async (caseName, code, fault) => {
    const formats = ["application/sparql-results+json", "text/csv"];
    const request = send(caseName, { endpoint: { id: "hostile", url: server.url(caseName), formats } });
    await shouldFail(clientOf(caseName), request, [code, fault]);
    expect(sent(caseName)).toBe(1);
  });
  it.each(["cut-gzip", "bad-gzip-large", "gzip-bomb", "gzip-trailing"])("%s, passed on encoded", async (caseName) => {
    const request = send(caseName, { encoding: "pass", acceptEncoding: "gzip" });
    const error = await shouldFail(client, request, [cases.find(([name]) => name === caseName)?.[1] ?? "INTERNAL"]);
    expect(error.details.where?.endpoint).toBe("hostile");
  });
});

describe("responses that are no answer are named for what they are", () => {
  const cases: readonly Case[] = [
    ["html", "ENDPOINT_NOT_SPARQL", "wrong-media-type"],
    ["wrong-kind", "ENDPOINT_NOT_SPARQL", "wrong-media-type"],
    ["no-content", "ENDPOINT_NOT_SPARQL", "wrong-media-type"],
    ["unknown-encoding", "ENDPOINT_MALFORMED", "malformed"],
    ["stacked-encoding", "ENDPOINT_MALFORMED", "malformed"],
    ["endless-headers", "ENDPOINT_MALFORMED", "malformed"],
    ["endless-interim", "ENDPOINT_MALFORMED", "malformed"],
    ["not-http", "ENDPOINT_MALFORMED", "malformed"],
    ["two-lengths", "ENDPOINT_MALFORMED", "malformed"],
    ["hang", "ENDPOINT_TIMEOUT", "timeout"],
    ["400", "ENDPOINT_REJECTED_QUERY", "http-4xx"],
    ["400-long", "ENDPOINT_REJECTED_QUERY", "http-4xx"],
    ["401", "ENDPOINT_REFUSED", "http-4xx"],
    ["403", "ENDPOINT_REFUSED", "http-4xx"],
    ["404", "ENDPOINT_REFUSED", "http-4xx"],
    ["413", "ENDPOINT_REFUSED", "http-4xx"],
    ["500", "ENDPOINT_FAILED", "http-5xx"],
    ["504", "ENDPOINT_TIMEOUT", "timeout"],
    ["500-s1t00", "ENDPOINT_TIMEOUT", "timeout"],
    ["500-cost", "ENDPOINT_REFUSED", "http-5xx"],
    ["hang-in-error", "ENDPOINT_FAILED", "http-5xx"],
    ["429-qlever", "ENDPOINT_TIMEOUT", "timeout"],
    ["redirect-nowhere", "ENDPOINT_REDIRECT", "http-3xx"],
    ["redirect-garbage", "ENDPOINT_REDIRECT", "http-3xx"],
    ["redirect-private", "ADDRESS_REFUSED", "address"],
    ["redirect-mapped", "ADDRESS_REFUSED", "address"],
    ["redirect-userinfo", "ADDRESS_REFUSED", "address"],
    ["redirect-file", "ADDRESS_REFUSED", "address"],
  ];
  // The method may be at fault.
  const otherMethod = /^(?:html|wrong-kind|no-content|400|400-long|403|404)$/u;
  it.each(cases)("%s: %s, %s", async (caseName, code, fault) => {
    const error = await shouldFail(clientOf(caseName), send(caseName), [code, fault]);
    expect(sent(caseName)).toBe(otherMethod.test(caseName) ? 2 : 1);
    expect(error.message.length).toBeLessThan(500);
    expect(error.message).not.toMatch(/\p{Cc}/u);
    expect(error.details.where?.endpoint).toBe("hostile");
  });
  it("quotes a bounded, clean excerpt of the endpoint's words", async () => {
    const parse = await shouldFail(client, send("400"), ["ENDPOINT_REJECTED_QUERY"]);
    expect(parse.message).toContain("Parse error at line 1: [31m unexpected 'FOO'");
    expect(parse.details.upstreamStatus).toBe(400);
    const page = await shouldFail(client, send("html"), ["ENDPOINT_NOT_SPARQL"]);
    expect(page.message).toContain('"Query Type your query here"');
  });
  it("stops an identity body that announces more than the cap before reading it", async () => {
    const error = await shouldFail(client, send("huge", { maxBytes: 100_000 }), ["ANSWER_TOO_LARGE", "too-large"]);
    expect(error.message).toContain("100000");
  });
  it("counts decoded bytes of a small bomb too", async () => {
    await shouldFail(client, send("gzip-bomb-small", { maxBytes: 1_000_000 }), ["ANSWER_TOO_LARGE", "too-large"]);
  });
});

describe("retries happen before the first byte of an answer only", () => {
  it.each(["reset-then-ok", "503-then-ok", "429-then-ok", "429-date-then-ok"])(
    "%s costs two requests",
    async (name) => {
      const { answer, end } = await read(client, send(name));
      expect(answer.requests).toBe(2);
      expect(sent(name)).toBe(2);
      expect(end.rows).toBe(3);
    },
  );
  const cases: readonly Case[] = [
    ["reset", "ENDPOINT_UNREACHABLE", "reset"],
    ["close-silently", "ENDPOINT_UNREACHABLE", "reset"],
    ["503", "ENDPOINT_FAILED", "http-5xx"],
    ["429", "ENDPOINT_RATE_LIMITED", "http-429"],
  ];
  it.each(cases)("%s is given up after three requests: %s, %s", async (caseName, code, fault) => {
    await shouldFail(client, send(caseName), [code, fault]);
    expect(sent(caseName)).toBe(3);
  });
  it.each([
    ["429-seconds", 120_000],
    ["429-date", 300_000],
    ["503-seconds", 900_000],
    ["405-retry-after", 120_000],
  ] as const)("%s: a Retry-After beyond the deadline is told, not waited for", async (caseName, expectedMs) => {
    const error = await shouldFail(client, send(caseName), ["ENDPOINT_RATE_LIMITED"]);
    expect(error.details.retryAfterMs).toBeGreaterThan(expectedMs / 2);
    expect(error.details.retryAfterMs).toBeLessThanOrEqual(expectedMs);
    expect(sent(caseName)).toBe(1);
  });
  it("holds other requests back after a 429", async () => {
    const before = sent("429-seconds");
    const error = await shouldFail(client, send("429-seconds"), ["ENDPOINT_RATE_LIMITED", "http-429"]);
    expect(error.details.retryAfterMs).toBeGreaterThan(100_000);
    expect(sent("429-seconds")).toBe(before);
  });
});

describe("deadlines", () => {
  it.each(["hang", "hang-in-body", "hang-in-error", "drip"])("%s", async (caseName) => {
    const started = Date.now();
    const deadlineMs = started + 150;
    await shouldFail(client, send(caseName, { deadlineMs }), ["DEADLINE_EXCEEDED", "timeout"]);
    expect(Date.now() - started).toBeGreaterThanOrEqual(149);
  });
  it("a drip never trips the idle timer, only the deadline", async () => {
    const patient = clientWith({ idleMs: 5_000 });
    await shouldFail(patient, send("drip", { deadlineMs: Date.now() + 6_000 }), ["DEADLINE_EXCEEDED"]);
    await patient.close();
  });
  it("nothing is sent when the deadline has passed already", async () => {
    await shouldFail(client, send("ok-boolean", { deadlineMs: Date.now() - 1 }), ["DEADLINE_EXCEEDED"]);
    expect(sent("ok-boolean")).toBe(0);
  });
  it("a slow first byte within the limits is waited for", async () => {
    const slow = createSparqlClient({ version: "1", allowAddresses: ["127.0.0.0/8"] });
    const started = performance.now();
    await read(slow, send("slow-first-byte"));
    expect(performance.now() - started).toBeGreaterThanOrEqual(290);
    await slow.close();
  });
});
