import { describe, expect, it } from "vitest";
import { FedwayError, toProblem } from "../../../src/errors/fedway-error.ts";
import { Endpoint, EndpointList } from "../../../src/http/catalog-schemas.ts";
import { AnalyzedPlan, TabularAnswer } from "../../../src/http/query-schemas.ts";
import { RunRecord } from "../../../src/query/records.ts";
import { Readiness } from "../../../src/http/readiness.ts";
import { Problem } from "../../../src/http/schemas.ts";
import { fakeTable } from "../../support/fake-query-service.ts";
import { askQuery, json, shouldAnswer, start } from "./http-fixture.ts";

const shouldRefuse = (path: string, body: object, init: RequestInit = {}): void =>
  shouldAnswer(path, [400, Problem, { code: "REQUEST_INVALID", next: expect.any(String), ...body }], init);

describe("the JSON API answers", () => {
  const ask = json({ query: "ASK {}" });
  shouldAnswer("/api/query", [200, TabularAnswer, { ...fakeTable, rows: [{ x: { iri: "urn:x:a" } }, {}] }], ask);
  shouldAnswer("/api/explain", [200, AnalyzedPlan, { kind: "direct", query: "ASK {}" }], ask);
  shouldAnswer("/api/runs/run-1", [200, RunRecord, { id: "run-1" }]);
  shouldAnswer("/api/runs/nope", [404, Problem, { code: "RUN_UNKNOWN" }]);
  shouldAnswer("/api/endpoints", [200, EndpointList, { total: 3 }]);
  const greek = { total: 1, endpoints: [{ id: "alpha", query: "/endpoints/alpha/sparql" }] };
  shouldAnswer("/api/endpoints?q=GREEK", [200, EndpointList, greek]);
  const second = { total: 3, next: "2", endpoints: [{ id: "beta" }] };
  shouldAnswer("/api/endpoints?limit=1&cursor=1", [200, EndpointList, second]);
  shouldAnswer("/api/endpoints/alpha", [200, Endpoint, { title: "The alpha" }]);
  shouldAnswer("/api/endpoints/alpa", [404, Problem, { code: "ENDPOINT_UNKNOWN", endpoints: ["alpha"] }]);
  shouldAnswer("/health/ready", [200, Readiness, { ready: true }]);
});

describe("the JSON API refuses", () => {
  const next =
    'Known are "query", "endpoint", "federation", "timeoutMs", "partial", "strict", "prune", "maxRows", "provenance", "format", "terms".';
  const misspelt = { detail: 'Unknown: "maxrows". Did you mean "maxRows"?', next };
  shouldRefuse("/api/query", misspelt, json({ query: "ASK {}", maxrows: 5 }));
  shouldRefuse("/api/query", { detail: 'Missing: "query".', next }, json({}));
  shouldRefuse("/api/query", { detail: '"query" must be a string.' }, json({ query: 5 }));
  shouldRefuse("/api/query", { detail: '"maxRows" must be an integer.' }, json({ query: "ASK {}", maxRows: "5" }));
  shouldRefuse("/api/query", { detail: '"maxRows" must be <= 100.' }, json({ query: "ASK {}", maxRows: 101 }));
  shouldRefuse("/api/query", { detail: "The body must be an object." }, json([]));
  shouldRefuse("/api/query", { detail: "The body is not JSON." }, json("{"));
  shouldRefuse("/api/query", {}, json('{"__proto__": {"query": "ASK {}"}}'));
  shouldRefuse("/api/query", { detail: "The body is empty; a JSON object is expected." }, { ...json(""), body: null });
  shouldRefuse("/api/query", { detail: "The JSON document does not begin with { or [." }, json(null));
  shouldRefuse("/api/explain", { detail: 'Unknown: "maxRows".' }, json({ query: "ASK {}", maxRows: 5 }));
  shouldRefuse("/api/endpoints?limit=0", { detail: '"limit" must be >= 1.', next: "Send an integer from 1 to 1000." });
  const partial = json({ query: "ASK {}", partial: "some" });
  shouldRefuse("/api/query", { detail: '"partial" must be a boolean or "subset".' }, partial);
  const terms = { detail: '"terms" must be one of "json", "ntriples".' };
  shouldRefuse("/api/query", terms, json({ query: "ASK {}", terms: "turtle" }));
  const both = { query: "ASK {}", position: 0, endpoint: "alpha", federation: "all" };
  shouldRefuse("/api/complete", { detail: "The request names an endpoint and a federation." }, json(both));
  shouldRefuse("/api/incidents?open=1", { detail: '"open" must be a boolean.' });
  shouldRefuse("/api/incidents?endpoint=%01", { detail: '"endpoint" is malformed.', next: "Expected: Catalogue id." });
  shouldRefuse("/api/endpoints/a%01b", { next: "Expected: Its id, without control characters." });
  shouldRefuse("/api/endpoints?query=x", { detail: 'Unknown: "query".' });
  const range = "Send an integer from 1 to 86400000. Time limit of a run in milliseconds.";
  shouldRefuse("/api/query", { detail: '"timeoutMs" must be >= 1.', next: range }, json({ query: "?", timeoutMs: 0 }));
  const large = (length: number): RequestInit => json({ query: "x".repeat(length) });
  shouldAnswer("/api/query", [413, Problem, { code: "QUERY_TOO_LARGE" }], large(5_000));
  shouldAnswer("/api/query", [413, Problem, { code: "REQUEST_TOO_LARGE" }], large(500_000));
  shouldAnswer("/api/query", [415, Problem, { code: "MEDIA_TYPE_UNSUPPORTED" }], { method: "POST", body: "{}" });

  it("JSON that is not UTF-8", async () => {
    const app = await start();
    const body = Buffer.from('{"query":"\u{ff}"}', "latin1");
    const response = await fetch(`${app.url}/api/query`, { ...json({}), body });
    expect(await response.json()).toMatchObject({ status: 400, code: "QUERY_ENCODING" });
  });
});

describe("/api/query", () => {
  it("hands its fields on", async () => {
    const app = await start();
    const fields = { maxRows: 7, timeoutMs: 9, partial: true, strict: true };
    await fetch(`${app.url}/api/query`, json({ query: "ASK {}", endpoint: "beta", format: "json", ...fields }));
    expect(app.queries.requests[0]).toMatchObject({ text: "ASK {}", endpointId: "beta", ...fields });
  });

  it("writes terms as N-Triples where that is asked for, and every name of a variable", async () => {
    const app = await start();
    app.queries.tableAnswer = async () => ({
      ...fakeTable,
      columns: ["x", "__proto__"],
      rows: [["<urn:a>", '"1"@en']],
    });
    const send = async (fields: object) =>
      (await fetch(`${app.url}/api/query`, json({ query: "ASK {}", ...fields }))).text();
    expect(await send({ terms: "ntriples" })).toContain(String.raw`{"x":"<urn:a>","__proto__":"\"1\"@en"}`);
    expect(await send({})).toContain('{"x":{"iri":"urn:a"},"__proto__":{"value":"1","language":"en"}}');
    expect(await send({ terms: "turtle" })).toContain("REQUEST_INVALID");
  });

  it("uses the service's own limit without one", async () => {
    const app = await start();
    await fetch(`${app.url}/api/query`, json({ query: "ASK {}" }));
    expect(app.queries.requests[0]).toMatchObject({ maxRows: 100, partial: false, strict: false });
  });

  it("gives a failed run the status of its problem", async () => {
    const app = await start();
    const diagnosis = toProblem(new FedwayError("ENDPOINT_TIMEOUT", "Too slow."));
    app.queries.tableAnswer = async () => ({ ...fakeTable, status: "failed", diagnosis });
    const response = await fetch(`${app.url}/api/query`, json({ query: "ASK {}" }));
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
      "access-control-allow-headers": "*, Authorization",
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
      "Fedway-Facts",
      "Fedway-Partial",
      "Fedway-Plan",
      "Fedway-Run",
      "Fedway-Status",
      "Retry-After",
      "Server-Timing",
    ]);
  });
});
