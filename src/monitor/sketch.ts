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
      seen += bins[at]?.[1] ?? 0;
    }
    const found = bins[at];
    return found && Number(valueOf(found[0]).toPrecision(3));
  });
}
