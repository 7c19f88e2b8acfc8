import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { EmbeddedJobQueue } from "../../../../src/jobs/embedded/embedded-job-queue.ts";
import { Handover } from "../../../../src/jobs/job-kind.ts";
import type { Job, JobKind, JobQueue } from "../../../../src/jobs/job-queue.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../../src/store/store.ts";
import { kind } from "../../../contract/jobs/job-queue-fixture.ts";

type EmbeddedJobQueueOptions = ConstructorParameters<typeof EmbeddedJobQueue>[0];

const day = 24 * 3_600_000;
let store: Store;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.parse("2026-11-23T14:00:00Z") });
  store = openSqliteStore({ path: ":memory:" });
});
afterEach(() => {
  vi.useRealTimers();
});

const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** The store as a process sees it that is killed before its change of this number. */
function killedBefore(change: number): { readonly store: Store; readonly isDead: () => boolean } {
  let count = 0;
  const isDead = (): boolean => count >= change;
  const cut = new Proxy(store, {
    get(target, name: keyof Store) {
      const method: unknown = target[name];
      if (typeof method !== "function") return method;
      return async (...args: unknown[]): Promise<unknown> => {
        if (name === "put" || name === "delete") count += 1;
        if (isDead()) throw new FedwayError("STORE_FAILED", "Dead.");
        return Reflect.apply(method, target, args);
      };
    },
  });
  return { store: cut, isDead };
}

const first = kind("first", async (payload) => new Handover("second", payload));
const second = kind("second", async (payload) => payload);
const broken = kind("second", () => Promise.reject(new FedwayError("ENDPOINT_REJECTED_QUERY", "No.")));

async function start(kinds: readonly JobKind[], options: Partial<EmbeddedJobQueueOptions> = {}): Promise<JobQueue> {
  const queue = new EmbeddedJobQueue({ store, ...options });
  await queue.start(kinds);
  return queue;
}

interface Remains {
  readonly dead: boolean;
  readonly acknowledged: boolean;
  readonly jobs: readonly Job[];
}

/** What is left of a job of two kinds whose process was killed before this change, after the next one had its time. */
async function afterKill(last: JobKind, change: number): Promise<Remains> {
  const killed = killedBefore(change);
  const before = new EmbeddedJobQueue({ store: killed.store });
  await before.start([first, last]).catch(() => {});
  const enqueuing = before.enqueue("first", 7, { id: "x" });
  const acknowledged = await enqueuing.then(
    () => true,
    () => false,
  );
  await advance(1_000);
  const closing = before.close(0);
  await advance(1);
  await closing;
  const after = await start([first, last]);
  await advance(120_000);
  const jobs = await after.list();
  await advance(8 * day);
  await after.close(0);
  return { dead: killed.isDead(), acknowledged, jobs };
}

/** That whatever change a process is killed before, the job is not there or ends like this, and goes in its time. */
async function shouldEnd(last: JobKind, end: Readonly<Record<string, unknown>>): Promise<number> {
  for (let change = 1; change < 500; change += 1) {
    store = openSqliteStore({ path: ":memory:" });
    const { dead, acknowledged, jobs } = await afterKill(last, change);
    if (jobs.length > 0 || acknowledged) expect(jobs, `killed before ${change}`).toMatchObject([end]);
    expect(await store.list("jobs/"), `left by one killed before ${change}`).toEqual([]);
    if (!dead) return change;
  }
  return 0;
}

describe("a job of two kinds whose process is killed", () => {
  it("is done by the next one, or was never there, whatever moment that was", async () => {
    const moments = await shouldEnd(second, { id: "x", kind: "second", state: "done", payload: 7 });
    expect(moments).toBeGreaterThan(5);
  });
  it("is failed by the next one when it was to fail", async () => {
    const error = { code: "ENDPOINT_REJECTED_QUERY", message: "No." };
    expect(await shouldEnd(broken, { id: "x", kind: "second", state: "failed", error })).toBeGreaterThan(4);
  });
});
