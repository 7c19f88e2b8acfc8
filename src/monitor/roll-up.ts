import { dayMs, type HistorySeries, hourMs, rawMs, type RolledUpTo } from "./history-series.ts";
import { createTally, type Tally } from "./tally.ts";

/** An observation is stored when its probe is over, later than its moment; an hour is summed up this long after its end. */
const settleMs = 5 * 60_000;

export const beginOf = (atMs: number, lengthMs: number): number => Math.floor(atMs / lengthMs) * lengthMs;
export const endOf = (atMs: number, lengthMs: number): number => Math.ceil(atMs / lengthMs) * lengthMs;

/**
 * Up to where summaries may be believed. When they reach into the future the clock was put back: what has been observed
 * since then may not be in them, so that what observations are kept of is summed up anew.
 */
export function believed(rolled: RolledUpTo | undefined, nowMs: number): RolledUpTo {
  if (rolled === undefined) return { hour: 0, day: 0 };
  if (rolled.hour <= beginOf(nowMs, hourMs)) return rolled;
  const hour = endOf(nowMs - rawMs, hourMs);
  return { hour, day: Math.min(rolled.day, beginOf(hour, dayMs)) };
}

/**
 * Writes the hours and days of an endpoint that are over. The mark is moved last: after a crash the same is written
 * again, and the same moments replace each other.
 */
export async function rollUpEndpoint(
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

interface HourRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
}

/** One hour of observations in memory at a time, hours without any skipped. */
async function hoursFromRaw(
  series: HistorySeries,
  endpoint: string,
  { fromMs, toMs, signal }: HourRange,
): Promise<ReadonlyMap<number, Tally>> {
  const hours = new Map<number, Tally>();
  for (let atMs = fromMs; atMs < toMs; ) {
    signal.throwIfAborted();
    const nextMs = await series.firstMs(endpoint, { fromMs: atMs, toMs });
    if (nextMs === undefined) break;
    const hour = beginOf(nextMs, hourMs);
    const tally = createTally();
    for (const observation of await series.observations(endpoint, { fromMs: hour, toMs: hour + hourMs })) {
      tally.add(observation);
    }
    if (tally.probes > 0) hours.set(hour, tally);
    atMs = hour + hourMs;
  }
  return hours;
}

/** Tallies of longer times out of those of shorter ones. */
export function grouped(tallies: ReadonlyMap<number, Tally>, lengthMs: number): ReadonlyMap<number, Tally> {
  const groups = new Map<number, Tally>();
  for (const [atMs, tally] of tallies) {
    const begin = beginOf(atMs, lengthMs);
    const group = groups.get(begin) ?? createTally();
    group.merge(tally);
    groups.set(begin, group);
  }
  return groups;
}
