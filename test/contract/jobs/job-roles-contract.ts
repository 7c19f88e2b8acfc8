import { describe, expect, it } from "vitest";
import type { Job, JobKind, JobQueue } from "../../../src/jobs/job-queue.ts";
import { gate, kind, shouldReject, useJobQueues, type JobQueueHarness } from "./job-queue-fixture.ts";

/** The part of the contract about processes that leave running jobs to others. */
export function describeJobRoles(name: string, open: () => Promise<JobQueueHarness>): void {
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
}
