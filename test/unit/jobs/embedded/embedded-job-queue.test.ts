import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import {
  createEmbeddedJobQueue,
  type EmbeddedJobQueueOptions,
} from "../../../../src/jobs/embedded/embedded-job-queue.ts";
import type { Job, JobKind, JobQueue } from "../../../../src/jobs/job-queue.ts";
import { createMemoryStore } from "../../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../../src/store/store.ts";

let store: Store;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  vi.setSystemTime(1_000_000);
  store = createMemoryStore();
});
afterEach(() => {
  vi.useRealTimers();
});

const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const kind = (name: string, run: JobKind["run"], more: Partial<JobKind> = {}): JobKind => ({
  name,
  validate: () => {},
  run,
  ...more,
});
const forever: JobKind["run"] = () => new Promise(() => {});

/** A store that stops working for one queue, as for a process that is dead or cut off. */
function cuttable(): { readonly store: Store; cut: boolean; puts: string[] } {
  const state = { store, cut: false, puts: [] as string[] };
  state.store = new Proxy(store, {
    get(target, name: keyof Store) {
      const method: unknown = target[name];
      if (typeof method !== "function") return method;
      return async (...args: unknown[]): Promise<unknown> => {
        if (state.cut) throw new FedwayError("STORE_FAILED", "Cut off.");
        if (name === "put") state.puts.push(String(args[0]));
        return Reflect.apply(method, target, args);
      };
    },
  });
  return state;
}

async function start(kinds: readonly JobKind[], options: Partial<EmbeddedJobQueueOptions> = {}): Promise<JobQueue> {
  const queue = createEmbeddedJobQueue({ store, ...options });
  await queue.start(kinds);
  return queue;
}

async function stateOf(queue: JobQueue, id: string): Promise<Job["state"] | undefined> {
  return (await queue.get(id))?.state;
}

describe("a worker that is gone", () => {
  it("loses its job to another one when the lease has ended, not before", async () => {
    const dead = cuttable();
    const first = await start([kind("a", forever)], { store: dead.store });
    const { id } = await first.enqueue("a", null);
    await advance(1);
    dead.cut = true;
    const attempts: number[] = [];
    const second = await start([kind("a", async (_, { attempt }) => attempts.push(attempt))]);
    await advance(25_000);
    expect(await stateOf(second, id)).toBe("running");
    expect(attempts).toEqual([]);
    await advance(10_000);
    expect(await second.get(id)).toMatchObject({ state: "done", attempts: 2 });
    expect(attempts).toEqual([2]);
  });
  it("loses it at once to a sole owner", async () => {
    const dead = cuttable();
    const first = await start([kind("a", forever)], { store: dead.store, soleOwner: true });
    const { id } = await first.enqueue("a", null);
    await advance(1);
    dead.cut = true;
    const second = await start([kind("a", async () => "again")], { soleOwner: true });
    await advance(1);
    expect(await second.get(id)).toMatchObject({ state: "done", result: "again", attempts: 2 });
  });
  it("keeps a job for hours while it gives signs of life", async () => {
    let runs = 0;
    const counted: JobKind["run"] = () => {
      runs += 1;
      return forever(null, {
        id: "",
        attempt: 0,
        signal: new AbortController().signal,
        progress: () => {},
        children: [],
      });
    };
    const first = await start([kind("a", counted)]);
    const second = await start([kind("a", counted)]);
    const { id } = await first.enqueue("a", null);
    await advance(2 * 3_600_000);
    expect(await stateOf(second, id)).toBe("running");
    expect(runs).toBe(1);
  });
  it("that comes back does not count any more", async () => {
    const faults: unknown[] = [];
    const cut = cuttable();
    const release = Promise.withResolvers<unknown>();
    const reasons: unknown[] = [];
    const slow: JobKind["run"] = (_, { signal }) => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      return release.promise;
    };
    const options = { store: cut.store, onFault: (fault: unknown) => faults.push(fault) };
    const first = await start([kind("a", slow)], options);
    const { id } = await first.enqueue("a", null);
    await advance(1);
    cut.cut = true;
    const second = await start([kind("a", async () => "of the second")]);
    await advance(40_000);
    cut.cut = false;
    release.resolve("of the first");
    await advance(60_000);
    expect(await second.get(id)).toMatchObject({ state: "done", result: "of the second", attempts: 2 });
    expect(reasons).toMatchObject([{ code: "CANCELLED" }]);
    expect(faults).toMatchObject([{ code: "STORE_FAILED" }, ...faults.slice(1)]);
    expect((await store.list("jobs/result/")).map(({ value }) => value)).toEqual(['"of the second"']);
  });
  it("again and again gives the job up in the end", async () => {
    let id = "";
    for (let death = 0; death < 3; death += 1) {
      const dead = cuttable();
      const queue = await start([kind("a", forever)], { store: dead.store, soleOwner: true, mostInterruptions: 3 });
      if (id === "") ({ id } = await queue.enqueue("a", null));
      await advance(1);
      expect(await stateOf(queue, id)).toBe("running");
      dead.cut = true;
    }
    const last = await start([kind("a", forever)], { soleOwner: true, mostInterruptions: 3 });
    const message = expect.stringContaining("3 times");
    expect(await last.get(id)).toMatchObject({ state: "failed", attempts: 3, error: { code: "INTERNAL", message } });
  });
});

describe("a store that fails for a while", () => {
  it("does not lose what a handler gave", async () => {
    const failing = cuttable();
    const faults: unknown[] = [];
    let runs = 0;
    const run: JobKind["run"] = async () => {
      runs += 1;
      failing.cut = true;
      return "precious";
    };
    const options = { store: failing.store, onFault: (fault: unknown) => faults.push(fault) };
    const queue = await start([kind("a", run)], options);
    const { id } = await queue.enqueue("a", null);
    await advance(5_000);
    expect(faults.length).toBeGreaterThan(1);
    failing.cut = false;
    await advance(10_000);
    expect(await queue.get(id)).toMatchObject({ state: "done", result: "precious", attempts: 1 });
    expect(runs).toBe(1);
  });
  it("keeps jobs waiting, without a storm of requests", async () => {
    const failing = cuttable();
    const faults: unknown[] = [];
    const queue = await start([kind("a", async () => "ok")], {
      store: failing.store,
      onFault: (fault) => faults.push(fault),
    });
    const { id } = await queue.enqueue("a", null, { delayMs: 100 });
    failing.cut = true;
    await advance(20_000);
    expect(faults.length).toBeGreaterThan(5);
    expect(faults.length).toBeLessThan(100);
    await expect(queue.enqueue("a", null)).rejects.toMatchObject({ code: "STORE_FAILED" });
    failing.cut = false;
    await advance(5_000);
    expect(await stateOf(queue, id)).toBe("done");
  });
  it("fails a start, which may be tried again", async () => {
    const failing = cuttable();
    failing.cut = true;
    const queue = createEmbeddedJobQueue({ store: failing.store });
    await expect(queue.start([kind("a", async () => "ok")])).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(vi.getTimerCount()).toBe(0);
    failing.cut = false;
    await queue.start([kind("a", async () => "ok")]);
    const { id } = await queue.enqueue("a", null);
    await advance(10);
    expect(await stateOf(queue, id)).toBe("done");
  });
});

describe("stored jobs that cannot be run", () => {
  it("fail with a reason when their kind is gone, waiting or left behind as running", async () => {
    const old = cuttable();
    const first = await start([kind("gone", forever)], { store: old.store, soleOwner: true });
    const ids = [(await first.enqueue("gone", null)).id, (await first.enqueue("gone", null)).id];
    await advance(1);
    old.cut = true;
    const second = await start([kind("a", async () => null)], { soleOwner: true });
    for (const id of ids) {
      const error = { code: "REQUEST_INVALID", message: expect.stringContaining("kind gone") };
      expect(await second.get(id)).toMatchObject({ state: "failed", error });
    }
  });
  it("fail at once when the kind does not take their payload any more", async () => {
    const first = await start([kind("a", forever)]);
    const { id } = await first.enqueue("a", "old form", { delayMs: 1_000 });
    await first.close();
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
      expect(await queue.get("x")).toBeUndefined();
      expect(await queue.list()).toHaveLength(1);
    },
  );
});

describe("finished jobs", () => {
  it("are kept up to a number, with their results, the latest first", async () => {
    const queue = await start([kind("a", async (payload) => payload)], { keepFinished: 3 });
    const ids: string[] = [];
    for (let index = 0; index < 6; index += 1) {
      ids.push((await queue.enqueue("a", index)).id);
      await advance(10);
    }
    const waiting = await queue.enqueue("a", "later", { delayMs: 10_000 });
    expect((await queue.list()).map(({ id }) => id)).toEqual([waiting.id, ...ids.slice(3).toReversed()]);
    expect(await store.list("jobs/result/")).toHaveLength(3);
    expect((await queue.get(ids[5] ?? ""))?.result).toBe(5);
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
    const queue = await start([
      kind(
        "a",
        async (_, { attempt }) => {
          moments.push(Date.now());
          throw new FedwayError("ENDPOINT_RATE_LIMITED", "Later.", attempt === 3 ? { retryAfterMs: 60_000 } : {});
        },
        { maxAttempts: 5 },
      ),
    ]);
    await queue.enqueue("a", null);
    await advance(200_000);
    expect(moments.slice(1).map((at, index) => at - (moments[index] ?? 0))).toEqual([1_000, 2_000, 60_000, 8_000]);
  });
});

describe("progress", () => {
  it("is written once a second at most, and cut to a bearable size", async () => {
    const counted = cuttable();
    const done = Promise.withResolvers<null>();
    const report = { stage: "s".repeat(5_000), done: 1, figures: { good: 1, bad: Number.NaN } };
    const queue = await start(
      [
        kind("a", async (_, context) => {
          for (let step = 0; step < 500; step += 1) {
            context.progress({ ...report, done: step });
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
          return done.promise;
        }),
      ],
      { store: counted.store },
    );
    const { id } = await queue.enqueue("a", null);
    await advance(1);
    counted.puts.length = 0;
    await advance(6_000);
    expect(counted.puts.length).toBeGreaterThan(3);
    expect(counted.puts.length).toBeLessThan(8);
    const stored = createEmbeddedJobQueue({ store });
    const { progress } = (await stored.get(id)) ?? {};
    expect(progress).toEqual({ stage: "s".repeat(200), done: 499, figures: { good: 1 } });
  });
});

describe("a watcher", () => {
  it("is called a few times a second at most, and of the last change", async () => {
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

describe("an id whose job was cancelled", () => {
  it("does not start anew, in any worker, while the former handler takes its time", async () => {
    const release = Promise.withResolvers<unknown>();
    const runs: string[] = [];
    const run = (worker: string): JobKind["run"] => {
      return (payload) => {
        runs.push(`${worker} ${String(payload)}`);
        return payload === "stubborn" ? release.promise : Promise.resolve(null);
      };
    };
    const first = await start([kind("a", run("one"), { concurrency: 2 })]);
    await first.enqueue("a", "stubborn", { id: "x" });
    await advance(10);
    const second = await start([kind("a", run("two"), { concurrency: 2 })]);
    await first.cancel("x");
    await second.enqueue("a", "next", { id: "x" });
    await advance(120_000);
    expect(runs).toEqual(["one stubborn"]);
    expect(await stateOf(second, "x")).toBe("waiting");
    release.resolve(null);
    await advance(5_000);
    expect(runs).toHaveLength(2);
    expect(await stateOf(second, "x")).toBe("done");
  });
});

describe("schedules", () => {
  it("run a turn once also when one worker is slow and nothing finished is kept", async () => {
    let isSlow = false;
    const slowStore = new Proxy(store, {
      get(target, name: keyof Store) {
        const method: unknown = target[name];
        if (typeof method !== "function") return method;
        return async (...args: unknown[]): Promise<unknown> => {
          const given: unknown = await Reflect.apply(method, target, args);
          const isTurn = name === "get" && String(args[0]).startsWith("jobs/schedule/");
          if (isTurn && isSlow) await new Promise((resolve) => setTimeout(resolve, 700));
          return given;
        };
      },
    });
    const runs: number[] = [];
    const kinds = [kind("a", async () => runs.push(Date.now()))];
    const slow = await start(kinds, { store: slowStore, keepFinished: 0 });
    await slow.schedule({ name: "rare", kind: "a", payload: null, everyMs: 3_600_000 });
    isSlow = true;
    const quick = await start(kinds, { keepFinished: 0 });
    await advance(60_000);
    expect(runs).toHaveLength(1);
    expect(await quick.list()).toEqual([]);
  });
  it("make up for the turns of a long absence by one", async () => {
    const runs: number[] = [];
    const kinds = [kind("a", async () => runs.push(Date.now()))];
    const first = await start(kinds);
    await first.schedule({ name: "hourly", kind: "a", payload: null, everyMs: 3_600_000 });
    await advance(10);
    await first.close();
    await advance(10.5 * 3_600_000);
    const second = await start(kinds);
    await advance(100);
    expect(runs).toHaveLength(2);
    await advance(3_600_000);
    expect(runs.slice(2).map((at) => Math.round((at - 1_000_000) / 3_600_000))).toEqual([11]);
    await second.close();
  });
  it("leave out turns while the job of the one before is not done", async () => {
    const queue = await start([kind("a", forever)]);
    await queue.schedule({ name: "often", kind: "a", payload: null, everyMs: 1_000 });
    await advance(30_000);
    expect(await queue.list()).toHaveLength(1);
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
    const queue = await start([kind("a", async () => null, { concurrency: 4 })], { soleOwner: true });
    await Promise.all(Array.from({ length: 1_500 }, (_, index) => queue.enqueue("a", index)));
    await advance(1_000);
    expect(await queue.list({ state: "waiting" })).toEqual([]);
    expect(await queue.list({ state: "done", limit: 5_000 })).toHaveLength(1_000);
  });
});
