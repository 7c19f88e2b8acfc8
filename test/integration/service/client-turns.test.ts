import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../support/eventually.ts";
import { startEndpoints, type TestEndpoints } from "../../support/federation-harness.ts";
import { problemOf, type RunningService, startService } from "../../support/running-service.ts";

// Turns, limits, quotas, runs and metrics go by the client, wherever its requests come from.

const adminToken = "a-token-of-these-tests";
const everything = "SELECT * { ?s ?p ?o }";
const perMinute = 20;
let endpoints: TestEndpoints;
let service: RunningService;
beforeAll(async () => {
  endpoints = await startEndpoints(
    Object.fromEntries(["fast", "slow"].map((name) => [name, '<urn:s> <urn:p> "o" .\n<urn:s> <urn:p> "p" .'])),
  );
});
afterEach(async () => {
  endpoints.setDelay("slow", 0);
  endpoints.clearRequests();
  await service.close();
});
afterAll(() => endpoints.close());

const open = async (env: Readonly<Record<string, string>>): Promise<void> => {
  const own = { FEDWAY_TRUST_PROXY: "127.0.0.0/8", FEDWAY_ADMIN_TOKEN: adminToken, FEDWAY_EXPLAIN_EMPTY: "off" };
  service = await startService(endpoints.urls, { ...own, ...env });
};

interface Sent {
  readonly key?: string;
  readonly address?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

const send = (path: string, { key, address = "203.0.113.1", body, signal }: Sent): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      "x-forwarded-for": address,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });

async function add(name: string, more: object = {}): Promise<string> {
  const made = await send("/api/keys", { key: adminToken, body: { name, role: "query", ...more } });
  return ((await made.json()) as { readonly key: string }).key;
}

const ask = (endpoint: string, sent: Sent): Promise<Response> =>
  send("/api/query", { ...sent, body: { query: everything, endpoint } });

describe("turns", () => {
  test("of one key are one client's from 50 addresses, of two keys two clients' from one", async () => {
    await open({ FEDWAY_MAX_CONCURRENT: "8" });
    const [one, two] = [await add("one"), await add("two")];
    endpoints.setDelay("slow", 600_000);
    const leaving = new AbortController();
    const { signal } = leaving;
    const from = (key: string, addresses: readonly string[]) =>
      addresses.map((address) => ask("slow", { key, address, signal }));
    const held = from(
      one,
      Array.from({ length: 50 }, (_, index) => `198.51.100.${index}`),
    );
    await until(() => endpoints.requests("slow").length === 4);
    // The first has half of the places; the second, from one of its addresses, has half of the rest.
    held.push(
      ...from(
        two,
        Array.from({ length: 10 }, () => "198.51.100.7"),
      ),
    );
    await until(() => endpoints.requests("slow").length === 6);
    // Neither delays callers without a key, whatever their address.
    expect((await ask("fast", { address: "198.51.100.7" })).status).toBe(200);
    expect(endpoints.requests("slow").length).toBe(6);
    leaving.abort();
    await Promise.allSettled(held);
  });

  test("of the rate limit go by key, too", async () => {
    await open({ FEDWAY_RATE_LIMIT: String(perMinute) });
    const [one, two] = [await add("one"), await add("two")];
    const statusOf = async (key: string, address: string) => (await send("/api/status", { key, address })).status;
    const first: number[] = [];
    for (let index = 0; index < perMinute + 5; index += 1) first.push(await statusOf(one, `198.51.100.${index}`));
    expect(first.filter((status) => status === 200).length).toBeLessThanOrEqual(perMinute + 1);
    expect(first.at(-1)).toBe(429);
    expect(await statusOf(two, "198.51.100.1")).toBe(200);
  });

  test("of guesses go by address: a wrong key gives no more tries", async () => {
    await open({ FEDWAY_RATE_LIMIT: String(perMinute) });
    await add("one");
    const seen: number[] = [];
    for (let index = 0; index < perMinute + 5; index += 1) {
      const key = `fw_one_${String(index).padStart(43, "x")}`;
      seen.push((await send("/api/status", { key, address: "198.51.100.200" })).status);
    }
    expect([seen[0], seen.at(-1)]).toEqual([401, 429]);
  });
});

describe("a quota", () => {
  test.each<[kind: string, quota: object, calls: number]>([
    ["requests", { hour: { requests: 2 } }, 2],
    ["rows", { day: { rows: 5 } }, 3],
    ["seconds", { hour: { seconds: 0 } }, 0],
  ])("of %s ends in 429 at every door that asks endpoints, not for others", async (kind, quota, calls) => {
    await open({});
    const [key, other] = [await add("bot", { quota }), await add("other")];
    const usedRequests = async (): Promise<unknown> =>
      ((await (await send("/api/keys/self", { key })).json()) as { used: { hour: { requests: number } } }).used.hour
        .requests;
    for (let call = 0; call < calls; call += 1) {
      expect(
        (await send("/api/query", { key, body: { query: `${everything} #${call}`, endpoint: "fast" } })).status,
      ).toBe(200);
      await until(async () => (await usedRequests()) === call + 1);
    }
    const refused = await problemOf(await ask("fast", { key }));
    expect(refused).toMatchObject({ status: 429, code: "QUOTA_SPENT", detail: expect.stringContaining(kind) });
    expect(refused.retryAfterMs).toBeGreaterThan(0);
    const tool = await send("/api/tools/run_query", { key, body: { query: everything, endpoint: "fast" } });
    expect(await problemOf(tool)).toMatchObject({ status: 429, code: "QUOTA_SPENT" });
    const hosted = await send(`/endpoints/fast/sparql?query=${encodeURIComponent(everything)}`, { key });
    expect([hosted.status, hosted.headers.has("retry-after")]).toEqual([429, true]);
    expect((await send("/api/status", { key })).status).toBe(200);
    expect((await ask("fast", { key: other })).status).toBe(200);
    expect((await ask("fast", {})).status).toBe(200);
  });
});

test("of requests counts hosted endpoints and streamed answers, with their rows", async () => {
  await open({ FEDWAY_EXAMPLES: "on" });
  const key = await add("bot", { quota: { hour: { requests: 2 } } });
  const used = async () =>
    ((await (await send("/api/keys/self", { key })).json()) as { used: { hour: object } }).used.hour;
  const sparql = (path: string) =>
    send(`${path}?query=${encodeURIComponent("SELECT * { ?s ?p ?o } LIMIT 2")}`, { key });
  expect((await sparql("/endpoints/fast/sparql")).status).toBe(200);
  await expect.poll(used).toMatchObject({ requests: 1, rows: 2 });
  expect((await sparql("/hosted/people/sparql")).status).toBe(200);
  await expect.poll(used).toMatchObject({ requests: 2 });
  for (const path of ["/endpoints/fast/sparql", "/hosted/people/sparql"]) expect((await sparql(path)).status).toBe(429);
});

test("runs and metrics name the client; others see neither its name nor its query", async () => {
  await open({});
  const [one, two] = [await add("one"), await add("two")];
  const { run } = (await (await ask("fast", { key: one })).json()) as { readonly run: string };
  const record = async (sent: Sent) => (await send(`/api/runs/${run}`, sent)).json() as Promise<object>;
  expect(await record({ key: one, address: "198.51.100.99" })).toMatchObject({
    client: "one",
    asked: { endpoint: "fast" },
  });
  expect(await record({ key: adminToken })).toMatchObject({ client: "one" });
  for (const sent of [{ key: two }, {}]) {
    expect(await record(sent)).not.toHaveProperty("client");
    expect(await record(sent)).not.toHaveProperty("asked");
  }
  const metrics = await (await send("/metrics", {})).text();
  expect(metrics).toMatch(/^fedway_client_requests_total\{client="one"\} [2-9]/mu);
  expect(metrics).toMatch(/^fedway_client_cost_total\{client="one",kind="rows"\} 2$/mu);
  expect(metrics).toMatch(/^fedway_client_cost_total\{client="one",kind="requests"\} 1$/mu);
  expect(metrics).not.toContain(one.slice(-43));
});
