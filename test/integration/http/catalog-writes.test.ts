import { describe, expect, it } from "vitest";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { endpointTurtle, federationTurtle } from "../../support/catalog-folder.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { openTestCatalog } from "../../support/http-deps.ts";
import { raw, start, type Started } from "./http-fixture.ts";

const turtle = "text/turtle";
const jsonLd = "application/ld+json";
const json = "application/json";
const gamma = { id: "gamma", title: "The gamma", url: "https://gamma.example/sparql" };

interface Sending {
  readonly method?: string;
  readonly path?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(app: Pick<Started, "url">, body: unknown, sending: Sending = {}) {
  const { method = "POST", path = "/api/endpoints", type = json, headers = {} } = sending;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(app.url + path, { method, headers: { "Content-Type": type, ...headers }, body: text });
  return { status: response.status, headers: response.headers, body: await readJson(response) };
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === "" ? undefined : JSON.parse(text);
}

const get = async (app: Pick<Started, "url">, path: string, accept = json) => {
  const response = await fetch(app.url + path, { headers: { Accept: accept } });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

const remove = async (app: Started, path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(app.url + path, { method: "DELETE", headers });
  return { status: response.status, body: await readJson(response) };
};

const shouldRefuse = (name: string, body: string | object, sending: Sending, problem: object): void =>
  it(`refuses ${name}`, async () => {
    const app = await start();
    const before = app.catalog.version;
    const { status, headers, body: found } = await send(app, body, sending);
    expect(found).toMatchObject({ status, ...problem });
    expect(JSON.stringify(found)).not.toContain("secret");
    expect(headers.has("access-control-allow-origin")).toBe(false);
    expect(app.catalog.version).toBe(before);
  });

const documentLd = {
  "@context": { dcterms: "http://purl.org/dc/terms/", dcat: "http://www.w3.org/ns/dcat#" },
  "@type": "dcat:DataService",
  "dcterms:identifier": "gamma",
  "dcterms:title": "The gamma",
  "dcat:endpointURL": { "@id": "https://gamma.example/sparql" },
};

const shouldCreate = (name: string, body: unknown, type: string): void =>
  it(`adds an endpoint from ${name}`, async () => {
    const app = await start();
    const { status, headers, body: found } = await send(app, body, { type });
    expect({ status, location: headers.get("location") }).toStrictEqual({
      status: 201,
      location: "/api/endpoints/gamma",
    });
    expect(found).toMatchObject({ id: "gamma", url: gamma.url, interface: "sparql", origin: "api", status: "unknown" });
    expect(headers.get("etag")).toBe((await get(app, "/api/endpoints/gamma")).headers.get("etag"));
    expect(app.catalog.byUrl(gamma.url)?.id).toBe("gamma");
  });

describe("POST /api/endpoints", () => {
  shouldCreate("fields", { ...gamma, keywords: ["k"] }, json);
  shouldCreate("Turtle", endpointTurtle("gamma", gamma.url, 'skos:note "A note."'), `${turtle}; charset=UTF-8`);
  shouldCreate("JSON-LD", documentLd, jsonLd);

  shouldRefuse(
    "HTML",
    "<!doctype html><p>Hello",
    { type: "text/html" },
    { status: 415, code: "MEDIA_TYPE_UNSUPPORTED" },
  );
  shouldRefuse("HTML called Turtle", "<!doctype html>\n<p>Hello", { type: turtle }, { code: "ENTRY_INVALID" });
  shouldRefuse("HTML called JSON-LD", "<!doctype html>", { type: jsonLd }, { code: "ENTRY_INVALID" });
  shouldRefuse(
    "broken Turtle, with its line",
    `${endpointTurtle("gamma", gamma.url)}\n<a> <b> ;`,
    { type: turtle },
    {
      code: "ENTRY_INVALID",
      where: { line: 12 },
    },
  );
  shouldRefuse(
    "JSON-LD with a remote context",
    { ...documentLd, "@context": "https://schema.org/" },
    { type: jsonLd },
    {
      code: "ENTRY_INVALID",
      detail: "The JSON-LD document needs the remote context https://schema.org/.",
    },
  );
  shouldRefuse(
    "JSON-LD with a named graph",
    { "@id": "urn:x:g", "@graph": [documentLd] },
    { type: jsonLd },
    {
      code: "ENTRY_INVALID",
    },
  );
  shouldRefuse("an id that is there", { ...gamma, id: "alpha" }, {}, { status: 409, code: "ENTRY_CONFLICT" });
  shouldRefuse(
    "a URL that is there",
    { ...gamma, url: "http://ALPHA.example:80/sparql" },
    {},
    {
      code: "ENTRY_CONFLICT",
      endpoints: ["alpha"],
    },
  );
  shouldRefuse(
    "a private address",
    { ...gamma, url: "http://10.0.0.1/sparql" },
    {},
    {
      status: 422,
      code: "ENTRY_INVALID",
      detail: "The URL may not be registered: its address is private.",
    },
  );
  shouldRefuse("a password", { ...gamma, url: "https://me:secret@gamma.example/" }, {}, { code: "ENTRY_INVALID" });
  shouldRefuse(
    "a password in Turtle",
    endpointTurtle("gamma", "https://me:secret@gamma.example/"),
    { type: turtle },
    {
      code: "ENTRY_INVALID",
    },
  );
  shouldRefuse(
    "a password in a broken IRI",
    { ...gamma, url: "https://me:secret@gamma.example/ x" },
    {},
    {
      code: "ENTRY_INVALID",
    },
  );
  shouldRefuse(
    "a federation",
    federationTurtle("gamma", 'fedway:member "alpha"'),
    { type: turtle },
    {
      code: "ENTRY_INVALID",
      detail: expect.stringContaining("does not describe a dcat:DataService"),
    },
  );
  shouldRefuse(
    "fields without a title",
    { id: "gamma", url: gamma.url },
    {},
    { status: 400, detail: 'Missing: "title".' },
  );
  shouldRefuse(
    "unknown fields",
    { ...gamma, keyword: "k" },
    {},
    {
      status: 400,
      detail: 'Unknown: "keyword". Did you mean "keywords"?',
    },
  );
  shouldRefuse(
    "several things, with all of them",
    endpointTurtle("Gamma", "ftp://x/", "fedway:rowCap 0"),
    { type: turtle },
    {
      code: "ENTRY_INVALID",
      detail: expect.stringMatching(/^(?=.*Gamma)(?=.*fedway:rowCap)(?=.*endpointURL)/),
    },
  );
  shouldRefuse("an empty body", "", {}, { status: 400, code: "REQUEST_INVALID" });
  shouldRefuse("a compressed body", "x", { type: turtle, headers: { "Content-Encoding": "gzip" } }, { status: 415 });
  shouldRefuse(
    "more than 1 MB",
    `# ${"x".repeat(1_000_000)}`,
    { type: turtle },
    { status: 413, code: "REQUEST_TOO_LARGE" },
  );
  shouldRefuse("other sites", gamma, { headers: { Origin: "https://attacker.example" } }, { code: "WRITE_REFUSED" });

  it("stops reading a body that says it has 100 MB", async () => {
    const app = await start();
    const head = `POST /api/endpoints HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${json}\r\n`;
    const connection = raw(app, `${head}Content-Length: 100000000\r\n\r\n{`);
    await connection.ended;
    expect(connection.received()).toMatch(/^HTTP\/1\.1 413 [^]*"code": "REQUEST_TOO_LARGE"/);
  });

  it("reads no body of those who may not write", async () => {
    const app = await start({ config: { ...fakeSettings, adminToken: "0123456789abcdefghij" } });
    const head = `POST /api/endpoints HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${json}\r\n`;
    const connection = raw(app, `${head}Content-Length: 900000\r\n\r\n{`);
    await connection.until('"code": "TOKEN_REQUIRED"');
    expect(connection.received()).toMatch(/^HTTP\/1\.1 401 [^]*connection: close/i);
  });
});

describe("PUT, PATCH and DELETE", () => {
  const alpha = "/api/endpoints/alpha";

  it("puts a document in the place of another", async () => {
    const app = await start();
    const fields = { title: "New", url: "http://alpha.example/sparql" };
    const { status, body } = await send(app, fields, { method: "PUT", path: alpha });
    expect({ status, body }).toMatchObject({ status: 200, body: { id: "alpha", title: "New", origin: "api" } });
    expect(JSON.parse((await get(app, "/api/catalog/problems")).text)).toMatchObject({
      problems: [],
      drift: [{ id: "alpha", how: "file-hidden-by-change" }],
    });
  });

  it("refuses a document with another id", async () => {
    const { status, body } = await send(await start(), gamma, { method: "PUT", path: "/api/endpoints/delta" });
    expect({ status, body }).toMatchObject({ status: 422, body: { code: "ENTRY_INVALID" } });
  });

  it("puts only what is not there with If-None-Match: *", async () => {
    const app = await start();
    const sending = { method: "PUT", path: "/api/endpoints/gamma", headers: { "If-None-Match": "*" } };
    expect((await send(app, gamma, sending)).status).toBe(201);
    expect(await send(app, gamma, sending)).toMatchObject({ status: 412, body: { code: "PRECONDITION_FAILED" } });
  });

  it("changes fields and keeps all other triples", async () => {
    const app = await start();
    const fields = { title: "Alpha", keywords: ["letters"], description: null };
    const { status, body } = await send(app, fields, {
      method: "PATCH",
      path: alpha,
      type: "application/merge-patch+json",
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { title: "Alpha", keywords: ["letters"] } });
    expect(body).not.toHaveProperty("description");
    const { text } = await get(app, alpha, turtle);
    expect(text).toMatch(/"Das Alpha"@de[^]*<http:\/\/vocabulary.example\/curator> \[\s*foaf:name "Someone"/);
  });

  it("refuses to change what is not there", async () => {
    const found = await send(await start(), { title: "x" }, { method: "PATCH", path: "/api/endpoints/alpa" });
    expect(found).toMatchObject({ status: 404, body: { code: "ENDPOINT_UNKNOWN", endpoints: ["alpha"] } });
  });

  it("refuses changes that make a document invalid", async () => {
    const found = await send(await start(), { title: null }, { method: "PATCH", path: alpha });
    expect(found).toMatchObject({ status: 422, body: { code: "ENTRY_INVALID" } });
  });

  it("changes only the document that was read before", async () => {
    const app = await start();
    const first = { "If-Match": (await get(app, alpha)).headers.get("etag") ?? "" };
    const change = { method: "PATCH", path: alpha, headers: first };
    const { headers } = await send(app, { title: "One" }, change);
    expect(await send(app, { title: "Two" }, change)).toMatchObject({ body: { code: "PRECONDITION_FAILED" } });
    expect(await remove(app, alpha, first)).toMatchObject({ status: 412 });
    const weak = { "If-Match": `W/${headers.get("etag")}` };
    expect(await remove(app, alpha, weak)).toMatchObject({ status: 412 });
    expect(await remove(app, alpha, { "If-Match": "one" })).toMatchObject({ status: 400 });
    expect(app.catalog.byId("alpha")?.title).toBe("One");
    const either = { "If-Match": `"other", ${headers.get("etag")}` };
    expect(await remove(app, alpha, either)).toStrictEqual({ status: 204, body: undefined });
    expect((await get(app, alpha)).status).toBe(404);
  });

  it("loses none of many changes at once", async () => {
    const app = await start();
    const fields = [{ title: "T" }, { keywords: ["k"] }, { notes: ["n"] }];
    const found = await Promise.all(fields.map((each) => send(app, each, { method: "PATCH", path: alpha })));
    expect(found.map(({ status }) => status)).toStrictEqual([200, 200, 200]);
    expect(app.catalog.byId("alpha")).toMatchObject({ title: "T", keywords: ["k"], notes: ["n"] });
  });

  it("are there after a restart", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const app = await start({ catalog: await openTestCatalog(store) });
    await send(app, gamma);
    await send(app, { title: "Alpha" }, { method: "PATCH", path: alpha });
    await remove(app, "/api/endpoints/beta");
    const later = await openTestCatalog(store);
    expect(later.entries.map(({ id, title }) => [id, title])).toStrictEqual([
      ["alpha", "Alpha"],
      ["evil", "<script>alert(1)</script>"],
      ["gamma", "The gamma"],
    ]);
  });

  it("want the token", async () => {
    const adminToken = "0123456789abcdefghij";
    const app = await start({ config: { ...fakeSettings, adminToken } });
    expect(await send(app, gamma)).toMatchObject({ status: 401, body: { code: "TOKEN_REQUIRED" } });
    const headers = { Authorization: `Bearer ${adminToken}`, Origin: "https://x.example" };
    expect((await send(app, gamma, { headers })).status).toBe(201);
  });
});

describe("federations", () => {
  const greek = { id: "greek", title: "Greek", members: ["alpha", "omega"], memberKeywords: ["test"] };

  it("are added, shown with their members, changed and removed", async () => {
    const app = await start();
    const path = "/api/federations/greek";
    const { status, headers } = await send(app, greek, { path: "/api/federations" });
    expect({ status, location: headers.get("location") }).toStrictEqual({ status: 201, location: path });
    const shown = { query: "/federations/greek/sparql", endpointsTotal: 2, missing: ["omega"], origin: "api" };
    const endpoints = [
      { id: "alpha", title: "The alpha" },
      { id: "beta", title: "The beta" },
    ];
    expect(JSON.parse((await get(app, path)).text)).toStrictEqual({
      ...greek,
      ...shown,
      endpoints,
      split: [],
      changedAt: "2026-01-01T00:00:00.000Z",
    });
    expect(JSON.parse((await get(app, "/api/federations")).text)).toMatchObject({ total: 1, federations: [shown] });
    const change = { method: "PATCH", path };
    expect((await send(app, { members: ["alpha"] }, change)).body).toMatchObject({ members: ["alpha"], missing: [] });
    expect(await send(app, { url: "http://x.example/" }, change)).toMatchObject({ status: 400 });
    expect((await remove(app, path)).status).toBe(204);
    expect(await remove(app, path)).toMatchObject({ status: 404, body: { code: "FEDERATION_UNKNOWN" } });
  });

  shouldRefuse(
    "one without members",
    { id: "none", title: "None" },
    { path: "/api/federations" },
    {
      status: 422,
      code: "ENTRY_INVALID",
    },
  );
});

const preflight = async (app: Started, path: string, method: string) => {
  const headers = { Origin: "https://x.example", "Access-Control-Request-Method": method };
  const { status, headers: found } = await fetch(app.url + path, { method: "OPTIONS", headers });
  return {
    status,
    origin: found.get("access-control-allow-origin"),
    methods: found.get("access-control-allow-methods"),
  };
};

describe("scripts of other sites", () => {
  it.each(["POST /api/endpoints", "PUT /api/endpoints/a", "PATCH /api/federations/a", "DELETE /api/endpoints/a"])(
    "get no leave for %s",
    async (route) => {
      const [method = "", path = ""] = route.split(" ");
      const found = await preflight(await start(), path, method);
      expect(found).toStrictEqual({ status: 204, origin: null, methods: null });
    },
  );

  it("may still read", async () => {
    const found = await preflight(await start(), "/api/endpoints", "GET");
    expect(found).toStrictEqual({ status: 204, origin: "*", methods: "GET, HEAD, OPTIONS" });
  });
});
