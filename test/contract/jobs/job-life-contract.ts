import { describe, expect, it } from "vitest";
import type { Job, JobKind } from "../../../src/jobs/job-queue.ts";
import { gate, kind, shouldReject, useJobQueues, type JobQueueHarness } from "./job-queue-fixture.ts";

/** Longer than anything here takes by itself. */
const longMs = 3_600_000;

/** The part of the contract about the end of jobs, what is seen of them meanwhile, and schedules. */
export function describeJobLife(name: string, open: () => Promise<JobQueueHarness>): void {
  const { advance, start, until, state, finished } = useJobQueues(open);

  describe(`${name}: cancelling`, () => {
    it("keeps a waiting job from running", async () => {
      const { run, started, open: openGate } = gate();
      const queue = await start(kind("a", run));
      await queue.enqueue("a", "first");
      const job = await queue.enqueue("a", "second");
      expect(await queue.cancel(job.id)).toBe(true);
      expect(await queue.cancel(job.id)).toBe(false);
      openGate();
      await advance(400);
      expect(await queue.get(job.id)).toMatchObject({ state: "cancelled", attempts: 0 });
      expect(started).toEqual(["first"]);
    });
    it("ends a running job through its signal, whatever the handler then does", async () => {
      const reasons: unknown[] = [];
      const { started, run } = gate();
      const stubborn: JobKind["run"] = async (payload, context) => {
        await run(payload, context).catch((reason: unknown) => reasons.push(reason));
        return "a result that nobody wants";
      };
      const queue = await start(kind("a", stubborn));
      const job = await queue.enqueue("a", 1);
      await until("runs", () => started.length > 0);
      expect(await queue.cancel(job.id)).toBe(true);
      await until("told", () => reasons.length > 0);
      expect(reasons).toMatchObject([{ code: "CANCELLED" }]);
      await advance(100);
      const ended = await finished(queue, job.id);
      expect(ended).toMatchObject({ state: "cancelled", attempts: 1 });
      expect(ended.result).toBeUndefined();
      expect(await queue.cancel(job.id)).toBe(false);
    });
    it("makes room for the next job", async () => {
      const { started, run } = gate();
      const queue = await start(kind("a", run));
      const job = await queue.enqueue("a", 1);
      await queue.enqueue("a", 2);
      await until("runs", () => started.length === 1);
      await queue.cancel(job.id);
      await until("the next runs", () => started.length === 2);
      expect(started).toEqual([1, 2]);
    });
    it("does not run the next job of that id beside the old handler", async () => {
      const log: string[] = [];
      const stubborn = Promise.withResolvers<void>();
      const queue = await start(
        kind(
          "a",
          async (payload) => {
            log.push(`${String(payload)} begins`);
            if (payload === "old") await stubborn.promise;
            log.push(`${String(payload)} ends`);
            return payload;
          },
          { concurrency: 2 },
        ),
      );
      await queue.enqueue("a", "old", { id: "x" });
      await until("runs", () => log.length > 0);
      await queue.cancel("x");
      const enqueued = queue.enqueue("a", "new", { id: "x" });
      await advance(700);
      expect(log).toEqual(["old begins"]);
      stubborn.resolve();
      await until("enqueued", async () => (await state(queue, "x")) !== "cancelled");
      expect(await enqueued).toMatchObject({ state: "waiting", payload: "new" });
      expect(await finished(queue, "x")).toMatchObject({ state: "done", result: "new", attempts: 1 });
      expect(log).toEqual(["old begins", "old ends", "new begins", "new ends"]);
    });
    it("does nothing to a finished job", async () => {
      const queue = await start(kind("a", async () => "ok"));
      const job = await finished(queue, (await queue.enqueue("a", 1)).id);
      expect(await queue.cancel(job.id)).toBe(false);
      expect(await state(queue, job.id)).toBe("done");
    });
  });

  describe(`${name}: progress`, () => {
    it("shows while the job runs, and stays", async () => {
      const { run, open: openGate } = gate();
      const queue = await start(
        kind("a", async (payload, context) => {
          context.progress({ stage: "counting", done: 3, total: 10, figures: { queries: 7 } });
          return run(payload, context);
        }),
      );
      const job = await queue.enqueue("a", null);
      const progress = { stage: "counting", done: 3, total: 10, figures: { queries: 7 } };
      await until("progress", async () => (await queue.get(job.id))?.progress !== undefined);
      expect(await queue.get(job.id)).toMatchObject({ state: "running", progress });
      openGate();
      expect(await finished(queue, job.id)).toMatchObject({ state: "done", progress });
    });
    it("is told to who watches, as is the end, until they stop watching", async () => {
      const { run, open: openGate, started } = gate();
      const queue = await start(
        kind("a", async (payload, context) => {
          for (let done = 0; done < 100; done += 1) context.progress({ stage: "counting", done });
          return run(payload, context);
        }),
      );
      const seen: Job[] = [];
      let others = 0;
      const stop = queue.watch("x", (change) => seen.push(change));
      const stopOther = queue.watch("x", () => {
        others += 1;
      });
      queue.watch("x", () => {
        throw new Error("a listener of its own making");
      });
      await queue.enqueue("a", null, { id: "x" });
      await until("running", () => started.length > 0);
      await until("told", () => seen.some(({ progress }) => progress?.done === 99));
      stopOther();
      const before = others;
      openGate();
      await until("told of the end", () => seen.at(-1)?.state === "done");
      expect(seen.at(-1)?.result).toBe("opened");
      expect(others).toBe(before);
      // A hundred reports within one moment are a few calls.
      expect(seen.length).toBeLessThan(10);
      stop();
      await queue.enqueue("a", null, { id: "x" });
      const calls = seen.length;
      await advance(600);
      expect(seen).toHaveLength(calls);
    });
  });

  describe(`${name}: closing`, () => {
    it("lets a job end that can", async () => {
      const { started, run } = gate();
      const kinds = kind("a", async (payload, context) => {
        await run(payload, context).catch(() => {});
        return "tidied up";
      });
      const queue = await start(kinds);
      const job = await queue.enqueue("a", null);
      await until("runs", () => started.length > 0);
      const closing = queue.close(1_000);
      await advance(50);
      await closing;
      const next = await start(kinds);
      expect(await next.get(job.id)).toMatchObject({ state: "done", result: "tidied up", attempts: 1 });
    });
    it.each([
      ["ends without a result", true],
      ["does not end in time", false],
    ])("puts back a job that %s, to run again elsewhere", async (_, ends) => {
      const attempts: number[] = [];
      const { run } = gate();
      const kinds = kind(
        "a",
        async (payload, context) => {
          attempts.push(context.attempt);
          if (attempts.length > 1) return "second run";
          return ends ? run(payload, context) : new Promise(() => {});
        },
        { maxAttempts: 1 },
      );
      const queue = await start(kinds);
      const job = await queue.enqueue("a", null);
      await until("runs", () => attempts.length > 0);
      const closing = queue.close(100);
      await advance(200);
      await closing;
      const next = await start(kinds);
      expect(await finished(next, job.id)).toMatchObject({ state: "done", result: "second run", attempts: 2 });
      expect(attempts).toEqual([1, 2]);
    });
    it("leaves waiting jobs to the next start", async () => {
      const { run, started } = gate();
      const queue = await start(kind("a", run));
      await queue.enqueue("a", "first");
      const job = await queue.enqueue("a", "later");
      await until("the first runs", () => started.length > 0);
      await queue.close();
      await advance(400);
      expect(started).toEqual(["first"]);
      const next = await start(kind("a", async (payload) => payload));
      expect(await finished(next, job.id)).toMatchObject({ state: "done", result: "later", attempts: 1 });
    });
  });

  describe(`${name}: schedules`, () => {
    it("run each turn once, until they are taken back", async () => {
      const runs: number[] = [];
      const queue = await start(kind("a", async () => runs.push(Date.now())));
      await queue.schedule({ name: "often", kind: "a", payload: null, everyMs: 400 });
      await until("four turns", () => runs.length >= 4);
      const gaps = runs.slice(1).map((at, index) => at - (runs[index] ?? 0));
      expect(Math.min(...gaps)).toBeGreaterThan(100);
      await queue.unschedule("often");
      await advance(500);
      const after = runs.length;
      await advance(1_000);
      expect(runs).toHaveLength(after);
    });
    it("keep their next turn when they are given again", async () => {
      const runs: unknown[] = [];
      const queue = await start(kind("a", async (payload) => runs.push(payload)));
      await queue.schedule({ name: "rare", kind: "a", payload: 1, everyMs: longMs });
      await until("first turn", () => runs.length === 1);
      await queue.schedule({ name: "rare", kind: "a", payload: 2, everyMs: longMs });
      await advance(500);
      expect(runs).toEqual([1]);
    });
    it("leave out the turns that come while the job of the one before is open", async () => {
      const { run, started, open: openGate } = gate();
      const queue = await start(kind("a", run, { concurrency: 3 }));
      await queue.schedule({ name: "often", kind: "a", payload: null, everyMs: 200 });
      await until("first turn", () => started.length === 1);
      await advance(1_000);
      expect(started).toHaveLength(1);
      // A turn may be seen for the moment in which it is left out.
      await until("one job", async () => (await queue.list()).length === 1);
      openGate();
      await until("goes on", () => started.length >= 3);
      const turns = await queue.list({ state: "done" });
      expect(turns.length).toBeGreaterThanOrEqual(2);
      for (const { id } of turns) expect(id).toMatch(/^often\.\d+$/);
    });
    it.each([
      { name: "", kind: "a", everyMs: 1_000 },
      { name: "a/b", kind: "a", everyMs: 1_000 },
      { name: "a", kind: "unknown", everyMs: 1_000 },
      { name: "a", kind: "a", everyMs: 1 },
      { name: "a", kind: "a", everyMs: Number.NaN },
    ])("are refused as %j", async (schedule) => {
      const queue = await start(kind("a", async () => null));
      await shouldReject(queue.schedule({ ...schedule, payload: null }), "REQUEST_INVALID");
    });
  });
}
