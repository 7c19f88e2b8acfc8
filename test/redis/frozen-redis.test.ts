import { afterEach, describe, expect, it } from "vitest";
import { createBullmqJobQueue } from "../../src/jobs/bullmq/bullmq-job-queue.ts";
import { createRedisStore } from "../../src/store/redis/redis-store.ts";
import { kind } from "../contract/jobs/job-queue-fixture.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { startService } from "../support/running-service.ts";
import { startSparqlTestServer } from "../support/sparql-test-server.ts";

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

const timeoutMs = 1_500;

async function openRedis(): Promise<RedisServer> {
  const redis = await startRedis();
  closings.push(() => redis.stop());
  return redis;
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return "done";
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}

/** Milliseconds that requests took which were made one after the other, all of which must fail. */
async function failingMs(requests: readonly (() => Promise<unknown>)[]): Promise<number> {
  const startedMs = performance.now();
  for (const request of requests) expect(await codeOf(request())).toBe("STORE_FAILED");
  return performance.now() - startedMs;
}

async function backMs(redis: RedisServer, request: () => Promise<unknown>): Promise<number> {
  redis.thaw();
  const startedMs = performance.now();
  await expect.poll(() => codeOf(request())).toBe("done");
  return performance.now() - startedMs;
}

const tell = (what: string, first: number, others: number, back: number): boolean =>
  process.stdout.write(
    `${what}: first ${first.toFixed(0)} ms, 20 more ${others.toFixed(0)} ms, back after ${back.toFixed(0)} ms\n`,
  );

describe("a Redis that accepts connections and answers nothing", () => {
  it("costs the first request to the store its time limit, and those after it nothing", async () => {
    const redis = await openRedis();
    const store = await createRedisStore({ url: redis.url, prefix: "hangs:", commandTimeoutMs: timeoutMs });
    closings.push(() => store.close());
    await store.put("a", "1");
    redis.freeze();
    const read = (): Promise<unknown> => store.get("a");
    const write = (): Promise<unknown> => store.put("b", "2");
    const first = await failingMs([write]);
    const others = await failingMs(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? read : write)));
    expect(others).toBeLessThan(2 * timeoutMs);
    tell("store", first, others, await backMs(redis, write));
  });

  it("does not keep a start waiting", async () => {
    const redis = await openRedis();
    redis.freeze();
    const store = createRedisStore({ url: redis.url, prefix: "hangs:", commandTimeoutMs: timeoutMs });
    expect(await codeOf(store)).toBe("STORE_FAILED");
    const queue = createBullmqJobQueue({ url: redis.url, prefix: "hangs:", commandTimeoutMs: timeoutMs });
    closings.push(() => queue.close(0));
    expect(await codeOf(queue.start([]))).toBe("STORE_FAILED");
    redis.thaw();
    await expect.poll(() => codeOf(queue.start([]))).toBe("done");
  });

  it("costs the first request to the job queue its time limit, and those after it nothing", async () => {
    const redis = await openRedis();
    const queue = createBullmqJobQueue({ url: redis.url, prefix: "hangs:", commandTimeoutMs: timeoutMs });
    closings.push(() => queue.close(0));
    await queue.start([kind("a", async () => null)]);
    redis.freeze();
    const enqueue = (): Promise<unknown> => queue.enqueue("a", null);
    const first = await failingMs([enqueue]);
    const others = await failingMs(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? enqueue : () => queue.list())),
    );
    expect(others).toBeLessThan(2 * timeoutMs);
    tell("jobs", first, others, await backMs(redis, enqueue));
  });

  it("leaves queries alone; changes and lists are refused as retryable, and taken again when it is back", async () => {
    const redis = await openRedis();
    const server = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
    closings.push(() => server.close());
    const token = "frozen-redis-token";
    const service = await startService(
      { alpha: server.url },
      { REDIS_URL: redis.url, FEDWAY_ADMIN_TOKEN: token, ROLE: "web" },
    );
    closings.push(() => service.close());
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const add = (id: string): Promise<Response> => {
      const body = JSON.stringify({ id, title: id, url: `https://${id}.example.org/sparql` });
      return fetch(`${service.url}/api/endpoints`, { method: "POST", headers, body });
    };
    const list = (): Promise<Response> => fetch(`${service.url}/api/jobs`, { headers });
    redis.freeze();
    const startedMs = performance.now();
    for (const refused of await Promise.all([add("one"), list()])) {
      expect(refused.status).toBe(503);
      expect(await refused.json()).toMatchObject({ code: "STORE_FAILED", retryable: true });
    }
    const firstMs = performance.now() - startedMs;
    for (let round = 0; round < 10; round += 1) {
      const answer = await service.query("SELECT * { ?s ?p ?o }", { path: "/endpoints/alpha/sparql" });
      expect(answer.status).toBe(200);
      await answer.text();
      for (const refused of [await add("one"), await list()]) expect(refused.status).toBe(503);
    }
    const othersMs = performance.now() - startedMs - firstMs;
    expect(othersMs).toBeLessThan(6_000);
    const back = await backMs(redis, async () => {
      const [{ status }, listed] = [await add("two"), await list()];
      if (![200, 201, 409].includes(status) || listed.status !== 200) throw new Error(`${status} ${listed.status}`);
    });
    tell("service", firstMs, othersMs, back);
  });
});
