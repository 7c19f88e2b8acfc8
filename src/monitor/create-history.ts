import type { History } from "./history.ts";
import {
  createHistorySeries,
  dayMs,
  type Grain,
  type HistorySeries,
  type HistorySeriesOptions,
  hourMs,
  type RolledUpTo,
  type TimeRange,
} from "./history-series.ts";
import type { WindowName, WindowSummary } from "./monitor.ts";
import { beginOf, believed, endOf, grouped, rollUpEndpoint } from "./roll-up.ts";
import { createTally, summaryOf, type Tally, windowOf } from "./tally.ts";

/** What a history is built over. */
export type HistoryOptions = HistorySeriesOptions;

const windowLengthsMs = {
  "24h": dayMs,
  "7d": 7 * dayMs,
  "30d": 30 * dayMs,
  "90d": 90 * dayMs,
} as const satisfies Record<WindowName, number>;

const windowNames: readonly WindowName[] = ["24h", "7d", "30d", "90d"];

/** Windows up to this length begin with the very observation, longer ones with the hour in which they begin. */
const exactMs = windowLengthsMs["7d"];
const defaultRecent = 1000;

/** The history over the series of a store. */
export function createHistory(options: HistoryOptions): History {
  const series = createHistorySeries(options);
  return {
    record: (endpoint, observation) => series.append(endpoint, observation),
    async recent(endpoint, { fromMs, limit = defaultRecent }) {
      const found = await series.observations(endpoint, { fromMs, toMs: Number.MAX_SAFE_INTEGER });
      return found.slice(Math.max(0, found.length - limit));
    },
    async hours(endpoint, range) {
      const tallies = await hourTallies(series, endpoint, range);
      return Array.from(tallies, ([fromMs, tally]) => summaryOf(tally, fromMs));
    },
    async days(endpoint, { fromMs, toMs }) {
      const rolled = await rolledUpTo(series, endpoint, toMs);
      const from = beginOf(fromMs, dayMs);
      const over = await series.tallies(endpoint, "day", { fromMs: from, toMs: Math.min(rolled.day, toMs) });
      const rest = { fromMs: Math.max(from, rolled.day), toMs: endOf(toMs, dayMs) };
      const running = grouped(await hourTallies(series, endpoint, rest), dayMs);
      return Array.from([...over, ...running], ([begin, tally]) => summaryOf(tally, begin));
    },
    windows: (endpoint, nowMs) => windowsOf(series, endpoint, nowMs),
    async rollUp(endpoints, nowMs, signal) {
      for (const endpoint of endpoints) {
        signal.throwIfAborted();
        await rollUpEndpoint(series, endpoint, { nowMs, signal });
      }
    },
    remove: (endpoint) => series.remove(endpoint),
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
    const sum = createTally();
    if (piece.from === "raw") {
      for (const one of await series.observations(endpoint, piece)) sum.add(one);
      return sum;
    }
    const tallies = piece.from === "day" ? days : await series.tallies(endpoint, piece.from, piece);
    for (const [begin, tally] of tallies) if (begin >= piece.fromMs && begin < piece.toMs) sum.merge(tally);
    return sum;
  };
  return async (pieces) => {
    const sum = createTally();
    for (const piece of pieces) {
      const key = `${piece.from} ${piece.fromMs} ${piece.toMs}`;
      const tally = known.get(key) ?? (await tallyOf(piece));
      known.set(key, tally);
      sum.merge(tally);
    }
    return sum;
  };
}

/** How far the summaries go that may be believed at a time whose end is in the past, or now. */
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
    const tally = hours.get(hour) ?? createTally();
    tally.add(observation);
    if (tally.probes > 0) hours.set(hour, tally);
  }
  return hours;
}
