import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HostileServer, startHostileServer } from "../../support/hostile-server.ts";
import { problemOf, type RunningService, startService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

// What each misbehaving endpoint looks like from outside, through the whole service: HTTP status and problem code.
const cases: readonly (readonly [name: string, status: number, code: string])[] = [
  ["html", 502, "ENDPOINT_NOT_SPARQL"],
  ["400", 400, "ENDPOINT_REJECTED_QUERY"],
  ["401", 502, "ENDPOINT_REFUSED"],
  ["403", 502, "ENDPOINT_REFUSED"],
  ["404", 502, "ENDPOINT_REFUSED"],
  ["429-seconds", 503, "ENDPOINT_RATE_LIMITED"],
  ["500", 502, "ENDPOINT_FAILED"],
  ["500-s1t00", 504, "ENDPOINT_TIMEOUT"],
  ["truncated-json", 502, "ENDPOINT_BROKE_OFF"],
  ["empty-body", 502, "ENDPOINT_BROKE_OFF"],
  ["bad-gzip", 502, "ENDPOINT_MALFORMED"],
  ["unknown-encoding", 502, "ENDPOINT_MALFORMED"],
  ["reset", 502, "ENDPOINT_UNREACHABLE"],
  ["short-small-length", 502, "ENDPOINT_BROKE_OFF"],
  ["not-http", 502, "ENDPOINT_MALFORMED"],
  ["redirect-loop", 502, "ENDPOINT_REDIRECT"],
  ["redirect-private", 502, "ADDRESS_REFUSED"],
  ["redirect-file", 502, "ADDRESS_REFUSED"],
  ["s1tat", 502, "ENDPOINT_PARTIAL"],
  ["partial-206", 502, "ENDPOINT_PARTIAL"],
  ["maxrows-hit", 502, "ENDPOINT_PARTIAL"],
];
const cut = ["truncated-json-large", "reset-in-body", "cut-chunked", "short-length", "cut-gzip"];

let hostile: HostileServer;
let good: SparqlTestServer;
let service: RunningService;

beforeAll(async () => {
  hostile = await startHostileServer();
  good = await startSparqlTestServer("<http://ex.org/s> <http://ex.org/p> <http://ex.org/o> .");
  const names = [...cases.map(([name]) => name), ...cut, "hang", "hang-in-body", "gzip-bomb", "endless"];
  const endpoints = Object.fromEntries(names.map((name) => [name, hostile.url(name)]));
  // Only the addresses of this test may be dialled, so that a redirect to another loopback address is caught.
  service = await startService(
    { ...endpoints, good: good.url, closed: "http://127.0.0.1:1/sparql" },
    { FEDWAY_ALLOW_ADDRESSES: "127.0.0.1/32", FEDWAY_MAX_ANSWER_BYTES: "32 MiB" },
  );
});
afterAll(async () => {
  await service.close();
  await hostile.close();
  await good.close();
});

// The hostile server knows no other column than ?x; where it is well, the other endpoint has a row.
const direct = (url: string) => `SELECT ?x { SERVICE <${url}> { ?x <http://ex.org/p> <http://ex.org/o> } }`;
const federated = (url: string) => `SELECT ?x { SERVICE <${good.url}> { ?s ?p ?o } SERVICE <${url}> { ?x a <x:C> } }`;

async function stillServes(): Promise<void> {
  const response = await service.query(direct(good.url));
  expect(response.status).toBe(200);
  expect(((await response.json()) as { results: { bindings: unknown[] } }).results.bindings).toHaveLength(1);
}

describe("an endpoint's failure before the first byte is a problem document", () => {
  it.each(cases)("%s, direct: %i %s", async (name, status, code) => {
    const problem = await problemOf(await service.query(direct(hostile.url(name))));
    expect(problem).toMatchObject({ status, code, run: expect.any(String) });
    await stillServes();
  });

  it.each(cases)("%s, federated: %i %s", async (name, status, code) => {
    const problem = await problemOf(await service.query(federated(hostile.url(name))));
    // The breaker may know the endpoint from the test before.
    if (problem.code !== "CIRCUIT_OPEN") expect(problem).toMatchObject({ status, code });
    await stillServes();
  });

  it("says that nothing listens", async () => {
    const problem = await problemOf(await service.query(direct("http://127.0.0.1:1/sparql")));
    expect(problem).toMatchObject({ status: 502, code: "ENDPOINT_UNREACHABLE", retryable: true });
  });

  it("gives up on a silent endpoint at the query's deadline", async () => {
    const response = await service.query(direct(hostile.url("hang")), { parameters: { timeout: "400" } });
    expect(await problemOf(response)).toMatchObject({ status: 504, code: "DEADLINE_EXCEEDED" });
    await stillServes();
  });
});

describe("a failure after the first byte cuts the answer off", () => {
  it.each(cut)("%s", async (name) => {
    const response = await service.query(direct(hostile.url(name)));
    // What breaks off in its first piece has not reached the client yet: then there is a problem document instead.
    if (response.status === 502) return expect(await problemOf(response)).toMatchObject({ code: "ENDPOINT_BROKE_OFF" });
    await expect(response.text()).rejects.toThrow();
    const run = response.headers.get("fedway-run");
    const record = (await (await fetch(`${service.url}/api/runs/${run}`)).json()) as { status: string };
    expect(record.status).toBe("failed");
    await stillServes();
  });

  it.each(["gzip-bomb", "endless"])("%s stops at the byte cap, memory bounded", async (name) => {
    const before = process.memoryUsage().rss;
    const response = await service.query(direct(hostile.url(name)));
    const ended = await response.text().then(
      () => "complete",
      () => "cut",
    );
    expect(response.status === 502 || ended === "cut").toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
    await stillServes();
  });

  it("a client that leaves stops the upstream request", async () => {
    const controller = new AbortController();
    const leaving = service.query(direct(hostile.url("hang")), { signal: controller.signal });
    while (hostile.requests("hang").length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();
    await expect(leaving).rejects.toThrow();
    await hostile.allSocketsClosed();
  });
});

describe("partial=true takes what there is and says so", () => {
  it.each(["s1tat", "partial-206", "maxrows-hit"])("%s", async (name) => {
    const response = await service.query(direct(hostile.url(name)), { parameters: { partial: "true" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("fedway-status")).toBe("partial");
    await response.text();
  });
});
