import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { QueryPlan } from "../../../src/plan/query-plan.ts";
import { createRunLog, type RunLog, shownTo } from "../../../src/query/run-log.ts";
import { createSessionLog, type SessionLog } from "../../../src/query/session-log.ts";
import { shareRuns } from "../../../src/query/shared-runs.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { toFederatedPlan } from "../../support/engine-answer.ts";

const plan: QueryPlan = toFederatedPlan("SELECT * { SERVICE <http://a.example/> { ?s ?p ?o } }");
const asked = { hash: "hash", query: "ASK {}" };
const timeoutMs = 5_000;

interface Process {
  readonly log: RunLog;
  readonly shared: ReturnType<typeof shareRuns>;
}

function startProcess(store: Pick<Store, "get" | "put" | "list" | "watch">, { keep = 100, ahead = 0 } = {}): Process {
  const now = (): number => Date.now() + ahead;
  const shared = shareRuns({ store, records: (from, to) => log.records(from, to), timeoutMs, now });
  const log = createRunLog({
    keep,
    now,
    name: shared.name,
    onChange: (place) => shared.changed(place),
    onFinish: () => {},
  });
  onTestFinished(() => shared.close());
  return { log, shared };
}

describe("sessions that several processes share", () => {
  const open = (store: Store, name: string) => createSessionLog({ now: Date.now, store, name });

  it("are whole at each of them, in the order of their calls, and their owner's only", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const [first, second] = [open(store, "one"), open(store, "two")];
    const whose = { owner: "192.0.2.1", session: "errand" };
    for (const [tool, log] of [
      ["a", first],
      ["b", second],
      ["c", first],
    ] as const) {
      log.used({ ...whose, tool, informs: true });
      await sleep(2);
    }
    const tools = async (log: SessionLog) =>
      (await log.calls(whose))?.calls.map((call) => call.kind === "tool" && call.tool);
    await expect.poll(() => tools(first)).toEqual(["a", "b", "c"]);
    await expect.poll(() => tools(second)).toEqual(["a", "b", "c"]);
    expect(await second.calls({ ...whose, owner: "192.0.2.2" })).toBeUndefined();
    expect((await store.list("session/")).map(({ key, value }) => key + value).join("")).not.toMatch(
      /192\.0\.2|errand/,
    );
    await Promise.all([first.close(), second.close()]);
  });
});

describe("runs that several processes share", () => {
  it("are found by the others while they run and when they are over, as they are here", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const [first, second] = [startProcess(store), startProcess(store)];
    const run = first.log.open(plan, asked);
    await expect.poll(() => second.shared.find(run.id)).toMatchObject({ id: run.id, status: "running" });
    run.sources.set("a", { endpoint: "a", requests: 1, rows: 3, bytes: 30, ms: 5, status: "ok" });
    run.finish({ status: "ok", rows: 3 });
    await expect.poll(() => second.shared.find(run.id)).toEqual(first.log.record(run.id));
    expect(first.log.record(run.id)).toMatchObject({ status: "ok", rows: 3, bytes: 30 });
  });

  it("are found in an instant when the answer was quicker than the record", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const [first, second] = [startProcess(store), startProcess(store)];
    const run = first.log.open(plan, asked);
    run.finish({ status: "empty" });
    expect(await second.shared.find(run.id)).toMatchObject({ status: "empty" });
  });

  it("are forgotten when their process has forgotten them, and take no more room than its log", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const [first, second] = [startProcess(store, { keep: 140 }), startProcess(store)];
    const runs = Array.from({ length: 200 }, () => first.log.open(plan, asked));
    for (const run of runs) run.finish({ status: "ok" });
    await first.shared.close();
    const found = await Promise.all(runs.map(({ id }) => second.shared.find(id)));
    expect(found.map((record) => record?.status)).toEqual(runs.map((_, index) => (index < 60 ? undefined : "ok")));
    expect(await store.list("run/")).toHaveLength(3);
  });

  it("are written at the end, and by a store that was away as soon as it is back", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    let away = true;
    let tries = 0;
    const put: Store["put"] = async (...args) => {
      tries += 1;
      if (away) throw new FedwayError("STORE_FAILED", "It is away.");
      return store.put(...args);
    };
    const [first, second] = [
      startProcess({
        get: (key) => store.get(key),
        list: (...args) => store.list(...args),
        put,
        watch: (...args) => store.watch(...args),
      }),
      startProcess(store),
    ];
    const runs = Array.from({ length: 50 }, () => first.log.open(plan, asked));
    await expect.poll(() => tries).toBeGreaterThan(1);
    for (const run of runs) run.finish({ status: "ok" });
    away = false;
    for (const { id } of runs) {
      await expect.poll(() => second.shared.find(id)).toMatchObject({ status: "ok" });
    }
    const last = first.log.open(plan, asked);
    last.finish({ status: "failed" });
    await first.shared.close();
    expect(await second.shared.find(last.id)).toMatchObject({ status: "failed" });
  });

  it("tell nobody but their owner what was asked, and keep a record whose text is too much", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const [first, second] = [startProcess(store), startProcess(store)];
    const long = { hash: "hash", query: "#".repeat(19_000) };
    const runs = Array.from({ length: 64 }, () => first.log.open(plan, long, { owner: "192.0.2.7", session: "s" }));
    await first.shared.close();
    const found = await Promise.all(runs.map(({ id }) => second.shared.find(id)));
    expect(found.every((record) => record?.asked?.session === "s")).toBe(true);
    const kept = found.filter((record) => record?.asked?.query === long.query).length;
    expect(kept).toBeGreaterThan(10);
    expect(kept).toBeLessThan(64);
    const stored = (await store.list("run/")).map(({ value }) => value).join("");
    expect(stored).not.toContain("192.0.2.7");
    const [record] = found;
    if (!record) throw new Error("no record");
    expect(shownTo("192.0.2.8", record)).not.toHaveProperty("asked");
    expect(shownTo(undefined, record)).not.toHaveProperty("asked");
    expect(shownTo("192.0.2.7", record).asked).toMatchObject({ query: long.query });
    expect(shownTo("192.0.2.7", record)).not.toHaveProperty("owner");
  });

  it("stay with their process when they tell more than is put together at once", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const [first, second] = [startProcess(store), startProcess(store)];
    const runs = [
      [2, 9],
      [20_000, 9],
      [100, 9_000],
      [3, 9],
    ].map(([endpoints = 0, digits = 0]) => {
      const run = first.log.open(plan, asked);
      for (let index = 0; index < endpoints; index += 1) {
        const endpoint = `https://e.example/${String(index).padStart(digits, "0")}`;
        run.sources.set(endpoint, { endpoint, requests: 1, bytes: 0, ms: 1, status: "ok" });
      }
      run.finish({ status: "ok" });
      return run;
    });
    await first.shared.close();
    const found = await Promise.all(runs.map(({ id }) => second.shared.find(id)));
    expect(found.map((record) => record?.sources.length)).toEqual([2, undefined, undefined, 3]);
    expect(first.log.record(runs[1]?.id ?? "")?.sources).toHaveLength(20_000);
  });

  it("say so when the store cannot be asked: not known is something else", async () => {
    const failing = {
      get: () => Promise.reject(new FedwayError("STORE_FAILED", "It is away.")),
      list: () => Promise.reject(new FedwayError("STORE_FAILED", "It is away.")),
      put: () => Promise.reject(new FedwayError("STORE_FAILED", "It is away.")),
      watch: () => () => {},
    };
    const id = startProcess(failing).log.open(plan, asked).id;
    await expect(startProcess(failing).shared.find(id)).rejects.toMatchObject({ code: "STORE_FAILED" });
  });

  it("are unknown when what is stored of them cannot be read", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const [first, second] = [startProcess(store), startProcess(store)];
    const run = first.log.open(plan, asked);
    await first.shared.close();
    for (const { key } of await store.list("run/")) await store.put(key, "no JSON");
    expect(await second.shared.find(run.id)).toBeUndefined();
  });

  it("are not said to be running for ever when their process ended before them", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const run = startProcess(store).log.open(plan, asked);
    const later = startProcess(store, { ahead: 10 * 60_000 });
    await expect.poll(() => startProcess(store).shared.find(run.id)).toBeDefined();
    expect(await later.shared.find(run.id)).toBeUndefined();
  });

  it.each(["", "run-1", "0-nonsense", `0-00000000-${"0".repeat(36)}`, "zzzzzz-0a0b0c0d-__proto__", "a".repeat(9_000)])(
    "has none of the name %.40s",
    async (id) => {
      expect(await startProcess(openSqliteStore({ path: ":memory:" })).shared.find(id)).toBeUndefined();
    },
  );
});
