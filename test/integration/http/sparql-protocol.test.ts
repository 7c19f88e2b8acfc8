import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { shardRoutes, type ShardService } from "../../../shards/src/service/routes.ts";
import type { HostedEndpoint, HostedQuery } from "../../../src/hosting/hosted-endpoint.ts";
import { fakeAnswer, smallBody } from "../../support/fake-query-service.ts";
import { askQuery, raw, type Started, start } from "./http-fixture.ts";
import { until } from "../../support/eventually.ts";

const direct = { "Content-Type": "application/sparql-query" };
const form = { "Content-Type": "application/x-www-form-urlencoded" };

async function problemOf(response: Response, status: number, code: string): Promise<Record<string, unknown>> {
  const problem: unknown = await response.json();
  expect({ status: response.status, type: response.headers.get("Content-Type"), problem }).toMatchObject({
    status,
    type: "application/problem+json",
    problem: { status, code },
  });
  return { ...(typeof problem === "object" ? problem : {}) };
}

const post = (body: string | Uint8Array<ArrayBuffer> | null, headers: Record<string, string>): RequestInit => ({
  method: "POST",
  headers,
  body,
});

const shouldRefuse = (
  name: string,
  request: readonly [path: string, init: RequestInit],
  ...expected: [number, string]
) =>
  it(name, async () => {
    const app = await start();
    await problemOf(await fetch(app.url + request[0], request[1]), ...expected);
    expect(app.queries.requests).toHaveLength(0);
    expect((await fetch(`${app.url}/sparql?${askQuery}`)).status).toBe(200);
  });

describe("answers", () => {
  it("carry what is known at the first byte", async () => {
    const app = await start();
    const notes = [
      { code: "WRAPPERS_MERGED", message: "Two became one." },
      { code: "DATASET_IGNORED", message: "FROM was ignored." },
    ] as const;
    app.queries.answer = async () => fakeAnswer(smallBody, { notes });
    const response = await fetch(`${app.url}/sparql?${askQuery}`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "access-control-allow-origin": "*",
      "content-length": "49",
      "content-type": "application/sparql-results+json",
      "fedway-notes": "WRAPPERS_MERGED,DATASET_IGNORED",
      "fedway-plan": "direct",
      "fedway-run": "run-1",
      "fedway-status": "ok",
      "server-timing": 'plan;dur=0.0;desc="cached", upstream;dur=12.3',
      vary: "Accept, Accept-Encoding",
      "x-content-type-options": "nosniff",
    });
    expect(await response.text()).toBe(smallBody.toString());
  });

  it("hand on what the client wants", async () => {
    const app = await start();
    const headers = { ...direct, Accept: "text/csv", "Accept-Encoding": "gzip" };
    const query = "?default-graph-uri=urn:a&named-graph-uri=urn:b&timeout=100&strict=1&partial=1&format=tsv";
    await fetch(`${app.url}/endpoints/alpha/sparql${query}`, { method: "POST", headers, body: "ASK {}" });
    expect(app.queries.requests[0]).toMatchObject({
      text: "ASK {}",
      endpointId: "alpha",
      accept: "text/csv",
      acceptEncoding: "gzip",
      format: "tsv",
      defaultGraphs: ["urn:a"],
      namedGraphs: ["urn:b"],
      timeoutMs: 100,
      strict: true,
      partial: true,
    });
  });

  it("name no endpoint on /sparql, with or without a slash at its end", async () => {
    const app = await start();
    for (const path of ["/sparql", "/sparql/"]) await fetch(`${app.url}${path}?${askQuery}`);
    expect(app.queries.requests.map(({ endpointId }) => endpointId)).toStrictEqual([undefined, undefined]);
  });

  it("to HEAD have no body", async () => {
    const app = await start();
    const connection = raw(app, `HEAD /sparql?${askQuery} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    await connection.ended;
    expect(connection.received()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Content-Length: 49\r\n[^]*\r\n\r\n$/);
  });
});

describe("refusals", () => {
  shouldRefuse("two queries", [`/sparql?${askQuery}&${askQuery}`, {}], 400, "QUERY_REPEATED");
  shouldRefuse("an empty query", ["/sparql?query=", {}], 400, "QUERY_MISSING");
  shouldRefuse("POST of nothing", ["/sparql", post(null, {})], 400, "QUERY_MISSING");
  shouldRefuse(
    "an update",
    ["/sparql", post("CLEAR ALL", { "Content-Type": "application/sparql-update" })],
    400,
    "UPDATE_REFUSED",
  );
  shouldRefuse("an update in a form", ["/sparql", post("update=CLEAR%20ALL", form)], 400, "UPDATE_REFUSED");
  shouldRefuse(
    "plain text",
    ["/sparql", post("ASK {}", { "Content-Type": "text/plain" })],
    415,
    "MEDIA_TYPE_UNSUPPORTED",
  );
  shouldRefuse("JSON", ["/sparql", post("{}", { "Content-Type": "application/json" })], 415, "MEDIA_TYPE_UNSUPPORTED");
  shouldRefuse("no media type", ["/sparql", post(new Uint8Array([65]), {})], 415, "MEDIA_TYPE_UNSUPPORTED");
  shouldRefuse(
    "a media type that is none",
    ["/sparql", post("x", { "Content-Type": "sparql" })],
    415,
    "MEDIA_TYPE_UNSUPPORTED",
  );
  const zipped = { ...direct, "Content-Encoding": "gzip" };
  shouldRefuse("a compressed body", ["/sparql", post("ASK {}", zipped)], 415, "MEDIA_TYPE_UNSUPPORTED");
  const latin = { "Content-Type": "application/sparql-query; charset=iso-8859-1" };
  shouldRefuse("another charset", ["/sparql", post("ASK {}", latin)], 400, "QUERY_ENCODING");
  shouldRefuse(
    "bytes that are no UTF-8",
    ["/sparql", post(new Uint8Array([0xff, 0xfe]), direct)],
    400,
    "QUERY_ENCODING",
  );
  shouldRefuse("a large direct query", ["/sparql", post("x".repeat(5000), direct)], 413, "QUERY_TOO_LARGE");
  shouldRefuse("a large form", ["/sparql", post(`query=${"x".repeat(5000)}`, form)], 413, "QUERY_TOO_LARGE");
  shouldRefuse("an enormous form", ["/sparql", post(`a=${"x".repeat(5_000_000)}`, form)], 413, "QUERY_TOO_LARGE");
  shouldRefuse("a large query in the URL", [`/sparql?query=${"x".repeat(5000)}`, {}], 413, "QUERY_TOO_LARGE");
  shouldRefuse("PUT", [`/sparql?${askQuery}`, { method: "PUT" }], 405, "METHOD_NOT_ALLOWED");
  shouldRefuse("DELETE with a body", ["/sparql", { method: "DELETE", body: "x" }], 405, "METHOD_NOT_ALLOWED");
  shouldRefuse("another path", ["/sparq", {}], 404, "NOT_FOUND");
  shouldRefuse("an unknown endpoint", [`/endpoints/omega/sparql?${askQuery}`, {}], 404, "ENDPOINT_UNKNOWN");
  shouldRefuse("an id that is too long", [`/endpoints/${"x".repeat(300)}/sparql`, {}], 400, "REQUEST_INVALID");
  shouldRefuse("a path that is not UTF-8", ["/endpoints/%FF/sparql", {}], 400, "REQUEST_INVALID");

  it("name ids that are like an unknown one", async () => {
    const app = await start();
    const problem = await problemOf(
      await fetch(`${app.url}/endpoints/alpa/sparql?${askQuery}`),
      404,
      "ENDPOINT_UNKNOWN",
    );
    expect(problem).toMatchObject({ endpoints: ["alpha"], next: 'Did you mean "alpha"?' });
  });

  it("say which methods there are", async () => {
    const app = await start();
    const response = await fetch(`${app.url}/sparql`, { method: "PATCH" });
    expect(response.headers.get("Allow")).toBe("GET, HEAD, OPTIONS, POST");
  });

  it("say those of the route that names most of the path", async () => {
    const app = await start({ routes: [shardRoutes({ datasets: [] } as unknown as ShardService)] });
    const response = await fetch(`${app.url}/api/shards/planets/verify`, { method: "OPTIONS" });
    expect(response.headers.get("Allow")).toBe("OPTIONS, POST");
  });
});

const failWith = async (error: unknown): Promise<[Started, Response]> => {
  const app = await start();
  app.queries.runIdOf = (thrown) => (thrown === error ? "run-9" : undefined);
  app.queries.answer = async () => {
    throw error;
  };
  return [app, await fetch(`${app.url}/sparql?${askQuery}`)];
};

describe("failures of a query", () => {
  it("are problems with line, column, run and what to do", async () => {
    const error = new FedwayError("QUERY_SYNTAX", "Expected }.", { where: { line: 3, column: 7 }, next: "Close it." });
    const [, response] = await failWith(error);
    expect(response.headers.get("Fedway-Run")).toBe("run-9");
    expect(await problemOf(response, 400, "QUERY_SYNTAX")).toStrictEqual({
      type: "urn:fedway:problem:query-syntax",
      title: "The query is not valid SPARQL 1.1",
      status: 400,
      code: "QUERY_SYNTAX",
      detail: "Expected }.",
      retryable: false,
      where: { line: 3, column: 7 },
      next: "Close it.",
      run: "run-9",
    });
  });

  it("say when to come again", async () => {
    const [, response] = await failWith(new FedwayError("ENDPOINT_RATE_LIMITED", "Wait.", { retryAfterMs: 2100 }));
    expect(response.headers.get("Retry-After")).toBe("3");
    await problemOf(response, 503, "ENDPOINT_RATE_LIMITED");
  });

  it("of our own leak nothing and are logged", async () => {
    const secret = new Error("password hunter2 at 10.0.0.7");
    const [app, response] = await failWith(secret);
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(text).not.toContain("hunter2");
    expect(text).not.toContain("at ");
    expect(app.lines[0]).toMatchObject({ err: secret });
  });
});

const shouldDescribe = (path: string, url: string): void =>
  it(`of ${path} names ${url}`, async () => {
    const app = await start({ hosted: () => hosted([]) });
    const response = await fetch(app.url + path);
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("text/turtle; charset=utf-8");
    expect(await response.text()).toContain(`sd:endpoint <${app.url}${url}>`);
  });

describe("a SPARQL route without a query", () => {
  const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
  it.each([
    ["/sparql", browser, 303],
    ["/sparql/", browser, 303],
    ["/sparql?format=turtle", browser, 200],
    ["/sparql", "text/turtle, text/html", 200],
    ["/sparql", "text/html;q=0.4, application/rdf+xml;q=0.5", 200],
    ["/sparql", "*/*", 200],
    ["/sparql", "text/html;q=0, */*", 200],
    ["/endpoints/alpha/sparql", browser, 303],
    ["/hosted/alpha/sparql", browser, 404],
  ])("%s for %s is %i", async (path, accept, status) => {
    const app = await start();
    const response = await fetch(app.url + path, { headers: { Accept: accept }, redirect: "manual" });
    expect(response.status).toBe(status);
    const target = path.startsWith("/endpoints") ? "/query#endpoint=alpha" : "/query";
    if (status === 303) expect(response.headers.get("location")).toBe(target);
    if (status !== 404) expect(response.headers.get("vary")).toContain("Accept");
  });
});

describe("service descriptions", () => {
  shouldDescribe("/sparql", "/sparql");
  shouldDescribe("/endpoints/alpha/sparql?x=y", "/endpoints/alpha/sparql");
  shouldDescribe("/hosted/alpha/sparql", "/hosted/alpha/sparql");

  it.each([
    ["/sparql", ["BasicFederatedQuery"], []],
    ["/endpoints/alpha/sparql", ["BasicFederatedQuery"], ["/endpoints/alpha#dataset"]],
    ["/hosted/alpha/sparql", [], []],
  ])("of %s tell language, formats, features and dataset", async (path, features, datasets) => {
    const app = await start({ hosted: () => hosted([]) });
    const text = await (await fetch(app.url + path, { headers: { Accept: "application/n-triples" } })).text();
    const objectsOf = (name: string): readonly string[] =>
      [...text.matchAll(new RegExp(`service-description#${name}> <(.*)> \\.`, "g"))].map(([, object = ""]) => object);
    const sd = "http://www.w3.org/ns/sparql-service-description#";
    expect(objectsOf("supportedLanguage")).toStrictEqual([`${sd}SPARQL11Query`]);
    expect(objectsOf("feature")).toStrictEqual(features.map((name) => sd + name));
    expect(objectsOf("defaultDataset")).toStrictEqual(datasets.map((end) => app.url + end));
    const formats = ["SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV"];
    const graphs = ["Turtle", "N-Triples", "JSON-LD", "RDF_XML", "N3", "TriG", "N-Quads"];
    const named = [...formats, ...graphs].map((name) => `http://www.w3.org/ns/formats/${name}`);
    expect(objectsOf("resultFormat")).toStrictEqual(named);
  });

  it("are negotiated", async () => {
    const app = await start();
    const response = await fetch(`${app.url}/sparql`, { headers: { Accept: "application/ld+json" } });
    expect(response.headers.get("Content-Type")).toBe("application/ld+json");
    await problemOf(await fetch(`${app.url}/sparql`, { headers: { Accept: "image/png" } }), 406, "NOT_ACCEPTABLE");
  });
});

const hosted = (seen: HostedQuery[], failure?: FedwayError): HostedEndpoint => ({
  id: "alpha",
  query: async (request) => {
    seen.push(request);
    if (failure) throw failure;
    return { mediaType: "text/csv", body: Buffer.from("x\r\n1\r\n") };
  },
  close: async () => {},
});

describe("hosted endpoints", () => {
  it("are asked without planning", async () => {
    const seen: HostedQuery[] = [];
    const app = await start({ hosted: (id) => (id === "alpha" ? hosted(seen) : undefined) });
    const query = encodeURIComponent("PREFIX ask: <urn:x> SELECT * {}");
    const response = await fetch(
      `${app.url}/hosted/alpha/sparql?query=${query}&format=csv&named-graph-uri=urn:g&timeout=50`,
    );
    expect(response.headers.get("Content-Type")).toBe("text/csv; charset=utf-8");
    expect(await response.text()).toBe("x\r\n1\r\n");
    expect(app.queries.requests).toHaveLength(0);
    expect(seen[0]).toMatchObject({ kind: "bindings", accept: "text/csv", namedGraphs: ["urn:g"], timeoutMs: 50 });
  });

  it("refuse what is no query themselves, whatever format is wanted", async () => {
    const seen: HostedQuery[] = [];
    const app = await start({ hosted: () => hosted(seen) });
    const headers = { Accept: "text/turtle" };
    await fetch(`${app.url}/hosted/alpha/sparql?query=${encodeURIComponent("DELETE WHERE {?s ?p ?o}")}`, { headers });
    await fetch(`${app.url}/hosted/alpha/sparql?query=${encodeURIComponent("DESCRIBE <urn:x>")}`, { headers });
    expect(seen.map(({ accept }) => accept)).toEqual(["*/*", "text/turtle"]);
  });

  it("never get more time than they may have", async () => {
    const seen: HostedQuery[] = [];
    const app = await start({ hosted: () => hosted(seen) });
    await fetch(`${app.url}/hosted/alpha/sparql?${askQuery}&timeout=99999999`);
    expect(seen[0]).toMatchObject({ kind: "boolean", accept: "*/*", timeoutMs: 5000, client: "127.0.0.1" });
  });

  it("fail with problems", async () => {
    const failure = new FedwayError("QUERY_SYNTAX", "No.");
    const app = await start({ hosted: (id) => (id === "alpha" ? hosted([], failure) : undefined) });
    await problemOf(await fetch(`${app.url}/hosted/alpha/sparql?${askQuery}`), 400, "QUERY_SYNTAX");
    const unknown = await problemOf(await fetch(`${app.url}/hosted/alpah/sparql?${askQuery}`), 404, "ENDPOINT_UNKNOWN");
    expect(unknown["endpoints"]).toStrictEqual(["alpha"]);
  });
});

describe("bytes that are no good HTTP", () => {
  it("headers that are too large are a problem", async () => {
    const app = await start();
    const connection = raw(app, `GET /sparql?query=${"x".repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await connection.ended;
    expect(connection.received()).toContain("HTTP/1.1 413");
    expect(connection.received()).toContain('"code": "REQUEST_TOO_LARGE"');
  });

  it("nonsense is a problem", async () => {
    const app = await start();
    const connection = raw(app, "HELLO\r\n\r\n");
    await connection.ended;
    expect(connection.received()).toContain('"code": "REQUEST_INVALID"');
  });

  it("a body shorter than announced is the client's end", async () => {
    const app = await start();
    const head =
      "POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\nContent-Length: 100\r\n\r\n";
    const connection = raw(app, `${head}ASK`);
    setTimeout(() => connection.socket.destroy(), 50);
    await until(() => app.observed.length === 1);
    expect(app.queries.requests).toHaveLength(0);
    expect((await fetch(`${app.url}/sparql?${askQuery}`)).status).toBe(200);
  });
});
