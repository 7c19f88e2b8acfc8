import { createServer, type Socket } from "node:net";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type Clock, steadyClock } from "../../../src/clock.ts";
import { toProblem } from "../../../src/errors/fedway-error.ts";
import { createSparqlClient, type SparqlClientOptions } from "../../../src/outbound/client.ts";
import type { Credential } from "../../../src/outbound/credential-file.ts";
import { createCredentials } from "../../../src/outbound/credentials.ts";
import { createDocumentClient } from "../../../src/outbound/documents.ts";
import { createJsonClient } from "../../../src/outbound/json-client.ts";
import { listening } from "../../support/listening.ts";
import { type PrivateEndpoint, startPrivateEndpoint, startTokenServer } from "../../support/private-endpoint.ts";

const token = "bearer-token-0123456789abcdef";
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

let credential: Credential;
let fileUrl: string | undefined;
let withheld: string[] = [];
beforeEach(() => {
  credential = { type: "bearer", token };
  withheld = [];
});

function open({ clock = steadyClock, resolveHost }: Pick<SparqlClientOptions, "resolveHost"> & { clock?: Clock } = {}) {
  const options = { version: "1", allowAddresses: ["127.0.0.0/8"], clock, retry: { limit: 0 }, resolveHost };
  const json = createJsonClient(options);
  const credentials = createCredentials({
    file: { get: (id) => (id === "a" ? credential : undefined) },
    fileUrl: () => fileUrl,
    post: (request) => json.post(request),
    clock,
    onWithheld: (id) => void withheld.push(id),
  });
  const client = createSparqlClient({ ...options, credentials });
  const documents = createDocumentClient({ ...options, credentials });
  closing.push(
    () => client.close(),
    () => documents.close(),
    () => json.close(),
  );
  const { signal } = new AbortController();
  return {
    documents,
    ask: (url: string, id = "a") =>
      client.query({
        endpoint: { id, url },
        query: "ASK { ?s ?p ?o }",
        kind: "boolean",
        accept: "application/sparql-results+json",
        encoding: "decode",
        signal,
        deadlineMs: clock.now() + 20_000,
      }),
    read: (url: string) =>
      documents.fetch({ url, endpoint: "a", signal, timeoutMs: 20_000, maxBytes: 1e6, maxQuads: 100 }),
  };
}

/** A server that is no endpoint and keeps what it gets. */
async function startListener() {
  let received = "";
  const server = createServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
      socket.destroy();
    });
  });
  const { port, close } = await listening(server);
  closing.push(close);
  return { port, received: () => received };
}

const letIn = ({ authorization }: { readonly authorization?: string | undefined }): boolean =>
  authorization === `Bearer ${token}`;
async function start(isLetIn: Parameters<typeof startPrivateEndpoint>[1] = letIn): Promise<PrivateEndpoint> {
  const endpoint = await startPrivateEndpoint("<urn:s> <urn:p> <urn:o> .", isLetIn);
  closing.push(endpoint.close);
  fileUrl = endpoint.url;
  return endpoint;
}

describe("credentials", () => {
  it("go to the origin of the catalogue's file alone: neither another port, name nor scheme of the same machine", async () => {
    const [endpoint, { port, received }] = [await start(), await startListener()];
    const { ask } = open();
    expect((await ask(endpoint.url)).status).toBe(200);
    const elsewhere = [
      `http://127.0.0.1:${port}/sparql`,
      endpoint.url.replace("127.0.0.1", "127.0.0.2").replace(/:\d+/u, `:${port}`),
      endpoint.url.replace("http:", "https:").replace(/:\d+/u, `:${port}`),
    ];
    for (const url of elsewhere) await ask(url).catch(() => {});
    expect(withheld).toEqual(["a", "a", "a"]);
    expect(received()).not.toBe("");
    expect(received()).not.toContain(token);
  });
  it("are not sent for another endpoint at the same origin, nor for one without a file", async () => {
    const endpoint = await start();
    const { ask } = open();
    await expect(ask(endpoint.url, "b")).rejects.toMatchObject({
      code: "ENDPOINT_REFUSED",
      details: { upstreamStatus: 401 },
    });
    fileUrl = undefined;
    const error: unknown = await ask(endpoint.url).catch((thrown: unknown) => thrown);
    expect(toProblem(error).next).toContain('Set "origin" of "a" in the file that FEDWAY_CREDENTIALS names');
    expect(endpoint.requests.filter(({ headers }) => headers.authorization)).toEqual([]);
  });
  it("stay here when the name resolves elsewhere: to a refused address, or to a server without its certificate", async () => {
    const { port, received } = await startListener();
    fileUrl = `https://private.example:${port}/sparql`;
    const at = (address: string) => open({ resolveHost: (_, done) => done(null, [{ address, family: 4 }]) });
    await expect(at("10.1.2.3").ask(fileUrl)).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    expect(received()).toBe("");
    await expect(at("127.0.0.1").ask(fileUrl)).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
    expect(received()).not.toBe("");
    expect(received()).not.toContain(token);
  });
  it("are sent for documents at that origin, and leave them where they redirect away", async () => {
    const [endpoint, stranger] = [await start(), await startPrivateEndpoint("", () => true)];
    closing.push(stranger.close);
    endpoint.answerInstead(({ path, headers }, response) => {
      if (!letIn(headers)) return response.writeHead(401).end(`sent ${headers.authorization}`) !== undefined;
      if (path === "/away") return response.writeHead(302, { location: `${stranger.origin}/x` }).end() !== undefined;
      return response.writeHead(200, { "content-type": "text/turtle" }).end("<urn:s> <urn:p> <urn:o> .") !== undefined;
    });
    stranger.answerInstead((_, response) => response.writeHead(404).end() !== undefined);
    const { read } = open();
    expect((await read(`${endpoint.origin}/.well-known/void`)).quads).toHaveLength(1);
    await expect(read(`${endpoint.origin}/away`)).rejects.toMatchObject({ details: { upstreamStatus: 404 } });
    expect(stranger.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});

describe("a token", () => {
  const secret = "client-secret-0123456789";
  async function startOauth() {
    const tokens = await startTokenServer("id", secret);
    closing.push(tokens.close);
    credential = { type: "oauth", tokenUrl: tokens.url, clientId: "id", clientSecret: secret };
    return {
      tokens,
      endpoint: await start(({ authorization = "" }) => tokens.issued.includes(authorization.slice(7))),
    };
  }
  it("is kept until shortly before its end, and fetched once for all who wait", async () => {
    const { tokens, endpoint } = await startOauth();
    let nowMs = 1_000;
    const clock = { ...steadyClock, now: () => nowMs };
    const { ask } = open({ clock });
    await Promise.all(Array.from({ length: 10 }, () => ask(endpoint.url)));
    nowMs += 3_600_000 - 40_000;
    await ask(endpoint.url);
    expect(tokens.issued).toHaveLength(1);
    nowMs += 20_000;
    await ask(endpoint.url);
    expect(tokens.issued).toHaveLength(2);
  });
  it("that is not given fails the queries, says where, quotes nothing and is not asked for with each of them", async () => {
    const { tokens, endpoint } = await startOauth();
    credential = { type: "oauth", tokenUrl: tokens.url, clientId: "id", clientSecret: "wrong-secret-0123456789" };
    const { ask } = open();
    const errors = await Promise.all(
      Array.from({ length: 5 }, () => ask(endpoint.url).catch((error: unknown) => error)),
    );
    const host = new URL(tokens.url).host;
    for (const error of errors) {
      expect(toProblem(error)).toMatchObject({
        code: "ENDPOINT_REFUSED",
        detail: `No token for "a" came from ${host}: it answered with HTTP status 401.`,
        next: expect.stringContaining("FEDWAY_CREDENTIALS"),
      });
    }
    expect(tokens.bodies).toHaveLength(1);
    expect(endpoint.requests).toEqual([]);
  });
  it("goes through the address guard, and not behind a redirect", async () => {
    const { endpoint } = await startOauth();
    const { port, received } = await startListener();
    credential = { type: "oauth", tokenUrl: "http://10.1.2.3/token", clientId: "id", clientSecret: secret };
    await expect(open().ask(endpoint.url)).rejects.toMatchObject({ message: expect.stringContaining("No token") });
    const moved = await start();
    moved.answerInstead(
      (_, response) => response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end() !== undefined,
    );
    credential = { type: "oauth", tokenUrl: `${moved.origin}/token`, clientId: "id", clientSecret: secret };
    fileUrl = endpoint.url;
    await expect(open().ask(endpoint.url)).rejects.toMatchObject({
      message: expect.stringContaining("HTTP status 307"),
    });
    expect(received()).toBe("");
  });
  it("that would begin another header is refused", async () => {
    const { endpoint } = await startOauth();
    const evil = await start();
    const answer = JSON.stringify({ access_token: "x\r\nX-Evil: 1", token_type: "Bearer" });
    evil.answerInstead((_, response) => response.writeHead(200).end(answer) !== undefined);
    credential = { type: "oauth", tokenUrl: `${evil.origin}/token`, clientId: "id", clientSecret: secret };
    fileUrl = endpoint.url;
    await expect(open().ask(endpoint.url)).rejects.toMatchObject({
      message: expect.stringContaining("no bearer token"),
    });
    expect(endpoint.requests).toEqual([]);
  });
});
