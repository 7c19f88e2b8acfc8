import type { FaultKind } from "../errors/fedway-error.ts";
import { type FaultCounts, isFaultKind } from "./fault-counts.ts";
import { createHistogram, decodeHistogram, type Histogram } from "./histogram.ts";
import type { HourSummary, Observation, WindowName, WindowSummary } from "./monitor.ts";
import { parseRecord } from "./observation-text.ts";

/** The turns of some time, counted. Tallies of times that do not overlap can be merged without loss. */
export interface Tally {
  readonly probes: number;
  readonly good: number;
  /** Durations of the good ones. */
  readonly durations: Histogram;
  readonly faults: FaultCounts;
  /** The first turn; absent without one. */
  readonly firstMs: number | undefined;
  /** Counts an observation; only turns outside maintenance count. */
  add(observation: Observation): void;
  merge(other: Tally): void;
}

/** Nothing counted yet. */
export const createTally = (): Tally => new TurnTally();

/** A class, because a page of windows makes thousands of them and its methods are shared. */
class TurnTally implements Tally {
  readonly durations: Histogram;
  readonly faults: Partial<Record<FaultKind, number>> = {};
  probes = 0;
  good = 0;
  firstMs: number | undefined;

  constructor(durations = createHistogram()) {
    this.durations = durations;
  }

  add({ atMs, ms, ok, fault, source, maintenance }: Observation): void {
    if (source !== "turn" || maintenance) return;
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
    ...(good !== probes && { g: good }),
    a: firstMs - fromMs,
    ...(good > 0 && { h: durations.encode() }),
    ...(hasFaults && { f: faults }),
  });
}

/** What `encodeTally` wrote; undefined when it is something else. */
export function decodeTally(fromMs: number, text: string): Tally | undefined {
  const kept = parseRecord(text);
  if (kept === undefined) return undefined;
  const { n, g = n, a, h = [], f = {} } = kept;
  const durations = decodeHistogram(h);
  if (!isCount(n) || !isCount(g) || !isCount(a) || durations?.total !== g) return undefined;
  const tally = new TurnTally(durations);
  tally.probes = n;
  tally.good = g;
  tally.beginAt(fromMs + a);
  for (const [kind, count] of faultEntries(Object(f))) tally.addFaults(kind, count);
  return tally;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** An hour or a day that begins at `fromMs`. */
export function summaryOf({ probes, good, durations, faults }: Tally, fromMs: number): HourSummary {
  const p50Ms = rounded(durations.quantile(0.5));
  return { fromMs, probes, good, ...(p50Ms !== undefined && { p50Ms }), faults };
}

/** A window. */
export function windowOf({ probes, good, durations, faults, firstMs }: Tally, window: WindowName): WindowSummary {
  const [p50Ms, p90Ms, p99Ms] = [0.5, 0.9, 0.99].map((share) => rounded(durations.quantile(share)));
  return {
    window,
    probes,
    good,
    ...(probes > 0 && { uptime: good / probes }),
    ...(p50Ms !== undefined && { p50Ms }),
    ...(p90Ms !== undefined && { p90Ms }),
    ...(p99Ms !== undefined && { p99Ms }),
    faults,
    ...(firstMs !== undefined && { firstMs }),
  };
}

/** To three digits, which is more than the histogram knows. */
const rounded = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Number(ms.toPrecision(3));
