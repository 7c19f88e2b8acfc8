import { inspect } from "node:util";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { createRedisStore } from "../../src/store/redis/redis-store.ts";
import type { Store } from "../../src/store/store.ts";
import { watchState } from "../../src/store/watch-state.ts";
import { openState } from "../../src/app/open-state.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { freePort } from "../support/listening.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import { eventually } from "../support/eventually.ts";

const password = "p-ss:w0rd@secret";
let server: RedisServer;
/** Another program that uses the same database. */
let other: Redis;
beforeAll(async () => {
  server = await startRedis({ password });
  other = new Redis(server.url);
  other.on("error", () => {});
});
afterAll(async () => {
  other.disconnect();
  await server.stop();
});

async function openStore(prefix: string, url = server.url): Promise<Store> {
  const store = await createRedisStore({ url, prefix, commandTimeoutMs: 2_000, connectTimeoutMs: 2_000 });
  onTestFinished(() => store.close());
  return store;
}

async function failureOf(work: Promise<unknown>): Promise<FedwayError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof FedwayError) return error;
    throw error;
  }
  throw new Error("nothing failed");
}

describe("a store in a shared Redis", () => {
  it("writes under its prefix only, and sees nothing else", async () => {
    await other.mset("theirs", "1", "one:keys:theirs", "2", "on", "3");
    const one = await openStore("one:");
    const two = await openStore("two:");
    await one.put("a", "of one");
    await two.put("a", "of two", { ttlMs: 60_000 });
    await one.increment("c", 1);
    await one.acquire("l", "me", 60_000);
    expect((await one.list("")).map(({ value }) => value)).toEqual(["of one"]);
    expect((await two.list("")).map(({ value }) => value)).toEqual(["of two"]);
    const keys = await other.keys("*");
    const own = keys.filter((key) => key.startsWith("one:") || key.startsWith("two:"));
    expect(own.length).toBeGreaterThan(7);
    expect(keys.filter((key) => !own.includes(key)).toSorted()).toEqual(["on", "theirs"]);
  });
  it("tells listeners to read again after the connection broke, and of what happens then", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const store = await openStore("watched:", redis.url);
    const heard: string[] = [];
    store.watch("a/", (change) => heard.push(change?.key ?? "again"));
    await eventually(() => expect(heard).toEqual(["again"]));
    await redis.restart();
    await eventually(() => expect(heard).toEqual(["again", "again"]));
    await eventually(() => store.put("a/1", "1"));
    await eventually(() => expect(heard).toEqual(["again", "again", "a/1"]));
  });
  it("writes for an account that may not publish, whose listeners read again from time to time", async () => {
    await other.acl("SETUSER", "plain", "on", ">plain", "~*", "+@all", "resetchannels");
    const url = server.url.replace(/\/\/.*@/, "//plain:plain@");
    const store = await openStore("plain:", url);
    const heard: unknown[] = [];
    store.watch("a/", (change) => heard.push(change));
    await store.put("a/1", "1");
    expect(await store.delete("a/1")).toBe(true);
    await eventually(() => expect(heard).toEqual([undefined]));
  });
  it("uses no command that reads or empties a whole database", async () => {
    await other.config("RESETSTAT");
    const store = await openStore("used:");
    await store.put("a", "1", { ttlMs: 60_000 });
    await store.list("");
    await store.increment("c", 1, { ttlMs: 1_000 });
    await store.acquire("l", "me", 1_000);
    await store.release("l", "me");
    await store.delete("a");
    const info = await other.info("commandstats");
    const used = Array.from(info.matchAll(/^cmdstat_([^:]+):/gm), ([, command]) => command);
    expect(used).toContain("zrangebylex");
    expect(used.filter((command) => /^(keys|scan|flush|swapdb|randomkey|dbsize)/.test(command ?? ""))).toEqual([]);
  });
  it("leaves no trace of what has expired", async () => {
    const store = await openStore("trace:");
    for (let index = 0; index < 15; index += 1) await store.put(`k${index}`, "1", { ttlMs: 20 });
    await store.put("stays", "1", { ttlMs: 20 });
    await store.put("stays", "2");
    await new Promise((resolve) => setTimeout(resolve, 60));
    await store.put("x", "1");
    await store.put("x", "2");
    expect(await other.zrange("trace:keys", "0", "-1")).toEqual(["stays", "x"]);
    expect(await other.zcard("trace:expiring")).toBe(0);
  });
  it("works after Redis has forgotten its scripts", async () => {
    const store = await openStore("scripts:");
    await store.increment("c", 1);
    await other.script("FLUSH");
    expect(await store.increment("c", 1)).toBe(2);
  });
  it.each(["", "fedway", "a:b:", ":", "*:", `${"x".repeat(65)}:`])("refuses the prefix %j", async (prefix) => {
    expect((await failureOf(openStore(prefix))).code).toBe("CONFIG_INVALID");
  });
});

describe("a Redis that is not there", () => {
  it("fails the start at once, without giving the password away", async () => {
    const port = await freePort();
    const error = await failureOf(openStore("a:", `redis://:${encodeURIComponent(password)}@127.0.0.1:${port}`));
    expect(error.code).toBe("STORE_FAILED");
    expect(inspect(error, { depth: 10 })).not.toMatch(/w0rd/);
    expect(error.message).not.toMatch(/127\.0\.0\.1|secret/);
  });
  it.each(["wrong-w0rd", ""])("or that refuses the password %j says so and does not repeat it", async (wrong) => {
    const account = wrong === "" ? "" : `:${wrong}@`;
    const error = await failureOf(openStore("a:", `redis://${account}127.0.0.1:${server.port}`));
    expect(error).toMatchObject({ code: "STORE_FAILED", message: "Redis refuses the account of this service." });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/w0rd/);
  });
  it.each(["http://127.0.0.1", "nonsense w0rd", ""])("has no such address as %j", async (url) => {
    const error = await failureOf(openStore("a:", url));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(inspect(error)).not.toMatch(/w0rd/);
  });
  it("fails requests at once while it is away, and is used again when it is back, with its data", async () => {
    const store = await openStore("away:");
    const version = await store.put("a", "1");
    await server.kill();
    const started = Date.now();
    const failures = await Promise.all([failureOf(store.get("a")), failureOf(store.increment("c", 1))]);
    for (const failure of failures) expect(failure.code).toBe("STORE_FAILED");
    expect(Date.now() - started).toBeLessThan(2_500);
    await server.restart();
    await expect.poll(() => store.get("a").catch(() => "away")).toEqual({ key: "a", value: "1", version });
    expect(await store.increment("c", 1)).toBe(1);
  });
  it("fails a request that it does not answer in time", async () => {
    const store = await openStore("slow:");
    await other.call("CLIENT", "PAUSE", "3000", "ALL");
    const failure = await failureOf(store.put("a", "1"));
    expect(failure).toMatchObject({ code: "STORE_FAILED", message: expect.stringContaining("in time") });
    await other.call("CLIENT", "UNPAUSE").catch(() => {});
  });
  it("tells a full memory, and goes on when there is room", async () => {
    const store = await openStore("full:");
    await other.config("SET", "maxmemory", "1");
    const failure = await failureOf(store.put("a", "1"));
    expect(failure).toMatchObject({ code: "STORE_FAILED", message: "There is no room left in Redis." });
    await other.config("SET", "maxmemory", "0");
    expect(await store.put("a", "1")).toBeGreaterThan(0);
  });
});

describe("a Redis that may evict what it has acknowledged", () => {
  const start = async (): Promise<RedisServer & { readonly set: (policy: string) => Promise<unknown> }> => {
    const redis = await startRedis();
    const client = new Redis(redis.url);
    onTestFinished(async () => {
      client.disconnect();
      await redis.stop();
    });
    return Object.assign(redis, { set: (policy: string) => client.config("SET", "maxmemory-policy", policy) });
  };
  const open = (redisUrl: string) => openState({ dataDir: newFolder(), redisUrl });

  it.each(["allkeys-lru", "volatile-ttl"])("ends the start, with the command that mends it: %s", async (policy) => {
    const redis = await start();
    await redis.set(policy);
    const error = await failureOf(open(redis.url));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain(policy);
    expect(error.details.next).toContain("redis-cli config set maxmemory-policy noeviction");
    await redis.set("noeviction");
    await (await open(redis.url)).close();
  });

  it("is noticed while the service runs, and when it is mended", async () => {
    const redis = await start();
    const state = await open(redis.url);
    onTestFinished(() => state.close());
    const told: string[] = [];
    const watch = await watchState({
      store: state.store,
      evictionPolicy: state.evictionPolicy,
      now: Date.now,
      everyMs: 20,
      onEvicting: (policy) => void told.push(policy),
      onLost: async () => {},
      onFault: () => {},
    });
    onTestFinished(() => watch.close());
    expect(watch.eviction).toBe(undefined);
    await redis.set("allkeys-lfu");
    await eventually(async () => expect(watch.eviction).toEqual({ detail: expect.stringContaining("allkeys-lfu") }));
    await redis.set("noeviction");
    await eventually(async () => expect(watch.eviction).toBe(undefined));
    expect(told).toEqual(["allkeys-lfu"]);
  });

  it("is asked in another way where CONFIG is forbidden, and unknown where that is, too", async () => {
    const redis = await start();
    const admin = new Redis(redis.url);
    onTestFinished(() => admin.disconnect());
    for (const [name, rights, policy] of [
      ["few", ["-config"], "noeviction"],
      ["fewer", ["-config", "-info"], undefined],
    ] as const) {
      await admin.call("ACL", ["SETUSER", name, "on", `>${name}`, "~*", "&*", "+@all", ...rights]);
      const state = await open(redis.url.replace("redis://", `redis://${name}:${name}@`));
      onTestFinished(() => state.close());
      expect([name, await state.evictionPolicy?.()]).toEqual([name, policy]);
    }
  });
});
