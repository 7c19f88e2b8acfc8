import { beforeEach, describe, expect, it } from "vitest";
import { createHealthBook } from "../../../src/monitor/health-repository.ts";
import { blankRecord, type HealthRecord } from "../../../src/monitor/health-record.ts";
import { createHeartbeatBook } from "../../../src/monitor/heartbeat.ts";
import { createIncidentBook } from "../../../src/monitor/incident-repository.ts";
import { createMaintenanceBook } from "../../../src/monitor/maintenance.ts";
import type { Incident, MaintenanceWindow } from "../../../src/monitor/monitor.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";

let store: Store;
beforeEach(() => {
  store = createMemoryStore();
});
const nowMs = Date.parse("2026-03-01T00:00:00Z");
const hourMs = 3_600_000;

describe("the book of health", () => {
  const counted = (record: HealthRecord | undefined): HealthRecord => {
    const base = record ?? blankRecord("http://a.example/");
    return { ...base, streak: base.streak + 1 };
  };

  it("loses no change of several processes", async () => {
    const books = Array.from({ length: 4 }, () => createHealthBook(store));
    await Promise.all(books.flatMap((book) => Array.from({ length: 10 }, () => book.change("a", counted))));
    await books[0]?.refresh();
    expect(books[0]?.get("a")?.streak).toBe(40);
  });

  it("sees what others wrote, removed and wrote anew after the store was emptied", async () => {
    const [mine, theirs] = [createHealthBook(store), createHealthBook(store)];
    await theirs.change("a", counted);
    await theirs.change("b", counted);
    await mine.refresh();
    expect(Array.from(mine.entries(), ([id]) => id)).toEqual(["a", "b"]);
    const a = theirs.get("a") ?? expect.fail("gone");
    await theirs.remove("a", a);
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
    const mine = createHealthBook(slow);
    await mine.change("a", counted);
    await mine.refresh();
    expect([mine.get("a")?.streak, mine.get("new")?.streak]).toEqual([2, 1]);
  });

  it("a damaged record is as good as none and is written over", async () => {
    await store.put("monitor/health/a", "{");
    const book = createHealthBook(store);
    await book.refresh();
    expect(book.get("a")).toBeUndefined();
    await book.change("a", counted);
    expect((await store.get("monitor/health/a"))?.value).toContain('"streak":1');
  });

  it("names those with something to tell", async () => {
    const book = createHealthBook(store);
    await book.change("a", counted);
    const notice = { kind: "incident-opened", incident: incident(1) } as const;
    await book.change("b", (record) => ({ ...counted(record), outbox: [notice] }));
    expect(book.withNotices()).toEqual(["b"]);
    await book.change("b", (record) => ({ ...counted(record), outbox: [] }));
    expect(book.withNotices()).toEqual([]);
  });
});

function incident(n: number, more: Partial<Incident> = {}): Incident {
  const startedMs = nowMs + n * 1_000;
  const endpoint = more.endpoint ?? (n % 2 === 0 ? "even" : "odd");
  const id = `${(2 ** 43 - startedMs).toString(36).padStart(9, "0")}.${endpoint}`;
  const base = { id, endpoint, url: "http://a.example/", startedMs, openedMs: startedMs + 10, fault: "dns" } as const;
  return { ...base, faults: { dns: 1 }, evidence: [], ...more };
}

describe("the book of incidents", () => {
  const all = () => true;

  it("lists the newest first, of all and of one endpoint", async () => {
    const book = createIncidentBook({ store, now: () => nowMs });
    for (let n = 0; n < 450; n += 1) await book.write(incident(n));
    const moments = async (endpoint: string | undefined, limit: number) =>
      (await book.list({ ...(endpoint !== undefined && { endpoint }), limit, fits: all })).map(
        ({ startedMs }) => (startedMs - nowMs) / 1_000,
      );
    expect(await moments(undefined, 3)).toEqual([449, 448, 447]);
    expect(await moments("even", 3)).toEqual([448, 446, 444]);
    expect(await moments(undefined, 1_000)).toHaveLength(450);
    expect(await moments("none", 3)).toEqual([]);
  });

  it("one that is closed stays closed", async () => {
    const book = createIncidentBook({ store, now: () => nowMs });
    const closed = incident(1, { closedMs: nowMs + 5_000, closedBy: "recovered" });
    await book.write(closed);
    await book.write(incident(1));
    expect(await book.get(closed.id)).toEqual(closed);
    expect(await book.get("nonsense")).toBeUndefined();
  });

  it("beyond a number the oldest go, but none that is open", async () => {
    const book = createIncidentBook({ store, now: () => nowMs, mostKept: 5 });
    for (let n = 0; n < 10; n += 1)
      await book.write(incident(n, n === 2 ? {} : { closedMs: nowMs, closedBy: "recovered" }));
    expect(await book.prune(new AbortController().signal)).toBe(4);
    const left = await book.list({ limit: 100, fits: all });
    expect(left.map(({ startedMs }) => (startedMs - nowMs) / 1_000)).toEqual([9, 8, 7, 6, 5, 2]);
    expect(await store.list("monitor/incident-of/")).toHaveLength(6);
  });

  it("they go two years after their end", async () => {
    let storeMs = nowMs;
    const timed = createMemoryStore({ clock: { now: () => storeMs } });
    const book = createIncidentBook({ store: timed, now: () => storeMs });
    await book.write(incident(1, { closedMs: nowMs }));
    await book.write(incident(2));
    storeMs += 2 * 365 * 24 * hourMs - 1;
    expect(await book.list({ limit: 10, fits: all })).toHaveLength(2);
    storeMs += 2;
    expect((await book.list({ limit: 10, fits: all })).map(({ endpoint }) => endpoint)).toEqual(["even"]);
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
    const book = createMaintenanceBook(store);
    await book.add(window(nowMs, nowMs + hourMs), nowMs);
    await book.add(window(nowMs + 10, nowMs + 3 * hourMs, { reason: "disks" }), nowMs);
    expect(book.untilMs("a", nowMs - 1)).toBeUndefined();
    expect(book.untilMs("a", nowMs)).toBe(nowMs + hourMs);
    expect(book.untilMs("a", nowMs + 10)).toBe(nowMs + 3 * hourMs);
    expect(book.untilMs("a", nowMs + 3 * hourMs)).toBeUndefined();
    expect(book.untilMs("b", nowMs + 10)).toBeUndefined();
    expect(book.list(nowMs + 2 * hourMs).map(({ reason }) => reason)).toEqual(["disks"]);
  });

  it("is seen and removed by other processes", async () => {
    const [mine, theirs] = [createMaintenanceBook(store), createMaintenanceBook(store)];
    const { id } = await theirs.add(window(nowMs, Date.now() + hourMs), nowMs);
    expect(mine.list(nowMs)).toEqual([]);
    await mine.refresh();
    expect(mine.list(nowMs, "a").map((one) => one.id)).toEqual([id]);
    expect([await mine.remove(id), await mine.remove(id), await mine.remove("../x")]).toEqual([true, false, false]);
    await theirs.refresh();
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
    await expect(createMaintenanceBook(store).add(given, nowMs)).rejects.toMatchObject({ code: "REQUEST_INVALID" });
    expect(await store.list("monitor/")).toEqual([]);
  });

  it("an endpoint has at most a hundred", async () => {
    const book = createMaintenanceBook(store);
    for (let n = 0; n < 100; n += 1) await book.add(window(nowMs, nowMs + hourMs), nowMs);
    await expect(book.add(window(nowMs, nowMs + hourMs), nowMs)).rejects.toMatchObject({ code: "REQUEST_INVALID" });
    await expect(book.add(window(nowMs, nowMs + hourMs, { endpoint: "b" }), nowMs)).resolves.toBeDefined();
  });
});

describe("the heartbeat", () => {
  const bookOf = (of: Pick<Store, "get" | "put">, enabled = true) =>
    createHeartbeatBook({ store: of, enabled, quietMs: hourMs });

  it("nobody has probed yet: not alive, unless it is switched off", () => {
    expect(bookOf(store).view(nowMs)).toEqual({ enabled: true, gaps: [], alive: false });
    expect(bookOf(store, false).view(nowMs)).toEqual({ enabled: false, gaps: [], alive: true });
  });

  it("is written at most every ten seconds", async () => {
    let writes = 0;
    const book = bookOf({
      get: (key) => store.get(key),
      put(...args) {
        writes += 1;
        return store.put(...args);
      },
    });
    for (let ms = 0; ms <= 60_000; ms += 1_000) await book.beat(nowMs + ms);
    expect(writes).toBe(7);
    expect(book.view(nowMs + 60_000)).toEqual({ enabled: true, lastMs: nowMs + 60_000, gaps: [], alive: true });
  });

  it("remembers when nobody probed, for 90 days", async () => {
    const book = bookOf(store);
    await book.beat(nowMs);
    expect(book.view(nowMs + hourMs + 1).alive).toBe(false);
    await book.beat(nowMs + hourMs);
    await book.beat(nowMs + 3 * hourMs);
    const other = bookOf(store);
    await other.refresh();
    const gap = { fromMs: nowMs + hourMs, toMs: nowMs + 3 * hourMs };
    expect(other.view(nowMs + 3 * hourMs)).toEqual({ enabled: true, lastMs: gap.toMs, gaps: [gap], alive: true });
    expect(other.view(gap.toMs + 90 * 24 * hourMs).gaps).toEqual([]);
  });

  it("two processes write one heartbeat", async () => {
    const [one, two] = [bookOf(store), bookOf(store)];
    await one.beat(nowMs);
    await two.beat(nowMs + 5_000);
    await two.beat(nowMs + 20_000);
    await one.beat(nowMs + 21_000);
    expect(one.view(nowMs + 21_000).lastMs).toBe(nowMs + 20_000);
  });

  it("goes on when the clock was set back", async () => {
    const book = bookOf(store);
    await book.beat(nowMs + 100 * hourMs);
    await book.beat(nowMs);
    expect(book.view(nowMs)).toEqual({ enabled: true, lastMs: nowMs, gaps: [], alive: true });
  });

  it("keeps no more than a thousand gaps", async () => {
    const gaps = Array.from({ length: 1_000 }, (_, n) => ({ fromMs: nowMs - 2_000 + n, toMs: nowMs - 1_000 + n }));
    await store.put("monitor/heartbeat", JSON.stringify({ lastMs: nowMs, gaps }));
    const book = bookOf(store);
    await book.refresh();
    await book.beat(nowMs + 2 * hourMs);
    const kept = book.view(nowMs + 2 * hourMs).gaps;
    expect(kept).toEqual([...gaps.slice(1), { fromMs: nowMs, toMs: nowMs + 2 * hourMs }]);
  });

  it("a damaged document is written over", async () => {
    await store.put("monitor/heartbeat", '{"lastMs":"x","gaps":[1,{"fromMs":1}]}');
    const book = bookOf(store);
    await book.refresh();
    expect(book.view(nowMs)).toEqual({ enabled: true, gaps: [], alive: false });
    await book.beat(nowMs);
    expect(book.view(nowMs).lastMs).toBe(nowMs);
  });
});
