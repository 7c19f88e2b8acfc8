import { beforeEach, describe, expect, it } from "vitest";
import {
  createHealthRepository,
  createIncidentRepository,
  createMaintenance,
} from "../../../src/monitor/repositories.ts";
import { blankRecord, type HealthRecord } from "../../../src/monitor/health-record.ts";
import { createHeartbeat } from "../../../src/monitor/turns.ts";
import type { Incident, MaintenanceWindow } from "../../../src/monitor/monitor.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";

let store: Store;
beforeEach(() => {
  store = openSqliteStore({ path: ":memory:" });
});
const nowMs = Date.parse("2026-03-01T00:00:00Z");
const hourMs = 3_600_000;

describe("health records", () => {
  const counted = (record: HealthRecord | undefined): HealthRecord => {
    const base = record ?? blankRecord("http://a.example/");
    return { ...base, streak: base.streak + 1 };
  };

  it("sees what others wrote, removed and wrote anew after the store was emptied", async () => {
    const [mine, theirs] = [createHealthRepository(store), createHealthRepository(store)];
    await theirs.change("a", counted);
    await theirs.change("b", counted);
    await mine.refresh();
    expect(Array.from(mine.entries(), ([id]) => id)).toEqual(["a", "b"]);
    const a = theirs.get("a") ?? expect.fail("gone");
    await theirs.delete("a", a);
    await mine.refresh();
    expect(mine.get("a")).toBeUndefined();
    await store.delete("monitor/health/b");
    await theirs.change("b", () => ({ ...blankRecord("http://new.example/"), streak: 7 }));
    await mine.refresh();
    expect(mine.get("b")).toMatchObject({ url: "http://new.example/", streak: 7 });
  });

  it("what was written while the others' were read stays", async () => {
    const slow: Store = {
      ...store,
      async list(prefix, options) {
        const found = await store.list(prefix, options);
        await mine.change("a", counted);
        await mine.change("new", counted);
        return found;
      },
    };
    const mine = createHealthRepository(slow);
    await mine.change("a", counted);
    await mine.refresh();
    expect([mine.get("a")?.streak, mine.get("new")?.streak]).toEqual([2, 1]);
  });
});

function incident(n: number, more: Partial<Incident> = {}): Incident {
  const startedMs = nowMs + n * 1_000;
  const endpoint = more.endpoint ?? (n % 2 === 0 ? "even" : "odd");
  const id = `${(2 ** 43 - startedMs).toString(36).padStart(9, "0")}.${endpoint}`;
  const base = { id, endpoint, url: "http://a.example/", startedMs, openedMs: startedMs + 10, fault: "dns" } as const;
  return { ...base, faults: { dns: 1 }, evidence: [], ...more };
}

describe("incidents", () => {
  const all = () => true;

  it("lists the newest first, of all and of one endpoint", async () => {
    const repository = createIncidentRepository({ store, now: () => nowMs });
    for (let n = 0; n < 450; n += 1) await repository.write(incident(n));
    const moments = async (endpoint: string | undefined, limit: number) =>
      (await repository.list({ ...(endpoint !== undefined && { endpoint }), limit, fits: all })).map(
        ({ startedMs }) => (startedMs - nowMs) / 1_000,
      );
    expect(await moments(undefined, 3)).toEqual([449, 448, 447]);
    expect(await moments("even", 3)).toEqual([448, 446, 444]);
    expect(await moments(undefined, 1_000)).toHaveLength(450);
    expect(await moments("none", 3)).toEqual([]);
  });

  it("one that is closed stays closed", async () => {
    const repository = createIncidentRepository({ store, now: () => nowMs });
    const closed = incident(1, { closedMs: nowMs + 5_000, closedBy: "recovered" });
    await repository.write(closed);
    await repository.write(incident(1));
    expect(await repository.get(closed.id)).toEqual(closed);
    expect(await repository.get("nonsense")).toBeUndefined();
  });

  it("beyond a number the oldest go, but none that is open", async () => {
    const repository = createIncidentRepository({ store, now: () => nowMs, mostKept: 5 });
    for (let n = 0; n < 10; n += 1)
      await repository.write(incident(n, n === 2 ? {} : { closedMs: nowMs, closedBy: "recovered" }));
    expect(await repository.prune(new AbortController().signal)).toBe(4);
    const left = await repository.list({ limit: 100, fits: all });
    expect(left.map(({ startedMs }) => (startedMs - nowMs) / 1_000)).toEqual([9, 8, 7, 6, 5, 2]);
    expect(await store.list("monitor/incident-of/")).toHaveLength(6);
  });

  it("they go two years after their end", async () => {
    let storeMs = nowMs;
    const timed = openSqliteStore({ path: ":memory:", clock: { now: () => storeMs } });
    const repository = createIncidentRepository({ store: timed, now: () => storeMs });
    await repository.write(incident(1, { closedMs: nowMs }));
    await repository.write(incident(2));
    storeMs += 2 * 365 * 24 * hourMs - 1;
    expect(await repository.list({ limit: 10, fits: all })).toHaveLength(2);
    storeMs += 2;
    expect((await repository.list({ limit: 10, fits: all })).map(({ endpoint }) => endpoint)).toEqual(["even"]);
  });
});

describe("maintenance", () => {
  const window = (fromMs: number, toMs: number, more: Partial<MaintenanceWindow> = {}) => ({
    endpoint: "a",
    fromMs,
    toMs,
    ...more,
  });

  it("holds from its beginning to its end, of several the longest", async () => {
    const repository = createMaintenance(store);
    await repository.add(window(nowMs, nowMs + hourMs), nowMs);
    await repository.add(window(nowMs + 10, nowMs + 3 * hourMs, { reason: "disks" }), nowMs);
    expect(repository.untilMs("a", nowMs - 1)).toBeUndefined();
    expect(repository.untilMs("a", nowMs)).toBe(nowMs + hourMs);
    expect(repository.untilMs("a", nowMs + 10)).toBe(nowMs + 3 * hourMs);
    expect(repository.untilMs("a", nowMs + 3 * hourMs)).toBeUndefined();
    expect(repository.untilMs("b", nowMs + 10)).toBeUndefined();
    expect(repository.list(nowMs + 2 * hourMs).map(({ reason }) => reason)).toEqual(["disks"]);
  });

  it("is seen and removed by other processes", async () => {
    const [mine, theirs] = [createMaintenance(store), createMaintenance(store)];
    const { id } = await theirs.add(window(nowMs, Date.now() + hourMs), nowMs);
    expect(mine.list(nowMs)).toEqual([]);
    await mine.mirror.refresh();
    expect(mine.list(nowMs, "a").map((one) => one.id)).toEqual([id]);
    expect([await mine.remove(id), await mine.remove(id), await mine.remove("../x")]).toEqual([true, false, false]);
    await theirs.mirror.refresh();
    expect(theirs.list(nowMs)).toEqual([]);
  });

  it.each([
    ["ends before it begins", window(nowMs + 2, nowMs + 1)],
    ["is over", window(nowMs - 2, nowMs - 1)],
    ["is not of whole milliseconds", window(nowMs + 0.5, nowMs + hourMs)],
    ["has no end", window(nowMs, Number.POSITIVE_INFINITY)],
    ["is too long", window(nowMs, nowMs + 400 * 24 * hourMs)],
    ["has too long a reason", window(nowMs, nowMs + 1, { reason: "x".repeat(301) })],
    ["has half a character as its reason", window(nowMs, nowMs + 1, { reason: "\ud83d" })],
  ])("one that %s is refused", async (_, given) => {
    await expect(createMaintenance(store).add(given, nowMs)).rejects.toMatchObject({ code: "REQUEST_INVALID" });
    expect(await store.list("monitor/")).toEqual([]);
  });

  it("an endpoint has at most a hundred", async () => {
    const repository = createMaintenance(store);
    for (let n = 0; n < 100; n += 1) await repository.add(window(nowMs, nowMs + hourMs), nowMs);
    await expect(repository.add(window(nowMs, nowMs + hourMs), nowMs)).rejects.toMatchObject({
      code: "REQUEST_INVALID",
    });
    await expect(repository.add(window(nowMs, nowMs + hourMs, { endpoint: "b" }), nowMs)).resolves.toBeDefined();
  });
});

describe("the heartbeat", () => {
  const heartbeatOver = (of: Store, enabled = true) => createHeartbeat({ store: of, enabled, quietMs: hourMs });

  it("nobody has probed yet: not alive, unless it is switched off", () => {
    expect(heartbeatOver(store).view(nowMs)).toEqual({ enabled: true, gaps: [], alive: false });
    expect(heartbeatOver(store, false).view(nowMs)).toEqual({ enabled: false, gaps: [], alive: true });
  });

  it("is written at most every ten seconds", async () => {
    let writes = 0;
    const heartbeat = heartbeatOver({
      ...store,
      put(...args) {
        writes += 1;
        return store.put(...args);
      },
    });
    for (let ms = 0; ms <= 60_000; ms += 1_000) await heartbeat.beat(nowMs + ms);
    expect(writes).toBe(7);
    expect(heartbeat.view(nowMs + 60_000)).toEqual({ enabled: true, lastMs: nowMs + 60_000, gaps: [], alive: true });
  });

  it("remembers when nobody probed, for 90 days", async () => {
    const heartbeat = heartbeatOver(store);
    await heartbeat.beat(nowMs);
    expect(heartbeat.view(nowMs + hourMs + 1).alive).toBe(false);
    await heartbeat.beat(nowMs + hourMs);
    await heartbeat.beat(nowMs + 3 * hourMs);
    const other = heartbeatOver(store);
    await other.mirror.refresh();
    const gap = { fromMs: nowMs + hourMs, toMs: nowMs + 3 * hourMs };
    expect(other.view(nowMs + 3 * hourMs)).toEqual({ enabled: true, lastMs: gap.toMs, gaps: [gap], alive: true });
    expect(other.view(gap.toMs + 90 * 24 * hourMs).gaps).toEqual([]);
  });

  it("two processes write one heartbeat", async () => {
    const [one, two] = [heartbeatOver(store), heartbeatOver(store)];
    await one.beat(nowMs);
    await two.beat(nowMs + 5_000);
    await two.beat(nowMs + 20_000);
    await one.beat(nowMs + 21_000);
    expect(one.view(nowMs + 21_000).lastMs).toBe(nowMs + 20_000);
  });

  it("goes on when the clock was set back", async () => {
    const heartbeat = heartbeatOver(store);
    await heartbeat.beat(nowMs + 100 * hourMs);
    await heartbeat.beat(nowMs);
    expect(heartbeat.view(nowMs)).toEqual({ enabled: true, lastMs: nowMs, gaps: [], alive: true });
  });

  it("keeps no more than a thousand gaps", async () => {
    const gaps = Array.from({ length: 1_000 }, (_, n) => ({ fromMs: nowMs - 2_000 + n, toMs: nowMs - 1_000 + n }));
    await store.put("monitor/heartbeat", JSON.stringify({ lastMs: nowMs, gaps }));
    const heartbeat = heartbeatOver(store);
    await heartbeat.mirror.refresh();
    await heartbeat.beat(nowMs + 2 * hourMs);
    const kept = heartbeat.view(nowMs + 2 * hourMs).gaps;
    expect(kept).toEqual([...gaps.slice(1), { fromMs: nowMs, toMs: nowMs + 2 * hourMs }]);
  });
});
