import { createHash } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { steadyClock } from "../../../src/clock.ts";
import { toProblem } from "../../../src/errors/fedway-error.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import type { Credential } from "../../../src/outbound/credential-file.ts";
import { createCredentials } from "../../../src/outbound/credentials.ts";
import { createDocumentClient } from "../../../src/outbound/documents.ts";
import { listening } from "../../support/listening.ts";

// HTTP Digest (RFC 7616) against a server that checks each signature itself.

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

type Fields = Readonly<Record<string, string>>;
const account = { user: 'Jäsøn "D" Doe', password: "Zürich, 8001: geheim" };

/** The fields of an Authorization header. */
const fieldsOf = (authorization: string): Fields =>
  Object.fromEntries(
    [...authorization.matchAll(/([\w*]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/gu)].map(([, name, quoted, plain]) => [
      name,
      quoted === undefined ? plain : Buffer.from(quoted.replaceAll(/\\(.)/gu, "$1"), "latin1").toString(),
    ]),
  );

/** The response that RFC 7616, section 3.4.1, has for these fields. */
function rightResponse({ realm, nonce, nc, cnonce, uri, algorithm = "MD5" }: Fields, method: string, of = account) {
  const hash = algorithm
    .replace(/-sess$/iu, "")
    .replaceAll("-", "")
    .toLowerCase()
    .replace("sha512256", "sha512-256");
  const h = (...parts: readonly unknown[]): string => createHash(hash).update(parts.join(":")).digest("hex");
  const secret = h(of.user, realm, of.password);
  const key = /-sess$/iu.test(algorithm) ? h(secret, nonce, cnonce) : secret;
  return { response: h(key, nonce, nc, cnonce, "auth", h(method, uri)), userhash: h(of.user, realm) };
}

type Seen = { readonly path: string; readonly fields: Fields | undefined; readonly isRight: boolean };

const answers: Readonly<Record<string, readonly [mediaType: string, body: string]>> = {
  GET: ["text/turtle", "<a:a> a <a:b> ."],
  POST: ["application/sparql-results+json", '{"head":{},"boolean":true}'],
};

/** A server whose nonces may be used or have run out; `challenge` has what stands beside realm, nonce and stale. */
async function startServer(challenge = 'qop="auth"', { expires = false, saysStale = true } = {}) {
  const seen: Seen[] = [];
  const nonces = new Set<string>();
  const used = new Set<string>();
  let location: string | undefined;
  /** A field that asks for a signature with a new nonce. */
  const asked = (isStale: boolean): string => {
    const nonce = `nonce, "${used.size}.${seen.length}"`;
    if (!expires) nonces.add(nonce);
    const stale = isStale && saysStale ? ", stale=TRUE" : "";
    const digest = `Digest realm="Zürich \\"1\\"", nonce="${nonce.replaceAll('"', String.raw`\"`)}"${stale}, ${challenge}`;
    return Buffer.from(`Negotiate b64==, ${digest}`).toString("latin1");
  };
  /** Each count of a nonce is good for one request. */
  const isFresh = ({ nonce = "", nc = "" }: Fields): boolean =>
    nonces.has(nonce) && used.size < used.add(`${nonce} ${nc}`).size;
  const server = await listening(
    createServer((request, response) => {
      const { url: path = "/", method = "GET", headers } = request;
      void text(request).then(() => {
        const { fields, isRight } = judged(headers, method, path);
        seen.push({ path, fields, isRight });
        if (!isRight || !fields || !isFresh(fields))
          return response.writeHead(401, { "www-authenticate": asked(isRight) }).end(`sent ${headers.authorization}`);
        if (location !== undefined && path !== location) return response.writeHead(307, { location }).end();
        const [type = "", body] = answers[method] ?? [];
        return response.writeHead(200, { "content-type": type }).end(body);
      });
    }),
  );
  closing.push(server.close);
  return {
    ...server,
    seen,
    expire: () => nonces.clear(),
    redirect: (to: string) => void (location = to),
  };
}

function judged({ authorization }: IncomingHttpHeaders, method: string, path: string) {
  if (authorization === undefined) return { fields: undefined, isRight: false };
  const fields = fieldsOf(authorization);
  const { response, userhash } = rightResponse(fields, method);
  const extended = decodeURIComponent(fields["username*"]?.replace("UTF-8''", "") ?? "");
  const isKnown = fields["userhash"] === "true" ? fields["username"] === userhash : extended === account.user;
  const isRight = isKnown && fields["uri"] === path && fields["response"] === response && fields["qop"] === "auth";
  return { fields, isRight };
}

let credential: Credential;
beforeEach(() => {
  credential = { type: "digest", ...account };
});

function open(fileUrl: string) {
  const options = { version: "1", allowAddresses: ["127.0.0.0/8"], clock: steadyClock, retry: { limit: 0 } };
  const credentials = createCredentials({
    file: { get: () => credential },
    fileUrl: () => fileUrl,
    post: () => Promise.reject(new Error("no tokens here")),
    clock: steadyClock,
    onWithheld: () => {},
  });
  const client = createSparqlClient({ ...options, credentials });
  const documents = createDocumentClient({ ...options, credentials });
  closing.push(
    () => client.close(),
    () => documents.close(),
  );
  const { signal } = new AbortController();
  const ask = (url = `${fileUrl}/sparql?a=%20"b`) =>
    client.query({
      endpoint: { id: "a", url },
      query: "ASK { ?s ?p ?o }",
      kind: "boolean",
      accept: "application/sparql-results+json",
      encoding: "decode",
      signal,
      deadlineMs: steadyClock.now() + 20_000,
    });
  const read = () =>
    documents.fetch({ url: `${fileUrl}/void`, endpoint: "a", signal, timeoutMs: 20_000, maxBytes: 1e6, maxQuads: 9 });
  const problem = () =>
    ask().then(
      () => undefined,
      (thrown: unknown) => toProblem(thrown),
    );
  return { ask, read, problem };
}

describe("HTTP Digest", () => {
  it("has the responses that RFC 7616 (section 3.9.1) gives, in the server of these tests", () => {
    const fields = {
      realm: "http-auth@example.org",
      nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
      uri: "/dir/index.html",
      nc: "00000001",
      cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
    };
    const mufasa = { user: "Mufasa", password: "Circle of Life" };
    expect(rightResponse({ ...fields, algorithm: "MD5" }, "GET", mufasa).response).toBe(
      "8ca523f5e9506fed4657c9700eebdbec",
    );
    expect(rightResponse({ ...fields, algorithm: "SHA-256" }, "GET", mufasa).response).toBe(
      "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
    );
  });
  it.each([
    ["no algorithm", 'qop="auth"'],
    ["MD5 as Virtuoso writes it", 'opaque="5ebe22", qop="auth", algorithm="MD5"'],
    ["MD5-sess", "qop=auth, algorithm=MD5-sess"],
    ["SHA-256", 'algorithm=SHA-256, qop="auth-int, auth", opaque=""'],
    ["SHA-256-sess", 'algorithm=SHA-256-sess, qop="auth,auth-int"'],
    ["SHA-512-256", 'algorithm=SHA-512-256, qop="auth"'],
    ["userhash and charset", 'algorithm=SHA-256, qop="auth", charset=UTF-8, userhash=true'],
    [
      "two challenges, the first of them unknown",
      'qop="auth", algorithm=SHA-3, Digest realm="x", qop="auth", algorithm=SHA-256, nonce="nonce, \\"0.1\\""',
    ],
  ])("signs requests, counted, with one nonce: %s", async (_, challenge) => {
    const server = await startServer(challenge);
    const { ask, read } = open(server.origin);
    for (let time = 0; time < 3; time += 1) expect((await ask()).status).toBe(200);
    expect((await read()).quads).toHaveLength(1);
    expect(server.seen.map(({ fields, isRight }) => isRight && fields?.["nc"])).toEqual([
      false,
      "00000001",
      "00000002",
      "00000003",
      "00000004",
    ]);
    const given = server.seen.map(({ fields }) => fields).filter((fields) => fields !== undefined);
    expect(new Set(given.map(({ cnonce }) => cnonce)).size).toBe(4);
    expect(new Set(given.map(({ nonce }) => nonce)).size).toBe(1);
    const opaque = /opaque="(.*?)"/u.exec(challenge)?.[1];
    expect(given.map((fields) => fields["opaque"])).toEqual(given.map(() => opaque));
  });
  it.each([true, false])(
    "asks again with a new nonce when the old one has run out, stale said: %s",
    async (saysStale) => {
      const server = await startServer(undefined, { saysStale });
      const { ask } = open(server.origin);
      await ask();
      server.expire();
      expect((await ask()).status).toBe(200);
      expect(server.seen.map(({ isRight }) => isRight)).toEqual([false, true, true, true]);
    },
  );
  it("gives up on a server whose nonces never last", async () => {
    const server = await startServer(undefined, { expires: true });
    expect(await open(server.origin).problem()).toMatchObject({ code: "ENDPOINT_REFUSED", upstreamStatus: 401 });
    expect(server.seen).toHaveLength(4);
  });
  it("sends a wrong password once with each query, and the error says what to do", async () => {
    const server = await startServer();
    credential = { type: "digest", user: account.user, password: "wrong-0123456789" };
    const { problem } = open(server.origin);
    for (let time = 1; time <= 3; time += 1) {
      const found = await problem();
      expect(found).toMatchObject({ code: "ENDPOINT_REFUSED", upstreamStatus: 401 });
      expect(found?.detail).toContain("although credentials were sent");
      expect(found?.next).toBe('Correct the credentials of "a" in the file that FEDWAY_CREDENTIALS names.');
      expect(server.seen.filter(({ fields }) => fields)).toHaveLength(time);
      for (const { fields } of server.seen.slice(-1))
        expect(JSON.stringify(found)).not.toContain(fields?.["response"] ?? "no response was sent");
    }
  });
  it.each([
    ["an algorithm", 'algorithm=SHA-3, qop="auth"'],
    ["a protection of bodies alone", 'qop="auth-int"'],
    ["no qop", "algorithm=MD5"],
  ])("is not attempted where it is unknown, and the error says so: %s", async (_, challenge) => {
    const server = await startServer(challenge);
    const found = await open(server.origin).problem();
    expect(found?.next).toContain("a form of HTTP Digest that Fedway does not know");
    expect(server.seen.map(({ fields }) => fields)).toEqual([undefined]);
  });
  it("is named where the entry has another type, and the other way round", async () => {
    const server = await startServer();
    credential = { type: "basic", ...account };
    expect((await open(server.origin).problem())?.next).toBe(
      'The endpoint asks for digest: set "type" of "a" in the file that FEDWAY_CREDENTIALS names to it.',
    );
  });
  it("stays at its origin, behind a redirect as well", async () => {
    const [server, stranger] = [await startServer(), await startServer()];
    server.redirect(`${stranger.origin}/sparql`);
    const found = await open(server.origin).problem();
    expect(found?.next).toContain("not sent behind a redirect");
    expect(server.seen.map(({ isRight }) => isRight)).toEqual([false, true]);
    expect(stranger.seen.map(({ fields }) => fields)).toEqual([undefined]);
  });
  it("signs the path that a redirect within the origin leads to", async () => {
    const server = await startServer();
    const { ask } = open(server.origin);
    await ask();
    server.redirect("/elsewhere");
    expect((await ask()).status).toBe(200);
    expect(server.seen.at(-1)).toMatchObject({ path: "/elsewhere", isRight: true });
  });
  it("serves many queries that begin at once", async () => {
    const server = await startServer();
    const { ask } = open(server.origin);
    const all = await Promise.all(Array.from({ length: 10 }, () => ask()));
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(server.seen.filter(({ isRight }) => isRight)).toHaveLength(10);
  });
});
