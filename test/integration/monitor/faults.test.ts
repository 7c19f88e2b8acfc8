import { createAsker } from "../../../src/outbound/whole-answer.ts";
import { createDocumentClient } from "../../../src/outbound/documents.ts";
import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { FaultKind } from "../../../src/errors/fedway-error.ts";
import type { CatalogEntry } from "../../../src/registry/catalog.ts";
import { createEndpointProbe, type ProbeResult } from "../../../src/monitor/probe-endpoint.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import { systemClock } from "../../../src/clock.ts";
import type { ResolveHost } from "../../../src/outbound/address-guard.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { type DocumentServer, startDocumentServer } from "../../support/document-server.ts";
import { type HostileServer, startHostileServer } from "../../support/hostile-server.ts";
import { createTpfPages } from "../../support/tpf-server.ts";
import { listening } from "../../support/listening.ts";

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

const noSuchHost: ResolveHost = (_host, done) =>
  done(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }), []);

/** Probes an endpoint through the real transport, with a short patience. */
async function probe(entry: Partial<CatalogEntry>, timeoutMs = 2_000): Promise<ProbeResult> {
  const options = {
    version: "1",
    allowAddresses: ["127.0.0.0/8"],
    resolveHost: noSuchHost,
    retry: { limit: 0 },
    breaker: { faults: Number.POSITIVE_INFINITY },
  };
  const client = createSparqlClient(options);
  const documents = createDocumentClient(options);
  closings.push(
    () => client.close(),
    () => documents.close(),
  );
  const ask = createEndpointProbe({
    asker: createAsker({ client, documents }),
    capabilities: { view: () => undefined },
    clock: systemClock,
    timeoutMs,
    retryMs: 5,
  });
  const finding = await ask(catalogEntry("people", entry), new AbortController().signal);
  return finding ?? expect.fail("the probe says nothing");
}

async function hostile(): Promise<HostileServer> {
  const server = await startHostileServer();
  closings.push(() => server.close());
  return server;
}

async function documentServer(): Promise<DocumentServer> {
  const server = await startDocumentServer();
  closings.push(() => server.close());
  return server;
}

/** A server below HTTP; gives its port. */
async function tcpServer(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    serve(socket);
  });
  const listener = await listening(server);
  closings.push(listener.close);
  return listener.port;
}

const shouldSee = (caseName: string, fault: FaultKind | undefined, more: Partial<ProbeResult> = {}): void =>
  it(`${caseName} is ${fault ?? "good"}`, async () => {
    const server = await hostile();
    // Only what never answers is waited for; everything else has time enough on a slow machine.
    const isSilent = fault === "timeout" && more.status === undefined;
    const finding = await probe({ url: server.url(caseName) }, isSilent ? 400 : 30_000);
    expect(finding).toMatchObject({ ok: fault === undefined, ...(fault && { fault }), ...more });
    if (fault !== undefined) expect(finding.detail).toMatch(/\S/u);
  });

describe("faults of an endpoint that really misbehaves", () => {
  shouldSee("ok", "wrong-answer", { tries: 1 });
  shouldSee("html", "wrong-media-type", { status: 200, tries: 1 });
  shouldSee("400", "http-4xx", { status: 400, tries: 1 });
  shouldSee("401", "http-4xx", { status: 401 });
  shouldSee("404", "http-4xx", { status: 404 });
  shouldSee("429", "http-429", { status: 429, tries: 1 });
  shouldSee("500", "http-5xx", { status: 500, tries: 2 });
  shouldSee("503", "http-5xx", { status: 503, tries: 2 });
  shouldSee("504", "timeout", { status: 504, tries: 2 });
  shouldSee("redirect-loop", "http-3xx", { tries: 1 });
  shouldSee("redirect-private", "address", { tries: 1 });
  shouldSee("partial-206", "partial");
  shouldSee("s1tat", "partial");
  shouldSee("hang", "timeout", { tries: 2 });
  shouldSee("hang-in-body", "timeout", { tries: 2 });
  shouldSee("drip", "timeout", { tries: 2 });
  shouldSee("reset", "reset", { tries: 2 });
  shouldSee("close-silently", "reset", { tries: 2 });
  shouldSee("reset-in-chunked", "reset", { tries: 2 });
  shouldSee("not-http", "malformed", { tries: 1 });
  shouldSee("bad-gzip", "malformed", { tries: 1 });
  shouldSee("endless", "too-large", { tries: 1 });
  shouldSee("gzip-bomb", "too-large", { tries: 1 });
  // An empty result set with status 200 is an answer, and a wrong one.
  shouldSee("as-xml", "wrong-answer", { tries: 1 });
});

const json = (...values: readonly string[]): string =>
  JSON.stringify({
    head: { vars: ["x"] },
    results: { bindings: values.map((value) => ({ x: { type: "literal", value } })) },
  });

describe("an endpoint that answers", () => {
  const results = "application/sparql-results+json";
  const shouldAnswer = (name: string, body: string, expected: Partial<ProbeResult>): void =>
    it(name, async () => {
      const server = await documentServer();
      server.documents.set("/sparql", { type: results, body });
      expect(await probe({ url: `${server.origin}/sparql` })).toMatchObject(expected);
    });
  shouldAnswer("with the right rows is up", json("1", "2", "3"), { ok: true, tries: 1 });
  shouldAnswer("with wrong rows is not", json("1", "2", "5"), { ok: false, fault: "wrong-answer" });
  shouldAnswer("with one row too many is not", json("1", "2", "3", "3"), { ok: false, fault: "wrong-answer" });
  shouldAnswer("with half a document is not", json("1", "2", "3").slice(0, -4), { ok: false, fault: "malformed" });
  shouldAnswer("with JSON of something else is not", '{"rows":[1,2,3]}', { ok: false, fault: "malformed" });
  shouldAnswer("with text that follows is not", `${json("1", "2", "3")}java.lang.Exception`, { fault: "malformed" });
});

describe("what fails before HTTP", () => {
  it("a name that is not known is dns", async () => {
    expect(await probe({ url: "http://nobody.example/sparql" })).toMatchObject({ ok: false, fault: "dns", tries: 2 });
  });

  it("a port that nobody listens at is connect", async () => {
    const port = await tcpServer(() => {});
    await closings.pop()?.();
    const finding = await probe({ url: `http://127.0.0.1:${port}/sparql` });
    expect(finding).toMatchObject({ ok: false, fault: "connect", tries: 2 });
  });

  it("https at a port of plain text is tls", async () => {
    const port = await tcpServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const finding = await probe({ url: `https://127.0.0.1:${port}/sparql` });
    expect(finding).toMatchObject({ ok: false, fault: "tls", tries: 2 });
  });

  it("an address that is not allowed is address", async () => {
    expect(await probe({ url: "http://10.0.0.1/sparql" })).toMatchObject({ ok: false, fault: "address", tries: 1 });
  });

  it("one reset is made good by the second try", async () => {
    const server = await documentServer();
    server.documents.set("/sparql", (request, response) => {
      if (server.requests.length === 1) request.socket.resetAndDestroy();
      else response.writeHead(200, { "content-type": "application/sparql-results+json" }).end(json("1", "2", "3"));
    });
    expect(await probe({ url: `${server.origin}/sparql` })).toMatchObject({ ok: true, tries: 2 });
    expect(server.requests).toHaveLength(2);
  });
});

describe("documents", () => {
  const triple = "<http://x.example/a> <http://x.example/p> <http://x.example/b> .\n";
  const shouldFind = (
    name: string,
    kind: "tpf" | "file",
    served: Parameters<DocumentServer["documents"]["set"]>[1],
    expected: Partial<ProbeResult>,
  ): void =>
    it(name, async () => {
      const server = await documentServer();
      server.documents.set("/data", served);
      expect(await probe({ url: `${server.origin}/data`, interface: kind })).toMatchObject(expected);
    });
  shouldFind("a file of RDF is there", "file", { body: triple }, { ok: true, tries: 1 });
  shouldFind("a long one too, without being taken in whole", "file", { body: triple.repeat(100_000) }, { ok: true });
  shouldFind("a page is no file of RDF", "file", { type: "text/html", body: "<p>" }, { fault: "wrong-media-type" });
  shouldFind("broken Turtle is malformed", "file", { body: "<a" }, { ok: false, fault: "malformed" });
  shouldFind("a file that is gone", "file", { status: 404 }, { ok: false, fault: "http-4xx", status: 404 });
  shouldFind(
    "a long page instead of it",
    "file",
    { status: 500, body: "x".repeat(2 ** 20) },
    { fault: "http-5xx", tries: 2 },
  );
  shouldFind("RDF without a search form is no fragment", "tpf", { body: triple }, { ok: false, fault: "wrong-answer" });

  it("a fragment has its search form", async () => {
    const server = await documentServer();
    const url = `${server.origin}/data`;
    server.documents.set("/data", { body: createTpfPages(triple, url)(url).body });
    expect(await probe({ url, interface: "tpf" })).toMatchObject({ ok: true, tries: 1 });
  });
});
