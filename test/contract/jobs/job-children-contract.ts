import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { ChildJob, Job, JobKind, JobQueue } from "../../../src/jobs/job-queue.ts";
import { gate, kind, shouldReject, useJobQueues, type JobQueueHarness } from "./job-queue-fixture.ts";

/** A child of the kind `part` for each payload, named by its place. */
export const parts = (...payloads: readonly unknown[]): readonly ChildJob[] =>
  payloads.map((payload, index) => ({ name: `p${index}`, kind: "part", payload }));
/** Gives what its children gave. */
export const whole = kind("whole", async (_, { children }) => children);
/** A child that gives its payload. */
export const echo = kind("part", async (payload) => payload, { concurrency: 3 });

/** The part of the contract about jobs that wait for others. */
export function describeJobChildren(name: string, open: () => Promise<JobQueueHarness>): void {
  const { advance, start, until, state, finished } = useJobQueues(open);
  const states = async (queue: JobQueue, ids: readonly string[]): Promise<readonly (string | undefined)[]> =>
    Promise.all(ids.map((id) => state(queue, id)));
  /** That the job `x` with these children is done with these results. */
  const shouldGive = async (queue: JobQueue, children: readonly ChildJob[], results: readonly unknown[]) => {
    await queue.enqueue("whole", null, { id: "x", children });
    expect(await finished(queue, "x")).toMatchObject({ state: "done", attempts: 1, result: results });
  };

  describe(`${name}: children`, () => {
    it("give their results to their parent, in the order given", async () => {
      const slow: JobKind["run"] = async (payload) => {
        await new Promise((resolve) => setTimeout(resolve, payload === 0 ? 120 : 10));
        return { of: payload };
      };
      const queue = await start(whole, kind("part", slow, { concurrency: 3 }));
      await shouldGive(queue, parts(0, 1, 2, 3), [{ of: 0 }, { of: 1 }, { of: 2 }, { of: 3 }]);
    });
    it("that give nothing count as done", async () => {
      const queue = await start(
        kind("whole", async (_, { children }) => children.length),
        kind("part", async () => {}),
      );
      const { id } = await queue.enqueue("whole", null, { children: parts(1, 2) });
      expect((await finished(queue, id)).result).toBe(2);
    });
    it("are not there for a job that was given none", async () => {
      const queue = await start(whole);
      const job = await finished(queue, (await queue.enqueue("whole", null)).id);
      expect(job.result).toEqual([]);
      expect(job.children).toBeUndefined();
    });
    it("may be hundreds", async () => {
      const queue = await start(
        whole,
        kind("part", async (payload) => payload, { concurrency: 50 }),
      );
      const payloads = Array.from({ length: 300 }, (_, index) => index);
      const { id } = await queue.enqueue("whole", null, { children: parts(...payloads) });
      expect((await finished(queue, id)).result).toEqual(payloads);
    });
    it("are jobs of their own, which show their parent, as it shows them", async () => {
      const { run, started, open: openGate } = gate();
      const queue = await start(whole, kind("part", run, { concurrency: 2 }));
      const seen: Job[] = [];
      queue.watch("x.p1", (job) => seen.push(job));
      const children = ["x.p0", "x.p1"];
      const job = await queue.enqueue("whole", "all", { id: "x", children: parts("a", "b") });
      expect(job).toMatchObject({ id: "x", state: "waiting", children });
      await until("both run", () => started.length === 2);
      expect(await queue.get("x")).toMatchObject({ state: "waiting", attempts: 0, payload: "all", children });
      expect(await queue.get("x.p1")).toMatchObject({ kind: "part", state: "running", payload: "b", parent: "x" });
      const listed = await queue.list();
      expect(listed.map(({ id, parent, children: ids }) => [id, parent, ids])).toEqual([
        ["x.p1", "x", undefined],
        ["x.p0", "x", undefined],
        ["x", undefined, children],
      ]);
      openGate();
      await finished(queue, "x");
      await until("told of the end", () => seen.at(-1)?.state === "done");
      expect(seen.at(-1)).toMatchObject({ id: "x.p1", parent: "x", result: "opened" });
      expect(await states(queue, children)).toEqual(["done", "done"]);
    });
    it("do not wait for a worker that their parent holds", async () => {
      const queue = await start(kind("a", async (payload, { children }) => [payload, ...children]));
      const children = [1, 2].map((payload) => ({ name: `p${payload}`, kind: "a", payload }));
      const { id } = await queue.enqueue("a", 0, { children });
      expect((await finished(queue, id)).result).toEqual([0, [1], [2]]);
    });
    it("go on after the process that was given them has closed", async () => {
      const { run, started } = gate();
      const first = await start(whole, kind("part", run, { concurrency: 2 }));
      await first.enqueue("whole", null, { id: "x", children: parts(1, 2, 3) });
      await until("some run", () => started.length === 2);
      await first.close(100);
      const second = await start(whole, echo);
      expect(await finished(second, "x")).toMatchObject({ state: "done", result: [1, 2, 3], attempts: 1 });
    });
  });

  describe(`${name}: failing with children`, () => {
    const no = new FedwayError("ENDPOINT_REJECTED_QUERY", "No such thing.");
    /** Children that fail by a payload of `bad`, at once, and others that end by their signal. */
    const failing = () => {
      const { run, started } = gate();
      const reasons: unknown[] = [];
      const signals: AbortSignal[] = [];
      const part = kind(
        "part",
        async (payload, context) => {
          if (payload === "bad") throw no;
          signals.push(context.signal);
          return run(payload, context).catch((reason: unknown) => reasons.push(reason));
        },
        { concurrency: 2 },
      );
      return { part, started, reasons, signals };
    };

    it("a child that fails for good fails its parent, and ends the other children", async () => {
      const { part, started, reasons } = failing();
      const queue = await start(whole, part);
      await queue.enqueue("whole", null, { id: "x", children: parts("good", "bad", "later", "last") });
      const job = await finished(queue, "x");
      expect(job).toMatchObject({ state: "failed", attempts: 0, error: { code: "ENDPOINT_REJECTED_QUERY" } });
      expect(job.error?.message).toBe("The part p1 failed: No such thing.");
      const children = ["x.p0", "x.p1", "x.p2", "x.p3"];
      await until(
        "all ended",
        async () => !(await states(queue, children)).some((one) => /waiting|running/.test(one ?? "")),
      );
      expect(await states(queue, children)).toEqual(["cancelled", "failed", "cancelled", "cancelled"]);
      await until("told", () => reasons.length === started.length);
      for (const reason of reasons) expect(reason).toMatchObject({ code: "CANCELLED" });
      await advance(300);
      expect(started).not.toContain("last");
    });
    it("a child that is tried again keeps its parent waiting", async () => {
      const runs: string[] = [];
      const flaky: JobKind["run"] = async (payload, { attempt }) => {
        runs.push(String(payload));
        if (payload === 2 && attempt < 3) throw new FedwayError("ENDPOINT_BUSY", "Busy.");
        return payload;
      };
      const queue = await start(whole, kind("part", flaky));
      await shouldGive(queue, parts(1, 2, 3), [1, 2, 3]);
      expect(runs.toSorted()).toEqual(["1", "2", "2", "2", "3"]);
    });
    it("a parent that is tried again gets the same results; its children do not run again", async () => {
      const given: unknown[] = [];
      const runs: string[] = [];
      const flaky: JobKind["run"] = async (_, { attempt, children }) => {
        given.push(children);
        if (attempt < 3) throw new FedwayError("ENDPOINT_BUSY", "Busy.");
        return "ok";
      };
      const part = kind("part", async (payload) => runs.push(String(payload)) && payload);
      const queue = await start(kind("whole", flaky), part);
      const { id } = await queue.enqueue("whole", null, { children: parts("a", "b") });
      expect(await finished(queue, id)).toMatchObject({ state: "done", result: "ok", attempts: 3 });
      expect(given).toEqual([
        ["a", "b"],
        ["a", "b"],
        ["a", "b"],
      ]);
      expect(runs.toSorted()).toEqual(["a", "b"]);
    });
    it("children whose results are too large together fail their parent", async () => {
      const queue = await start(
        whole,
        kind("part", async () => "x".repeat(1_000_000), { concurrency: 5 }),
      );
      const { id } = await queue.enqueue("whole", null, { children: parts(...Array.from({ length: 18 }, () => null)) });
      expect(await finished(queue, id)).toMatchObject({ state: "failed", attempts: 0, error: { code: "INTERNAL" } });
    });
    it.each([
      ["its parent", "x", { state: "cancelled" }],
      ["a child", "x.p1", { state: "failed", error: { code: "CANCELLED", message: "The part p1 was cancelled." } }],
      ["a child that waits", "x.p2", { state: "failed", error: { code: "CANCELLED" } }],
    ])("cancelling %s ends them all", async (_, cancelled, end) => {
      const { part, started, reasons, signals } = failing();
      const queue = await start(whole, part);
      await queue.enqueue("whole", null, { id: "x", children: parts("a", "b", "c") });
      await until("two run", () => started.length === 2);
      expect(await queue.cancel(cancelled)).toBe(true);
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
      expect(await queue.get("x")).toMatchObject({ attempts: 0, ...end });
      expect(await states(queue, ["x.p0", "x.p1", "x.p2"])).toEqual(["cancelled", "cancelled", "cancelled"]);
      await until("told", () => reasons.length === 2);
      expect(await queue.cancel("x")).toBe(false);
      await advance(300);
      expect(started).toEqual(["a", "b"]);
    });
  });

  describe(`${name}: ids with children`, () => {
    it("stand for one family while it is open, and then for another", async () => {
      const { run, started, open: openGate } = gate();
      const queue = await start(whole, kind("part", run, { concurrency: 9 }));
      const both = await Promise.all(
        [parts(1, 2), parts(3, 4)].map((children) => queue.enqueue("whole", null, { id: "x", children })),
      );
      expect(both.map(({ id }) => id)).toEqual(["x", "x"]);
      await until("two run", () => started.length === 2);
      await queue.enqueue("whole", null, { id: "x", children: parts(5) });
      expect(await queue.enqueue("whole", null, { id: "x" })).toMatchObject({ children: ["x.p0", "x.p1"] });
      openGate();
      expect((await finished(queue, "x")).result).toEqual(["opened", "opened"]);
      expect(started).toHaveLength(2);
      await shouldGive(queue, parts(6), ["opened"]);
      expect(started.slice(2)).toEqual([6]);
    });
    it("are free again after a family that was cancelled", async () => {
      const { run, started } = gate();
      let part: JobKind["run"] = run;
      const queue = await start(
        whole,
        kind("part", (payload, context) => part(payload, context), { concurrency: 2 }),
      );
      await queue.enqueue("whole", null, { id: "x", children: parts("old", "old", "old") });
      await until("two run", () => started.length === 2);
      part = async (payload) => payload;
      await queue.cancel("x");
      await shouldGive(queue, parts("new", "newer"), ["new", "newer"]);
      expect(started).toEqual(["old", "old"]);
    });
    it("of finished children are not given away while their parent is open", async () => {
      const { run, started, open: openGate } = gate();
      const queue = await start(
        whole,
        kind("part", async (payload, context) => (payload === 1 ? 1 : run(payload, context)), { concurrency: 2 }),
      );
      await queue.enqueue("whole", null, { id: "x", children: parts(1, 2) });
      await until("one is done", async () => started.length > 0 && (await state(queue, "x.p0")) === "done");
      await shouldReject(queue.enqueue("part", 3, { id: "x.p0" }), "REQUEST_INVALID");
      expect(await queue.enqueue("part", 3, { id: "x.p1" })).toMatchObject({ payload: 2 });
      openGate();
      expect((await finished(queue, "x")).result).toEqual([1, "opened"]);
      await queue.enqueue("part", 1, { id: "x.p0" });
      const free = await finished(queue, "x.p0");
      expect(free.parent).toBeUndefined();
    });
    it("that are taken refuse the family, and nothing of it runs", async () => {
      const { run, started } = gate();
      const queue = await start(whole, kind("part", run, { concurrency: 3 }));
      await queue.enqueue("part", "other", { id: "x.p1" });
      await shouldReject(queue.enqueue("whole", null, { id: "x", children: parts(1, 2) }), "REQUEST_INVALID");
      await advance(500);
      expect(started).toEqual(["other"]);
      expect(await queue.get("x.p1")).toMatchObject({ state: "running", payload: "other" });
      for (const left of await states(queue, ["x", "x.p0"])) expect(left ?? "").not.toMatch(/waiting|running|done/);
    });
  });

  describe(`${name}: children that are refused`, () => {
    const child = { name: "a", kind: "part", payload: null };
    it.each<[string, readonly ChildJob[]]>([
      ["none", []],
      ["too many", Array.from({ length: 1_001 }, (_, index) => ({ ...child, name: `${index}` }))],
      ["two of one name", [child, child]],
      ["one without a name", [{ ...child, name: "" }]],
      ["a name with other letters", [{ ...child, name: "a/b" }]],
      ["an id that is too long", [{ ...child, name: "a".repeat(127) }]],
      ["an unknown kind", [{ ...child, kind: "unknown" }]],
      ["a payload that its kind does not take", [child, { ...child, name: "b", payload: "bad" }]],
      ["a payload that is too large", [{ ...child, payload: "x".repeat(300_000) }]],
      [
        "payloads that are too large together",
        Array.from({ length: 70 }, (_, index) => ({ ...child, name: `${index}`, payload: "x".repeat(260_000) })),
      ],
    ])("%s", async (_, children) => {
      const validate = (payload: unknown): void => {
        if (payload === "bad") throw new FedwayError("REQUEST_INVALID", "Not good.");
      };
      const queue = await start(
        whole,
        kind("part", async () => null, { validate }),
      );
      await shouldReject(queue.enqueue("whole", null, { id: "xx", children }), "REQUEST_INVALID");
      expect(await queue.list()).toEqual([]);
    });
  });
}
