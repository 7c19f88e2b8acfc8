import type { ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDocumentClient, type DocumentClient, type DocumentRequest } from "../../../src/outbound/documents.ts";
import { type DocumentServer, shouldRejectWith, startDocumentServer } from "../../support/document-server.ts";

let server: DocumentServer;
let client: DocumentClient;

beforeEach(async () => {
  server = await startDocumentServer();
  client = createDocumentClient({ version: "1", contact: "ops@example.org", allowAddresses: ["127.0.0.0/8"] });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

const request = (path: string, more: Partial<DocumentRequest> = {}): DocumentRequest => ({
  url: `${server.origin}${path}`,
  signal: new AbortController().signal,
  timeoutMs: 60_000,
  maxBytes: 10_000,
  maxQuads: 100,
  ...more,
});

const turtle = "<#d> <p> <../o> .";
const ntriples = "<urn:d> <urn:p> <urn:o> .";
const jsonld = '{"@id":"#d","http://x/p":{"@id":"o"}}';
const rdfxml =
  '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/"><rdf:Description rdf:about="#d"><x:p rdf:resource="o"/></rdf:Description></rdf:RDF>';

describe("documents are read", () => {
  it.each([
    ["/a/v", "text/turtle; charset=utf-8", turtle, "/a/v#d"],
    ["/a/v", "application/x-turtle", turtle, "/a/v#d"],
    ["/a/v.ttl", "text/plain", turtle, "/a/v.ttl#d"],
    ["/a/v.ttl", "application/octet-stream", turtle, "/a/v.ttl#d"],
    ["/a/v", "application/n-triples", ntriples, "urn:d"],
    ["/a/v", "text/plain", ntriples, "urn:d"],
    ["/a/v", "application/ld+json", jsonld, "/a/v#d"],
    ["/a/v", "application/rdf+xml", rdfxml, "/a/v#d"],
    ["/a/v.rdf", "application/xml", rdfxml, "/a/v.rdf#d"],
  ])("%s as %s", async (path, type, body, subject) => {
    server.documents.set(path, { type, body });
    const got = await client.fetch(request(path));
    const expected = subject.startsWith("/") ? server.origin + subject : subject;
    expect(got.quads.map((quad) => quad.subject.value)).toEqual([expected]);
    expect(got).toMatchObject({ url: server.origin + path, httpStatus: 200, bytes: Buffer.byteLength(body) });
    expect(server.requests[0]?.headers["user-agent"]).toBe("Fedway/1 (ops@example.org)");
    expect(server.requests[0]?.headers.accept).toMatch(/^text\/turtle,/u);
  });
  it.each([
    ["gzip", gzipSync(turtle)],
    ["br", brotliCompressSync(turtle)],
  ])("content coding %s", async (coding, body) => {
    server.documents.set("/v", { body, headers: { "content-encoding": coding } });
    expect((await client.fetch(request("/v"))).quads).toHaveLength(1);
  });
  it("after redirects, whose end is the base", async () => {
    server.documents.set("/1", { status: 303, headers: { location: "/2" } });
    server.documents.set("/2", { status: 302, headers: { location: "/deep/3?x=1#frag" } });
    server.documents.set("/deep/3?x=1", { body: turtle });
    const got = await client.fetch(request("/1"));
    expect(got.url).toBe(`${server.origin}/deep/3?x=1`);
    expect(got.quads[0]?.object.value).toBe(`${server.origin}/o`);
  });
});

describe("documents are refused", () => {
  it.each([
    [
      "RDF in HTML",
      { type: "text/html", body: `<script type="text/turtle">${turtle}</script>` },
      "ENDPOINT_NOT_SPARQL",
    ],
    ["an image", { type: "image/png", body: "x" }, "ENDPOINT_NOT_SPARQL"],
    ["no type", { type: "application/octet-stream", body: turtle }, "ENDPOINT_NOT_SPARQL"],
    ["broken Turtle", { body: "<a> <b>" }, "ENDPOINT_MALFORMED"],
    [
      "a remote context",
      { type: "application/ld+json", body: '{"@context":"http://x/","@id":"a"}' },
      "ENDPOINT_MALFORMED",
    ],
    [
      "an entity bomb",
      { type: "application/rdf+xml", body: `<!DOCTYPE r [<!ENTITY a "b">]>${rdfxml}` },
      "ENDPOINT_MALFORMED",
    ],
    ["a broken coding", { body: "no gzip", headers: { "content-encoding": "gzip" } }, "ENDPOINT_MALFORMED"],
    ["an unknown coding", { body: "x", headers: { "content-encoding": "lzma" } }, "ENDPOINT_MALFORMED"],
    ["many bytes", { body: `${turtle}\n`.repeat(1000) }, "ANSWER_TOO_LARGE"],
    [
      "a gzip bomb",
      { body: gzipSync(`${turtle}\n`.repeat(1000)), headers: { "content-encoding": "gzip" } },
      "ANSWER_TOO_LARGE",
    ],
    ["many triples", { body: `${turtle}\n`.repeat(101) }, "ANSWER_TOO_LARGE"],
    ["a 404", { status: 404, body: "gone" }, "ENDPOINT_REFUSED"],
    ["a redirect loop", { status: 302, headers: { location: "/v" } }, "ENDPOINT_REDIRECT"],
    [
      "a redirect to an internal address",
      { status: 302, headers: { location: "http://10.0.0.1/" } },
      "ADDRESS_REFUSED",
    ],
    ["a redirect to a file", { status: 302, headers: { location: "file:///etc/passwd" } }, "ADDRESS_REFUSED"],
  ] as const)("%s", async (_name, document, code) => {
    server.documents.set("/v", document);
    await shouldRejectWith(client.fetch(request("/v")), { code });
  });
  it("a web page, with the address that its query form sends to", async () => {
    const form = (action: string, field: string) =>
      `<form method=get action="${action}"><input name="${field}"></form>`;
    const body = gzipSync(`<html>${form("/search", "q")}${form("../sparql?a=1", "query")}</html>`);
    server.documents.set("/deep/v", { type: "text/html", body, headers: { "content-encoding": "gzip" } });
    const message = `The document is a web page, not RDF. Its query form sends to ${server.origin}/sparql?a=1.`;
    await expect(client.fetch(request("/deep/v"))).rejects.toMatchObject({ code: "ENDPOINT_NOT_SPARQL", message });
  });
  it.each(["http://10.0.0.1/", "ftp://example.org/", "http://u:p@127.0.0.1/", "nonsense"])(
    "the URL %s",
    async (url) => {
      await shouldRejectWith(client.fetch(request("", { url })), { code: "ADDRESS_REFUSED", fault: "address" });
      expect(server.requests).toHaveLength(0);
    },
  );
  it("follows three redirects at most", async () => {
    for (const n of [1, 2, 3, 4]) server.documents.set(`/${n}`, { status: 302, headers: { location: `/${n + 1}` } });
    server.documents.set("/5", { body: turtle });
    await shouldRejectWith(client.fetch(request("/1")), { code: "ENDPOINT_REDIRECT" });
    expect(server.requests).toHaveLength(4);
    expect((await client.fetch(request("/2"))).quads).toHaveLength(1);
  });
  it("keeps Retry-After of a refusal", async () => {
    server.documents.set("/v", { status: 503, headers: { "retry-after": "3" } });
    const details = { upstreamStatus: 503, retryAfterMs: 3000, fault: "http-5xx" } as const;
    await shouldRejectWith(client.fetch(request("/v")), { code: "ENDPOINT_FAILED", ...details });
  });
});

describe("nothing lasts longer than allowed", () => {
  it.each([
    ["no answer", () => {}],
    ["half an answer", (_: unknown, response: ServerResponse) => response.write("<a>")],
  ])("the deadline ends %s", async (_name, hang) => {
    server.documents.set("/v", hang);
    const details = { code: "DEADLINE_EXCEEDED", fault: "timeout" } as const;
    await shouldRejectWith(client.fetch(request("/v", { timeoutMs: 60 })), details);
  });
  it("the signal ends it", async () => {
    const stop = new AbortController();
    server.documents.set("/v", () => stop.abort());
    await shouldRejectWith(client.fetch(request("/v", { signal: stop.signal })), { code: "CANCELLED" });
    await shouldRejectWith(client.fetch(request("/v", { signal: stop.signal })), { code: "CANCELLED" });
    expect(server.requests).toHaveLength(1);
  });
  it("closing the client ends it", async () => {
    server.documents.set("/v", () => void client.close());
    await shouldRejectWith(client.fetch(request("/v")), { code: "CANCELLED" });
    await shouldRejectWith(client.fetch(request("/v")), { code: "CANCELLED" });
  });
  it("waits for its turn at a host that is not the operator's own", async () => {
    const slow = createDocumentClient({
      version: "1",
      allowAddresses: ["127.0.0.0/8"],
      hostRate: { perSecond: 20, burst: 1 },
      resolveHost: (_name, done) => done(null, [{ address: "127.0.0.1", family: 4 }]),
    });
    server.documents.set("/v", { body: turtle });
    const url = `${server.origin.replace("127.0.0.1", "data.example")}/v`;
    const startedMs = performance.now();
    await Promise.all([1, 2, 3].map(() => slow.fetch(request("", { url }))));
    expect(performance.now() - startedMs).toBeGreaterThan(90);
    const late = Promise.all([1, 2, 3, 4].map(() => slow.fetch(request("", { url, timeoutMs: 60 }))));
    await shouldRejectWith(late, { code: "ENDPOINT_BUSY" });
    await slow.close();
  });
});
