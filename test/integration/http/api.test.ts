import { describe, expect, it } from "vitest";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { toProblem } from "../../../src/errors/problem.ts";
import * as schemas from "../../../src/http/schemas.ts";
import { fakeSettings, fakeTable } from "../../support/fake-query-service.ts";
import { askQuery, eventually, raw, start } from "./http-fixture.ts";

const json = { "Content-Type": "application/json" };
const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: json,
  body: typeof body === "string" ? body : JSON.stringify(body),
});

interface Expectation {
  readonly status: number;
  readonly schema: TSchema;
  readonly body: object;
}

const shouldAnswer = (path: string, init: RequestInit, { status, schema, body }: Expectation): void =>
  it(`${init.method ?? "GET"} ${path} ${typeof init.body === "string" ? init.body.slice(0, 60) : ""} is ${status}`, async () => {
    const app = await start();
    const response = await fetch(app.url + path, init);
    const found: unknown = await response.json();
    expect(found).toMatchObject(body);
    expect([...Value.Errors(schema, found)]).toStrictEqual([]);
    expect(response.status).toBe(status);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
  });

const shouldRefuse = (path: string, init: RequestInit, body: object): void =>
  shouldAnswer(path, init, { status: 400, schema: schemas.Problem, body: { code: "REQUEST_INVALID", ...body } });

describe("the JSON API answers", () => {
  shouldAnswer("/api/query", post({ query: "ASK {}" }), {
    status: 200,
    schema: schemas.TabularAnswer,
    body: fakeTable,
  });
  shouldAnswer("/api/explain", post({ query: "ASK {}" }), {
    status: 200,
    schema: schemas.PlanDescription,
    body: { kind: "direct", query: "ASK {}" },
  });
  shouldAnswer("/api/runs/run-1", {}, { status: 200, schema: schemas.RunRecord, body: { id: "run-1" } });
  shouldAnswer("/api/runs/nope", {}, { status: 404, schema: schemas.Problem, body: { code: "RUN_UNKNOWN" } });
  shouldAnswer("/api/endpoints", {}, { status: 200, schema: schemas.EndpointList, body: { total: 3, offset: 0 } });
  shouldAnswer(
    "/api/endpoints?q=GREEK",
    {},
    {
      status: 200,
      schema: schemas.EndpointList,
      body: { total: 1, endpoints: [{ id: "alpha", query: "/endpoints/alpha/sparql" }] },
    },
  );
  shouldAnswer(
    "/api/endpoints?limit=1&offset=1",
    {},
    {
      status: 200,
      schema: schemas.EndpointList,
      body: { total: 3, limit: 1, offset: 1, endpoints: [{ id: "beta" }] },
    },
  );
  shouldAnswer("/api/endpoints/alpha", {}, { status: 200, schema: schemas.Endpoint, body: { title: "The alpha" } });
  shouldAnswer(
    "/api/endpoints/alpa",
    {},
    {
      status: 404,
      schema: schemas.Problem,
      body: { code: "ENDPOINT_UNKNOWN", endpoints: ["alpha"] },
    },
  );
  shouldAnswer("/health/ready", {}, { status: 200, schema: schemas.Readiness, body: { ready: true } });
});

describe("the JSON API refuses", () => {
  const known = 'Known are "query", "endpoint", "maxRows", "timeoutMs", "partial", "strict", "format".';
  shouldRefuse("/api/query", post({ query: "ASK {}", maxrows: 5 }), {
    detail: 'Unknown: "maxrows". Did you mean "maxRows"?',
    next: known,
  });
  shouldRefuse("/api/query", post({}), { detail: 'Missing: "query".', next: known });
  shouldRefuse("/api/query", post({ query: 5 }), { detail: '"query" must be string.' });
  shouldRefuse("/api/query", post({ query: "ASK {}", maxRows: "5" }), { detail: '"maxRows" must be integer.' });
  shouldRefuse("/api/query", post({ query: "ASK {}", maxRows: 101 }), { detail: '"maxRows" must be <= 100.' });
  shouldRefuse("/api/query", post([]), { detail: "The body must be object." });
  shouldRefuse("/api/query", post("{"), { detail: "The body is not JSON." });
  shouldRefuse("/api/query", post('{"__proto__": {"query": "ASK {}"}}'), {});
  shouldRefuse(
    "/api/query",
    { method: "POST", headers: json },
    { detail: "The body is empty; a JSON object is expected." },
  );
  shouldRefuse("/api/explain", post({ query: "ASK {}", maxRows: 5 }), { detail: 'Unknown: "maxRows".' });
  shouldRefuse("/api/endpoints?limit=0", {}, { detail: '"limit" must be >= 1.' });
  shouldRefuse("/api/endpoints?query=x", {}, { detail: 'Unknown: "query".' });
  shouldAnswer("/api/query", post({ query: "x".repeat(5000) }), {
    status: 413,
    schema: schemas.Problem,
    body: { code: "QUERY_TOO_LARGE" },
  });
  shouldAnswer("/api/query", post({ query: "x".repeat(500_000) }), {
    status: 413,
    schema: schemas.Problem,
    body: { code: "REQUEST_TOO_LARGE" },
  });
  shouldAnswer("/api/query", post({ query: "ASK {}", endpoint: "alpa" }), {
    status: 404,
    schema: schemas.Problem,
    body: { code: "ENDPOINT_UNKNOWN" },
  });
  shouldAnswer(
    "/api/query",
    { method: "POST", body: "{}" },
    {
      status: 415,
      schema: schemas.Problem,
      body: { code: "MEDIA_TYPE_UNSUPPORTED" },
    },
  );
  it("JSON that is not UTF-8", async () => {
    const app = await start();
    const body = Buffer.from('{"query":"\u{ff}"}', "latin1");
    const response = await fetch(`${app.url}/api/query`, { method: "POST", headers: json, body });
    expect(await response.json()).toMatchObject({ status: 400, code: "QUERY_ENCODING" });
  });
});

describe("/api/query", () => {
  it("hands its fields on", async () => {
    const app = await start();
    const fields = {
      query: "ASK {}",
      endpoint: "beta",
      maxRows: 7,
      timeoutMs: 9,
      partial: true,
      strict: true,
      format: "json",
    };
    await fetch(`${app.url}/api/query`, post(fields));
    expect(app.queries.requests[0]).toMatchObject({
      text: "ASK {}",
      endpointId: "beta",
      maxRows: 7,
      timeoutMs: 9,
      partial: true,
      strict: true,
    });
  });

  it("uses the service's own limit without one", async () => {
    const app = await start();
    await fetch(`${app.url}/api/query`, post({ query: "ASK {}" }));
    expect(app.queries.requests[0]).toMatchObject({ maxRows: 100, partial: false, strict: false });
  });

  it("gives a failed run the status of its problem", async () => {
    const app = await start();
    const diagnosis = toProblem(new FedwayError("ENDPOINT_TIMEOUT", "Too slow."));
    app.queries.tableAnswer = async () => ({ ...fakeTable, status: "failed", diagnosis });
    const response = await fetch(`${app.url}/api/query`, post({ query: "ASK {}" }));
    expect({ status: response.status, fedway: response.headers.get("Fedway-Status") }).toStrictEqual({
      status: 504,
      fedway: "failed",
    });
    expect(await response.json()).toMatchObject({ status: "failed", diagnosis: { code: "ENDPOINT_TIMEOUT" } });
  });
});

describe("cross-origin requests", () => {
  const shouldAllow = (path: string, method: string): void =>
    it(`${method} ${path} may be sent from anywhere, without credentials`, async () => {
      const app = await start();
      const headers = { Origin: "https://x.example", "Access-Control-Request-Method": method };
      const response = await fetch(app.url + path, { method: "OPTIONS", headers });
      expect(response.status).toBe(204);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
        "access-control-allow-headers": "*",
        "access-control-max-age": "86400",
      });
      expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    });
  shouldAllow("/sparql", "POST");
  shouldAllow("/endpoints/alpha/sparql", "GET");
  shouldAllow("/api/query", "POST");

  it("may read Fedway's headers", async () => {
    const app = await start();
    const exposed = (await fetch(`${app.url}/sparql?${askQuery}`)).headers.get("Access-Control-Expose-Headers");
    expect(exposed?.split(", ")).toStrictEqual([
      "Content-Encoding",
      "Fedway-Notes",
      "Fedway-Plan",
      "Fedway-Run",
      "Fedway-Status",
      "Retry-After",
      "Server-Timing",
    ]);
  });
});

describe("rate limit", () => {
  const limited = { ...fakeSettings, limits: { ...fakeSettings.limits, rateLimit: 2 } };
  const statuses = async (app: { url: string }, addresses: readonly string[]): Promise<readonly number[]> => {
    const found: number[] = [];
    for (const address of addresses) {
      const headers = { "X-Forwarded-For": address };
      found.push((await fetch(`${app.url}/sparql?${askQuery}`, { headers })).status);
    }
    return found;
  };

  it("holds for the peer, whatever it says about itself", async () => {
    const app = await start({ config: limited });
    expect(await statuses(app, ["192.0.2.1", "192.0.2.2", "192.0.2.3"])).toStrictEqual([200, 200, 429]);
    const refused = await fetch(`${app.url}/sparql?${askQuery}`);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(10);
    expect(await refused.json()).toMatchObject({ code: "RATE_LIMITED", retryable: true });
    expect((await fetch(`${app.url}/health/live`)).status).toBe(200);
  });

  it("holds for the client that a trusted proxy names", async () => {
    const app = await start({ config: { ...limited, trustProxy: 1 } });
    const addresses = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "198.51.100.9, 192.0.2.1", "192.0.2.2"];
    expect(await statuses(app, addresses)).toStrictEqual([200, 200, 429, 429, 200]);
  });

  it("believes proxies by their addresses", async () => {
    const near = await start({ config: { ...limited, trustProxy: ["127.0.0.0/8"] } });
    expect(await statuses(near, ["192.0.2.1", "192.0.2.2", "192.0.2.3"])).toStrictEqual([200, 200, 200]);
    const far = await start({ config: { ...limited, trustProxy: ["10.0.0.0/8"] } });
    expect(await statuses(far, ["192.0.2.1", "192.0.2.2", "192.0.2.3"])).toStrictEqual([200, 200, 429]);
  });
});

describe("observation", () => {
  it("counts by route, never by path", async () => {
    const app = await start();
    for (const path of ["/api/runs/run-1", "/endpoints/alpha/sparql", "/wp-login.php"]) await fetch(app.url + path);
    await eventually(() => app.observed.length === 3);
    expect(app.observed.map(({ route, status }) => [route, status])).toStrictEqual([
      ["/api/runs/:id", 200],
      ["/endpoints/:id/sparql", 200],
      ["unmatched", 404],
    ]);
    expect(app.observed.every(({ seconds }) => seconds > 0 && seconds < 5)).toBe(true);
  });

  it("logs one line a request, without the query", async () => {
    const app = await start();
    await fetch(`${app.url}/sparql?query=SECRET`);
    await eventually(() => app.lines.length === 1);
    expect(app.lines[0]).toMatchObject({ method: "GET", route: "/sparql", status: 200, run: "run-1" });
    expect(JSON.stringify(app.lines)).not.toContain("SECRET");
    expect(Object.entries(app.lines[0] ?? {}).find(([name]) => name === "bytes")?.[1]).toBeGreaterThan(49);
  });

  it("logs the query when asked to", async () => {
    const app = await start({ config: { ...fakeSettings, log: { queries: true } } });
    await fetch(`${app.url}/sparql?query=SECRET`);
    await eventually(() => app.lines.length === 1);
    expect(app.lines[0]).toMatchObject({ query: "SECRET" });
  });

  it("gives the metrics", async () => {
    const app = await start();
    const response = await fetch(`${app.url}/metrics`);
    expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4");
    expect(await response.text()).toBe("fedway_up 1\n");
  });

  it("is not ready with reasons", async () => {
    const checks = { catalog: { ok: false, detail: "No endpoint could be read." } };
    const app = await start({ ready: () => ({ ready: false, checks }) });
    const response = await fetch(`${app.url}/health/ready`);
    expect(response.status).toBe(503);
    expect(await response.json()).toStrictEqual({ ready: false, checks });
  });
});

describe("pages and documents", () => {
  it("the OpenAPI document has every route", async () => {
    const app = await start();
    const document: unknown = await (await fetch(`${app.url}/openapi.json`)).json();
    expect(document).toMatchObject({ openapi: "3.1.0", info: { title: "Fedway", version: "1.2.3" } });
    const paths = typeof document === "object" && document !== null && "paths" in document ? document.paths : {};
    expect(Object.keys(paths ?? {}).toSorted()).toStrictEqual([
      "/",
      "/api/endpoints",
      "/api/endpoints/{id}",
      "/api/explain",
      "/api/query",
      "/api/runs/{id}",
      "/docs",
      "/endpoints/{id}/sparql",
      "/health/live",
      "/health/ready",
      "/hosted/{id}/sparql",
      "/metrics",
      "/openapi.json",
      "/sparql",
    ]);
  });

  const shouldBePage = (path: string, ...texts: readonly string[]): void =>
    it(`${path} is a page that loads nothing`, async () => {
      const app = await start();
      const response = await fetch(app.url + path);
      const text = await response.text();
      expect(response.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("Content-Security-Policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
      expect(text).not.toMatch(/<script|<link|<img|<iframe| style="| on[a-z]+="/);
      for (const expected of texts) expect(text).toContain(expected);
    });
  shouldBePage("/docs", "<code>/api/query</code>", "maxRows", "curl -sG", "/endpoints/{id}/sparql");
  shouldBePage(
    "/",
    "Letters of the Greek alphabet.",
    "&lt;script&gt;alert(1)",
    'href="/endpoints/alpha/sparql"',
    "1.2.3",
  );

  it("a request that never ends its headers does not hold the others up", async () => {
    const app = await start();
    const slow = raw(app, "GET / HTTP/1.1\r\nHost:");
    expect((await fetch(`${app.url}/health/live`)).status).toBe(200);
    expect(slow.received()).toBe("");
  });
});
