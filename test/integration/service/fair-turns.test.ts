import { afterEach, beforeAll, afterAll, describe, expect, test } from "vitest";
import { until } from "../../support/eventually.ts";
import { startEndpoints, type TestEndpoints } from "../../support/federation-harness.ts";
import { problemOf, type RunningService, startService } from "../../support/running-service.ts";

// One admission in front of everything that asks endpoints: clients take turns, and a call has one budget of requests.

const members = Array.from({ length: 12 }, (_, index) => `m${index}`);
const triples = '<urn:s> <urn:p> "o" ; <urn:q> <urn:t> .'.replace(" ;", " .\n<urn:s>");

let endpoints: TestEndpoints;
let service: RunningService;
const open = async (env: Readonly<Record<string, string>>): Promise<void> => {
  service = await startService(endpoints.urls, { FEDWAY_TRUST_PROXY: "127.0.0.0/8", ...env });
};
beforeAll(async () => {
  endpoints = await startEndpoints(Object.fromEntries([...members, "slow"].map((name) => [name, triples])));
});
afterEach(async () => {
  for (const name of [...members, "slow"]) endpoints.setDelay(name, 0);
  endpoints.clearRequests();
  await service.close();
});
afterAll(() => endpoints.close());

interface Sent {
  readonly client: string;
  readonly path: string;
  readonly body: unknown;
  readonly signal?: AbortSignal;
}

/** Sends JSON from the address of a client. */
const send = ({ client, path, body, signal }: Sent): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "x-forwarded-for": client,
    },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });

const ask = (client: string, query: string, signal?: AbortSignal): Promise<Response> =>
  send({ client, path: "/api/query", body: { query }, ...(signal && { signal }) });

const callTool = (client: string, name: string, given: unknown, signal?: AbortSignal): Promise<Response> =>
  send({ client, path: `/api/tools/${name}`, body: given, ...(signal && { signal }) });

const everywhere = (patterns: string): string =>
  members.map((id) => `{ SERVICE <${id}> { ${patterns} } }`).join(" UNION ");
const requestsOf = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + endpoints.requests(name).length, 0);

describe("a client that sends more than there are places", () => {
  const attacker = "203.0.113.1";
  // What holds the places of the attacker, by the way that it takes.
  test.each<[way: string, hold: (signal: AbortSignal) => Promise<Response>]>([
    ["/api/query", (signal) => ask(attacker, "SELECT * { SERVICE <slow> { ?s <urn:p> ?o } }", signal)],
    [
      "run_query",
      (signal) => callTool(attacker, "run_query", { query: "SELECT * { SERVICE <slow> { ?s <urn:p> ?o } }" }, signal),
    ],
  ])("by %s leaves places for others", async (_way, hold) => {
    await open({ FEDWAY_MAX_CONCURRENT: "8", FEDWAY_EXPLAIN_EMPTY: "off" });
    endpoints.setDelay("slow", 600_000);
    const leaving = new AbortController();
    const held = Array.from({ length: 28 }, () => hold(leaving.signal));
    const refused = Promise.race(held.map(async (answer) => problemOf(await answer)));
    await until(() => endpoints.requests("slow").length === 4);
    const own = await ask("203.0.113.2", "SELECT * { SERVICE <m0> { ?s <urn:p> ?o } }");
    expect(own.status).toBe(200);
    const tool = await callTool("203.0.113.3", "run_query", { query: "SELECT * { SERVICE <m1> { ?s <urn:p> ?o } }" });
    expect(tool.status).toBe(200);
    expect(await refused).toMatchObject({ status: 503, code: "SERVICE_BUSY", retryAfterMs: 1_000 });
    expect(endpoints.requests("slow").length).toBe(4);
    leaving.abort();
    await Promise.allSettled(held);
    await until(async () => (await ask(attacker, "SELECT * { SERVICE <m0> { ?s <urn:p> ?o } }")).status === 200);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(Number(/^fedway_busy_total (\d+)$/mu.exec(metrics)?.[1])).toBeGreaterThan(0);
  });

  test("by slow explain_result calls leaves diagnoses for others", async () => {
    await open({ FEDWAY_MAX_CONCURRENT: "8", FEDWAY_EXPLAIN_EMPTY: "off" });
    const runOf = async (client: string, endpoint: string, value: number): Promise<unknown> => {
      const query = `SELECT * { SERVICE <${endpoint}> { ?s <urn:p> "none ${value}" } }`;
      return ((await (await ask(client, query)).json()) as { readonly run: string }).run;
    };
    const runs = await Promise.all([1, 2, 3, 4, 5, 6].map((value) => runOf(attacker, "slow", value)));
    const own = await runOf("203.0.113.2", "m0", 1);
    endpoints.setDelay("slow", 600_000);
    endpoints.clearRequests();
    const leaving = new AbortController();
    const held = runs.map((run) => callTool(attacker, "explain_result", { run_id: run }, leaving.signal));
    await until(() => endpoints.requests("slow").length === 4);
    const answer = await callTool("203.0.113.2", "explain_result", { run_id: own });
    expect(await answer.json()).toMatchObject({ data: { status: "empty", complete: true } });
    leaving.abort();
    await Promise.allSettled(held);
  });
});

describe("the requests of one call", () => {
  const client = "203.0.113.4";

  test.each<[name: string, path: string, body: unknown]>([
    ["a query", "/api/query", { query: `SELECT * { ${everywhere("?s <urn:p> ?o")} }` }],
    [
      "a query that takes part of an answer",
      "/api/query?partial=true",
      { query: `SELECT * { ${everywhere("?s <urn:p> ?o")} }` },
    ],
  ])("end %s that needs more", async (_name, path, body) => {
    await open({ FEDWAY_CALL_REQUESTS: "5", FEDWAY_EXPLAIN_EMPTY: "off" });
    const answer = await send({ client, path, body });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ status: "failed", diagnosis: { code: "BUDGET_SPENT" } });
    expect(requestsOf(members)).toBeLessThanOrEqual(5);
    expect((await ask(client, "SELECT * { SERVICE <m0> { ?s <urn:p> ?o } }")).status).toBe(200);
  });

  test("end a diagnosis, which says how far it got", async () => {
    await open({ FEDWAY_DIAGNOSIS_REQUESTS: "20", FEDWAY_EXPLAIN_EMPTY: "off" });
    const query = `SELECT * { { ${everywhere("?s <urn:p> ?o")} } { ${everywhere("?s <urn:q> ?t")} } FILTER(?o = "none") }`;
    const { run } = (await (await ask(client, query)).json()) as { readonly run: string };
    endpoints.clearRequests();
    const explained = (await (await callTool(client, "explain_result", { run_id: run })).json()) as {
      readonly text: string;
      readonly data: { readonly complete: boolean };
    };
    expect(requestsOf(members)).toBeLessThanOrEqual(20);
    expect(explained.data.complete).toBe(false);
    expect(explained.text).toContain("the limit of a diagnosis was reached");
  });
});

describe("the limit of a client", () => {
  const client = "203.0.113.5";

  test("counts each call of an MCP batch", async () => {
    await open({ FEDWAY_RATE_LIMIT: "20" });
    const call = (id: number) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "find_endpoints", arguments: { question: "m1" } },
    });
    const batch = Array.from({ length: 30 }, (_, id) => call(id));
    const answered = await (await send({ client, path: "/mcp", body: batch })).text();
    expect(answered.match(/RATE_LIMITED/gu)?.length).toBeGreaterThanOrEqual(9);
    expect((await ask(client, "SELECT * { SERVICE <m0> { ?s <urn:p> ?o } }")).status).toBe(429);
    expect((await ask("203.0.113.6", "SELECT * { SERVICE <m0> { ?s <urn:p> ?o } }")).status).toBe(200);
  });

  test("counts the requests to endpoints, ten as one", async () => {
    await open({ FEDWAY_RATE_LIMIT: "8" });
    const statuses: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      statuses.push((await ask(client, `SELECT * { ${everywhere("?s <urn:p> ?o")} }`)).status);
    }
    expect(statuses.slice(0, 4)).toEqual([200, 200, 200, 200]);
    expect(statuses).toContain(429);
  });
});
