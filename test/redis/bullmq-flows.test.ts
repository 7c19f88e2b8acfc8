import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createBullmqJobQueue } from "../../src/jobs/bullmq/bullmq-job-queue.ts";
import type { ChildJob, JobKind, JobQueue } from "../../src/jobs/job-queue.ts";
import { gate, kind } from "../contract/jobs/job-queue-fixture.ts";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";

type BullmqJobQueueOptions = Parameters<typeof createBullmqJobQueue>[0];

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
  const quick = { lookMs: 100, backoffMs: () => 50, commandTimeoutMs: 10_000, connectTimeoutMs: 10_000 };
  const queue = createBullmqJobQueue({ url: server.url, prefix, ...quick, ...options });
  onTestFinished(() => queue.close(0));
  await queue.start(kinds, { work });
  return queue;
}

const whole = kind("whole", async (_, { children }) => children);
const echo = kind("part", async (payload) => payload, { concurrency: 3 });
const parts = (...payloads: readonly unknown[]): readonly ChildJob[] =>
  payloads.map((payload, index) => ({ name: `p${index}`, kind: "part", payload }));
const stateOf = (queue: JobQueue, id: string) => async () => (await queue.get(id))?.state;

/** That nothing waits in BullMQ any more. */
async function shouldLeaveNothing(prefix: string): Promise<void> {
  for (const name of ["whole", "part"]) {
    for (const state of ["waiting-children", "prioritized", "delayed"]) {
      const count = () => other.zcard(`${prefix}jobs:queue:${name}:${state}`);
      await expect.poll(count).toBe(0);
    }
    await expect.poll(() => other.llen(`${prefix}jobs:queue:${name}:active`)).toBe(0);
  }
}

describe("a job with children in Redis", () => {
  it("is a flow of BullMQ's", async () => {
    const idle = await start("flow:", [whole, echo], { work: false });
    await idle.enqueue("whole", null, { id: "x", children: parts(1, 2, 3) });
    expect(await other.zscore("flow:jobs:queue:whole:waiting-children", "~x")).not.toBeNull();
    expect(await other.scard("flow:jobs:queue:whole:~x:dependencies")).toBe(3);
    await start("flow:", [whole, echo]);
    await expect.poll(stateOf(idle, "x")).toBe("done");
    expect((await idle.get("x"))?.result).toEqual([1, 2, 3]);
    await shouldLeaveNothing("flow:");
  });
  it("may have a thousand of them", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => index);
    const part = kind("part", async (payload) => payload, { concurrency: 50 });
    const queue = await start("many:", [whole, part]);
    await queue.enqueue("whole", null, { id: "x", children: parts(...many) });
    await expect.poll(stateOf(queue, "x")).toBe("done");
    expect((await queue.get("x"))?.result).toEqual(many);
  });
  it.each(["x", "x.p1"])("leaves nothing to do when %s is cancelled while no worker is there", async (id) => {
    const prefix = `cancelled-${id}:`;
    const idle = await start(prefix, [whole, echo], { work: false });
    await idle.enqueue("whole", null, { id: "x", children: parts(1, 2, 3) });
    await idle.cancel(id);
    const ran: unknown[] = [];
    const run: JobKind["run"] = async (payload) => ran.push(payload);
    await start(prefix, [kind("whole", run), kind("part", run)]);
    await shouldLeaveNothing(prefix);
    expect(ran).toEqual([]);
    const left = await Promise.all(["x", "x.p0", "x.p1", "x.p2"].map((each) => idle.get(each)));
    const end = id === "x" ? "cancelled" : "failed";
    expect(left.map((job) => job?.state)).toEqual([end, "cancelled", "cancelled", "cancelled"]);
    expect(left.map((job) => job?.attempts)).toEqual([0, 0, 0, 0]);
  });
  it("fails when a worker was lost with a child time and again", async () => {
    const idle = await start("lost:", [whole, echo], { work: false });
    await idle.enqueue("whole", null, { id: "x", children: parts(1, 2) });
    // As BullMQ marks a job whose workers were lost too often.
    await other.hset("lost:jobs:queue:part:~x.p0", { defa: "job stalled more than allowable limit", stc: 20 });
    await start("lost:", [whole, echo]);
    await expect.poll(stateOf(idle, "x")).toBe("failed");
    const message = "The part p0 failed: The job was given up: its worker ended again and again.";
    expect(await idle.get("x")).toMatchObject({ attempts: 0, error: { code: "INTERNAL", message } });
    await shouldLeaveNothing("lost:");
  });
  it("gets what its children gave, also when these are forgotten already", async () => {
    const { run, open, started } = gate();
    const slow = kind("part", (payload, context) =>
      payload === "slow" ? run(payload, context) : echo.run(payload, context),
    );
    const queue = await start("kept:", [whole, { ...slow, concurrency: 3 }], { keepFinished: 2 });
    await queue.enqueue("whole", null, { id: "x", children: parts(1, "slow", 3) });
    await expect.poll(() => started.length).toBe(1);
    for (const id of ["x.p0", "x.p2"]) await expect.poll(stateOf(queue, id)).toBe("done");
    for (let index = 0; index < 4; index += 1) {
      const { id } = await queue.enqueue("part", index);
      await expect.poll(async () => /undefined|done/.test(`${await stateOf(queue, id)()}`)).toBe(true);
    }
    expect(await queue.get("x.p0")).toBeUndefined();
    open();
    await expect.poll(async () => (await queue.get("x"))?.result).toEqual([1, "opened", 3]);
  });
  it("is gone with its children when Redis is emptied", async () => {
    const reasons: unknown[] = [];
    const { run, started } = gate();
    const part = kind("part", (payload, context) =>
      run(payload, context).catch((reason: unknown) => reasons.push(reason)),
    );
    const queue = await start("emptied:", [whole, part]);
    await queue.enqueue("whole", null, { id: "x", children: parts(1, 2) });
    await expect.poll(() => started.length).toBe(1);
    await other.flushall();
    await expect.poll(() => reasons.length).toBe(1);
    for (const id of ["x", "x.p0", "x.p1"]) await expect.poll(stateOf(queue, id)).toBeUndefined();
    await queue.enqueue("whole", null, { id: "x", children: parts(3) });
    await expect.poll(() => started).toEqual([1, 3]);
    expect(await queue.list()).toHaveLength(2);
  });
});
