import { describe, expect, it } from "vitest";
import { createRateLimiter } from "../../../src/http/rate-limiter.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { askQuery, raw, start } from "./http-fixture.ts";
import { until } from "../../support/eventually.ts";

const statuses = async (app: { url: string }, addresses: readonly string[]): Promise<readonly number[]> => {
  const found: number[] = [];
  for (const address of addresses) {
    const headers = { "X-Forwarded-For": address };
    found.push((await fetch(`${app.url}/sparql?${askQuery}`, { headers })).status);
  }
  return found;
};

describe("rate limit", () => {
  const limiter = () => createRateLimiter({ perMinute: 2, now: () => performance.now() });
  it("holds for the peer, whatever it says about itself", async () => {
    const app = await start({ limiter: limiter() });
    expect(await statuses(app, ["192.0.2.1", "192.0.2.2", "192.0.2.3"])).toStrictEqual([200, 200, 429]);
    const refused = await fetch(`${app.url}/sparql?${askQuery}`);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(10);
    expect(await refused.json()).toMatchObject({ code: "RATE_LIMITED", retryable: true });
    expect((await fetch(`${app.url}/health/live`)).status).toBe(200);
  });

  it("holds for the client that a trusted proxy names", async () => {
    const app = await start({ limiter: limiter(), config: { ...fakeSettings, trustProxy: 1 } });
    const addresses = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "198.51.100.9, 192.0.2.1", "192.0.2.2"];
    expect(await statuses(app, addresses)).toStrictEqual([200, 200, 429, 429, 200]);
  });

  it("believes proxies by their addresses", async () => {
    const near = await start({ limiter: limiter(), config: { ...fakeSettings, trustProxy: ["127.0.0.0/8"] } });
    expect(await statuses(near, ["192.0.2.1", "192.0.2.2", "192.0.2.3"])).toStrictEqual([200, 200, 200]);
    const far = await start({ limiter: limiter(), config: { ...fakeSettings, trustProxy: ["10.0.0.0/8"] } });
    expect(await statuses(far, ["192.0.2.1", "192.0.2.2", "192.0.2.3"])).toStrictEqual([200, 200, 429]);
  });
});

describe("observation", () => {
  it("counts by route, never by path", async () => {
    const app = await start();
    for (const path of ["/api/runs/run-1", "/endpoints/alpha/sparql", "/wp-login.php"]) await fetch(app.url + path);
    await until(() => app.observed.length === 3);
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
    await until(() => app.lines.length === 1);
    expect(app.lines[0]).toMatchObject({ method: "GET", route: "/sparql", status: 200, run: "run-1" });
    expect(JSON.stringify(app.lines)).not.toContain("SECRET");
    expect(Object.entries(app.lines[0] ?? {}).find(([name]) => name === "bytes")?.[1]).toBeGreaterThan(49);
  });

  it("logs the query when asked to", async () => {
    const app = await start({ config: { ...fakeSettings, log: { queries: true } } });
    await fetch(`${app.url}/sparql?query=SECRET`);
    await until(() => app.lines.length === 1);
    expect(app.lines[0]).toMatchObject({ query: "SECRET" });
  });

  it("gives the metrics", async () => {
    const app = await start();
    const response = await fetch(`${app.url}/metrics`);
    expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
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

interface OpenApi {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: object };
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: object; readonly headers?: object }>>;
}

describe("documents", () => {
  it("the OpenAPI document has every route", async () => {
    const app = await start();
    const document: unknown = await (await fetch(`${app.url}/openapi.json`)).json();
    expect(document).toMatchObject({ openapi: "3.1.0", info: { title: "Fedway", version: "1.2.3" } });
    const paths = typeof document === "object" && document !== null && "paths" in document ? document.paths : {};
    expect(Object.keys(paths ?? {}).toSorted()).toStrictEqual([
      "/",
      "/.well-known/void",
      "/api/catalog",
      "/api/catalog/problems",
      "/api/complete",
      "/api/endpoints",
      "/api/endpoints/{id}",
      "/api/endpoints/{id}/adapters",
      "/api/endpoints/{id}/availability",
      "/api/endpoints/{id}/capabilities",
      "/api/endpoints/{id}/describe",
      "/api/endpoints/{id}/grammar",
      "/api/endpoints/{id}/incidents",
      "/api/endpoints/{id}/linksets",
      "/api/endpoints/{id}/maintenance",
      "/api/endpoints/{id}/schema",
      "/api/endpoints/{id}/void",
      "/api/explain",
      "/api/federations",
      "/api/federations/{id}",
      "/api/federations/{id}/grammar",
      "/api/incidents",
      "/api/incidents/{id}",
      "/api/jobs",
      "/api/jobs/{id}",
      "/api/jobs/{id}/events",
      "/api/keys",
      "/api/keys/self",
      "/api/keys/{name}",
      "/api/keys/{name}/rotate",
      "/api/maintenance",
      "/api/maintenance/{id}",
      "/api/query",
      "/api/runs",
      "/api/runs/{id}",
      "/api/search",
      "/api/sessions/{id}",
      "/api/snapshot",
      "/api/status",
      "/api/watches",
      "/api/watches/{id}",
      "/api/watches/{id}/accept",
      "/api/watches/{id}/run",
      "/api/webhooks/dead",
      "/api/webhooks/dead/{id}",
      "/api/webhooks/muted",
      "/api/webhooks/muted/{id}",
      "/ask",
      "/docs",
      "/endpoints/{id}",
      "/endpoints/{id}/badge.json",
      "/endpoints/{id}/badge.svg",
      "/endpoints/{id}/capabilities",
      "/endpoints/{id}/describe",
      "/endpoints/{id}/maintenance",
      "/endpoints/{id}/maintenance/{window}/remove",
      "/endpoints/{id}/owner",
      "/endpoints/{id}/sparql",
      "/federations",
      "/federations/{id}",
      "/federations/{id}/sparql",
      "/health/live",
      "/health/ready",
      "/help",
      "/help/{page}",
      "/hosted/{id}/sparql",
      "/incidents",
      "/incidents.atom",
      "/incidents/{id}",
      "/jobs",
      "/login",
      "/logout",
      "/metrics",
      "/openapi.json",
      "/query",
      "/registry/sparql",
      "/registry/vocabulary",
      "/runs",
      "/runs/{id}",
      "/runs/{id}/cancel",
      "/sparql",
      "/status",
      "/unsubscribe",
      "/watches",
    ]);
  });

  it("the OpenAPI document names every operation, and declares its errors as one component", async () => {
    const app = await start();
    const document: OpenApi = JSON.parse(await (await fetch(`${app.url}/openapi.json`)).text());
    const operations = Object.values(document.paths).flatMap((each) => Object.values(each));
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/u.test(id))).toEqual([]);
    const problem = { schema: { $ref: "#/components/schemas/Problem" } };
    for (const { responses } of operations) {
      expect(Object.keys(responses).some((status) => status.startsWith("2"))).toBe(true);
      expect(responses["4XX"]?.content).toMatchObject({ "application/problem+json": problem });
      expect(responses["405"]?.headers).toHaveProperty("Allow");
    }
    expect(document.components.schemas).toMatchObject({ Problem: { type: "object" }, Endpoint: { type: "object" } });
    expect(document.tags.map(({ name }) => name).slice(0, 2)).toEqual(["SPARQL", "Queries"]);
  });

  it("the OpenAPI document names parameters of plans only where queries are planned", async () => {
    const app = await start();
    const document: OpenApi = JSON.parse(await (await fetch(`${app.url}/openapi.json`)).text());
    const ofPlans = (path: string): readonly string[] =>
      (document.paths[path]?.["get"]?.parameters ?? [])
        .map(({ name }) => name)
        .filter((name) => ["partial", "strict", "prune", "provenance", "spreadsheet"].includes(name));
    expect(ofPlans("/sparql")).toHaveLength(5);
    expect(ofPlans("/hosted/{id}/sparql")).toEqual([]);
    expect(ofPlans("/shards/{dataset}/{shard}/sparql")).toEqual([]);
  });

  it("a request that never ends its headers does not hold the others up", async () => {
    const app = await start();
    const slow = raw(app, "GET / HTTP/1.1\r\nHost:");
    expect((await fetch(`${app.url}/health/live`)).status).toBe(200);
    expect(slow.received()).toBe("");
  });
});
