import * as catalogSchemas from "../../../src/http/catalog-schemas.ts";
import * as schemas from "../../../src/http/schemas.ts";
import { describe, expect, it } from "vitest";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { FedwayError, toProblem } from "../../../src/errors/fedway-error.ts";
import { fakeTable } from "../../support/fake-query-service.ts";
import { askQuery, start } from "./http-fixture.ts";

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
  shouldAnswer(
    "/api/endpoints",
    {},
    { status: 200, schema: catalogSchemas.EndpointList, body: { total: 3, offset: 0 } },
  );
  shouldAnswer(
    "/api/endpoints?q=GREEK",
    {},
    {
      status: 200,
      schema: catalogSchemas.EndpointList,
      body: { total: 1, endpoints: [{ id: "alpha", query: "/endpoints/alpha/sparql" }] },
    },
  );
  shouldAnswer(
    "/api/endpoints?limit=1&offset=1",
    {},
    {
      status: 200,
      schema: catalogSchemas.EndpointList,
      body: { total: 3, limit: 1, offset: 1, endpoints: [{ id: "beta" }] },
    },
  );
  shouldAnswer(
    "/api/endpoints/alpha",
    {},
    { status: 200, schema: catalogSchemas.Endpoint, body: { title: "The alpha" } },
  );
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

describe("cross-origin requests", () => {
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
