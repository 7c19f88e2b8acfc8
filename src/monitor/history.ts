import type { DaySummary, HourSummary, Observation, WindowSummary, WindowName } from "./monitor.ts";
import {
  createHistorySeries,
  dayMs,
  type Grain,
  type HistorySeries,
  type HistorySeriesOptions,
  hourMs,
  type RolledUpTo,
  type TimeRange,
  rawMs,
} from "./history-series.ts";
import { summaryOf, Tally, windowOf } from "./tally.ts";

/**
 * The observations of endpoints over time: raw ones for 7 days, summaries of hours for 90 days and of days for 2 years.
 * Summaries hold mergeable histograms of durations, so that percentiles of any window are those of its observations.
 * Every method throws FedwayError `STORE_FAILED`.
 */
export type History = ReturnType<typeof createHistory>;

const windowLengthsMs = {
  "24h": dayMs,
  "7d": 7 * dayMs,
  "30d": 30 * dayMs,
  "90d": 90 * dayMs,
} as const satisfies Record<WindowName, number>;

const windowNames: readonly WindowName[] = ["24h", "7d", "30d", "90d"];

/** Windows up to this length begin with the very observation, longer ones with the hour in which they begin. */
const exactMs = windowLengthsMs["7d"];

/** The history over the series of a store. */
export function createHistory(options: HistorySeriesOptions) {
  const series = createHistorySeries(options);
  return {
    /** Keeps one observation. */
    record: (endpoint: string, observation: Observation): Promise<void> => series.append(endpoint, observation),
    /** Hours with turns, oldest first, the running one included. */
    async hours(endpoint: string, range: TimeRange): Promise<readonly HourSummary[]> {
      const tallies = await hourTallies(series, endpoint, range);
      return Array.from(tallies, ([fromMs, tally]) => summaryOf(tally, fromMs));
    },
    /** Days (UTC) with turns, oldest first, the running one included. */
    async days(endpoint: string, { fromMs, toMs }: TimeRange): Promise<readonly DaySummary[]> {
      const rolled = await rolledUpTo(series, endpoint, toMs);
      const from = beginOf(fromMs, dayMs);
      const over = await series.tallies(endpoint, "day", { fromMs: from, toMs: Math.min(rolled.day, toMs) });
      const rest = { fromMs: Math.max(from, rolled.day), toMs: endOf(toMs, dayMs) };
      const running = grouped(await hourTallies(series, endpoint, rest), dayMs);
      return Array.from([...over, ...running], ([begin, tally]) => summaryOf(tally, begin));
    },
    /** 24 h, 7, 30 and 90 days up to now. */
    windows: (endpoint: string, nowMs: number): Promise<readonly WindowSummary[]> => windowsOf(series, endpoint, nowMs),
    /**
     * Writes the summaries of hours and days that are over, of these endpoints. Doing it twice, or again after a crash in
     * the middle, changes nothing; hours that were missed are made up for while their observations are kept.
     */
    async rollUp(endpoints: readonly string[], nowMs: number, signal: AbortSignal): Promise<void> {
      for (const endpoint of endpoints) {
        signal.throwIfAborted();
        await rollUpEndpoint(series, endpoint, { nowMs, signal });
      }
    },
    remove: (endpoint: string): Promise<void> => series.remove(endpoint),
  };
}

/** A stretch of a window, and what it is read from. */
interface Piece extends TimeRange {
  readonly from: Grain | "raw";
}

/**
 * A window as the longest stretches that are summed up: observations up to the first full hour, hours up to the first
 * full day, days, hours, and the observations that are not summed up yet.
 */
function piecesOf(window: WindowName, nowMs: number, rolled: RolledUpTo): readonly Piece[] {
  const lengthMs = windowLengthsMs[window];
  const fromMs = nowMs - lengthMs + 1;
  const toMs = nowMs + 1;
  const firstHour = lengthMs <= exactMs ? endOf(fromMs, hourMs) : beginOf(fromMs, hourMs);
  const lastHour = Math.max(firstHour, rolled.hour);
  const firstDay = Math.min(endOf(firstHour, dayMs), lastHour);
  const lastDay = Math.max(firstDay, Math.min(rolled.day, lastHour));
  const pieces: readonly Piece[] = [
    { from: "raw", fromMs, toMs: Math.min(firstHour, toMs) },
    { from: "hour", fromMs: firstHour, toMs: firstDay },
    { from: "day", fromMs: firstDay, toMs: lastDay },
    { from: "hour", fromMs: lastDay, toMs: lastHour },
    { from: "raw", fromMs: lastHour, toMs },
  ];
  return pieces.filter((piece) => piece.fromMs < piece.toMs);
}

/** Windows end together: they share their last pieces, and the days of the longest are those of all. */
async function windowsOf(series: HistorySeries, endpoint: string, nowMs: number): Promise<readonly WindowSummary[]> {
  const rolled = believed(await series.rolledUpTo(endpoint), nowMs);
  const windows = windowNames.map((name) => ({ name, pieces: piecesOf(name, nowMs, rolled) }));
  const days = windows.flatMap(({ pieces }) => pieces.filter(({ from }) => from === "day"));
  const allDays = await series.tallies(endpoint, "day", {
    fromMs: Math.min(...days.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...days.map(({ toMs }) => toMs)),
  });
  const read = createReading(series, endpoint, allDays);
  const summaries: WindowSummary[] = [];
  for (const { name, pieces } of windows) summaries.push(windowOf(await read(pieces), name));
  return summaries;
}

function createReading(
  series: HistorySeries,
  endpoint: string,
  days: ReadonlyMap<number, Tally>,
): (pieces: readonly Piece[]) => Promise<Tally> {
  const known = new Map<string, Tally>();
  const tallyOf = async (piece: Piece): Promise<Tally> => {
    const sum = new Tally();
    if (piece.from === "raw") {
      for (const one of await series.observations(endpoint, piece)) sum.add(one);
      return sum;
    }
    const tallies = piece.from === "day" ? days : await series.tallies(endpoint, piece.from, piece);
    for (const [begin, tally] of tallies) if (begin >= piece.fromMs && begin < piece.toMs) sum.merge(tally);
    return sum;
  };
  return async (pieces) => {
    const sum = new Tally();
    for (const piece of pieces) {
      const key = `${piece.from} ${piece.fromMs} ${piece.toMs}`;
      const tally = known.get(key) ?? (await tallyOf(piece));
      known.set(key, tally);
      sum.merge(tally);
    }
    return sum;
  };
}

/** Latest roll-up mark that is not in the future. */
async function rolledUpTo(series: HistorySeries, endpoint: string, toMs: number): Promise<RolledUpTo> {
  return (await series.rolledUpTo(endpoint)) ?? believed(undefined, toMs);
}

/** The hours that overlap a range: those that are summed up, and the rest from observations. */
async function hourTallies(
  series: HistorySeries,
  endpoint: string,
  { fromMs, toMs }: TimeRange,
): Promise<ReadonlyMap<number, Tally>> {
  const rolled = await rolledUpTo(series, endpoint, toMs);
  const from = beginOf(fromMs, hourMs);
  const hours = new Map(await series.tallies(endpoint, "hour", { fromMs: from, toMs: Math.min(rolled.hour, toMs) }));
  const rest = { fromMs: Math.max(from, rolled.hour), toMs: endOf(toMs, hourMs) };
  for (const observation of await series.observations(endpoint, rest)) {
    const hour = beginOf(observation.atMs, hourMs);
    const tally = hours.get(hour) ?? new Tally();
    tally.add(observation);
    if (tally.probes > 0) hours.set(hour, tally);
  }
  return hours;
}

/** An observation is stored when its probe is over, later than its moment; an hour is summed up this long after its end. */
const settleMs = 5 * 60_000;

const beginOf = (atMs: number, lengthMs: number): number => Math.floor(atMs / lengthMs) * lengthMs;
const endOf = (atMs: number, lengthMs: number): number => Math.ceil(atMs / lengthMs) * lengthMs;

/**
 * Up to where summaries may be believed. When they reach into the future the clock was put back: what has been observed
 * since then may not be in them, so that what observations are kept of is summed up anew.
 */
function believed(rolled: RolledUpTo | undefined, nowMs: number): RolledUpTo {
  if (rolled === undefined) return { hour: 0, day: 0 };
  if (rolled.hour <= beginOf(nowMs, hourMs)) return rolled;
  const hour = endOf(nowMs - rawMs, hourMs);
  return { hour, day: Math.min(rolled.day, beginOf(hour, dayMs)) };
}

/**
 * Writes the hours and days of an endpoint that are over. The mark is moved last: after a crash the same is written
 * again, and the same moments replace each other.
 */
async function rollUpEndpoint(
  series: HistorySeries,
  endpoint: string,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const toMs = beginOf(nowMs - settleMs, hourMs);
  const from = await beginning(series, endpoint, { nowMs, toMs });
  if (from === undefined || from.hour >= toMs) return;
  await series.appendTallies(
    endpoint,
    "hour",
    await hoursFromRaw(series, endpoint, { fromMs: from.hour, toMs, signal }),
  );
  const days = { fromMs: from.day, toMs: beginOf(toMs, dayMs) };
  await series.appendTallies(endpoint, "day", grouped(await series.tallies(endpoint, "hour", days), dayMs));
  await series.setRolledUpTo(endpoint, { hour: toMs, day: Math.max(days.fromMs, days.toMs) });
}

/** Where to go on; undefined before the first observation of all. */
async function beginning(
  series: HistorySeries,
  endpoint: string,
  { nowMs, toMs }: { readonly nowMs: number; readonly toMs: number },
): Promise<RolledUpTo | undefined> {
  const rolled = await series.rolledUpTo(endpoint);
  const from = believed(rolled, nowMs);
  if (from === rolled) return from;
  const firstMs = await series.firstMs(endpoint, { fromMs: from.hour, toMs });
  return firstMs === undefined ? undefined : { hour: beginOf(firstMs, hourMs), day: beginOf(firstMs, dayMs) };
}

/** One hour of observations in memory at a time, hours without any skipped. */
async function hoursFromRaw(
  series: HistorySeries,
  endpoint: string,
  { fromMs, toMs, signal }: { readonly fromMs: number; readonly toMs: number; readonly signal: AbortSignal },
): Promise<ReadonlyMap<number, Tally>> {
  const hours = new Map<number, Tally>();
  for (let atMs = fromMs; atMs < toMs; ) {
    signal.throwIfAborted();
    const nextMs = await series.firstMs(endpoint, { fromMs: atMs, toMs });
    if (nextMs === undefined) break;
    const hour = beginOf(nextMs, hourMs);
    const tally = new Tally();
    for (const observation of await series.observations(endpoint, { fromMs: hour, toMs: hour + hourMs })) {
      tally.add(observation);
    }
    if (tally.probes > 0) hours.set(hour, tally);
    atMs = hour + hourMs;
  }
  return hours;
}

/** Tallies of longer times out of those of shorter ones. */
function grouped(tallies: ReadonlyMap<number, Tally>, lengthMs: number): ReadonlyMap<number, Tally> {
  const groups = new Map<number, Tally>();
  for (const [atMs, tally] of tallies) {
    const begin = beginOf(atMs, lengthMs);
    const group = groups.get(begin) ?? new Tally();
    group.merge(tally);
    groups.set(begin, group);
  }
  return groups;
}
