import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOtlpTracing } from "../../../src/telemetry/otlp-tracing.ts";
import type { Tracing } from "../../../src/telemetry/tracing.ts";
import { type HostileServer, startHostileServer } from "../../support/hostile-server.ts";
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from "../../support/otlp-collector.ts";
import { startTracedService, type TracedService } from "../../support/traced-service.ts";

let collector: OtlpCollector;
let endpoints: HostileServer;
let tracing: Tracing;
let service: TracedService;

const cases = [
  "ok",
  "ok-large",
  "503-then-ok",
  "redirect-307",
  "truncated-json",
  "truncated-json-large",
  "400",
  "virtuoso-tsv",
];

beforeEach(async () => {
  collector = await startOtlpCollector();
  endpoints = await startHostileServer();
  tracing = createOtlpTracing({ endpoint: collector.url, version: "1.2.3", everyMs: 10, closeMs: 10_000 });
  service = await startTracedService(Object.fromEntries(cases.map((name) => [name, endpoints.url(name)])), tracing);
});

afterEach(async () => {
  await service.close();
  await tracing.close();
  await collector.close();
  await endpoints.close();
});

const secretWord = "TheSecretWord";
const ask = `SELECT ?x WHERE { ?x ?p "${secretWord}" }`;

function send(id: string, headers: Record<string, string> = {}, path = `/endpoints/${id}/sparql`): Promise<Response> {
  return fetch(`${service.url}${path}`, {
    method: "POST",
    headers: { accept: "application/sparql-results+json", authorization: `Bearer ${secretWord}`, ...headers },
    body: new URLSearchParams({ query: ask }),
  });
}

/** Everything that was sent, once the service is closed. */
async function flushed(): Promise<readonly CollectedSpan[]> {
  await service.close();
  await tracing.close();
  return collector.spans;
}

/** The spans as lines, children below their parents and further in. */
function tree(spans: readonly CollectedSpan[], parent = "", indent = ""): readonly string[] {
  const lines: string[] = [];
  for (const { name, spanId, parentSpanId, attributes } of spans) {
    if (parentSpanId !== parent) continue;
    const how = attributes["fedway.outcome"] ?? attributes["fedway.status"] ?? attributes["http.response.status_code"];
    lines.push(`${indent}${name} ${how}`, ...tree(spans, spanId, `${indent}  `));
  }
  return lines;
}

describe("a query", () => {
  it("gives a span of the request, of the run and of the upstream request, each under the other", async () => {
    const response = await send("ok");
    expect(response.status).toBe(200);
    const run = response.headers.get("fedway-run");
    await response.arrayBuffer();
    const spans = await flushed();
    expect(tree(spans)).toEqual(["request 200", "  run ok", "    upstream request ok"]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const [request, ran, upstream] = ["request", "run", "upstream request"].map((name) =>
      spans.find((span) => span.name === name),
    );
    expect(request).toMatchObject({ kind: 2, error: undefined });
    expect(request?.attributes).toEqual({
      "http.request.method": "POST",
      "http.route": "/endpoints/:id/sparql",
      "http.response.status_code": 200,
      "fedway.run": run,
    });
    expect(ran).toMatchObject({ kind: 1, error: undefined });
    expect(ran?.attributes).toEqual({
      "fedway.run": run,
      "fedway.plan": "direct",
      "fedway.plan_cached": false,
      "fedway.plan_ms": expect.any(Number),
      "fedway.status": "ok",
    });
    expect(upstream).toMatchObject({ kind: 3, error: undefined });
    expect(upstream?.attributes).toEqual({
      "fedway.endpoint": "ok",
      "fedway.attempt": 1,
      "fedway.outcome": "ok",
      "http.response.status_code": 200,
      "http.response.body.size": expect.any(Number),
    });
    expect(upstream?.attributes["http.response.body.size"]).toBeGreaterThan(100);
    expect(collector.posts[0]).toEqual({
      path: "/v1/traces",
      resource: { "service.name": "fedway", "service.version": "1.2.3" },
    });
  });

  it.each([
    ["ok-large", ["request 200", "  run ok", "    upstream request ok"]],
    ["503-then-ok", ["request 200", "  run ok", "    upstream request http-5xx", "    upstream request ok"]],
    ["redirect-307", ["request 200", "  run ok", "    upstream request http-3xx", "    upstream request ok"]],
    ["truncated-json", ["request 502", "  run failed", "    upstream request malformed"]],
    ["truncated-json-large", ["request 502", "  run failed", "    upstream request malformed"]],
  ])("of %s has one span for every upstream request", async (id, expected) => {
    await send(id)
      .then((response) => response.arrayBuffer())
      .catch(() => {});
    const sent = endpoints.requests().length;
    const spans = await flushed();
    expect(tree(spans)).toEqual(expected);
    expect(spans.filter(({ name }) => name === "upstream request")).toHaveLength(sent);
  });

  it("numbers the attempts, and names the code of what failed", async () => {
    await send("503-then-ok").then((response) => response.arrayBuffer());
    await send("truncated-json").then((response) => response.arrayBuffer());
    const spans = await flushed();
    const attempts = spans.filter(({ attributes }) => attributes["fedway.endpoint"] === "503-then-ok");
    expect(attempts.map(({ attributes, error }) => [attributes["fedway.attempt"], error])).toEqual([
      [1, "http-5xx"],
      [2, undefined],
    ]);
    expect(spans.filter(({ name }) => name === "run").map(({ error }) => error)).toEqual([
      undefined,
      "ENDPOINT_BROKE_OFF",
    ]);
  });

  it("over several endpoints has all its requests under one run", async () => {
    const query = `SELECT ?x { { SERVICE <${endpoints.url("ok")}> { ?x ?p ?o } } UNION { SERVICE <${endpoints.url("503-then-ok")}> { ?x ?q ?o } } }`;
    const response = await fetch(`${service.url}/api/query`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    const spans = await flushed();
    const run = spans.find(({ name }) => name === "run");
    const upstream = spans.filter(({ name }) => name === "upstream request");
    expect(upstream).toHaveLength(3);
    expect(upstream.every(({ parentSpanId }) => parentSpanId === run?.spanId)).toBe(true);
    expect(run?.attributes["fedway.plan"]).toBe("federated");
  });
});

describe("trace context", () => {
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";

  it("is taken up from a right traceparent, and is not told to endpoints", async () => {
    await (await send("ok", { traceparent: `00-${trace}-00f067aa0ba902b7-01`, tracestate: "a=b" })).arrayBuffer();
    const spans = await flushed();
    expect(spans).toHaveLength(3);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([trace]));
    expect(spans.find(({ name }) => name === "request")?.parentSpanId).toBe("00f067aa0ba902b7");
    expect(endpoints.requests()).toHaveLength(1);
    expect(Object.keys(endpoints.requests()[0]?.headers ?? {})).not.toContain("traceparent");
    expect(JSON.stringify(endpoints.requests())).not.toContain(trace);
  });

  it("that its sender does not record is not recorded here either", async () => {
    await (await send("ok", { traceparent: `00-${trace}-00f067aa0ba902b7-00` })).arrayBuffer();
    await (await send("ok")).arrayBuffer();
    const spans = await flushed();
    expect(spans).toHaveLength(3);
    expect(spans.map(({ traceId }) => traceId)).not.toContain(trace);
  });

  it("that is wrong is ignored", async () => {
    await (await send("ok", { traceparent: `00-${trace}-0000000000000000-01` })).arrayBuffer();
    const spans = await flushed();
    expect(spans).toHaveLength(3);
    expect(spans.map(({ traceId }) => traceId)).not.toContain(trace);
  });

  it("is named in the log line", async () => {
    await (await send("ok", { traceparent: `00-${trace}-00f067aa0ba902b7-01` })).arrayBuffer();
    await flushed();
    expect(service.lines).toMatchObject([{ trace, run: expect.any(String), id: expect.any(String) }]);
  });
});

it("nothing that a client or an endpoint said is in a trace", async () => {
  for (const id of cases)
    await send(id)
      .then((response) => response.arrayBuffer())
      .catch(() => {});
  await send("ok", {}, `/endpoints/${secretWord}/sparql?key=${secretWord}`);
  await send("ok", {}, `/${secretWord}?key=${secretWord}`);
  const spans = await flushed();
  expect(spans.length).toBeGreaterThan(20);
  expect(collector.received).not.toContain(secretWord);
  // No query, no URL, no address.
  expect(collector.received.replaceAll(/"host":"[^"]*"/g, "")).not.toMatch(/SELECT|http:\/\/|127\.0\.0\.1|FOO/);
});
