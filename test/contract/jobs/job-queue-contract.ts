import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { JobKind, JobQueue } from "../../../src/jobs/job-queue.ts";
import { describeJobHandover } from "./job-handover-contract.ts";
import { describeJobLife } from "./job-life-contract.ts";
import { gate, kind, shouldReject, useJobQueues, type JobQueueHarness } from "./job-queue-fixture.ts";

/** What the port `JobQueue` promises with one process at a time; every adapter runs it. */
export function describeJobQueue(name: string, open: () => Promise<JobQueueHarness>): void {
  describe(`${name}, its life`, () => describeJobLife(name, open));
  describe(`${name}, its steps`, () => describeJobHandover(name, open));
  describe(`${name}, its jobs`, () => describeJobs(name, open));
}

function describeJobs(name: string, open: () => Promise<JobQueueHarness>): void {
  const { create, start, until, state, finished } = useJobQueues(open);

  describe(`${name} as a JobQueue`, () => {
    it("has its name", () => expect(create().name).toBe(name));

    it("runs a job and keeps what it gave", async () => {
      const seen: unknown[] = [];
      const run: JobKind["run"] = async (payload, { id, attempt }) => {
        seen.push([payload, id, attempt]);
        return { twice: [payload, payload] };
      };
      const queue = await start(kind("double", run));
      const job = await queue.enqueue("double", { a: 1 });
      expect(job).toMatchObject({ kind: "double", payload: { a: 1 }, attempts: 0 });
      expect(job.id).toMatch(/^[A-Za-z0-9_.-]{1,128}$/);
      const done = await finished(queue, job.id);
      expect(done).toMatchObject({ state: "done", attempts: 1, result: { twice: [{ a: 1 }, { a: 1 }] } });
      expect(done.error).toBeUndefined();
      for (const moment of [done.createdAt, done.startedAt, done.finishedAt]) {
        expect(moment).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      }
      expect(seen).toEqual([[{ a: 1 }, job.id, 1]]);
    });
    it("gives every job its own id", async () => {
      const queue = await start(kind("a", async () => null));
      const jobs = await Promise.all(Array.from({ length: 50 }, () => queue.enqueue("a", null)));
      expect(new Set(jobs.map(({ id }) => id)).size).toBe(50);
    });
    it("knows nothing of a job that never was", async () => {
      const queue = await start();
      expect(await queue.get("never")).toBeUndefined();
      expect(await queue.cancel("never")).toBe(false);
    });
  });

  describe(`${name}: what is refused`, () => {
    const validate = (payload: unknown): void => {
      if (payload !== "good") throw new FedwayError("REQUEST_INVALID", "Not good.");
    };
    it("an unknown kind, and a payload that its kind does not take", async () => {
      const queue = await start(kind("a", async () => null, { validate }));
      await shouldReject(queue.enqueue("b", "good"), "REQUEST_INVALID");
      await shouldReject(queue.enqueue("a", "bad"), "REQUEST_INVALID");
      expect(await queue.list()).toEqual([]);
      expect((await finished(queue, (await queue.enqueue("a", "good")).id)).state).toBe("done");
    });
    it.each(["", "a b", "a/b", "ä", "x".repeat(129)])("the id %j", async (id) => {
      const queue = await start(kind("a", async () => null));
      await shouldReject(queue.enqueue("a", null, { id }), "REQUEST_INVALID");
    });
    it.each([{ priority: 0.5 }, { priority: 1_000_001 }, { priority: -1_000_001 }])(
      "the option %j",
      async (options) => {
        const queue = await start(kind("a", async () => null));
        await shouldReject(queue.enqueue("a", null, options), "REQUEST_INVALID");
      },
    );
    it("a payload that is not JSON, or is too large", async () => {
      const queue = await start(kind("a", async () => null));
      const circle: { self?: unknown } = {};
      circle.self = circle;
      for (const payload of [circle, 1n, () => 1, "x".repeat(300_000)]) {
        await shouldReject(queue.enqueue("a", payload), "REQUEST_INVALID");
      }
    });
    it("two handlers of one kind, and a second start", async () => {
      const queue = create();
      const one = kind("a", async () => null);
      await shouldReject(queue.start([one, one]), "CONFIG_INVALID");
      await queue.start([one]);
      await shouldReject(queue.start([one]), "CONFIG_INVALID");
    });
    it("jobs after the end", async () => {
      const queue = await start(kind("a", async () => null));
      await queue.close();
      await shouldReject(queue.enqueue("a", null), "STORE_FAILED");
    });
  });

  describe(`${name}: an id of one's own`, () => {
    it("stands for one job while that waits or runs", async () => {
      const { run, started, open: openGate } = gate();
      const queue = await start(kind("a", run));
      const both = await Promise.all([queue.enqueue("a", 1, { id: "x" }), queue.enqueue("a", 2, { id: "x" })]);
      expect(both.map(({ id }) => id)).toEqual(["x", "x"]);
      await until("running", () => started.length > 0);
      expect(await queue.enqueue("a", 3, { id: "x" })).toMatchObject({ state: "running", payload: started[0] });
      openGate();
      await finished(queue, "x");
      expect(started).toHaveLength(1);
    });
    it("stands for a new job once that is finished", async () => {
      const queue = await start(kind("a", async (payload) => payload));
      await queue.enqueue("a", "first", { id: "x" });
      expect((await finished(queue, "x")).result).toBe("first");
      const again = await queue.enqueue("a", "second", { id: "x" });
      expect(again).toMatchObject({ state: "waiting", attempts: 0 });
      expect(again.result).toBeUndefined();
      expect(await finished(queue, "x")).toMatchObject({ result: "second", attempts: 1 });
    });
  });

  describe(`${name}: order`, () => {
    it("is by priority, then first come first served", async () => {
      const { run, open: openGate } = gate();
      const order: unknown[] = [];
      const queue = await start(
        kind("a", async (payload, context) => {
          order.push(payload);
          return payload === "first" ? run(payload, context) : null;
        }),
      );
      await queue.enqueue("a", "first");
      await until("first runs", () => order.length === 1);
      const jobs = [];
      for (const [payload, priority] of [
        ["b", 0],
        ["c", 0],
        ["lowest", -1_000_000],
        ["highest", 1_000_000],
        ["low", -1],
        ["high", 5],
        ["d", 0],
      ] as const) {
        jobs.push(await queue.enqueue("a", payload, { priority }));
      }
      openGate();
      for (const { id } of jobs) await finished(queue, id);
      expect(order).toEqual(["first", "highest", "high", "b", "c", "d", "low", "lowest"]);
    });
    it("leaves out jobs that are to be tried again later", async () => {
      const order: unknown[] = [];
      const queue = await start(
        kind("a", async (payload, { attempt }) => {
          order.push(payload);
          if (payload === "later" && attempt === 1) throw new FedwayError("ENDPOINT_BUSY", "B.", { retryAfterMs: 300 });
        }),
      );
      const later = await queue.enqueue("a", "later", { priority: 9 });
      const now = await queue.enqueue("a", "now");
      await finished(queue, now.id);
      expect(await state(queue, later.id)).toBe("waiting");
      await finished(queue, later.id);
      expect(order).toEqual(["later", "now", "later"]);
    });
    it("runs as many jobs of a kind at once as the kind allows", async () => {
      let running = 0;
      const most = new Map<unknown, number>();
      const run =
        (kindName: string): JobKind["run"] =>
        async () => {
          running += 1;
          most.set(kindName, Math.max(most.get(kindName) ?? 0, running));
          await new Promise((resolve) => setTimeout(resolve, 30));
          running -= 1;
        };
      const queue = await start(kind("three", run("three"), { concurrency: 3 }), kind("one", run("one")));
      for (const kindName of ["three", "one"]) {
        const jobs = await Promise.all(Array.from({ length: 7 }, () => queue.enqueue(kindName, null)));
        for (const { id } of jobs) await finished(queue, id);
      }
      expect(Object.fromEntries(most)).toEqual({ three: 3, one: 1 });
    });
    it("does not let one kind wait for another", async () => {
      const { run, started } = gate();
      const queue = await start(
        kind("slow", run),
        kind("quick", async () => "quick"),
      );
      await queue.enqueue("slow", null);
      await until("slow runs", () => started.length > 0);
      expect((await finished(queue, (await queue.enqueue("quick", null)).id)).result).toBe("quick");
    });
  });

  describe(`${name}: failures`, () => {
    /** A handler that fails with these errors one after the other, then succeeds. */
    const failing = (...errors: readonly unknown[]) => {
      const attempts: number[] = [];
      const run: JobKind["run"] = async (_, { attempt }) => {
        attempts.push(attempt);
        const error = errors[attempts.length - 1];
        if (error !== undefined) throw error;
        return "ok";
      };
      return { attempts, run };
    };
    const busy = new FedwayError("ENDPOINT_BUSY", "Busy.");

    it("that may pass are tried again, and forgotten on success", async () => {
      const { run, attempts } = failing(busy, new Error("bug"));
      const queue = await start(kind("a", run));
      const job = await finished(queue, (await queue.enqueue("a", null)).id);
      expect(job).toMatchObject({ state: "done", result: "ok", attempts: 3 });
      expect(job.error).toBeUndefined();
      expect(attempts).toEqual([1, 2, 3]);
    });
    it("end the job when they do not pass", async () => {
      const { run, attempts } = failing(busy, busy, busy, busy);
      const queue = await start(kind("a", run, { maxAttempts: 2 }));
      const job = await finished(queue, (await queue.enqueue("a", null)).id);
      expect(job).toMatchObject({ state: "failed", error: { code: "ENDPOINT_BUSY", message: "Busy." } });
      expect(attempts).toEqual([1, 2]);
      expect(job.result).toBeUndefined();
    });
    it("that cannot pass end the job at once", async () => {
      const { run, attempts } = failing(new FedwayError("ENDPOINT_REJECTED_QUERY", "No."));
      const queue = await start(kind("a", run));
      const job = await finished(queue, (await queue.enqueue("a", null)).id);
      expect(job).toMatchObject({ state: "failed", error: { code: "ENDPOINT_REJECTED_QUERY" } });
      expect(attempts).toEqual([1]);
    });
    it("that say how long to wait are not tried again before", async () => {
      const moments: number[] = [];
      const queue = await start(
        kind("a", async () => {
          moments.push(Date.now());
          if (moments.length === 1) throw new FedwayError("ENDPOINT_BUSY", "Busy.", { retryAfterMs: 400 });
        }),
      );
      await finished(queue, (await queue.enqueue("a", null)).id);
      const [first = 0, second = 0] = moments;
      expect(second - first).toBeGreaterThanOrEqual(400);
    });
    it("tell nothing of what lies inside", async () => {
      const { run } = failing(new Error("secret at 10.0.0.1"));
      const queue = await start(kind("a", run, { maxAttempts: 1 }));
      const job = await finished(queue, (await queue.enqueue("a", null)).id);
      expect(job.error?.code).toBe("INTERNAL");
      expect(JSON.stringify(job)).not.toMatch(/secret|10\.0/);
    });
    it("are jobs whose result cannot be kept", async () => {
      const queue = await start(
        kind("large", async () => "x".repeat(1_100_000)),
        kind("odd", async () => 1n),
      );
      for (const kindName of ["large", "odd"]) {
        const job = await finished(queue, (await queue.enqueue(kindName, null)).id);
        expect(job).toMatchObject({ state: "failed", attempts: 1, error: { code: "INTERNAL" } });
      }
    });
  });

  describe(`${name}: listing`, () => {
    it("is newest first, by kind and state, up to a number", async () => {
      const { run } = gate();
      const queue = await start(
        kind("a", async () => null),
        kind("b", run),
      );
      const ids: string[] = [];
      for (const kindName of ["a", "b", "a", "b"]) ids.push((await queue.enqueue(kindName, null)).id);
      await until("all settled", async () => (await queue.list({ state: "done" })).length === 2);
      await until("b runs", async () => (await queue.list({ state: "running" })).length === 1);
      const [a1, b1, a2, b2] = ids;
      const list = async (options: Parameters<JobQueue["list"]>[0]) => (await queue.list(options)).map(({ id }) => id);
      expect(await list({})).toEqual([b2, a2, b1, a1]);
      expect(await list({ limit: 3 })).toEqual([b2, a2, b1]);
      expect(await list({ kind: "a" })).toEqual([a2, a1]);
      expect(await list({ kind: "b", state: "waiting" })).toEqual([b2]);
      expect(await list({ state: "failed" })).toEqual([]);
    });
  });
}
