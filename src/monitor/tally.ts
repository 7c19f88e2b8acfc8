import { type FaultKind, faultKinds } from "../errors/fedway-error.ts";
import type { HourSummary, Observation, WindowName, WindowSummary } from "./monitor.ts";
import { parsedJson } from "../json.ts";

/**
 * The turns of some time, counted. Tallies of times that do not overlap can be merged without loss. A class, because a page of
 * windows makes thousands of them and its methods are shared.
 */
export class Tally {
  /** Durations of successful probes. */
  readonly durations: Histogram;
  readonly faults: Partial<Record<FaultKind, number>> = {};
  probes = 0;
  good = 0;
  /** The first turn; absent without one. */
  firstMs: number | undefined;

  constructor(durations = new Histogram()) {
    this.durations = durations;
  }

  /** Counts an observation; only turns outside maintenance and with a network count. */
  add({ atMs, ms, ok, fault, source, maintenance, offline }: Observation): void {
    if (source !== "turn" || maintenance || offline) return;
    this.probes += 1;
    this.beginAt(atMs);
    if (ok) {
      this.good += 1;
      this.durations.add(ms);
    } else if (fault !== undefined) this.addFaults(fault, 1);
  }

  merge(other: Tally): void {
    this.probes += other.probes;
    this.good += other.good;
    this.durations.merge(other.durations);
    for (const [kind, count] of faultEntries(other.faults)) this.addFaults(kind, count);
    if (other.firstMs !== undefined) this.beginAt(other.firstMs);
  }

  addFaults(kind: FaultKind, count: number): void {
    this.faults[kind] = (this.faults[kind] ?? 0) + count;
  }

  beginAt(atMs: number): void {
    this.firstMs = this.firstMs === undefined ? atMs : Math.min(this.firstMs, atMs);
  }
}

function faultEntries(faults: object): readonly (readonly [FaultKind, number])[] {
  return Object.entries(faults).flatMap(([kind, count]) =>
    isFaultKind(kind) && Number.isSafeInteger(count) ? [[kind, Number(count)] as const] : [],
  );
}

/** A tally as JSON text; moments are kept as distances from `fromMs`. */
export function encodeTally(tally: Tally, fromMs: number): string {
  const { probes, good, durations, faults, firstMs = fromMs } = tally;
  const hasFaults = Object.keys(faults).length > 0;
  return JSON.stringify({
    n: probes,
    g: good === probes ? undefined : good,
    a: firstMs - fromMs,
    h: good > 0 ? durations.encode() : undefined,
    f: hasFaults ? faults : undefined,
  });
}

/** What `encodeTally` wrote; undefined when it is something else. */
export function decodeTally(fromMs: number, text: string): Tally | undefined {
  const kept = parseRecord(text);
  if (kept === undefined) return undefined;
  const { n, g = n, a, h = [], f = {} } = kept;
  const durations = decodeHistogram(h);
  if (!isCount(n) || !isCount(g) || !isCount(a) || durations?.total !== g) return undefined;
  const tally = new Tally(durations);
  tally.probes = n;
  tally.good = g;
  tally.beginAt(fromMs + a);
  for (const [kind, count] of faultEntries(Object(f))) tally.addFaults(kind, count);
  return tally;
}

const isCount = (value: unknown, least = 0): value is number => Number.isSafeInteger(value) && Number(value) >= least;

/** An hour or a day that begins at `fromMs`. */
export function summaryOf({ probes, good, durations, faults }: Tally, fromMs: number): HourSummary {
  return { fromMs, probes, good, p50Ms: rounded(durations.quantile(0.5)), faults };
}

/** A window. */
export function windowOf({ probes, good, durations, faults, firstMs }: Tally, window: WindowName): WindowSummary {
  const [p50Ms, p90Ms, p99Ms] = [0.5, 0.9, 0.99].map((share) => rounded(durations.quantile(share)));
  return { window, probes, good, uptime: probes > 0 ? good / probes : undefined, p50Ms, p90Ms, p99Ms, faults, firstMs };
}

/** To three digits, which is more than the histogram knows. */
const rounded = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Number(ms.toPrecision(3));

/** DDSketch (Masson, Rim, Lee: PVLDB 12(12), 2019), section 2.1: bins grow by this factor for a relative error of 2 %. */
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

/** How durations are distributed: bins of logarithmic width, so that every value is known with the same relative error. */
export class Histogram {
  /** Counts by bin, in no order. */
  readonly counts = new Map<number, number>();
  /** Values added. */
  total = 0;

  addTo(bin: number, count: number): void {
    this.counts.set(bin, (this.counts.get(bin) ?? 0) + count);
    this.total += count;
  }

  /** Adds one duration in milliseconds; what is no number is left out. */
  add(ms: number): void {
    if (!Number.isNaN(ms)) this.addTo(binOf(ms), 1);
  }

  merge(other: Histogram): void {
    for (const [bin, count] of other.counts) this.addTo(bin, count);
  }

  /**
   * The value of rank `ceil(share * total)` in milliseconds, within 2 % (below 0.1 ms: within 0.1 ms; above an hour:
   * one hour); undefined without values.
   */
  quantile(share: number): number | undefined {
    let left = Math.max(1, Math.ceil(share * this.total));
    for (const [bin, count] of this.bins()) {
      left -= count;
      if (left <= 0) return valueOf(bin);
    }
    return undefined;
  }

  /** Bins in ascending order with their counts. */
  bins(): readonly (readonly [bin: number, count: number])[] {
    return [...this.counts].toSorted(([left], [right]) => left - right);
  }

  /** Distance of each bin from the one before, and its count, in turn. */
  encode(): readonly number[] {
    const encoded: number[] = [];
    let previous = 0;
    for (const [bin, count] of this.bins()) {
      encoded.push(bin - previous, count);
      previous = bin;
    }
    return encoded;
  }
}

/** What `encode` gave, read again; undefined when it is something else. */
export function decodeHistogram(encoded: unknown): Histogram | undefined {
  if (!Array.isArray(encoded) || encoded.length % 2 !== 0) return undefined;
  const histogram = new Histogram();
  let bin = 0;
  for (let index = 0; index < encoded.length; index += 2) {
    const distance: unknown = encoded[index];
    const count: unknown = encoded[index + 1];
    if (!isCount(count, 1) || !isCount(distance, index === 0 ? 0 : 1)) return undefined;
    bin += distance;
    if (bin > lastBin) return undefined;
    histogram.addTo(bin, count);
  }
  return histogram;
}

const knownFaults: ReadonlySet<unknown> = new Set(faultKinds);

/** Text that names a kind of fault. */
export const isFaultKind = (value: unknown): value is FaultKind => knownFaults.has(value);

type Fields = Readonly<Partial<Record<string, unknown>>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** JSON text of an object; undefined when it is none. */
export function parseRecord(text: string): Fields | undefined {
  const value = parsedJson(text);
  return isFields(value) ? value : undefined;
}
