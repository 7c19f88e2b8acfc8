import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { EmbeddedJobQueue } from "../../../../src/jobs/embedded/embedded-job-queue.ts";
import type { Job, JobKind, JobQueue } from "../../../../src/jobs/job-queue.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../../src/store/store.ts";
import { kind } from "../../../contract/jobs/job-queue-fixture.ts";

type EmbeddedJobQueueOptions = ConstructorParameters<typeof EmbeddedJobQueue>[0];

let store: Store;
let faults: unknown[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  vi.setSystemTime(1_000_000);
  store = openSqliteStore({ path: ":memory:" });
  faults = [];
});
afterEach(() => {
  vi.useRealTimers();
});

const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const forever: JobKind["run"] = () => new Promise(() => {});

async function start(kinds: readonly JobKind[], options: Partial<EmbeddedJobQueueOptions> = {}): Promise<JobQueue> {
  const queue = new EmbeddedJobQueue({ store, onFault: (fault) => faults.push(fault), ...options });
  await queue.start(kinds);
  return queue;
}

async function stateOf(queue: JobQueue, id: string): Promise<Job["state"] | undefined> {
  return (await queue.get(id))?.state;
}

/** The store as a process sees it whose store fails while `cut` is set, and stays that way when the process is dead. */
function cuttable(): { readonly store: Store; cut: boolean; puts: number } {
  const state = { store, cut: false, puts: 0 };
  state.store = new Proxy(store, {
    get(target, name: keyof Store) {
      const method: unknown = target[name];
      if (typeof method !== "function") return method;
      return async (...args: unknown[]): Promise<unknown> => {
        if (state.cut) throw new FedwayError("STORE_FAILED", "Cut off.");
        if (name === "put") state.puts += 1;
        return Reflect.apply(method, target, args);
      };
    },
  });
  return state;
}

describe("a job whose process was killed", () => {
  it("runs again at once in the next one", async () => {
    const dead = cuttable();
    const first = await start([kind("a", forever)], { store: dead.store });
    const { id } = await first.enqueue("a", null);
    await advance(1);
    dead.cut = true;
    const second = await start([kind("a", async (_, { attempt }) => attempt)]);
    await advance(1);
    expect(await second.get(id)).toMatchObject({ state: "done", result: 2, attempts: 2 });
  });
  it("again and again is given up in the end", async () => {
    let id = "";
    for (let death = 0; death < 3; death += 1) {
      const dead = cuttable();
      const queue = await start([kind("a", forever)], { store: dead.store, mostInterruptions: 3 });
      if (id === "") ({ id } = await queue.enqueue("a", null));
      await advance(1);
      expect(await stateOf(queue, id)).toBe("running");
      dead.cut = true;
    }
    const last = await start([kind("a", forever)], { mostInterruptions: 3 });
    const message = expect.stringContaining("3 times");
    expect(await last.get(id)).toMatchObject({ state: "failed", attempts: 3, error: { code: "INTERNAL", message } });
  });
});

describe("a store that fails for a while", () => {
  it("does not lose what a handler gave, nor show it before it is kept", async () => {
    const failing = cuttable();
    let runs = 0;
    const run: JobKind["run"] = async () => {
      runs += 1;
      failing.cut = true;
      return "precious";
    };
    const queue = await start([kind("a", run)], { store: failing.store });
    const { id } = await queue.enqueue("a", null);
    await advance(5_000);
    expect(faults.length).toBeGreaterThan(1);
    expect(await stateOf(queue, id)).toBe("running");
    failing.cut = false;
    await advance(10_000);
    expect(await queue.get(id)).toMatchObject({ state: "done", result: "precious", attempts: 1 });
    expect(runs).toBe(1);
  });
  it("keeps jobs waiting, without a storm of requests", async () => {
    const failing = cuttable();
    const busy = new FedwayError("ENDPOINT_BUSY", "Busy.");
    const run: JobKind["run"] = (_, { attempt }) => (attempt === 1 ? Promise.reject(busy) : Promise.resolve());
    const queue = await start([kind("a", run)], { store: failing.store });
    const { id } = await queue.enqueue("a", null);
    await advance(500);
    failing.cut = true;
    await advance(20_000);
    expect(faults.length).toBeGreaterThan(5);
    expect(faults.length).toBeLessThan(100);
    await expect(queue.enqueue("a", null)).rejects.toMatchObject({ code: "STORE_FAILED" });
    failing.cut = false;
    await advance(5_000);
    expect(await queue.get(id)).toMatchObject({ state: "done", attempts: 2 });
    expect(await queue.list()).toHaveLength(1);
  });
  it("gets a cancelled job's end later", async () => {
    const failing = cuttable();
    const queue = await start([kind("a", forever)], { store: failing.store });
    const { id } = await queue.enqueue("a", null);
    await advance(1);
    failing.cut = true;
    await expect(queue.cancel(id)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(await stateOf(queue, id)).toBe("cancelled");
    failing.cut = false;
    await advance(2_000);
    expect((await store.get(`jobs/job/${id}`))?.value).toContain('"cancelled"');
  });
  it("fails a start, which may be tried again", async () => {
    const failing = cuttable();
    failing.cut = true;
    const queue = new EmbeddedJobQueue({ store: failing.store });
    await expect(queue.start([kind("a", async () => "ok")])).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(vi.getTimerCount()).toBe(0);
    failing.cut = false;
    await queue.start([kind("a", async () => "ok")]);
    const { id } = await queue.enqueue("a", null);
    await advance(10);
    expect(await stateOf(queue, id)).toBe("done");
  });
  it.each([
    ["a result", "precious", '"precious"', { state: "done", result: "precious" }],
    ["an outcome", "precious", '"state":"done"', { state: "done", result: "precious" }],
    ["a failure", undefined, '"state":"failed"', { state: "failed", error: { code: "INTERNAL", message: "No." } }],
  ])("may have kept %s that it said it had not", async (_, result, written, end) => {
    let isForgotten = false;
    const forgetful: Store = {
      ...store,
      async put(key, value, options) {
        const version = await store.put(key, value, options);
        if (isForgotten || !value.includes(written)) return version;
        isForgotten = true;
        throw new FedwayError("STORE_FAILED", "The answer got lost.");
      },
    };
    const no = new FedwayError("INTERNAL", "No.");
    const run: JobKind["run"] = () => (result === undefined ? Promise.reject(no) : Promise.resolve(result));
    const queue = await start([kind("a", run, { maxAttempts: 1 })], { store: forgetful });
    const { id } = await queue.enqueue("a", null);
    await advance(60_000);
    expect(faults).toMatchObject([{ code: "STORE_FAILED", message: "The answer got lost." }]);
    expect(await queue.get(id)).toMatchObject({ attempts: 1, ...end });
  });
});

describe("stored jobs that cannot be run", () => {
  it("fail with a reason when their kind is gone, waiting or left behind as running", async () => {
    const old = cuttable();
    const first = await start([kind("gone", forever)], { store: old.store });
    const ids = [(await first.enqueue("gone", null)).id, (await first.enqueue("gone", null)).id];
    await advance(1);
    old.cut = true;
    const second = await start([kind("a", async () => null)]);
    for (const id of ids) {
      const error = { code: "REQUEST_INVALID", message: expect.stringContaining("kind gone") };
      expect(await second.get(id)).toMatchObject({ state: "failed", error });
    }
  });
  it("fail at once when the kind does not take their payload any more", async () => {
    const first = await start([kind("a", forever)]);
    const { id } = await first.enqueue("a", "old form");
    const closing = first.close(0);
    await advance(1);
    await closing;
    let runs = 0;
    const validate = (): never => {
      throw new FedwayError("REQUEST_INVALID", "Not any more.");
    };
    const second = await start([kind("a", async () => (runs += 1), { validate })]);
    await advance(2_000);
    expect(await second.get(id)).toMatchObject({ state: "failed", error: { message: "Not any more." } });
    expect(runs).toBe(0);
  });
  it.each(["no JSON", "null", "{}", '{"id":"x","kind":"a","state":"odd"}'])(
    "do not stop the others: %s",
    async (text) => {
      await store.put("jobs/job/x", text);
      const queue = await start([kind("a", async () => "ok")]);
      const { id } = await queue.enqueue("a", null);
      await advance(10);
      expect(await stateOf(queue, id)).toBe("done");
      expect(await queue.list()).toHaveLength(1);
    },
  );
});

describe("finished jobs", () => {
  it("are kept up to a number, with their results, the latest first", async () => {
    const queue = await start([kind("a", async (payload) => payload), kind("b", forever)], { keepFinished: 3 });
    const ids: string[] = [];
    for (let index = 0; index < 6; index += 1) {
      ids.push((await queue.enqueue("a", index)).id);
      await advance(10);
    }
    const open = await queue.enqueue("b", null);
    expect((await queue.list()).map(({ id }) => id)).toEqual([open.id, ...ids.slice(3).toReversed()]);
    expect(await store.list("jobs/result/")).toHaveLength(3);
    expect(await store.list("jobs/job/")).toHaveLength(4);
    expect((await queue.get(ids[5] ?? ""))?.result).toBe(5);
  });
  it("are kept up to their bytes, the latest ones", async () => {
    const queue = await start([kind("a", async () => {})], { keepFinishedBytes: 1_000_000 });
    for (let index = 0; index < 6; index += 1) {
      await queue.enqueue("a", `${index}${"x".repeat(100_000)}`);
      await advance(10);
    }
    expect((await queue.list()).map(({ payload }) => String(payload).slice(0, 1))).toEqual(["5", "4", "3"]);
    expect(await store.list("jobs/job/")).toHaveLength(3);
  });
  it("are kept for a time", async () => {
    const queue = await start([kind("a", async (payload) => payload)], { keepFinishedMs: 60_000 });
    const { id } = await queue.enqueue("a", 1);
    await advance(59_000);
    expect(await stateOf(queue, id)).toBe("done");
    await advance(2_000);
    expect(await queue.get(id)).toBeUndefined();
    expect(await store.list("jobs/")).toEqual([]);
  });
});

describe("waiting between runs", () => {
  it("doubles with each failure, and is as long as the error asks for", async () => {
    const moments: number[] = [];
    const run: JobKind["run"] = async (_, { attempt }) => {
      moments.push(Date.now());
      throw new FedwayError("ENDPOINT_RATE_LIMITED", "Later.", attempt === 3 ? { retryAfterMs: 60_000 } : {});
    };
    const queue = await start([kind("a", run, { maxAttempts: 5 })]);
    await queue.enqueue("a", null);
    await advance(200_000);
    expect(moments.slice(1).map((at, index) => at - (moments[index] ?? 0))).toEqual([1_000, 2_000, 60_000, 8_000]);
  });
  it("ends when it should also on a clock that goes on while jobs are looked at", async () => {
    const clock = {
      now: () => {
        vi.setSystemTime(Date.now() + 1);
        return Date.now();
      },
      setTimeout: (run: () => void, ms: number) => setTimeout(run, ms),
      clearTimeout: (timer: NodeJS.Timeout | undefined) => clearTimeout(timer),
    };
    for (let waitMs = 1; waitMs <= 40; waitMs += 1) {
      const run: JobKind["run"] = async (_, { attempt }) => {
        if (attempt === 1) throw new FedwayError("ENDPOINT_BUSY", "Busy.");
      };
      const queue = await start([kind("a", run)], { clock, backoffMs: () => waitMs });
      const { id } = await queue.enqueue("a", null);
      await advance(1_000);
      expect(await stateOf(queue, id)).toBe("done");
      await queue.close(0);
    }
  });
});

describe("progress", () => {
  it("is written once a second at most, and cut to a bearable size", async () => {
    const counted = cuttable();
    const report = { stage: "s".repeat(5_000), done: 1, figures: { good: 1, bad: Number.NaN } };
    const run: JobKind["run"] = async (_, context) => {
      for (let step = 0; step < 500; step += 1) {
        context.progress({ ...report, done: step });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return forever(null, context);
    };
    const queue = await start([kind("a", run)], { store: counted.store });
    const { id } = await queue.enqueue("a", null);
    await advance(1);
    counted.puts = 0;
    await advance(6_000);
    expect(counted.puts).toBeGreaterThan(3);
    expect(counted.puts).toBeLessThan(8);
    const stored: unknown = JSON.parse((await store.get(`jobs/job/${id}`))?.value ?? "");
    expect(stored).toMatchObject({ progress: { stage: "s".repeat(200), done: 499, figures: { good: 1 } } });
  });
  it("is told to watchers a few times a second at most, and the last of it always", async () => {
    const queue = await start([
      kind("a", async (_, { progress }) => {
        for (let step = 0; step < 200; step += 1) {
          progress({ stage: "working", done: step });
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      }),
    ]);
    const { id } = await queue.enqueue("a", null);
    const seen: Job[] = [];
    queue.watch(id, (job) => seen.push(job));
    await advance(3_000);
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.length).toBeLessThan(12);
    expect(seen.at(-1)).toMatchObject({ state: "done", progress: { done: 199 } });
  });
});

describe("schedules", () => {
  it("make up for the turns of a long absence by one", async () => {
    const runs: number[] = [];
    const kinds = [kind("a", async () => runs.push(Date.now()))];
    const first = await start(kinds);
    await first.schedule({ name: "hourly", kind: "a", payload: null, everyMs: 3_600_000 });
    await advance(10);
    await first.close();
    await advance(10.5 * 3_600_000);
    await start(kinds);
    await advance(100);
    expect(runs).toHaveLength(2);
    await advance(3_600_000);
    expect(runs.slice(2).map((at) => Math.round((at - 1_000_000) / 3_600_000))).toEqual([11]);
  });
  it("go on after a store that failed at their turn", async () => {
    const failing = cuttable();
    let runs = 0;
    const queue = await start([kind("a", async () => (runs += 1))], { store: failing.store });
    await queue.schedule({ name: "often", kind: "a", payload: null, everyMs: 60_000 });
    await advance(30_000);
    failing.cut = true;
    await advance(60_000);
    failing.cut = false;
    await advance(5_000);
    expect(runs).toBe(2);
  });
});

describe("a process that does not work", () => {
  it("enqueues, schedules and loses nothing", async () => {
    const idle = new EmbeddedJobQueue({ store });
    const ran: unknown[] = [];
    const kinds = [kind("a", async (payload) => ran.push(payload))];
    await idle.start(kinds, { work: false });
    await idle.enqueue("a", "job");
    await idle.schedule({ name: "hourly", kind: "a", payload: "turn", everyMs: 3_600_000 });
    await advance(10_000);
    await idle.close();
    expect(ran).toEqual([]);
    await start(kinds);
    await advance(10);
    expect(new Set(ran)).toEqual(new Set(["job", "turn"]));
  });
});

describe("a closed queue", () => {
  it("has no timers left", async () => {
    const queue = await start([kind("a", forever)]);
    const { id } = await queue.enqueue("a", null);
    queue.watch(id, () => {});
    await queue.schedule({ name: "often", kind: "a", payload: null, everyMs: 1_000 });
    await advance(5_000);
    const closing = queue.close(100);
    await advance(100);
    await closing;
    await advance(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("many jobs", () => {
  it("all run", async () => {
    const queue = await start([kind("a", async () => null, { concurrency: 4 })]);
    await Promise.all(Array.from({ length: 1_500 }, (_, index) => queue.enqueue("a", index)));
    await advance(1_000);
    expect(await queue.list({ state: "waiting" })).toEqual([]);
    expect(await queue.list({ state: "done", limit: 5_000 })).toHaveLength(1_000);
  });
});
