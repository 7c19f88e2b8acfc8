import zlib from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BreakerReport } from "../../../src/outbound/observer.ts";
import { createSparqlClient, type OpenSparqlClient } from "../../../src/outbound/client.ts";
import type { ExchangeReport } from "../../../src/outbound/observer.ts";
import type { RequestMethod, SparqlRequest } from "../../../src/outbound/sparql-request.ts";
import { resultsOf } from "../../support/hostile-bodies.ts";
import { read, requestTo, shouldFail } from "../../support/hostile-client.ts";
import { type HostileServer, type RecordedRequest, startHostileServer } from "../../support/hostile-server.ts";

let server: HostileServer;
let client: OpenSparqlClient;
const reports: ExchangeReport[] = [];

beforeAll(async () => {
  server = await startHostileServer();
  client = createSparqlClient({
    version: "1.2.3",
    contact: "mailto:ops@example.org",
    allowAddresses: ["127.0.0.1"],
    observer: { onExchange: (report) => reports.push(report) },
  });
});

afterAll(async () => {
  await client.close();
  await server.close();
});

const send = (caseName: string, more: Partial<SparqlRequest> = {}): SparqlRequest =>
  requestTo(server.url(caseName), more);
const last = (caseName: string): RecordedRequest => {
  const request = server.requests(caseName).at(-1);
  if (request === undefined) throw new Error(`${caseName} was never asked`);
  return request;
};

describe("a healthy endpoint", () => {
  it("is sent exactly one request, as a form, under our name and without credentials", async () => {
    const query = "SELECT ?x WHERE { ?x ?p 'a+b & ünï' }";
    const { answer, body, end } = await read(
      client,
      send("ok", { query, defaultGraphs: ["http://g/1"], namedGraphs: ["http://n/1", "http://n/2"] }),
    );
    expect(server.requests("ok")).toHaveLength(1);
    expect(answer).toMatchObject({
      status: 200,
      requests: 1,
      mediaType: "application/sparql-results+json",
      contentEncoding: "identity",
    });
    expect(body.toString()).toBe(resultsOf(3));
    expect(end).toEqual({ decodedBytes: body.length, wireBytes: body.length, rows: 3 });
    const { method, headers, body: form } = last("ok");
    expect(method).toBe("POST");
    expect(headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(headers["user-agent"]).toBe("Fedway/1.2.3 (mailto:ops@example.org)");
    expect(headers.authorization).toBeUndefined();
    expect(headers.cookie).toBeUndefined();
    const parameters = new URLSearchParams(form);
    expect(parameters.getAll("query")).toEqual([query]);
    expect(parameters.getAll("default-graph-uri")).toEqual(["http://g/1"]);
    expect(parameters.getAll("named-graph-uri")).toEqual(["http://n/1", "http://n/2"]);
    expect(reports.at(-1)).toMatchObject({ endpoint: "hostile", outcome: "ok", requests: 1, wireBytes: body.length });
  });
  it("delivers a small answer of known length whole and a larger or chunked one as a stream", async () => {
    expect(Buffer.isBuffer((await read(client, send("ok"))).answer.body)).toBe(true);
    expect(Buffer.isBuffer((await read(client, send("ok-large"))).answer.body)).toBe(false);
    expect(Buffer.isBuffer((await read(client, send("ok-chunked"))).answer.body)).toBe(false);
    expect((await read(client, send("ok-large"))).end.rows).toBe(3001);
  });
  it("may end its answer by closing the connection", async () => {
    const { body } = await read(client, send("ok-close-delimited"));
    expect(body.toString()).toBe(resultsOf(3));
  });
  it("reports an endpoint outside the catalogue as unlisted", async () => {
    await read(client, send("ok", { endpoint: { url: server.url("ok") } }));
    expect(reports.at(-1)).toMatchObject({ endpoint: "unlisted", outcome: "ok" });
  });
});

describe("content codings", () => {
  const codings = [
    ["gzip", "gzip"],
    ["deflate", "deflate"],
    ["deflate-raw", "deflate"],
    ["brotli", "br"],
    ["zstd", "zstd"],
  ] as const;
  it.each(codings)("%s is decoded", async (caseName) => {
    const { answer, body, end } = await read(client, send(caseName));
    expect(body.toString()).toBe(resultsOf(3000));
    expect(answer.contentEncoding).toBe("identity");
    expect(end).toMatchObject({ decodedBytes: body.length, rows: 3000 });
    expect(end.wireBytes).toBeLessThan(body.length);
    expect(last(caseName).headers["accept-encoding"]).toBe("gzip, br, deflate");
  });
  it.each(codings)("%s passes untouched when the caller wants %s", async (caseName, coding) => {
    const { answer, body, end } = await read(client, send(caseName, { encoding: "pass", acceptEncoding: coding }));
    expect(answer.contentEncoding).toBe(coding);
    expect(body.length).toBe(end.wireBytes);
    expect(end).toMatchObject({ decodedBytes: resultsOf(3000).length, rows: 3000 });
    expect(last(caseName).headers["accept-encoding"]).toBe(coding);
  });
  it.each(["pass", "decode"] as const)("a large gzip body streams, %s", async (encoding) => {
    const { answer, body, end } = await read(client, send("gzip-large", { encoding, acceptEncoding: "gzip" }));
    expect(Buffer.isBuffer(answer.body)).toBe(false);
    const decoded = encoding === "pass" ? zlib.gunzipSync(body) : body;
    expect(decoded.equals(Buffer.from(resultsOf(200_000)))).toBe(true);
    expect(end.rows).toBe(200_000);
  });
  it("a coding that the caller did not ask for is undone", async () => {
    const { answer, body } = await read(client, send("gzip", { encoding: "pass" }));
    expect(last("gzip").headers["accept-encoding"]).toBe("identity");
    expect(answer.contentEncoding).toBe("identity");
    expect(body.toString()).toBe(resultsOf(3000));
  });
  it("a small body that decodes to much more arrives as a stream", async () => {
    const error = await shouldFail(client, send("gzip-bomb-small"), ["ENDPOINT_BROKE_OFF", "malformed"]);
    expect(error.message).toContain("cut off");
  });
});

describe("media types", () => {
  it.each([
    ["as-json", "bindings", "application/sparql-results+json"],
    ["as-xml", "bindings", "application/sparql-results+xml"],
    ["as-plain", "quads", "application/n-triples"],
    ["ok-boolean", "boolean", "application/sparql-results+json"],
    ["ok-turtle", "quads", "text/turtle"],
    ["no-type", "bindings", "application/sparql-results+json"],
  ] as const)("%s for %s is %s", async (caseName, kind, mediaType) => {
    const { answer } = await read(client, send(caseName, { kind }));
    expect(answer.mediaType).toBe(mediaType);
  });
  it("a 406 is answered with one type alone, a few times", async () => {
    const { answer } = await read(client, send("not-acceptable"));
    expect(answer).toMatchObject({ requests: 2, learned: expect.stringContaining("HTTP status 406") });
    expect(last("not-acceptable").headers.accept).toBe("*/*");
    const accept = "application/sparql-results+json, text/csv;q=0.5";
    for (const requests of [4, 8, 12, 13, 14]) {
      await shouldFail(client, send("never-acceptable", { accept }), ["ENDPOINT_REFUSED", "http-4xx"]);
      expect(server.requests("never-acceptable")).toHaveLength(requests);
    }
  });
});

describe("partial answers that are accepted are marked", () => {
  const acceptPartial = true;
  it.each([
    ["partial-206", "status-206"],
    ["s1tat", "virtuoso-anytime"],
    ["s1tat-206", "virtuoso-anytime"],
    ["maxrows-hit", "virtuoso-maxrows"],
  ])("%s: %s", async (caseName, how) => {
    const { answer, end } = await read(client, send(caseName, { acceptPartial }));
    expect(answer.partial?.how).toBe(how);
    expect(end.partial?.how).toBe(how);
    expect(reports.at(-1)).toMatchObject({ outcome: "partial" });
  });
  it("a row cap of a streamed answer is known at its end", async () => {
    const { answer, end } = await read(client, send("maxrows-hit-large", { acceptPartial }));
    expect(answer.partial).toBeUndefined();
    expect(end.partial?.how).toBe("virtuoso-maxrows");
    expect(end.partial?.detail).toContain("3000");
  });
  it("a row cap that was not reached is no reason", async () => {
    expect((await read(client, send("maxrows-missed", { acceptPartial }))).end.partial).toBeUndefined();
  });
});

describe("partial answers that are not accepted are errors", () => {
  it.each([
    ["partial-206", 206, "HTTP status 206"],
    ["s1tat", 200, "S1TAT"],
    ["s1tat-206", 206, "S1TAT"],
    ["maxrows-hit", 200, "limit of 3 rows"],
    ["maxrows-hit-large", 200, "limit of 3000 rows"],
  ])("%s (%i): %s", async (caseName, upstreamStatus, how) => {
    const before = server.requests(caseName).length;
    const error = await shouldFail(client, send(caseName), ["ENDPOINT_PARTIAL", "partial"]);
    expect(error.message).toContain(how);
    expect(error.details).toMatchObject({ upstreamStatus, where: { endpoint: "hostile" } });
    expect(error.details.next).toContain("partial=true");
    expect(reports.at(-1)).toMatchObject({ outcome: "partial", requests: 1 });
    expect(server.requests(caseName)).toHaveLength(before + 1);
  });
  it.each(["partial-206", "s1tat"])("%s fails before any of its body is read", async (caseName) => {
    const before = reports.length;
    await expect(client.query(send(caseName))).rejects.toMatchObject({ code: "ENDPOINT_PARTIAL" });
    expect(reports.slice(before)).toMatchObject([{ outcome: "partial", wireBytes: 0 }]);
  });
  it("a small answer that reached the cap fails as a whole", async () => {
    await expect(client.query(send("maxrows-hit"))).rejects.toMatchObject({ code: "ENDPOINT_PARTIAL" });
  });
  it.each(["decode", "pass"] as const)("a stream that reached the cap is destroyed, %s", async (encoding) => {
    const answer = await client.query(send("maxrows-hit-large", { encoding }));
    expect(answer.partial).toBeUndefined();
    if (Buffer.isBuffer(answer.body)) throw new Error("expected a stream");
    const body = answer.body;
    let ended = false;
    body.on("end", () => (ended = true)).resume();
    const error: unknown = await new Promise((resolve) => body.on("error", resolve));
    expect(error).toMatchObject({ code: "ENDPOINT_PARTIAL" });
    await expect(answer.end).rejects.toBe(error);
    expect(ended).toBe(false);
  });
  it("a query that asks for no more than the cap has got all it asked for", async () => {
    expect((await read(client, send("maxrows-hit", { limit: 3 }))).end.partial).toBeUndefined();
    expect((await read(client, send("maxrows-hit-large", { limit: 3000 }))).end.rows).toBe(3000);
    await shouldFail(client, send("maxrows-hit", { limit: 4 }), ["ENDPOINT_PARTIAL"]);
  });
  it("a row cap that was not reached is no error", async () => {
    expect((await read(client, send("maxrows-missed"))).end.rows).toBe(3);
  });
  it("they do not open the circuit", async () => {
    const states: string[] = [];
    const observer = { onBreaker: ({ state }: BreakerReport): number => states.push(state) };
    const wary = createSparqlClient({ version: "1", allowAddresses: ["127.0.0.1"], breaker: { faults: 1 }, observer });
    for (const caseName of ["partial-206", "s1tat", "maxrows-hit", "maxrows-hit-large"]) {
      await shouldFail(wary, send(caseName), ["ENDPOINT_PARTIAL"]);
      await shouldFail(wary, send(caseName), ["ENDPOINT_PARTIAL"]);
    }
    await wary.close();
    expect(states).toEqual([]);
  });
});

describe("request methods", () => {
  it.each([
    ["only-direct", 2, "application/sparql-query"],
    ["only-get", 3, undefined],
    ["hint-400", 2, "application/sparql-query"],
  ] as const)("%s takes %i requests, later one", async (caseName, requests, contentType) => {
    const graphs = { defaultGraphs: ["http://example.org/g"] };
    expect((await read(client, send(caseName, graphs))).answer.requests).toBe(requests);
    expect((await read(client, send(caseName, graphs))).answer.requests).toBe(1);
    expect(last(caseName).headers["content-type"]).toBe(contentType);
    expect(last(caseName).path).toContain("default-graph-uri=http%3A%2F%2Fexample.org%2Fg");
  });
  it("an endpoint that refuses every method is asked three times and told about the first refusal", async () => {
    const error = await shouldFail(client, send("no-method"), ["ENDPOINT_FAILED", "http-5xx"]);
    expect(error.details.upstreamStatus).toBe(501);
    expect(server.requests("no-method")).toHaveLength(3);
  });
  it("the target's own method wins and is not doubted", async () => {
    const method: RequestMethod = "get";
    await read(client, send("ok-boolean", { kind: "boolean", endpoint: { url: server.url("ok-boolean"), method } }));
    expect(last("ok-boolean").method).toBe("GET");
    const fixed = { endpoint: { url: server.url("no-method"), method: "post-direct" as const } };
    const before = server.requests("no-method").length;
    await shouldFail(client, send("no-method", fixed), ["ENDPOINT_FAILED"]);
    expect(server.requests("no-method")).toHaveLength(before + 1);
  });
  it("a query too long for a URL is not sent by GET", async () => {
    const query = `SELECT * WHERE { ?s ?p "${"x".repeat(9000)}" }`;
    await shouldFail(client, send("ok-turtle", { query, endpoint: { url: server.url("ok-turtle"), method: "get" } }), [
      "ENDPOINT_REJECTED_QUERY",
      "http-4xx",
    ]);
    const error = await shouldFail(client, send("redirect-301", { query }), ["ENDPOINT_REJECTED_QUERY", "http-4xx"]);
    expect(error.message).toContain("8192");
    expect(server.requests("ok-turtle").filter(({ method }) => method === "GET")).toHaveLength(0);
  });
});

describe("redirects", () => {
  it.each([
    ["redirect-307", "ok", "POST"],
    ["redirect-308-relative", "ok", "POST"],
    ["redirect-301", "only-get", "GET"],
    ["redirect-303", "only-get", "GET"],
  ])("%s leads to %s by %s", async (caseName, target, method) => {
    const { answer, end } = await read(client, send(caseName));
    expect(answer.requests).toBe(2);
    expect(end.rows).toBe(3);
    expect(last(target).method).toBe(method);
    const { path, body } = last(target);
    const sent = method === "POST" ? new URLSearchParams(body) : new URL(path, "http://x").searchParams;
    expect(sent.getAll("query")).toEqual(["SELECT ?x WHERE { ?x ?p ?o }"]);
  });
  it("keeps the query string of the target", () => {
    expect(last("only-get").path).toMatch(/^\/only-get\?lang=en&query=/);
  });
  it("follows at most three", async () => {
    const error = await shouldFail(client, send("redirect-loop"), ["ENDPOINT_REDIRECT", "http-3xx"]);
    expect(error.message).toContain("too often");
    expect(server.requests("redirect-loop")).toHaveLength(4);
  });
});
