import { describe, expect, it } from "vitest";
import { Handover } from "../../../src/jobs/job-kind.ts";
import type { Job, JobKind, JobQueue } from "../../../src/jobs/job-queue.ts";
import { gate, kind, shouldReject, useJobQueues, type JobQueueHarness } from "./job-queue-fixture.ts";

/**
 * What a queue promises that several processes share at a time. For BullMQ alone: the embedded queue belongs to one
 * process.
 */
export function describeSharedJobQueue(name: string, open: () => Promise<JobQueueHarness>): void {
  const { advance, create, start, until, state, finished } = useJobQueues(open);
  const startIdle = async (...kinds: readonly JobKind[]): Promise<JobQueue> => {
    const queue = create();
    await queue.start(kinds, { work: false });
    return queue;
  };
  const never: JobKind["run"] = async () => {
    throw new Error("runs where no jobs are to be run");
  };

  describe(`${name} that does not work`, () => {
    it("leaves its jobs to a worker", async () => {
      const idle = await startIdle(kind("a", never));
      const job = await idle.enqueue("a", 1);
      await advance(600);
      expect(await idle.get(job.id)).toMatchObject({ state: "waiting", attempts: 0 });
      await start(kind("a", async (payload) => [payload, "by a worker"]));
      expect(await finished(idle, job.id)).toMatchObject({ state: "done", result: [1, "by a worker"], attempts: 1 });
    });
    it("leaves its schedules to a worker", async () => {
      const runs: unknown[] = [];
      const idle = await startIdle(kind("a", never));
      await idle.schedule({ name: "often", kind: "a", payload: "turn", everyMs: 300 });
      await advance(700);
      expect(await idle.list()).toEqual([]);
      await start(kind("a", async (payload) => runs.push(payload)));
      await until("three turns", () => runs.length >= 3);
      expect(new Set(runs)).toEqual(new Set(["turn"]));
      await idle.unschedule("often");
      await advance(400);
      const after = runs.length;
      await advance(800);
      expect(runs).toHaveLength(after);
    });
    it("sees and cancels what a worker runs", async () => {
      const reasons: unknown[] = [];
      const { run, started } = gate();
      const idle = await startIdle(kind("a", never));
      await start(
        kind("a", async (payload, context) => {
          context.progress({ stage: "counting", done: 1 });
          await run(payload, context).catch((reason: unknown) => reasons.push(reason));
        }),
      );
      const seen: Job[] = [];
      const job = await idle.enqueue("a", null);
      idle.watch(job.id, (change) => seen.push(change));
      await until("runs", () => started.length > 0);
      await until("progress is told", () => seen.some(({ progress }) => progress?.stage === "counting"));
      expect((await idle.list({ state: "running" })).map(({ id }) => id)).toEqual([job.id]);
      expect(await idle.cancel(job.id)).toBe(true);
      expect(await state(idle, job.id)).toBe("cancelled");
      await until("the handler is told", () => reasons.length > 0);
      expect(reasons).toMatchObject([{ code: "CANCELLED" }]);
      await until("the end is told", () => seen.at(-1)?.state === "cancelled");
    });
    it("checks what it is given as a worker does", async () => {
      const idle = await startIdle(kind("a", never));
      await shouldReject(idle.enqueue("b", null), "REQUEST_INVALID");
      await shouldReject(idle.start([kind("a", never)]), "CONFIG_INVALID");
    });
    it("loses nothing when it closes", async () => {
      const idle = await startIdle(kind("a", never));
      const job = await idle.enqueue("a", "kept");
      await idle.close();
      const worker = await start(kind("a", async (payload) => payload));
      expect(await finished(worker, job.id)).toMatchObject({ state: "done", result: "kept" });
    });
  });

  describe(`${name}: several workers`, () => {
    it("run every job once between them", async () => {
      const runs: string[] = [];
      const run =
        (worker: string): JobKind["run"] =>
        async (_, { id }) => {
          runs.push(`${worker} ${id}`);
          await new Promise((resolve) => setTimeout(resolve, 10));
        };
      const one = await start(kind("a", run("one"), { concurrency: 2 }));
      await start(kind("a", run("two"), { concurrency: 2 }));
      const jobs = await Promise.all(Array.from({ length: 20 }, () => one.enqueue("a", null)));
      for (const { id } of jobs) await finished(one, id);
      expect(runs).toHaveLength(20);
      expect(new Set(runs.map((text) => text.split(" ")[1])).size).toBe(20);
    });
    it("see each other's jobs, and may cancel them", async () => {
      const { run, started, open: openGate } = gate();
      const one = await start(kind("a", run));
      const two = await start(kind("a", run));
      const job = await one.enqueue("a", null);
      await until("runs", () => started.length > 0);
      const other = (await state(two, job.id)) === "running" ? two : one;
      expect(await other.cancel(job.id)).toBe(true);
      // The handler succeeds before its own worker has heard of it.
      openGate();
      await advance(1_000);
      for (const queue of [one, two])
        expect(await queue.get(job.id)).toMatchObject({ state: "cancelled", attempts: 1 });
      expect((await one.get(job.id))?.result).toBeUndefined();
    });
  });

  describe(`${name}: schedules of several workers`, () => {
    it("run each turn once, whatever number of workers there is, until they are taken back", async () => {
      const runs: number[] = [];
      const kinds = kind("a", async () => runs.push(Date.now()), { concurrency: 2 });
      const one = await start(kinds);
      const two = await start(kinds);
      const schedule = { name: "often", kind: "a", payload: null, everyMs: 400 };
      await Promise.all([one.schedule(schedule), two.schedule(schedule)]);
      await until("four turns", () => runs.length >= 4);
      const gaps = runs.slice(1).map((at, index) => at - (runs[index] ?? 0));
      expect(Math.min(...gaps)).toBeGreaterThan(100);
      await one.unschedule("often");
      await advance(500);
      const after = runs.length;
      await advance(1_000);
      expect(runs).toHaveLength(after);
    });
  });

  it(`${name}: a job that another process runs is cancelled after it has gone on as one of another kind`, async () => {
    const { run, started } = gate();
    const reasons: unknown[] = [];
    const kinds = [
      kind("first", async () => new Handover("second", 2)),
      kind("second", (payload, context) => run(payload, context).catch((reason: unknown) => reasons.push(reason))),
    ];
    const idle = await startIdle(...kinds);
    for (let workers = 0; workers < 2; workers += 1) await start(...kinds);
    await idle.enqueue("first", 1, { id: "x" });
    await until("it runs", () => started.length === 1);
    expect(await idle.get("x")).toMatchObject({ kind: "second", state: "running" });
    expect(await idle.cancel("x")).toBe(true);
    await until("told", () => reasons.length === 1);
    expect(await state(idle, "x")).toBe("cancelled");
  });
}
