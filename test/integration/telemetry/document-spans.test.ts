import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openClients, type Clients } from "../../../src/app/open-clients.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { createVoidRetriever } from "../../../src/registry/descriptions/void-retriever.ts";
import { createOtlpTracing } from "../../../src/telemetry/otlp-tracing.ts";
import type { Tracing } from "../../../src/telemetry/tracing.ts";
import type { DocumentRequest } from "../../../src/outbound/documents.ts";
import { type DocumentServer, type ServedDocument, startDocumentServer } from "../../support/document-server.ts";
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from "../../support/otlp-collector.ts";

let collector: OtlpCollector;
let server: DocumentServer;
let tracing: Tracing;
let clients: Clients;

beforeEach(async () => {
  collector = await startOtlpCollector();
  server = await startDocumentServer();
  tracing = createOtlpTracing({ endpoint: collector.url, version: "1", everyMs: 10, closeMs: 10_000 });
  const config = loadConfig({ FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8" });
  clients = openClients(config, () => undefined, { tracer: tracing });
});
afterEach(async () => {
  await clients.close();
  await tracing.close();
  await collector.close();
  await server.close();
});

/** Everything that was sent. */
/** All spans in the order in which they began; they come in that in which they ended. */
async function flushed(): Promise<readonly CollectedSpan[]> {
  await tracing.close();
  return collector.spans.toSorted((left, right) => Number(BigInt(left.started) - BigInt(right.started)));
}

function fetchPath(path: string, more: Partial<DocumentRequest> = {}): Promise<unknown> {
  const limits = { timeoutMs: 20_000, maxBytes: 10_000, maxQuads: 100 };
  const request = { url: server.origin + path, signal: new AbortController().signal, ...limits, ...more };
  return clients.documents.fetch(request).catch((error: unknown) => error);
}

/** What the spans of downloads say, in the order in which they were begun: attempt, outcome, status, error. */
const told = (spans: readonly CollectedSpan[]): readonly (readonly unknown[])[] =>
  spans.map(({ attributes, error }) => [
    attributes["fedway.attempt"],
    attributes["fedway.outcome"],
    attributes["http.response.status_code"],
    error,
  ]);

const turtle = "<urn:s> <urn:p> <urn:o> .";

describe("the download of a document", () => {
  it("has a span with the attributes of every upstream request, under what it belongs to", async () => {
    server.documents.set("/void.ttl", { body: turtle });
    const work = tracing.startSpan("work");
    await fetchPath("/void.ttl", { endpoint: "alpha", trace: work.context });
    work.end();
    const spans = await flushed();
    expect(spans.map(({ name }) => name).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(["upstream request", "work"]);
    const [above, span] = ["work", "upstream request"].map((wanted) => spans.find(({ name }) => name === wanted));
    expect(span).toMatchObject({ kind: 3, parentSpanId: above?.spanId, traceId: above?.traceId, error: undefined });
    expect(span?.attributes).toEqual({
      "fedway.endpoint": "alpha",
      "fedway.attempt": 1,
      "fedway.outcome": "ok",
      "http.response.status_code": 200,
      "http.response.body.size": turtle.length,
    });
  });

  it("for nobody in the catalogue is that of an unlisted one", async () => {
    server.documents.set("/void.ttl", { body: turtle });
    await fetchPath("/void.ttl");
    const [span] = await flushed();
    expect(span).toMatchObject({ parentSpanId: "", attributes: { "fedway.endpoint": "unlisted" } });
  });

  it.each<readonly [string, ServedDocument, Partial<DocumentRequest>, readonly unknown[]]>([
    ["is not there", { status: 404, body: "gone" }, {}, [1, "http-4xx", 404, "http-4xx"]],
    ["is not given out", { status: 503 }, {}, [1, "http-5xx", 503, "http-5xx"]],
    ["comes too often", { status: 429 }, {}, [1, "http-429", 429, "http-429"]],
    ["has no content", { status: 204 }, {}, [1, "wrong-media-type", 204, "wrong-media-type"]],
    ["is a page", { type: "text/html", body: "<p>" }, {}, [1, "wrong-media-type", 200, "wrong-media-type"]],
    ["is malformed", { body: "<urn:s> <urn:p>" }, {}, [1, "malformed", 200, "malformed"]],
    ["is too large", { body: turtle }, { maxBytes: 5 }, [1, "too-large", 200, "too-large"]],
    ["breaks off", (_, response) => void response.destroy(), {}, [1, "reset", undefined, "reset"]],
    ["does not come", () => {}, { timeoutMs: 50 }, [1, "timeout", undefined, "timeout"]],
  ])("that %s has a span that says so", async (_what, document, more, expected) => {
    server.documents.set("/x", document);
    expect(await fetchPath("/x", more)).toBeInstanceOf(Error);
    expect(told(await flushed())).toEqual([expected]);
  });

  it("counts what came of a body that was broken off", async () => {
    server.documents.set("/x", (_, response) => {
      response.writeHead(200, { "content-type": "text/turtle", "content-length": "1000" });
      response.write("<urn:s> ", () => setTimeout(() => response.destroy(), 20));
    });
    expect(await fetchPath("/x")).toBeInstanceOf(Error);
    const [span] = await flushed();
    expect(told([span ?? expect.fail("no span")])).toEqual([[1, "reset", 200, "reset"]]);
    expect(span?.attributes["http.response.body.size"]).toBe(8);
  });

  it("has a span for each redirect", async () => {
    server.documents.set("/a", { status: 303, headers: { location: "/b" } });
    server.documents.set("/b", { status: 302, headers: { location: "/c" } });
    server.documents.set("/c", { body: turtle });
    await fetchPath("/a");
    server.documents.set("/c", { status: 302, headers: { location: "file:///x" } });
    await fetchPath("/c");
    expect(told(await flushed())).toEqual([
      [1, "http-3xx", 303, undefined],
      [2, "http-3xx", 302, undefined],
      [3, "ok", 200, undefined],
      [1, "http-3xx", 302, undefined],
    ]);
    expect(server.requests).toHaveLength(4);
  });

  it("that is cancelled is no failure of the endpoint", async () => {
    const stop = new AbortController();
    server.documents.set("/x", () => stop.abort());
    await fetchPath("/x", { signal: stop.signal });
    expect(told(await flushed())).toEqual([[1, "cancelled", undefined, undefined]]);
  });

  it("that is not sent has none", async () => {
    await fetchPath("", { url: "http://10.0.0.1/void" });
    await fetchPath("", { url: "nonsense" });
    await fetchPath("/x", { signal: AbortSignal.abort() });
    expect(server.requests).toEqual([]);
    expect(await flushed()).toEqual([]);
  });
});

it("looking for the description of an endpoint has a span for every request, with the endpoint's id", async () => {
  const secret = "TheSecretWord";
  server.documents.set(`/${secret}/sparql`, { body: turtle });
  const retriever = createVoidRetriever({ asker: clients.asker, clock: Date });
  const endpoint = { id: "alpha", url: `${server.origin}/${secret}/sparql` };
  const { signal } = new AbortController();
  await retriever.retrieve({ endpoint, dataset: "http://fedway.example/endpoints/alpha#dataset" }, { signal });
  const paths = server.requests.map(({ path }) => path);
  expect(paths).toContain("/.well-known/void");
  const spans = await flushed();
  expect(spans).toHaveLength(paths.length);
  expect(new Set(spans.map(({ attributes }) => attributes["fedway.endpoint"]))).toEqual(new Set(["alpha"]));
  expect(collector.received.replaceAll(/"host":"[^"]*"/g, "")).not.toMatch(/TheSecretWord|http:\/\/127|urn:s/);
});
