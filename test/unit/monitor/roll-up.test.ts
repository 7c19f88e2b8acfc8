import { beforeEach, describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createHistory, type History } from "../../../src/monitor/history.ts";
import { createMemoryStore } from "../../support/memory-store.ts";
import type { SeriesPoint, Store } from "../../../src/store/store.ts";
import { fault, turn } from "../../support/monitor-records.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const midnight = Date.parse("2026-03-01T00:00:00Z");
const never = new AbortController().signal;

let inner: Store;
let store: Store;
let history: History;
let dropped: string[];
/** Points read, by series. */
let reads: Map<string, number>;
/** Makes the next write of this method fail. */
let failing: "append" | "put" | undefined;

const failure = (): never => {
  failing = undefined;
  throw new FedwayError("STORE_FAILED", "The disk is full.");
};

beforeEach(() => {
  inner = createMemoryStore();
  reads = new Map();
  dropped = [];
  failing = undefined;
  store = {
    ...inner,
    append: async (...args) => (failing === "append" ? failure() : inner.append(...args)),
    put: async (...args) => (failing === "put" ? failure() : inner.put(...args)),
    async range(series, options) {
      const points = await inner.range(series, options);
      reads.set(series, (reads.get(series) ?? 0) + points.length);
      return points;
    },
  };
  history = createHistory({ store, onDropped: (endpoint, reason) => dropped.push(`${endpoint}: ${reason}`) });
});

const everything = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const points = (series: string): Promise<readonly SeriesPoint[]> => inner.range(series, everything);
const moments = async (series: string): Promise<readonly number[]> => (await points(series)).map(({ atMs }) => atMs);

async function recordEvery(stepMs: number, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) {
  for (let at = fromMs; at < toMs; at += stepMs) await history.record("people", turn(at));
}

const probesOf = async (nowMs: number): Promise<readonly number[]> =>
  (await history.windows("people", nowMs)).map(({ probes }) => probes);

describe("a roll-up", () => {
  it("writes hours that are over, and days when all their hours are", async () => {
    await recordEvery(15 * minute, { fromMs: midnight + 22 * hour, toMs: midnight + day + 70 * minute });
    await history.rollUp(["people"], midnight + 23 * hour + 4 * minute, never);
    expect(await moments("monitor/hour/people")).toEqual([]);
    await history.rollUp(["people"], midnight + 23 * hour + 5 * minute, never);
    expect(await moments("monitor/hour/people")).toEqual([midnight + 22 * hour]);
    expect(await moments("monitor/day/people")).toEqual([]);
    await history.rollUp(["people"], midnight + day + 70 * minute, never);
    expect(await moments("monitor/hour/people")).toEqual([22, 23, 24].map((at) => midnight + at * hour));
    expect(await moments("monitor/day/people")).toEqual([midnight]);
  });

  it("reads what is new only", async () => {
    await recordEvery(minute, { fromMs: midnight, toMs: midnight + 10 * hour });
    await history.rollUp(["people"], midnight + 9 * hour + 10 * minute, never);
    reads.clear();
    await history.rollUp(["people"], midnight + 10 * hour + 10 * minute, never);
    // The hour, and a look for where it begins.
    expect(reads.get("monitor/raw/people")).toBe(61);
    reads.clear();
    await history.rollUp(["people"], midnight + 10 * hour + 50 * minute, never);
    expect(Object.fromEntries(reads)).toEqual({});
  });

  it("changes nothing when done again", async () => {
    await recordEvery(15 * minute, { fromMs: midnight, toMs: midnight + 3 * day });
    await history.rollUp(["people"], midnight + 3 * day, never);
    const before = [await points("monitor/hour/people"), await points("monitor/day/people")];
    expect(before.map(({ length }) => length)).toEqual([71, 2]);
    await history.rollUp(["people"], midnight + 3 * day, never);
    await inner.delete("monitor/rolled/people");
    await history.rollUp(["people"], midnight + 3 * day, never);
    expect([await points("monitor/hour/people"), await points("monitor/day/people")]).toEqual(before);
  });

  it.each(["append", "put"] as const)("goes on after a crash at %s", async (method) => {
    await recordEvery(15 * minute, { fromMs: midnight, toMs: midnight + 2 * day });
    const nowMs = midnight + 2 * day - 1;
    failing = method;
    await expect(history.rollUp(["people"], nowMs, never)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(await probesOf(nowMs)).toEqual([96, 192, 192, 192]);
    await history.rollUp(["people"], nowMs, never);
    expect(await probesOf(nowMs)).toEqual([96, 192, 192, 192]);
    expect(await moments("monitor/day/people")).toEqual([midnight]);
  });

  it("makes up for the hours that it missed", async () => {
    await recordEvery(15 * minute, { fromMs: midnight, toMs: midnight + hour });
    await history.rollUp(["people"], midnight + 2 * hour, never);
    await recordEvery(15 * minute, { fromMs: midnight + 3 * day, toMs: midnight + 8 * day });
    const nowMs = midnight + 40 * day;
    await history.rollUp(["people"], nowMs, never);
    expect(await moments("monitor/hour/people")).toHaveLength(1 + 5 * 24);
    expect(await moments("monitor/day/people")).toEqual([0, 3, 4, 5, 6, 7].map((at) => midnight + at * day));
    expect(await probesOf(nowMs)).toEqual([0, 0, 0, 4 + 5 * 96]);
  });

  it("by two processes at once is as by one", async () => {
    await recordEvery(15 * minute, { fromMs: midnight, toMs: midnight + 3 * day });
    const nowMs = midnight + 3 * day - 1;
    await Promise.all([1, 2, 3].map(() => createHistory({ store }).rollUp(["people"], nowMs, never)));
    expect(await probesOf(nowMs)).toEqual([96, 288, 288, 288]);
  });

  it("counts what was observed after the clock was put back", async () => {
    const ahead = midnight + 5 * hour;
    await recordEvery(15 * minute, { fromMs: midnight, toMs: midnight + hour });
    await history.record("people", turn(ahead));
    await history.rollUp(["people"], ahead + 2 * hour, never);
    const back = { fromMs: midnight + hour, toMs: midnight + 3 * hour };
    await recordEvery(15 * minute, back);
    expect(await probesOf(back.toMs)).toEqual([12, 12, 12, 12]);
    await history.rollUp(["people"], back.toMs + 10 * minute, never);
    await recordEvery(15 * minute, { fromMs: back.toMs, toMs: ahead + 3 * hour });
    await history.rollUp(["people"], ahead + 3 * hour, never);
    expect(await probesOf(ahead + 3 * hour)).toEqual([33, 33, 33, 33]);
  });

  it("never replaces a summary by a smaller one", async () => {
    await recordEvery(10 * minute, { fromMs: midnight, toMs: midnight + hour });
    await history.rollUp(["people"], midnight + 2 * hour, never);
    await inner.dropSeries("monitor/raw/people");
    await inner.delete("monitor/rolled/people");
    await history.record("people", fault(midnight + 50 * minute, "dns"));
    await history.rollUp(["people"], midnight + 2 * hour, never);
    expect(await history.hours("people", everything)).toMatchObject([{ probes: 6, good: 6 }]);
  });

  it("does nothing for an endpoint without observations", async () => {
    await history.rollUp(["people", "places"], midnight, never);
    expect(await inner.list("monitor/")).toEqual([]);
  });

  it("stops when it is told to", async () => {
    await recordEvery(15 * minute, { fromMs: midnight, toMs: midnight + 3 * hour });
    const stopped = AbortSignal.abort(new FedwayError("CANCELLED", "The service is shutting down."));
    await expect(history.rollUp(["people"], midnight + day, stopped)).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await points("monitor/hour/people")).toEqual([]);
  });

  it("reports points that cannot be read, and goes on without them", async () => {
    const damaged = ["", "7", "{}", '{"m":"x"}', '{"m":1,"o":"moon"}'].map((value, index) => ({
      atMs: midnight + index * hour,
      value,
    }));
    await inner.append("monitor/raw/people", damaged);
    await inner.append("monitor/hour/people", [{ atMs: midnight - hour, value: '{"n":3,"g":3,"a":0,"h":[5,2]}' }]);
    await history.record("people", turn(midnight + 5 * hour));
    await history.rollUp(["people"], midnight + 7 * hour, never);
    expect(dropped).toEqual(damaged.map(() => "people: an observation cannot be read"));
    expect(await history.hours("people", everything)).toMatchObject([{ fromMs: midnight + 5 * hour, probes: 1 }]);
    expect(dropped.at(-1)).toBe("people: a summary of one hour cannot be read");
  });
});

describe("a window of 90 days", () => {
  it("reads few points", async () => {
    const nowMs = midnight + 100 * day + 13 * hour + 20 * minute;
    for (let at = midnight; at <= nowMs; at += hour) {
      await history.record("people", turn(at));
      await history.rollUp(["people"], at, never);
    }
    reads.clear();
    const windows = await history.windows("people", nowMs);
    expect(windows.map(({ probes }) => probes)).toEqual([24, 168, 721, 2161]);
    expect(reads.get("monitor/day/people")).toBe(89);
    // Hours of the first days of four windows and of the day that runs.
    expect(reads.get("monitor/hour/people")).toBeLessThanOrEqual(5 * 24);
    // The hour that runs and the one before, which was not over for long enough when it was summed up last.
    expect(reads.get("monitor/raw/people")).toBe(2);
  });

  it("keeps small texts", async () => {
    for (let index = 0; index < 60; index += 1) {
      await history.record("people", turn(midnight + index * minute, { ms: 20 + index * 30 }));
    }
    await history.rollUp(["people"], midnight + 2 * hour, never);
    const [raw] = await points("monitor/raw/people");
    const [hourly] = await points("monitor/hour/people");
    expect(raw?.value).toBe('{"m":20}');
    expect(hourly?.value.length).toBeLessThan(250);
  });
});
