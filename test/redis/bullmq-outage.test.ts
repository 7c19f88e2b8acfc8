import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createBullmqJobQueue } from "../../src/jobs/bullmq/bullmq-job-queue.ts";
import { Handover } from "../../src/jobs/job-kind.ts";
import type { JobKind, JobQueue } from "../../src/jobs/job-queue.ts";
import { gate, kind, shouldReject } from "../contract/jobs/job-queue-fixture.ts";
import { freePort } from "../support/listening.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";

type BullmqJobQueueOptions = Parameters<typeof createBullmqJobQueue>[0];

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

type Options = Partial<BullmqJobQueueOptions> & { readonly work?: boolean };

async function start(prefix: string, kinds: readonly JobKind[], { work = true, ...options }: Options = {}) {
  const quick = { lookMs: 100, sweepMs: 300, backoffMs: () => 50, commandTimeoutMs: 10_000, connectTimeoutMs: 10_000 };
  const queue = createBullmqJobQueue({ url: server.url, prefix, ...quick, ...options });
  onTestFinished(() => queue.close(0));
  await queue.start(kinds, { work });
  return queue;
}

const stateOf = (queue: JobQueue, id: string) => async (): Promise<string | undefined> => {
  try {
    return (await queue.get(id))?.state;
  } catch {
    return "away";
  }
};

async function keysWith(prefix: string): Promise<readonly string[]> {
  return (await other.keys("*")).filter((key) => key.startsWith(prefix));
}

describe("a job queue in a shared Redis", () => {
  it("writes under its prefix only, sees nothing else, and uses no command that reads or empties a database", async () => {
    await other.mset("theirs", "1", "one:jobs", "2");
    await other.config("RESETSTAT");
    const one = await start("one:", [kind("a", async (payload) => payload)]);
    const two = await start("two:", [kind("a", async (payload) => payload)], { work: false });
    const job = await one.enqueue("a", "of one", { id: "same" });
    await two.enqueue("a", "of two", { id: "same" });
    await one.schedule({ name: "often", kind: "a", payload: 1, everyMs: 100 });
    await expect.poll(stateOf(one, job.id)).toBe("done");
    await expect.poll(async () => (await one.list({ state: "done" })).length).toBeGreaterThan(3);
    await one.cancel((await one.enqueue("a", 1)).id);
    await one.unschedule("often");
    expect((await two.list()).map(({ payload, state }) => [payload, state])).toEqual([["of two", "waiting"]]);
    const used = Array.from((await other.info("commandstats")).matchAll(/^cmdstat_([^:]+):/gm), ([, name]) => name);
    expect(used).toContain("evalsha");
    expect(used.filter((name) => /^(keys|scan|flush|swapdb|randomkey|dbsize)/.test(name ?? ""))).toEqual([]);
    const foreign = (await other.keys("*")).filter((key) => !/^(one|two):jobs:/.test(key));
    expect(foreign.toSorted()).toEqual(["one:jobs", "theirs"]);
  });
  it("keeps the newest finished jobs, with their results, and nothing of the others", async () => {
    const queue = await start("kept:", [kind("a", async (payload) => payload)], { keepFinished: 3 });
    for (let index = 0; index < 8; index += 1) {
      const { id } = await queue.enqueue("a", index, { id: `job-${index}` });
      await expect.poll(stateOf(queue, id)).toBe("done");
    }
    expect((await queue.list()).map(({ payload }) => payload)).toEqual([7, 6, 5]);
    expect(await queue.get("job-4")).toBeUndefined();
    expect((await queue.get("job-5"))?.result).toBe(5);
    expect(await keysWith("kept:jobs:queue:a:~job")).toHaveLength(3);
  });
  it("lists finished jobs without what has expired", async () => {
    const queue = await start("old:", [kind("a", async (payload) => payload)], { keepFinishedMs: 1_000 });
    const first = await queue.enqueue("a", "first");
    await expect.poll(stateOf(queue, first.id)).toBeUndefined();
    expect(await queue.list()).toEqual([]);
    const second = await queue.enqueue("a", "second");
    await expect.poll(stateOf(queue, second.id)).toBe("done");
    expect(await queue.list()).toHaveLength(1);
  });
  it("runs a new job under the id of an expired one that BullMQ still has, also in two steps", async () => {
    const kinds = [kind("a", async (payload) => new Handover("b", payload)), kind("b", async (payload) => payload)];
    const queue = await start("idle:", kinds, { keepFinishedMs: 1_000 });
    for (const [kindName, payload] of [
      ["b", 1],
      ["b", 2],
      ["a", 3],
      ["a", 4],
    ] as const) {
      await queue.enqueue(kindName, payload, { id: "x" });
      await expect.poll(() => queue.get("x")).toMatchObject({ state: "done", result: payload });
      await expect.poll(() => queue.get("x"), { timeout: 3_000 }).toBeUndefined();
    }
  });
  it("lists more jobs than one look at Redis gives, each once", async () => {
    const queue = await start("many:", [kind("a", async () => null), kind("b", async () => null)], { work: false });
    for (let index = 0; index < 450; index += 1) await queue.enqueue(index % 10 === 0 ? "b" : "a", index);
    const all = await queue.list({ limit: 1_000 });
    expect(all.map(({ payload }) => payload)).toEqual(Array.from({ length: 450 }, (_, index) => 449 - index));
    expect(await queue.list({ kind: "b", limit: 1_000 })).toHaveLength(45);
    expect(await queue.list({ kind: "b", limit: 30 })).toHaveLength(30);
    expect(await queue.list()).toHaveLength(100);
  });
  it("leaves a job of a kind that only another version has to that version", async () => {
    const newer = await start("versions:", [kind("new", async () => "new")], { work: false });
    const job = await newer.enqueue("new", null);
    await start("versions:", [kind("old", async () => "old")]);
    await sleep(800);
    expect(await newer.get(job.id)).toMatchObject({ state: "waiting", attempts: 0 });
  });
});

describe("a Redis that is not there for the job queue", () => {
  it.each(["http://127.0.0.1", "nonsense w0rd", ""])("has no such address as %j", (url) => {
    expect(() => createBullmqJobQueue({ url, prefix: "a:" })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });
  it.each(["", "fedway", "a:b:", ":"])("has no such prefix as %j", (prefix) => {
    const url = "redis://127.0.0.1";
    expect(() => createBullmqJobQueue({ url, prefix })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
  it("fails the start, which may be tried again", async () => {
    const faults: unknown[] = [];
    const url = `redis://:${encodeURIComponent(password)}@127.0.0.1:${await freePort()}`;
    const queue = createBullmqJobQueue({ url, prefix: "a:", connectTimeoutMs: 500, onFault: (f) => faults.push(f) });
    for (let round = 0; round < 2; round += 1) await shouldReject(queue.start([]), "STORE_FAILED");
    await shouldReject(queue.get("a"), "STORE_FAILED");
    expect(faults.length).toBeGreaterThan(0);
    expect(inspect(faults, { depth: 10, showHidden: true })).not.toMatch(/w0rd/);
    await queue.close();
  });
  it("or that refuses the password says so and does not repeat it", async () => {
    const url = `redis://:wrong-w0rd@127.0.0.1:${server.port}`;
    const queue = createBullmqJobQueue({ url, prefix: "a:", connectTimeoutMs: 1_000 });
    const error: unknown = await queue.start([]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "STORE_FAILED", message: "Redis refuses the account of this service." });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/w0rd/);
    await queue.close();
  });
  it("fails requests that it does not answer in time", async () => {
    const queue = await start("slow:", [kind("a", async () => null)], { work: false, commandTimeoutMs: 1_000 });
    await other.call("CLIENT", "PAUSE", "3000", "ALL");
    await shouldReject(queue.get("a"), "STORE_FAILED");
    await shouldReject(queue.enqueue("a", null), "STORE_FAILED");
    await other.call("CLIENT", "UNPAUSE").catch(() => {});
  });
  it("fails requests while it is away; what runs and what waits ends when it is back", async () => {
    const { run, open, started } = gate();
    const faults: unknown[] = [];
    const queue = await start("away:", [kind("a", run), kind("b", async (payload) => payload)], {
      onFault: (fault) => faults.push(fault),
    });
    const running = await queue.enqueue("a", "runs");
    const waiting = await queue.enqueue("a", "waits");
    await expect.poll(() => started.length).toBe(1);
    await server.kill();
    for (const request of [
      () => queue.enqueue("b", null),
      () => queue.get(running.id),
      () => queue.list(),
      () => queue.cancel(running.id),
      () => queue.schedule({ name: "s", kind: "b", payload: null, everyMs: 1_000 }),
      () => queue.unschedule("s"),
    ]) {
      await shouldReject(request(), "STORE_FAILED");
    }
    open();
    await sleep(1_000);
    await server.restart();
    for (const { id } of [running, waiting]) await expect.poll(stateOf(queue, id)).toBe("done");
    expect(await queue.get(running.id)).toMatchObject({ result: "opened", attempts: 1 });
    expect(await queue.get(waiting.id)).toMatchObject({ result: "opened", attempts: 1 });
    const next = await queue.enqueue("b", "next");
    await expect.poll(stateOf(queue, next.id)).toBe("done");
    for (const fault of faults) expect(fault).toMatchObject({ code: "STORE_FAILED" });
    expect(inspect(faults, { depth: 10, showHidden: true })).not.toMatch(/w0rd/);
  });
  it("may come back empty: schedules are put up again, and what was lost is not said to have ended", async () => {
    const reasons: unknown[] = [];
    const runs: unknown[] = [];
    const { run, started } = gate();
    const stopping: JobKind["run"] = (payload, context) =>
      run(payload, context).catch((reason: unknown) => reasons.push(reason));
    const kinds = [kind("a", stopping), kind("b", async (payload) => runs.push(payload))];
    const queue = await start("empty:", kinds);
    const idle = await start("empty:", kinds, { work: false });
    await idle.schedule({ name: "told", kind: "b", payload: "told", everyMs: 3_600_000 });
    await idle.schedule({ name: "taken-back", kind: "b", payload: "taken back", everyMs: 3_600_000 });
    await expect.poll(() => runs.length).toBe(2);
    await queue.unschedule("taken-back");
    const job = await queue.enqueue("a", null);
    await expect.poll(() => started.length).toBe(1);
    // Time to hear of what was taken back.
    await sleep(800);
    await other.flushall();
    await server.kill();
    await server.restart();
    await expect.poll(() => reasons.length).toBe(1);
    await expect.poll(stateOf(queue, job.id)).toBeUndefined();
    await expect.poll(() => runs).toContainEqual("told");
    await expect.poll(() => runs.filter((payload) => payload === "told").length).toBe(2);
    const next = await queue.enqueue("b", "next");
    await expect.poll(stateOf(queue, next.id)).toBe("done");
    expect(runs.filter((payload) => payload === "taken back")).toHaveLength(1);
  });
  it("may come back empty in the middle of a look at the schedules, which are put up again all the same", async () => {
    const idle = await start("mid-look:", [kind("a", async () => null)], { work: false, sweepMs: 1 });
    const names = Array.from({ length: 100 }, (_, index) => `s${index}`);
    await Promise.all(names.map((name) => idle.schedule({ name, kind: "a", payload: null, everyMs: 3_600_000 })));
    const putUp = () => other.zcard("mid-look:jobs:queue:a:repeat");
    expect(await putUp()).toBe(100);
    for (let round = 0; round < 3; round += 1) {
      await sleep(200);
      await other.flushall();
      await expect.poll(putUp).toBe(100);
    }
  });
  it("does not keep a queue from closing", async () => {
    const { run, started } = gate();
    const queue = await start("closing:", [kind("a", run)], { stalledMs: 200 });
    await queue.enqueue("a", null);
    await expect.poll(() => started.length).toBe(1);
    await server.kill();
    await queue.close(100);
    await server.restart();
    const next = await start("closing:", [kind("a", async () => "again")], { leaseMs: 500, stalledMs: 200 });
    // The lock of the worker that could not say goodbye lasts 30 s: end it.
    const [{ id } = { id: "" }] = await next.list();
    await other.del(...(await keysWith("closing:jobs:queue:a:")).filter((key) => key.endsWith("lock")));
    await expect.poll(stateOf(next, id)).toBe("done");
    expect(await next.get(id)).toMatchObject({ result: "again", attempts: 2 });
  });
});
