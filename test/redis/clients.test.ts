import { afterAll, beforeAll, expect, it } from "vitest";
import { createRedisStore } from "../../src/store/redis/redis-store.ts";
import { describeClients } from "../contract/clients/clients-contract.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";

const adminToken = "a-token-of-these-tests";
let redis: RedisServer;
let server: SparqlTestServer;
let services: readonly RunningService[];
beforeAll(async () => {
  redis = await startRedis();
  server = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
  const env = { REDIS_URL: redis.url, ROLE: "web", FEDWAY_ADMIN_TOKEN: adminToken, FEDWAY_ANONYMOUS: "none" };
  services = await Promise.all([1, 2].map(() => startService({ alpha: server.url }, env)));
});
afterAll(async () => {
  await Promise.all((services ?? []).map((service) => service.close()));
  await server.close();
  await redis.stop();
});

let prefixes = 0;
describeClients("redis", async () => {
  prefixes += 1;
  const open = () => createRedisStore({ url: redis.url, prefix: `fedway-test-${prefixes}:` });
  const stores = [await open(), await open()] as const;
  return { stores, dispose: async () => void (await Promise.all(stores.map((store) => store.close()))) };
});

const at = (index: number): RunningService => services[index] as RunningService;
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

async function manage(index: number, path: string, body: object): Promise<string> {
  const response = await fetch(`${at(index).url}/api/keys${path}`, {
    method: "POST",
    headers: { ...bearer(adminToken), "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { readonly key: string }).key;
}

const query = (index: number, key: string): Promise<Response> =>
  fetch(`${at(index).url}/endpoints/alpha/sparql?query=${encodeURIComponent("SELECT * { ?s ?p ?o }")}`, {
    headers: { ...bearer(key), "Cache-Control": "no-cache" },
  });
const statuses = (key: string) => Promise.all([0, 1].map(async (index) => (await query(index, key)).status));

it("a key that one process makes, rotates and revokes opens and closes in the other, without a restart", async () => {
  const first = await manage(0, "", { name: "ada", role: "query" });
  await expect.poll(() => statuses(first)).toEqual([200, 200]);
  const second = await manage(1, "/ada/rotate", { graceSeconds: 60 });
  await expect.poll(() => statuses(second)).toEqual([200, 200]);
  expect(await statuses(first)).toEqual([200, 200]);
  const third = await manage(0, "/ada/rotate", { graceSeconds: 0 });
  await expect.poll(() => statuses(third)).toEqual([200, 200]);
  await expect.poll(() => statuses(second)).toEqual([401, 401]);
  expect(await statuses(first)).toEqual([401, 401]);
  await fetch(`${at(1).url}/api/keys/ada`, { method: "DELETE", headers: bearer(adminToken) });
  await expect.poll(() => statuses(third)).toEqual([401, 401]);
});

it("a quota is one over all processes, and says what was spent and when to come again", async () => {
  const key = await manage(0, "", { name: "bot", role: "query", quota: { hour: { requests: 4 } } });
  await expect.poll(async () => (await fetch(`${at(1).url}/status`, { headers: bearer(key) })).status).toBe(200);
  const usedAt = async (index: number): Promise<unknown> => {
    const response = await fetch(`${at(index).url}/api/keys/self`, { headers: bearer(key) });
    return ((await response.json()) as { used: { hour: { requests: number } } }).used.hour.requests;
  };
  for (const [call, index] of [0, 1, 0, 1].entries()) {
    expect((await query(index, key)).status).toBe(200);
    // A call is counted when it has ended.
    await expect.poll(() => usedAt(1 - index)).toBe(call + 1);
  }
  for (const index of [0, 1]) {
    const refused = await query(index, key);
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect(await refused.json()).toMatchObject({
      code: "QUOTA_SPENT",
      detail: expect.stringContaining("4 of its 4 requests"),
    });
  }
});
