import { readFileSync } from "node:fs";
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

describe("a folder of version 0.1.0", () => {
  it("has its open jobs run to their end, and its finished ones shown", async () => {
    // Of a service that was killed with one job done, two children done or running, and others open.
    const url = new URL("../../../fixtures/jobs/former-documents.json", import.meta.url);
    const former: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(url, "utf8"));
    for (const [key, document] of Object.entries(former)) await store.put(key, JSON.stringify(document));
    const run: JobKind["run"] = async (payload) => [payload];
    const queue = await start(["note", "gather", "slice"].map((name) => kind(name, run)));
    await advance(60_000);
    expect(await queue.get("note.1")).toMatchObject({ state: "done", result: "done", attempts: 1 });
    expect(await queue.get("note.2")).toMatchObject({ state: "done", result: ["hangs"], attempts: 2 });
    expect(await queue.get("note.3")).toMatchObject({ state: "done", result: ["later"], attempts: 1 });
    expect(await queue.get("gather.d")).toMatchObject({ state: "done", result: [{ dataset: "d" }] });
    const turns = (await queue.list()).filter(({ id }) => id.startsWith("hourly."));
    expect(turns.map(({ state }) => state)).toEqual(["done"]);
  });
  it("has the open parts of a job done by that job, also parts without one", async () => {
    const counts = { attempts: 0, failures: 0, interruptions: 0, priority: 0, createdAtMs: 1, runAtMs: 1 };
    const job = { ...counts, id: "x", kind: "second", state: "waiting", payload: 1, order: 1, children: ["a", "b"] };
    const part = { ...job, children: undefined, id: "x.a", order: 2, parent: { id: "x", order: 1 } };
    const done = { ...part, id: "x.b", state: "done", order: 3, finishedAtMs: Date.now(), resultBytes: 4 };
    const lost = { ...part, id: "y.a", state: "running", attempts: 1, parent: { id: "y", order: 5 } };
    for (const one of [job, part, done, lost]) await store.put(`jobs/job/${one.id}`, JSON.stringify(one));
    const queue = await start([second]);
    await advance(1_000);
    expect((await queue.list()).map(({ id, state, attempts }) => [id, state, attempts])).toEqual([
      ["x.b", "done", 0],
      ["x", "done", 1],
    ]);
    expect((await store.list("jobs/job/")).map(({ key }) => key).toSorted()).toEqual(["jobs/job/x", "jobs/job/x.b"]);
  });
});
