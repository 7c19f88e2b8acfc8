/** How durations are distributed: bins of logarithmic width, so that every value is known with the same relative error. */
export interface Histogram {
  /** Values added. */
  readonly total: number;
  /** Counts by bin, in no order. */
  readonly counts: ReadonlyMap<number, number>;
  /** Adds one duration in milliseconds; what is no number is left out. */
  add(ms: number): void;
  /** Adds the values of another one, exactly as if they had been added here. */
  merge(other: Histogram): void;
  /**
   * The value of rank `ceil(share * total)` in milliseconds, within 2 % (below 0.1 ms: within 0.1 ms; above an hour:
   * one hour); undefined without values.
   */
  quantile(share: number): number | undefined;
  /** Bins in ascending order with their counts. */
  bins(): readonly (readonly [bin: number, count: number])[];
  /** Distance of each bin from the one before, and its count, in turn. */
  encode(): readonly number[];
}

/** DDSketch (Masson, Rim, Lee: PVLDB 12(12), 2019), section 2.1: bins grow by this factor for a relative error of 2 %. */
const relativeError = 0.02;
const growth = (1 + relativeError) / (1 - relativeError);
const logGrowth = Math.log(growth);
/** Bin 0 holds all that is not longer. */
const shortestMs = 0.1;
const longestMs = 3_600_000;
/** Some 435: so many bins there are at most. */
const lastBin = binOf(longestMs);

function binOf(ms: number): number {
  return ms <= shortestMs ? 0 : Math.ceil(Math.log(Math.min(ms, longestMs) / shortestMs) / logGrowth);
}

/** The value of a bin from which both of its ends are equally far, relatively. */
const valueOf = (bin: number): number => (shortestMs * 2 * growth ** bin) / (growth + 1);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

/** A histogram of given bins; empty without. */
export function createHistogram(given: readonly (readonly [bin: number, count: number])[] = []): Histogram {
  const histogram = new LogarithmicHistogram();
  for (const [bin, count] of given) histogram.addTo(bin, count);
  return histogram;
}

/** A class, because a page of windows makes thousands of them and its methods are shared. */
class LogarithmicHistogram implements Histogram {
  readonly counts = new Map<number, number>();
  total = 0;

  addTo(bin: number, count: number): void {
    this.counts.set(bin, (this.counts.get(bin) ?? 0) + count);
    this.total += count;
  }

  add(ms: number): void {
    if (!Number.isNaN(ms)) this.addTo(binOf(ms), 1);
  }

  merge(other: Histogram): void {
    for (const [bin, count] of other.counts) this.addTo(bin, count);
  }

  quantile(share: number): number | undefined {
    let left = Math.max(1, Math.ceil(share * this.total));
    for (const [bin, count] of this.bins()) {
      left -= count;
      if (left <= 0) return valueOf(bin);
    }
    return undefined;
  }

  bins(): readonly (readonly [bin: number, count: number])[] {
    return [...this.counts].toSorted(([left], [right]) => left - right);
  }

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
  const histogram = new LogarithmicHistogram();
  let bin = 0;
  for (let index = 0; index < encoded.length; index += 2) {
    const distance: unknown = encoded[index];
    const count: unknown = encoded[index + 1];
    if (!isCount(count) || !(isCount(distance) || (distance === 0 && index === 0))) return undefined;
    bin += distance;
    if (bin > lastBin) return undefined;
    histogram.addTo(bin, count);
  }
  return histogram;
}
