import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import {
  createEmbeddedJobQueue,
  type EmbeddedJobQueueOptions,
} from "../../../../src/jobs/embedded/embedded-job-queue.ts";
import type { ChildJob, Job, JobKind, JobQueue } from "../../../../src/jobs/job-queue.ts";
import { createMemoryStore } from "../../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../../src/store/store.ts";

const day = 24 * 3_600_000;
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
const changes: ReadonlySet<unknown> = new Set(["put", "delete", "acquire", "release"]);

/** The store as a process sees it that is killed before its change of this number. */
function killedBefore(change: number): { readonly store: Store; readonly isDead: () => boolean } {
  let count = 0;
  const isDead = (): boolean => count >= change;
  const cut = new Proxy(store, {
    get(target, name: keyof Store) {
      const method: unknown = target[name];
      if (typeof method !== "function") return method;
      return async (...args: unknown[]): Promise<unknown> => {
        if (changes.has(name)) count += 1;
        if (isDead()) throw new FedwayError("STORE_FAILED", "Dead.");
        return Reflect.apply(method, target, args);
      };
    },
  });
  return { store: cut, isDead };
}

const validate = (): void => {};
const whole: JobKind = { name: "whole", validate, run: async (_, { children }) => children };
const echo: JobKind = { name: "part", validate, run: async (payload) => payload, concurrency: 2 };
const broken: JobKind = {
  ...echo,
  run: async (payload) => {
    if (payload === 2) throw new FedwayError("ENDPOINT_REJECTED_QUERY", "No.");
    return payload;
  },
};
const children: readonly ChildJob[] = [1, 2, 3].map((payload) => ({ name: `p${payload}`, kind: "part", payload }));

async function start(kinds: readonly JobKind[], options: Partial<EmbeddedJobQueueOptions> = {}): Promise<JobQueue> {
  const queue = createEmbeddedJobQueue({ store, soleOwner: true, ...options });
  await queue.start(kinds);
  return queue;
}

/** What is left of a family whose process was killed before this change, after the next process had its time. */
async function afterKill(
  part: JobKind,
  change: number,
): Promise<{ readonly dead: boolean; readonly jobs: readonly Job[] }> {
  const killed = killedBefore(change);
  const first = createEmbeddedJobQueue({ store: killed.store, soleOwner: true });
  await first.start([whole, part]).catch(() => {});
  await first.enqueue("whole", null, { id: "x", children }).catch(() => {});
  await advance(1_000);
  const second = await start([whole, part]);
  await advance(120_000);
  const jobs = await second.list();
  const closing = Promise.all([first.close(0), second.close(0)]);
  await advance(1_000);
  await closing;
  return { dead: killed.isDead(), jobs: jobs.toSorted((left, right) => (left.id < right.id ? -1 : 1)) };
}

/** That whatever change a process is killed before, the family is not there or ends like this, and goes in its time. */
async function shouldEnd(part: JobKind, ends: readonly Readonly<Record<string, unknown>>[]): Promise<number> {
  for (let change = 1; change < 500; change += 1) {
    store = createMemoryStore();
    const { dead, jobs } = await afterKill(part, change);
    if (jobs.length > 0) expect(jobs, `killed before ${change}`).toMatchObject(ends);
    await advance(8 * day);
    expect(await store.list("jobs/"), `left by one killed before ${change}`).toEqual([]);
    if (!dead) {
      expect(jobs).toHaveLength(4);
      return change;
    }
  }
  return 0;
}

describe("a family whose process is killed", () => {
  it("is done by the next one, or was never there, whatever moment that was", async () => {
    const done = { state: "done" };
    const moments = await shouldEnd(echo, [{ id: "x", ...done, attempts: expect.any(Number) }, done, done, done]);
    expect(moments).toBeGreaterThan(20);
  });
  it("is failed by the next one when it was to fail, with all of its children ended", async () => {
    const error = { code: "ENDPOINT_REJECTED_QUERY", message: "The part p2 failed: No." };
    const ended = { state: expect.stringMatching(/done|cancelled/) };
    const moments = await shouldEnd(broken, [
      { id: "x", state: "failed", error, attempts: 0 },
      ended,
      { state: "failed", error: { code: "ENDPOINT_REJECTED_QUERY", message: "No." } },
      ended,
    ]);
    expect(moments).toBeGreaterThan(20);
  });
});

describe("a family that is open for long", () => {
  it("keeps its children whatever their age and number, and lets them go when it has ended", async () => {
    const release = Promise.withResolvers<void>();
    const slow: JobKind["run"] = async (payload) => {
      if (payload === 2) await release.promise;
      return payload;
    };
    const queue = await start([whole, { ...echo, run: slow }], {
      keepFinished: 2,
      keepFinishedMs: day,
      sweepMs: 3_600_000,
    });
    await queue.enqueue("whole", null, { id: "x", children });
    for (let count = 0; count < 5; count += 1) await queue.enqueue("part", 1);
    await advance(3 * day);
    expect((await queue.list()).map(({ id, state }) => [id, state])).toEqual([
      ["x.p3", "done"],
      ["x.p2", "running"],
      ["x.p1", "done"],
      ["x", "waiting"],
    ]);
    release.resolve();
    await advance(1_000);
    expect(await queue.get("x")).toMatchObject({ state: "done", result: [1, 2, 3] });
    expect(await queue.list()).toHaveLength(2);
    await advance(day);
    expect(await store.list("jobs/")).toEqual([]);
  });
  it("is ended by another process that never knew of it, with its children", async () => {
    const signals: AbortSignal[] = [];
    const endless: JobKind["run"] = (_, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const worker = await start([whole, { ...echo, run: endless }], { soleOwner: false, sweepMs: 500 });
    await worker.enqueue("whole", null, { id: "x", children });
    await advance(10);
    const other = createEmbeddedJobQueue({ store });
    await other.start([whole, echo], { work: false });
    expect(await other.cancel("x")).toBe(true);
    await advance(1_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect((await worker.list({ state: "cancelled" })).map(({ id }) => id)).toEqual(["x.p3", "x.p2", "x.p1", "x"]);
  });
});
