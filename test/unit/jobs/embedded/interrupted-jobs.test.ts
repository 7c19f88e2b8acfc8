import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { EmbeddedJobQueue } from "../../../../src/jobs/embedded/embedded-job-queue.ts";
import type { ChildJob, Job, JobKind, JobQueue } from "../../../../src/jobs/job-queue.ts";
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

const whole = kind("whole", async (_, { children }) => children);
const echo = kind("part", async (payload) => payload, { concurrency: 2 });
const broken: JobKind = {
  ...echo,
  run: async (payload) => {
    if (payload === 2) throw new FedwayError("ENDPOINT_REJECTED_QUERY", "No.");
    return payload;
  },
};
const children: readonly ChildJob[] = [1, 2, 3].map((payload) => ({ name: `p${payload}`, kind: "part", payload }));

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

/** What is left of a job with children whose process was killed before this change, after the next one had its time. */
async function afterKill(part: JobKind, change: number): Promise<Remains> {
  const killed = killedBefore(change);
  const first = new EmbeddedJobQueue({ store: killed.store });
  await first.start([whole, part]).catch(() => {});
  const enqueuing = first.enqueue("whole", null, { id: "x", children });
  const acknowledged = await enqueuing.then(
    () => true,
    () => false,
  );
  await advance(1_000);
  const closing = first.close(0);
  await advance(1);
  await closing;
  const second = await start([whole, part]);
  await advance(120_000);
  const jobs = await second.list();
  await advance(8 * day);
  await second.close(0);
  return { dead: killed.isDead(), acknowledged, jobs: jobs.toSorted((left, right) => (left.id < right.id ? -1 : 1)) };
}

/** That whatever change a process is killed before, the job is not there or ends like this, and goes in its time. */
async function shouldEnd(part: JobKind, ends: readonly Readonly<Record<string, unknown>>[]): Promise<number> {
  for (let change = 1; change < 500; change += 1) {
    store = openSqliteStore({ path: ":memory:" });
    const { dead, acknowledged, jobs } = await afterKill(part, change);
    if (jobs.length > 0 || acknowledged) expect(jobs, `killed before ${change}`).toMatchObject(ends);
    expect(await store.list("jobs/"), `left by one killed before ${change}`).toEqual([]);
    if (!dead) return change;
  }
  return 0;
}

describe("a job with children whose process is killed", () => {
  it("is done by the next one, or was never there, whatever moment that was", async () => {
    const done = { state: "done" };
    const moments = await shouldEnd(echo, [{ id: "x", ...done, attempts: expect.any(Number) }, done, done, done]);
    expect(moments).toBeGreaterThan(15);
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
    expect(moments).toBeGreaterThan(10);
  });
});

it("children of a job that is open for long are kept whatever their age and number, and go when it has ended", async () => {
  const release = Promise.withResolvers<void>();
  const slow: JobKind["run"] = async (payload) => {
    if (payload === 2) await release.promise;
    return payload;
  };
  const queue = await start([whole, { ...echo, run: slow }], { keepFinished: 2, keepFinishedMs: day });
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

describe("a folder of version 0.1.0", () => {
  it("has its open jobs run to their end, and its finished ones shown", async () => {
    // Of a service that was killed with one job done, two children done or running, and others open.
    const url = new URL("../../../fixtures/jobs/former-documents.json", import.meta.url);
    const former: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(url, "utf8"));
    for (const [key, document] of Object.entries(former)) await store.put(key, JSON.stringify(document));
    const run: JobKind["run"] = async (payload, context) => [payload, ...context.children];
    const queue = await start(["note", "gather", "slice"].map((name) => kind(name, run)));
    await advance(60_000);
    expect(await queue.get("note.1")).toMatchObject({ state: "done", result: "done", attempts: 1 });
    expect(await queue.get("note.2")).toMatchObject({ state: "done", result: ["hangs"], attempts: 2 });
    expect(await queue.get("note.3")).toMatchObject({ state: "done", result: ["later"], attempts: 1 });
    expect(await queue.get("gather.d")).toMatchObject({ state: "done", result: [{ dataset: "d" }, 20, [20]] });
    const turns = (await queue.list()).filter(({ id }) => id.startsWith("hourly."));
    expect(turns.map(({ state }) => state)).toEqual(["done"]);
  });
  it("that was killed while it enqueued a job forgets the children, whose parent is not stored", async () => {
    const counts = { attempts: 0, failures: 0, interruptions: 0, priority: 0, createdAtMs: 1, runAtMs: 1 };
    const job = { ...counts, state: "waiting", payload: null };
    const child = { ...job, id: "x.p1", kind: "part", order: 2, parent: { id: "x", order: 1 } };
    await store.put(`jobs/job/${child.id}`, JSON.stringify(child));
    const queue = await start([whole, echo]);
    await advance(1_000);
    expect(await queue.list()).toEqual([]);
    expect(await store.list("jobs/")).toEqual([]);
  });
});
