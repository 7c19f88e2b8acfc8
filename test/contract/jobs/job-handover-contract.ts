import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { Handover } from "../../../src/jobs/job-kind.ts";
import type { JobKind } from "../../../src/jobs/job-queue.ts";
import { gate, kind, useJobQueues, type JobQueueHarness } from "./job-queue-fixture.ts";

/** Jobs that go on as jobs of another kind. */
export function describeJobHandover(name: string, open: () => Promise<JobQueueHarness>): void {
  const { advance, start, until, state, finished } = useJobQueues(open);
  const first = (run: JobKind["run"] = async () => undefined, more: Partial<JobKind> = {}): JobKind => {
    const handOver: JobKind["run"] = async (payload, context) => {
      await run(payload, context);
      return new Handover("second", { after: payload });
    };
    return kind("first", handOver, more);
  };

  describe(`${name}: a job that goes on as one of another kind`, () => {
    it("keeps its id and its priority, and is one job all the time", async () => {
      const { run, started, open: openGate } = gate();
      const order: unknown[] = [];
      const blocked = gate();
      const queue = await start(
        kind("second", async (payload, context) => {
          order.push(payload);
          await (payload === "blocks" ? blocked.run : run)(payload, context);
          return [payload, context.id, context.attempt];
        }),
        first(async (_, { progress }) => progress({ stage: "first", done: 1 })),
      );
      const seen: string[] = [];
      queue.watch("x", ({ kind: now, state: is }) => seen.push(`${now} ${is}`));
      await queue.enqueue("second", "blocks", { id: "b" });
      await until("blocked", () => order.length === 1);
      await queue.enqueue("second", "later");
      const job = await queue.enqueue("first", 1, { id: "x", priority: 5 });
      expect(job).toMatchObject({ kind: "first", state: "waiting" });
      await until("handed over", async () => (await queue.get("x"))?.kind === "second");
      await until("alone", async () => (await queue.list()).length === 3);
      const waiting = await queue.get("x");
      expect(waiting).toMatchObject({ state: "waiting", payload: { after: 1 }, attempts: 0 });
      expect([waiting?.startedAt, waiting?.progress, waiting?.result]).toEqual([undefined, undefined, undefined]);
      expect(await queue.enqueue("first", 2, { id: "x" })).toMatchObject({ kind: "second", payload: { after: 1 } });
      blocked.open();
      await until("it runs", () => started.length > 0);
      expect(order).toEqual(["blocks", { after: 1 }]);
      openGate();
      expect(await finished(queue, "x")).toMatchObject({
        kind: "second",
        state: "done",
        attempts: 1,
        result: [{ after: 1 }, "x", 1],
      });
      await until("seen", () => seen.includes("second done"));
      expect(seen).not.toContain("first done");
      expect((await queue.list()).map(({ id }) => id)).toHaveLength(3);
    });
    it("takes no place of its first kind any more, and waits for one of the second", async () => {
      const { run, open: openGate } = gate();
      const queue = await start(kind("second", run), first());
      const ids = ["a", "b", "c", "d"];
      for (const id of ids) await queue.enqueue("first", id, { id });
      await until("all have handed over", async () => (await queue.list({ kind: "second" })).length === ids.length);
      await until("one runs", async () => (await queue.list({ state: "running" })).length === 1);
      expect(await queue.list({ state: "waiting" })).toHaveLength(3);
      openGate();
      for (const id of ids) expect(await finished(queue, id)).toMatchObject({ state: "done", result: "opened" });
    });
    it("may be enqueued again and again", async () => {
      const queue = await start(
        first(),
        kind("second", async (payload) => payload),
      );
      for (const after of [1, 2, 3]) {
        await queue.enqueue("first", after, { id: "x" });
        expect(await finished(queue, "x")).toMatchObject({ kind: "second", result: { after } });
      }
      expect(await queue.list()).toHaveLength(1);
    });
    it.each([1, 2])("is cancelled in step %i, and its id is free then", async (step) => {
      const gates = [gate(), gate()] as const;
      const queue = await start(first(gates[0].run), kind("second", gates[1].run));
      await queue.enqueue("first", 1, { id: "x" });
      await until("step 1", () => gates[0].started.length === 1);
      if (step === 2) gates[0].open();
      await until("step", () => gates[step - 1]?.started.length === 1);
      expect(await queue.cancel("x")).toBe(true);
      expect(await state(queue, "x")).toBe("cancelled");
      await advance(300);
      expect(await state(queue, "x")).toBe("cancelled");
      expect(gates[1].started).toHaveLength(step - 1);
      for (const one of gates) one.open();
      await queue.enqueue("first", 2, { id: "x" });
      expect(await finished(queue, "x")).toMatchObject({ state: "done", payload: { after: 2 } });
    });
    it("is tried again in the step that failed", async () => {
      const runs: string[] = [];
      const failing =
        (step: string): JobKind["run"] =>
        async (_, { attempt }) => {
          runs.push(`${step} ${attempt}`);
          if (attempt < 3) throw new FedwayError("ENDPOINT_BUSY", "Busy.");
        };
      const queue = await start(first(failing("first")), kind("second", failing("second")));
      await queue.enqueue("first", 1, { id: "x" });
      const done = await finished(queue, "x");
      expect(done).toMatchObject({ state: "done", attempts: 3 });
      expect(done.error).toBeUndefined();
      expect(runs).toEqual(["first 1", "first 2", "first 3", "second 1", "second 2", "second 3"]);
    });
    it("fails when its first step does", async () => {
      const queue = await start(
        first(() => Promise.reject(new FedwayError("ENDPOINT_REJECTED_QUERY", "No."))),
        kind("second", () => Promise.reject(new Error("not to be run"))),
      );
      await queue.enqueue("first", 1, { id: "x" });
      const error = { code: "ENDPOINT_REJECTED_QUERY" };
      expect(await finished(queue, "x")).toMatchObject({ kind: "first", state: "failed", error });
    });
    it.each([
      ["an unknown kind", "third", null],
      ["a payload that is too large", "second", "x".repeat(300_000)],
      ["a payload that its kind does not take", "second", "bad"],
    ])("fails with %s", async (_name, next, payload) => {
      const validate = (given: unknown): void => {
        if (given === "bad") throw new FedwayError("REQUEST_INVALID", "Not good.");
      };
      const queue = await start(
        kind("first", async () => new Handover(next, payload)),
        kind("second", async () => "ok", { validate }),
      );
      await queue.enqueue("first", 1, { id: "x" });
      expect(await finished(queue, "x")).toMatchObject({ state: "failed", error: { code: "REQUEST_INVALID" } });
    });
    it("goes on in the step that it was in when the process ended", async () => {
      const { run, started } = gate();
      let firsts = 0;
      const counted = first(async () => void (firsts += 1));
      const queue = await start(counted, kind("second", run));
      await queue.enqueue("first", 1, { id: "x" });
      await until("it runs", () => started.length > 0);
      await queue.close(0);
      const later = await start(
        counted,
        kind("second", async (payload) => payload),
      );
      expect(await finished(later, "x")).toMatchObject({ state: "done", result: { after: 1 } });
      expect(firsts).toBe(1);
    });
  });
}
