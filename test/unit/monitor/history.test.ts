import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHistory } from "../../../src/monitor/history.ts";
import { type Hours, withoutFault, withTurn } from "../../../src/monitor/hours.ts";
import type { Observation, WindowName, WindowSummary } from "../../../src/monitor/monitor.ts";
import type { Store } from "../../../src/store/store.ts";
import { fault, stores, turn } from "../../support/monitor-records.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** A Sunday, 12:34:56.789. */
const start = Date.parse("2026-03-01T12:34:56.789Z");
const lengths: Readonly<Record<WindowName, number>> = { "24h": day, "7d": 7 * day, "30d": 30 * day, "90d": 90 * day };
const hourBegin = (atMs: number): number => Math.floor(atMs / hour) * hour;

/** Turns that are not all alike: a fault in every seventh, durations from 10 to 2,000 ms. */
function varied(atMs: number, index: number): Observation {
  if (index % 7 === 3) return fault(atMs, index % 2 === 0 ? "timeout" : "http-5xx");
  return turn(atMs, { ms: 10 + ((index * 37) % 200) * 10 });
}

/** Windows say what the turns in them were, from the full hour in which they begin. */
function shouldBeTrue(windows: readonly WindowSummary[], all: readonly Observation[], nowMs: number): void {
  expect(windows.map(({ window }) => window)).toEqual(["24h", "7d", "30d", "90d"]);
  for (const said of windows) {
    const inside = all.filter(({ atMs }) => atMs >= hourBegin(nowMs - lengths[said.window]) && atMs <= nowMs);
    const good = inside.filter(({ ok }) => ok);
    const durations = good.map(({ ms }) => ms).toSorted((left, right) => left - right);
    const first = hourBegin(inside[0]?.atMs ?? Number.NaN);
    expect(said).toMatchObject({ probes: inside.length, good: good.length, firstMs: first });
    expect(said.uptime).toBe(good.length / inside.length);
    expect(Object.values(said.faults).reduce((sum, n) => sum + n, 0)).toBe(inside.length - good.length);
    for (const [ms = 0, share] of [
      [said.p50Ms, 0.5],
      [said.p90Ms, 0.9],
      [said.p99Ms, 0.99],
    ] as const) {
      const truth = durations[Math.ceil(share * durations.length) - 1] ?? Number.NaN;
      expect(Math.abs(ms - truth) / truth).toBeLessThanOrEqual(0.025);
    }
  }
}

describe.each(stores)("history over %s", (_, open) => {
  let store: Store;
  let dispose: () => Promise<void>;
  let now = start;
  let history: ReturnType<typeof createHistory>;
  /** The hours of the record of `people`. */
  let hours: Hours;
  beforeEach(async () => {
    const opened = await open();
    store = opened.store;
    dispose = () => opened.close();
    now = start;
    hours = { past: [] };
    history = createHistory({ store, now: () => now });
  });
  afterEach(() => dispose());

  /** As the watchdog does; `isKept` false: the process ended before it wrote the hours. */
  async function record(all: readonly Observation[], isKept = true): Promise<void> {
    for (const observation of all) {
      const after = withTurn(hours, observation);
      if (isKept && after.past !== hours.past) await history.keep("people", after.past);
      hours = after;
    }
  }
  const windows = async () => (await history.read("people", hours)).windows;
  const probes = async () => (await windows()).map((window) => window.probes);

  it("knows nothing of an endpoint that was not probed", async () => {
    for (const window of await windows()) {
      expect(window).toEqual({ window: window.window, probes: 0, good: 0, faults: {} });
    }
    expect((await history.read("people", hours)).days).toEqual([]);
  });

  it("knows windows and days of 90 days exactly", async () => {
    const all: Observation[] = [];
    for (let at = now - 100 * day; at <= now; at += 13 * minute) all.push(varied(at, all.length));
    await record(all);
    shouldBeTrue(await windows(), all, now);
    const read = await history.read("people", hours);
    const first = Math.floor((now - 90 * day) / day) * day;
    expect(read.days.map(({ fromMs }) => fromMs)).toEqual(Array.from({ length: 91 }, (__, at) => first + at * day));
    expect(read.days.reduce((sum, one) => sum + one.probes, 0)).toBe(all.filter(({ atMs }) => atMs >= first).length);
    // The record says nothing of the hours before: the same without it, but for the hour that runs.
    const stored = await history.read("people", { past: [], running: hours.running });
    expect(stored).toEqual(read);
  }, 60_000);

  it("makes up for writes that a process did not come to", async () => {
    const all: Observation[] = [];
    for (let at = now - 20 * hour; at <= now; at += 13 * minute) all.push(varied(at, all.length));
    await record(all, false);
    const [window] = await windows();
    expect(window).toMatchObject({ probes: all.length });
    await record([turn(now + hour)]);
    now += hour;
    hours = { past: [], running: hours.running };
    expect((await windows())[0]).toMatchObject({ probes: all.length + 1 });
  });

  it("writes the hour that ran when the service stopped for days", async () => {
    await record([turn(now), turn(now + 1)]);
    now += 5 * day;
    await record([turn(now)]);
    expect(await probes()).toEqual([1, 3, 3, 3]);
  });

  it("repeated, by several processes at once, changes nothing", async () => {
    for (let at = now - 3 * hour; at <= now; at += 13 * minute) await record([turn(at)]);
    const stored = await store.list("monitor/day/");
    await Promise.all([1, 2, 3].map(() => createHistory({ store, now: () => now }).keep("people", hours.past)));
    expect(await store.list("monitor/day/")).toEqual(stored);
  });

  it("counts faults that are withdrawn no more, also those of hours that are written", async () => {
    const faults = [fault(now - hour, "dns"), fault(now - hour + 1, "dns"), fault(now, "dns")];
    await record([turn(now - 2 * hour), ...faults]);
    expect((await windows())[0]).toMatchObject({ probes: 4, good: 1, faults: { dns: 3 } });
    hours = faults.reduce<Hours>(withoutFault, hours);
    await history.keep("people", hours.past);
    const record2 = { past: [], running: hours.running };
    for (const read of [await history.read("people", hours), await history.read("people", record2)]) {
      expect(read.windows[0]).toMatchObject({ probes: 1, good: 1, faults: {} });
      expect(read.days).toMatchObject([{ probes: 1 }]);
    }
  });

  it("counts what was observed after the clock was put back", async () => {
    for (let at = now - 3 * hour; at <= now; at += 15 * minute) await record([turn(at)]);
    await record([turn(now + 5 * hour), turn(now + 7 * hour)]);
    for (let at = now + 15 * minute; at <= now + 6 * hour; at += 15 * minute) await record([turn(at)]);
    now += 6 * hour;
    expect(await probes()).toEqual([37, 37, 37, 37]);
  });

  it("keeps hours of more turns when the clock was put back for a moment", async () => {
    for (let at = now - 3 * hour; at <= now; at += 15 * minute) await record([turn(at)]);
    await record([turn(now - 2 * hour), turn(now + hour)]);
    now += hour;
    // All but the three of the hour that ran, which cannot be known from ones that never were.
    expect((await probes())[0]).toBe(13 - 3 + 2);
  });

  it("keeps a day for 91 days, an endpoint and day in one small document", async () => {
    for (let at = now; at < now + day; at += 5 * minute) await record([varied(at, at / minute)]);
    const found = await store.list("monitor/day/");
    expect(found.map(({ key }) => key)).toEqual(["monitor/day/people/2026-03-01", "monitor/day/people/2026-03-02"]);
    expect(Math.max(...found.map(({ value }) => value.length))).toBeLessThan(1_800);
    const late = now + 93 * day;
    now = late;
    await history.keep("people", hours.past);
    expect(await store.list("monitor/day/")).toEqual(found);
  });

  it("reads what is stored of others as nothing", async () => {
    await store.put("monitor/day/people/2026-03-01", '{"hours":[[1,"x"]]}');
    await store.put("monitor/day/people/2026-02-28", "?");
    await record([turn(now)]);
    expect(await probes()).toEqual([1, 1, 1, 1]);
  });

  it("forgets an endpoint, and only that", async () => {
    await record([turn(now - 2 * day), turn(now)]);
    await history.keep("people2", hours.past);
    await history.remove("people");
    const none = { past: [] };
    expect((await history.read("people", none)).windows[3]?.probes).toBe(0);
    expect((await history.read("people2", none)).windows[3]?.probes).toBe(1);
  });
});
