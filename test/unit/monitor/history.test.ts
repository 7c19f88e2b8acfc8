import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHistory, type History } from "../../../src/monitor/history.ts";
import { createHistorySeries } from "../../../src/monitor/history-series.ts";
import type { Observation, WindowName, WindowSummary } from "../../../src/monitor/monitor.ts";
import type { Store } from "../../../src/store/store.ts";
import { fault, stores, turn } from "../../support/monitor-records.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** A Sunday, 12:34:56.789. */
const now = Date.parse("2026-03-01T12:34:56.789Z");
const never = new AbortController().signal;

/** Observations around a moment that are not all alike: a fault in every seventh, durations from 10 to 2,000 ms. */
function varied(atMs: number, index: number): Observation {
  if (index % 7 === 3) return fault(atMs, index % 2 === 0 ? "timeout" : "http-5xx");
  return turn(atMs, { ms: 10 + ((index * 37) % 200) * 10 });
}

const lengths: Readonly<Record<WindowName, number>> = { "24h": day, "7d": 7 * day, "30d": 30 * day, "90d": 90 * day };

/** What a window should say: of the observations in it, and up to 7 days of nothing else. */
function truth(all: readonly Observation[], name: WindowName, nowMs: number) {
  const beginMs = nowMs - lengths[name] + 1;
  const fromMs = lengths[name] <= 7 * day ? beginMs : Math.floor(beginMs / hour) * hour;
  const inside = all.filter(({ atMs, source, maintenance }) => {
    return atMs >= fromMs && atMs <= nowMs && source === "turn" && !maintenance;
  });
  const good = inside.filter(({ ok }) => ok);
  const durations = good.map(({ ms }) => ms).toSorted((left, right) => left - right);
  const at = (share: number): number => durations[Math.ceil(share * durations.length) - 1] ?? Number.NaN;
  return { probes: inside.length, good: good.length, first: inside[0]?.atMs, at };
}

function shouldBeTrue(windows: readonly WindowSummary[], all: readonly Observation[], nowMs: number): void {
  expect(windows.map(({ window }) => window)).toEqual(["24h", "7d", "30d", "90d"]);
  for (const told of windows) {
    const { probes, good, first, at } = truth(all, told.window, nowMs);
    expect(told).toMatchObject({ probes, good, uptime: good / probes, firstMs: first });
    for (const [ms, share] of [
      [told.p50Ms, 0.5],
      [told.p90Ms, 0.9],
      [told.p99Ms, 0.99],
    ] as const) {
      expect(Math.abs((ms ?? 0) - at(share)) / at(share)).toBeLessThanOrEqual(0.025);
    }
  }
}

describe.each(stores)("history over %s", (_, open) => {
  let store: Store;
  let dispose: () => Promise<void>;
  let history: History;
  beforeEach(async () => {
    const opened = await open();
    store = opened.store;
    dispose = () => opened.close();
    history = createHistory({ store });
  });
  afterEach(() => dispose());

  const observed = (endpoint: string): Promise<readonly Observation[]> =>
    createHistorySeries({ store }).observations(endpoint, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER });
  const record = async (observations: readonly Observation[]): Promise<void> => {
    await Promise.all(observations.map((observation) => history.record("people", observation)));
  };

  it("gives observations back as they were", async () => {
    const seen: readonly Observation[] = [
      turn(now, { ms: 0.25 }),
      {
        atMs: now + 1,
        ok: false,
        ms: 30_000,
        fault: "http-5xx",
        status: 503,
        detail: 'It said "no" \u{1F63F}',
        tries: 2,
        source: "early",
      },
      turn(now + 2, { source: "traffic", ok: false }),
      turn(now + 3, { maintenance: true, status: 200 }),
    ];
    await record(seen);
    expect(await observed("people")).toEqual(seen);
    expect(await observed("places")).toEqual([]);
  });

  it("cuts a detail without breaking a character", async () => {
    await history.record("people", turn(now, { ok: false, detail: `${"x".repeat(299)}\u{1F63F}` }));
    const [kept] = await observed("people");
    expect(kept?.detail).toBe(`${"x".repeat(299)}\uFFFD`);
  });

  it("knows nothing of an endpoint that was not probed", async () => {
    for (const window of await history.windows("people", now)) {
      expect(window).toEqual({ window: window.window, probes: 0, good: 0, faults: {} });
    }
    expect(await history.days("people", { fromMs: 0, toMs: now })).toEqual([]);
    expect(await history.hours("people", { fromMs: 0, toMs: now })).toEqual([]);
  });

  it("counts turns outside maintenance only", async () => {
    await record([
      turn(now - 5, { ms: 100 }),
      fault(now - 4, "timeout"),
      turn(now - 3, { source: "early", ms: 5 }),
      turn(now - 2, { source: "traffic", ok: false, fault: "dns" }),
      turn(now - 1, { maintenance: true, ok: false, fault: "connect" }),
    ]);
    const [window] = await history.windows("people", now);
    expect(window).toMatchObject({ probes: 2, good: 1, uptime: 0.5, faults: { timeout: 1 }, firstMs: now - 5 });
    expect(window?.p99Ms).toBeGreaterThan(97);
  });

  it("has no percentiles when nothing was good", async () => {
    await record([fault(now, "dns")]);
    const [window] = await history.windows("people", now);
    expect(window).toEqual({ window: "24h", probes: 1, good: 0, uptime: 0, faults: { dns: 1 }, firstMs: now });
  });

  it("knows windows exactly, rolled up every hour or not at all", async () => {
    const all: Observation[] = [];
    const from = now - 6 * day;
    for (let at = from, index = 0; at <= now; at += 13 * minute, index += 1) all.push(varied(at, index));
    await record(all);
    shouldBeTrue(await history.windows("people", now), all, now);
    for (let at = from; at <= now; at += hour) await history.rollUp(["people"], at, never);
    shouldBeTrue(await history.windows("people", now), all, now);
  });

  it.each([0, 4 * minute, 25 * minute, 11 * hour + 26 * minute])(
    "counts what is on the edges of windows that end %d ms later",
    async (later) => {
      const nowMs = Math.floor(now / hour) * hour + later;
      const edges = [day, 7 * day].flatMap((length) => [nowMs - length - 1, nowMs - length, nowMs - length + 1]);
      const all = [...edges, nowMs - 1, nowMs].toSorted((left, right) => left - right).map((at) => turn(at));
      await record([...all, turn(nowMs + 1)]);
      await history.rollUp(["people"], nowMs, never);
      const [dayWindow, week] = await history.windows("people", nowMs);
      expect([dayWindow?.probes, week?.probes]).toEqual([3, 6]);
    },
  );

  it("keeps hours and days when the observations are gone", async () => {
    const all: Observation[] = [];
    for (let at = now - 100 * day; at <= now; ) {
      const observations: Observation[] = [];
      for (const end = Math.min(at + day, now); at <= end; at += 45 * minute) {
        observations.push(varied(at, all.length + observations.length));
      }
      all.push(...observations);
      await record(observations);
      await history.rollUp(["people"], at, never);
    }
    shouldBeTrue(await history.windows("people", now), all, now);
    const days = await history.days("people", { fromMs: now - 90 * day, toMs: now });
    const midnight = Math.floor((now - 90 * day) / day) * day;
    expect(days.map(({ fromMs }) => fromMs)).toEqual(Array.from({ length: 91 }, (__, index) => midnight + index * day));
    expect(days.reduce((sum, { probes }) => sum + probes, 0)).toBe(all.filter(({ atMs }) => atMs >= midnight).length);
    const hours = await history.hours("people", { fromMs: now - day, toMs: now });
    expect(hours).toHaveLength(25);
    expect(hours.at(-1)).toMatchObject({ fromMs: Date.parse("2026-03-01T12:00:00Z"), probes: 1 });
    const raw = await observed("people");
    expect(raw[0]?.atMs).toBeGreaterThanOrEqual(now - 7 * day - 45 * minute);
    expect(raw.length).toBeGreaterThan(200);
  });

  it("leaves out hours and days without turns", async () => {
    await record([
      turn(now - 50 * hour, { ms: 40 }),
      turn(now - 3 * hour, { source: "traffic" }),
      turn(now - hour, { maintenance: true }),
      fault(now, "tls"),
    ]);
    const range = { fromMs: now - 10 * day, toMs: now + 1 };
    const expectNow = async (): Promise<void> => {
      const hours = await history.hours("people", range);
      expect(hours).toEqual([
        {
          fromMs: Date.parse("2026-02-27T10:00:00Z"),
          probes: 1,
          good: 1,
          p50Ms: expect.closeTo(40, 0) as number,
          faults: {},
        },
        { fromMs: Date.parse("2026-03-01T12:00:00Z"), probes: 1, good: 0, faults: { tls: 1 } },
      ]);
      const days = await history.days("people", range);
      expect(days.map(({ fromMs, probes }) => [fromMs, probes])).toEqual([
        [Date.parse("2026-02-27T00:00:00Z"), 1],
        [Date.parse("2026-03-01T00:00:00Z"), 1],
      ]);
    };
    await expectNow();
    await history.rollUp(["people"], now, never);
    await expectNow();
  });

  it("forgets an endpoint, and only that", async () => {
    for (const endpoint of ["people", "people2"]) {
      await history.record(endpoint, turn(now - 2 * day));
      await history.record(endpoint, turn(now));
    }
    await history.rollUp(["people", "people2"], now, never);
    await history.remove("people");
    const [gone, kept] = await Promise.all(["people", "people2"].map((id) => history.windows(id, now)));
    expect(gone?.map(({ probes }) => probes)).toEqual([0, 0, 0, 0]);
    expect(kept?.map(({ probes }) => probes)).toEqual([1, 2, 2, 2]);
    expect(await store.get("monitor/rolled/people")).toBeUndefined();
    await history.record("people", turn(now));
    expect((await history.windows("people", now))[3]?.probes).toBe(1);
  });
});
