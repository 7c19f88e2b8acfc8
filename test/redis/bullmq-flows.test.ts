import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type BullmqJobQueueOptions, createBullmqJobQueue } from "../../src/jobs/bullmq/bullmq-job-queue.ts";
import type { ChildJob, JobKind, JobQueue } from "../../src/jobs/job-queue.ts";
import { gate, kind } from "../contract/jobs/job-queue-fixture.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";

let server: RedisServer;
/** Another program that uses the same database. */
let other: Redis;
beforeAll(async () => {
  server = await startRedis();
  other = new Redis(server.url);
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

const whole = kind("whole", async (_, { children }) => children);
const echo = kind("part", async (payload) => payload, { concurrency: 3 });
const parts = (...payloads: readonly unknown[]): readonly ChildJob[] =>
  payloads.map((payload, index) => ({ name: `p${index}`, kind: "part", payload }));
const patient = { timeout: 20_000, interval: 50 };
const stateOf = (queue: JobQueue, id: string) => async () => (await queue.get(id))?.state;
const keysWith = async (beginning: string): Promise<readonly string[]> =>
  (await other.keys("*")).filter((key) => key.startsWith(beginning));

/** A family of three whose children nobody runs yet; resolves to the ticket of the parent. */
async function waitingFamily(prefix: string): Promise<{ readonly idle: JobQueue; readonly ticket: string }> {
  const idle = await start(prefix, [whole, echo], { work: false });
  await idle.enqueue("whole", null, { id: "x", children: parts(1, 2, 3) });
  const ticket = (await other.hget(`${prefix}jobs:job:x`, "ticket")) ?? "";
  return { idle, ticket };
}

/** That the family is done by a worker that comes now, with each child run once. */
async function shouldEnd(prefix: string, idle: JobQueue): Promise<void> {
  const ran: string[] = [];
  const part = kind("part", async (payload) => ran.push(String(payload)) && payload, { concurrency: 3 });
  await start(prefix, [whole, part]);
  await expect.poll(stateOf(idle, "x"), patient).toBe("done");
  expect(await idle.get("x")).toMatchObject({ result: [1, 2, 3], attempts: 1 });
  expect(ran.toSorted()).toEqual(["1", "2", "3"]);
  await shouldLeaveNothing(prefix);
}

/** That no BullMQ job of the family is left. */
async function shouldLeaveNothing(prefix: string): Promise<void> {
  const tickets = async () => (await keysWith(`${prefix}jobs:kind:`)).filter((key) => /:x(\.p\d)?~/.test(key));
  await expect.poll(tickets, patient).toEqual([]);
  for (const name of ["whole", "part"]) {
    expect(await other.zcard(`${prefix}jobs:kind:${name}:waiting-children`)).toBe(0);
  }
}

describe("a job with children in Redis", () => {
  it("is a flow of BullMQ's, which moves it on when the last child is done", async () => {
    const { idle, ticket } = await waitingFamily("flow:");
    const key = `flow:jobs:kind:whole:${ticket}`;
    expect(await other.zscore("flow:jobs:kind:whole:waiting-children", ticket)).not.toBeNull();
    expect(await other.scard(`${key}:dependencies`)).toBe(3);
    expect(await keysWith("flow:jobs:result:")).toEqual([]);
    // No sweep helps.
    await start("flow:", [whole, echo], { sweepMs: 3_600_000 });
    await expect.poll(stateOf(idle, "x"), patient).toBe("done");
    expect((await idle.get("x"))?.result).toEqual([1, 2, 3]);
    await shouldLeaveNothing("flow:");
    expect(await other.zcard("flow:jobs:open")).toBe(0);
    expect(await other.zcard("flow:jobs:finished")).toBe(4);
  });
  it("may have a thousand of them", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => index);
    const part = kind("part", async (payload) => payload, { concurrency: 50 });
    const queue = await start("many:", [whole, part], { sweepMs: 3_600_000 });
    await queue.enqueue("whole", null, { id: "x", children: parts(...many) });
    await expect.poll(stateOf(queue, "x"), { timeout: 60_000, interval: 200 }).toBe("done");
    expect((await queue.get("x"))?.result).toEqual(many);
  }, 90_000);
  it.each([
    ["the children", ["part:"]],
    ["the parent", ["whole:"]],
    ["all", ["part:", "whole:"]],
  ])("goes on when the BullMQ jobs of %s were lost", async (what, queues) => {
    const prefix = `lost-${what.replace(" ", "-")}:`;
    const { idle } = await waitingFamily(prefix);
    for (const name of queues) {
      const keys = await keysWith(`${prefix}jobs:kind:${name}`);
      expect(keys.length).toBeGreaterThan(2);
      await other.del(...keys);
    }
    await shouldEnd(prefix, idle);
  });
  it("goes on when the process that was given it was killed before its children were there", async () => {
    const { idle } = await waitingFamily("begun:");
    const record = JSON.parse((await other.hget("begun:jobs:job:x", "record")) ?? "{}");
    await other.hset("begun:jobs:job:x", "record", JSON.stringify({ ...record, planKey: "result:x:plan" }));
    const plan = [1, 2, 3].map((payload) => ({ kind: "part", payload }));
    await other.set("begun:jobs:result:x:plan", JSON.stringify(plan));
    await other.del("begun:jobs:job:x.p0", "begun:jobs:job:x.p2", ...(await keysWith("begun:jobs:kind:")));
    await shouldEnd("begun:", idle);
    expect(await keysWith("begun:jobs:result:x:plan")).toEqual([]);
  });
  it("goes on when its BullMQ job waits for one that is gone", async () => {
    const { idle, ticket } = await waitingFamily("stuck:");
    await other.sadd(`stuck:jobs:kind:whole:${ticket}:dependencies`, "stuck:jobs:kind:part:x.gone~1");
    await shouldEnd("stuck:", idle);
  });
  it("does not run when its BullMQ job comes before the children are done", async () => {
    const { idle, ticket } = await waitingFamily("early:");
    await other.zrem("early:jobs:kind:whole:waiting-children", ticket);
    await other.lpush("early:jobs:kind:whole:wait", ticket);
    await other.zadd("early:jobs:kind:whole:marker", 0, "0");
    const looked = await start("early:", [whole]);
    await expect.poll(() => other.zscore("early:jobs:kind:whole:delayed", ticket), patient).not.toBeNull();
    expect(await looked.get("x")).toMatchObject({ state: "waiting", attempts: 0 });
    await shouldEnd("early:", idle);
  });
  it.each([
    ["a worker that would run them", "parentless:", true],
    ["one that only puts up what is lost", "pitiless:", false],
  ])("ends its children when its own document is lost, through %s", async (_, prefix, wouldRun) => {
    const { run, started, open } = gate();
    const first = await start(prefix, [whole, kind("part", run)]);
    await first.enqueue("whole", null, { id: "x", children: parts("done", "waits", "waits") });
    await expect.poll(() => started.length, patient).toBe(1);
    await first.close(0);
    open();
    await other.del(`${prefix}jobs:job:x`);
    const ran: unknown[] = [];
    const part = kind("part", async (payload) => ran.push(payload));
    const worker = await start(prefix, wouldRun ? [whole, part] : [whole]);
    for (const id of ["x.p0", "x.p1", "x.p2"]) await expect.poll(stateOf(worker, id), patient).toBe("cancelled");
    expect(ran).toEqual([]);
    await shouldLeaveNothing(prefix);
  });
  it("lets go of a finished child when its own document is lost", async () => {
    const { run, started } = gate();
    const part = kind("part", async (payload, context) => (payload === 1 ? 1 : run(payload, context)), {
      concurrency: 2,
    });
    const queue = await start("forgotten:", [whole, part]);
    await queue.enqueue("whole", null, { id: "x", children: parts(1, 2) });
    await expect.poll(stateOf(queue, "x.p0"), patient).toBe("done");
    await expect.poll(() => started.length, patient).toBe(1);
    await other.del("forgotten:jobs:job:x");
    // What is left is the job that the test took away.
    await expect.poll(() => other.zrange("forgotten:jobs:open", "0", "-1"), patient).toEqual(["x"]);
    expect(await queue.get("x.p0")).toMatchObject({ state: "done", result: 1 });
    for (const beginning of ["job:x.p0", "result:x.p0"]) {
      const [held = ""] = await keysWith(`forgotten:jobs:${beginning}`);
      expect(await other.ttl(held)).toBeGreaterThan(0);
    }
  });
  it("fails when the document of a child is lost, and ends the others", async () => {
    const { idle } = await waitingFamily("childless:");
    await other.del("childless:jobs:job:x.p1");
    await start("childless:", [whole], { sweepMs: 100 });
    await expect.poll(stateOf(idle, "x"), patient).toBe("failed");
    const error = { code: "INTERNAL", message: "The part p1 of the job was lost." };
    expect(await idle.get("x")).toMatchObject({ attempts: 0, error });
    for (const id of ["x.p0", "x.p2"]) await expect.poll(stateOf(idle, id), patient).toBe("cancelled");
  });
  it("leaves no BullMQ job behind when it is cancelled, whatever was lost", async () => {
    const { idle, ticket } = await waitingFamily("stray:");
    await idle.cancel("x");
    await shouldLeaveNothing("stray:");
    // As a process that was killed in the middle of it leaves it.
    const key = `stray:jobs:kind:whole:${ticket}`;
    await other.zadd("stray:jobs:kind:whole:waiting-children", 1, ticket);
    await other.hset(key, { data: "null", name: "ticket", opts: "{}" });
    await other.sadd(`${key}:dependencies`, "stray:jobs:kind:part:x.p0~1");
    await start("stray:", [whole]);
    await shouldLeaveNothing("stray:");
  });
  it("keeps what its children gave until it has ended, and no longer", async () => {
    const { run, open, started } = gate();
    const slow = kind("part", (payload, context) =>
      payload === "slow" ? run(payload, context) : echo.run(payload, context),
    );
    const queue = await start("kept:", [whole, { ...slow, concurrency: 3 }], {
      keepFinished: 2,
      keepFinishedMs: 5_000,
    });
    await queue.enqueue("whole", null, { id: "x", children: parts(1, "slow", 3) });
    await expect.poll(() => started.length, patient).toBe(1);
    for (const id of ["x.p0", "x.p2"]) await expect.poll(stateOf(queue, id), patient).toBe("done");
    // What is finished is trimmed now.
    for (let index = 0; index < 4; index += 1) {
      const { id } = await queue.enqueue("part", index);
      await expect.poll(async () => /undefined|done/.test(`${await stateOf(queue, id)()}`), patient).toBe(true);
    }
    for (const key of ["job:x.p0", "result:x.p0"]) {
      const [held = ""] = await keysWith(`kept:jobs:${key}`);
      expect(await other.ttl(held)).toBe(-1);
    }
    const results: unknown[] = [];
    queue.watch("x", ({ result }) => results.push(result));
    open();
    await expect.poll(() => results.at(-1), patient).toEqual([1, "opened", 3]);
    await expect.poll(() => keysWith("kept:jobs:job:x."), patient).toEqual([]);
    await expect.poll(() => keysWith("kept:jobs:result:"), patient).toEqual([]);
    await expect.poll(() => other.zcard("kept:jobs:open"), patient).toBe(0);
  });
  it("is gone with its children when Redis is emptied", async () => {
    const reasons: unknown[] = [];
    const { run, started } = gate();
    const part = kind("part", (payload, context) =>
      run(payload, context).catch((reason: unknown) => reasons.push(reason)),
    );
    const queue = await start("emptied:", [whole, part]);
    await queue.enqueue("whole", null, { id: "x", children: parts(1, 2) });
    await expect.poll(() => started.length, patient).toBe(1);
    await other.flushall();
    await expect.poll(() => reasons.length, patient).toBe(1);
    for (const id of ["x", "x.p0", "x.p1"]) await expect.poll(stateOf(queue, id), patient).toBeUndefined();
    await queue.enqueue("whole", null, { id: "x", children: parts(3) });
    await expect.poll(() => started, patient).toEqual([1, 3]);
    expect(await queue.list()).toHaveLength(2);
  });
});
