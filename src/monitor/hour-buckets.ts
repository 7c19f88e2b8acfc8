import type { FaultCounts, HourSummary, Observation } from "./monitor.ts";
import { Histogram, decodeHistogram } from "./tally.ts";

/** The turns of one hour, as they are kept beside an endpoint's state. */
export interface HourBucket {
  /** Number of the hour since the epoch. */
  readonly h: number;
  readonly n: number;
  readonly good: number;
  readonly faults?: FaultCounts | undefined;
  /** Median of the good ones, of an hour that is over. */
  readonly p50?: number | undefined;
  /** `Histogram.encode` of the good ones, of the hour that runs. */
  readonly bins?: readonly number[] | undefined;
}

/** The last 24 hours and the one that runs. */
export interface Hours {
  /** Those that are over, oldest first; the same value until the next one is. */
  readonly past: readonly HourBucket[];
  readonly running?: HourBucket | undefined;
}

const hourMs = 3_600_000;
const kept = 24;

const hourOf = (atMs: number): number => Math.floor(atMs / hourMs);

/** The hours with one turn more. */
export function withTurn({ past, running }: Hours, observation: Observation): Hours {
  const hour = hourOf(observation.atMs);
  if (running?.h === hour) return { past, running: added(running, observation) };
  const fresh: HourBucket = { h: hour, n: 0, good: 0 };
  if (running === undefined || running.h < hour) {
    const over = running === undefined ? past : [...past, ended(running)];
    return { past: over.filter(({ h }) => h >= hour - kept), running: added(fresh, observation) };
  }
  // The clock was set back, or another process was ahead. What lies further ahead than that was never true.
  if (running.h > hour + 1) {
    return { past: past.filter(({ h }) => h >= hour - kept && h < hour), running: added(fresh, observation) };
  }
  const late = added(past.find(({ h }) => h === hour) ?? fresh, observation);
  return { past: [...past.filter(({ h }) => h !== hour), ended(late)].toSorted((a, b) => a.h - b.h), running };
}

/** The hours without a faulty turn that is to count no more. */
export function withoutFault({ past, running }: Hours, { atMs, fault }: Observation): Hours {
  const hour = hourOf(atMs);
  const without = (bucket: HourBucket): HourBucket => {
    if (bucket.h !== hour || fault === undefined || bucket.n <= bucket.good) return bucket;
    const { [fault]: count = 0, ...others } = bucket.faults ?? {};
    return { ...bucket, n: bucket.n - 1, faults: count > 1 ? { ...others, [fault]: count - 1 } : others };
  };
  return { past: past.map(without).filter(({ n }) => n > 0), running: running && without(running) };
}

function added(bucket: HourBucket, { ok, ms, fault }: Observation): HourBucket {
  const { n, good, faults, bins, p50 } = bucket;
  if (ok) {
    // The durations of an hour that was over are gone; its median stays what it was.
    const isOver = p50 !== undefined;
    return { ...bucket, n: n + 1, good: good + 1, bins: isOver ? undefined : withDuration(bins, ms) };
  }
  const counted = fault === undefined ? faults : { ...faults, [fault]: (faults?.[fault] ?? 0) + 1 };
  return { ...bucket, n: n + 1, faults: counted };
}

function withDuration(bins: readonly number[] | undefined, ms: number): readonly number[] {
  const durations = decodeHistogram(bins ?? []) ?? new Histogram();
  durations.add(ms);
  return durations.encode();
}

const medianOf = (bins: readonly number[] | undefined): number | undefined => {
  const median = decodeHistogram(bins ?? [])?.quantile(0.5);
  return median === undefined ? undefined : Number(median.toPrecision(3));
};

function ended({ bins, ...bucket }: HourBucket): HourBucket {
  return { ...bucket, p50: bucket.p50 ?? medianOf(bins) };
}

/** The hours as they are shown at a moment. */
export function hourSummaries({ past, running }: Hours, nowMs: number): readonly HourSummary[] {
  const now = hourOf(nowMs);
  const all = running === undefined ? past : [...past, running];
  return all.filter(({ h }) => h >= now - kept && h <= now).map(summaryOf);
}

function summaryOf({ h, n, good, faults = {}, p50, bins }: HourBucket): HourSummary {
  return { fromMs: h * hourMs, probes: n, good, p50Ms: p50 ?? medianOf(bins), faults };
}
