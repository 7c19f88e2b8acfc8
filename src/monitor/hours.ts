import { type Static, Type } from "typebox";
import type { FaultCounts, HourSummary, Observation } from "./monitor.ts";
import { itemAt } from "../values.ts";

/** The turns of one hour. */
export interface HourBucket {
  /** Number of the hour since the epoch. */
  readonly h: number;
  readonly n: number;
  readonly good: number;
  readonly faults?: FaultCounts | undefined;
  /** Median of the good ones, of an hour that is over. */
  readonly p50?: number | undefined;
  /** Durations of the good ones. An endpoint's record has those of the hour that runs, its days have all. */
  readonly bins?: Bins | undefined;
}

/** The last 24 hours and the one that runs. */
export interface Hours {
  /** Those that are over, oldest first; the same value until one of them changes. */
  readonly past: readonly HourBucket[];
  readonly running?: HourBucket | undefined;
}

export const hourMs = 3_600_000;
const kept = 24;

/** Number of the hour of a moment. */
export const hourOf = (atMs: number): number => Math.floor(atMs / hourMs);

/** The hours with one turn more. */
export function withTurn({ past, running }: Hours, observation: Observation): Hours {
  const hour = hourOf(observation.atMs);
  if (running?.h === hour) return { past, running: added(running, observation) };
  const fresh: HourBucket = { h: hour, n: 0, good: 0 };
  const recent = past.filter(({ h }) => h >= hour - kept && h < hour).map(ended);
  // What ended just now stays for an hour, however long ago it was: it is yet to be written.
  if (running === undefined || running.h < hour) {
    const over = running === undefined ? recent : [...recent, { ...ended(running), bins: running.bins }];
    return { past: over.slice(-kept), running: added(fresh, observation) };
  }
  // The clock was set back, or another process was ahead. What lies further ahead than that was never true.
  const late = added(past.find(({ h }) => h === hour) ?? fresh, observation);
  if (running.h > hour + 1) return { past: recent, running: late };
  return { past: [...past.filter(({ h }) => h !== hour), late].toSorted((a, b) => a.h - b.h), running };
}

/** The hours without a faulty turn that is to count no more. One that is left with none stays, to be written so. */
export function withoutFault({ past, running }: Hours, { atMs, fault }: Observation): Hours {
  const hour = hourOf(atMs);
  const without = (bucket: HourBucket): HourBucket => {
    if (bucket.h !== hour || fault === undefined || bucket.n <= bucket.good) return bucket;
    const { [fault]: count = 0, ...others } = bucket.faults ?? {};
    return { ...bucket, n: bucket.n - 1, faults: count > 1 ? { ...others, [fault]: count - 1 } : others };
  };
  const isPast = past.some(({ h }) => h === hour);
  return { past: isPast ? past.map(without) : past, running: running && without(running) };
}

function added(bucket: HourBucket, { ok, ms, fault }: Observation): HourBucket {
  const { n, good, faults, bins, p50 } = bucket;
  if (ok) {
    // The durations of an hour that was over are gone; its median stays what it was.
    const isOver = p50 !== undefined && bins === undefined;
    return { ...bucket, n: n + 1, good: good + 1, bins: isOver ? undefined : withDuration(bins ?? [], ms) };
  }
  const counted = fault === undefined ? faults : { ...faults, [fault]: (faults?.[fault] ?? 0) + 1 };
  return { ...bucket, n: n + 1, faults: counted };
}

const medianOf = ({ bins, p50 }: HourBucket): number | undefined =>
  bins === undefined ? p50 : quantiles(addBins(new Map(), bins), [0.5])[0];

function ended(bucket: HourBucket): HourBucket {
  const { h, n, good, faults, bins } = bucket;
  return bins === undefined ? bucket : { h, n, good, faults, p50: medianOf(bucket) };
}

/** The hours as they are shown at a moment. */
export function hourSummaries({ past, running }: Hours, nowMs: number): readonly HourSummary[] {
  const now = hourOf(nowMs);
  const all = running === undefined ? past : [...past, running];
  return all.filter(({ h, n }) => h >= now - kept && h <= now && n > 0).map(summaryOf);
}

function summaryOf(bucket: HourBucket): HourSummary {
  const { h, n, good, faults = {} } = bucket;
  return { fromMs: h * hourMs, probes: n, good, p50Ms: medianOf(bucket), faults };
}

/** A stored hour: number, turns, good ones, their durations or the median of those, faults. */
export const hourSchema = Type.Tuple([
  Type.Integer({ minimum: 0, maximum: 2 ** 23 }),
  Type.Integer(),
  Type.Integer(),
  Type.Union([Type.Number(), Type.Array(Type.Number()), Type.Null()]),
  Type.Union([Type.Unsafe<FaultCounts>(Type.Object({})), Type.Null()]),
]);
type StoredHour = Static<typeof hourSchema>;

/** Reads the result of `storedHour` or `storedDurations`. */
export const readHour = ([h, n, good, durations, faults]: StoredHour): HourBucket => ({
  h,
  n,
  good,
  p50: typeof durations === "number" ? durations : undefined,
  bins: Array.isArray(durations) ? durations : undefined,
  faults: faults ?? undefined,
});

/** An hour with the median of its durations only. */
export const storedHour = (bucket: HourBucket): StoredHour => {
  const { h, n, good, faults } = bucket;
  return [h, n, good, medianOf(bucket) ?? null, faults ?? null];
};

/** An hour with its durations, of which the median stands for all where nothing else is known. */
export function storedDurations({ h, n, good, faults, bins, p50 }: HourBucket): StoredHour {
  const durations = bins ?? (p50 === undefined ? undefined : withDuration([], p50, good));
  return [h, n, good, durations ? [...durations] : null, faults ?? null];
}

/**
 * Durations as a DDSketch (Masson, Rim, Lee: PVLDB 12(12), 2019, section 2.1): counts in bins of logarithmic width, so that
 * every value is known within 2 %, and sketches of times that do not overlap can be added. As it is stored: distance of
 * each bin from the one before, and its count, in turn.
 */
export type Bins = readonly number[];

const relativeError = 0.02;
const growth = (1 + relativeError) / (1 - relativeError);
const logGrowth = Math.log(growth);
/** Bin 0 holds all that is not longer. */
const shortestMs = 0.1;
const longestMs = 3_600_000;
/** Number of bins at most, some 435. */
const lastBin = binOf(longestMs);

function binOf(ms: number): number {
  return ms <= shortestMs ? 0 : Math.ceil(Math.log(Math.min(ms, longestMs) / shortestMs) / logGrowth);
}

/** The value of a bin from which both of its ends are equally far, relatively. */
const valueOf = (bin: number): number => (shortestMs * 2 * growth ** bin) / (growth + 1);

/** Counts by bin, in no order. */
export type Counts = Map<number, number>;

const isCount = (value: unknown, least: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least;

/** Adds the bins to the counts; invalid data, or the invalid rest, is left out. */
export function addBins(counts: Counts, bins: Bins): Counts {
  let bin = 0;
  for (let index = 0; index < bins.length; index += 2) {
    const distance = bins[index];
    const count = bins[index + 1];
    if (!isCount(distance, 0) || !isCount(count, 1) || bin + distance > lastBin) break;
    bin += distance;
    counts.set(bin, (counts.get(bin) ?? 0) + count);
  }
  return counts;
}

/** The bins with durations in milliseconds added; values that are no numbers are left out. */
export function withDuration(bins: Bins, ms: number, count = 1): Bins {
  if (Number.isNaN(ms)) return bins;
  const encoded: number[] = [];
  let previous = 0;
  for (const [bin, n] of sorted(addBins(addBins(new Map(), bins), [binOf(ms), count]))) {
    encoded.push(bin - previous, n);
    previous = bin;
  }
  return encoded;
}

const sorted = (counts: Counts): readonly (readonly [bin: number, count: number])[] =>
  [...counts].toSorted(([left], [right]) => left - right);

/**
 * The values of rank `ceil(share * total)` in milliseconds, to three digits, for shares in ascending order; within 2 %
 * (below 0.1 ms: within 0.1 ms; above an hour: one hour); undefined without values.
 */
export function quantiles(counts: Counts, shares: readonly number[]): readonly (number | undefined)[] {
  const bins = sorted(counts);
  const total = bins.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  let at = -1;
  return shares.map((share) => {
    while (at < bins.length - 1 && (at < 0 || seen < share * total)) {
      at += 1;
      seen += itemAt(bins, at)[1];
    }
    const found = bins[at];
    return found && Number(valueOf(found[0]).toPrecision(3));
  });
}
