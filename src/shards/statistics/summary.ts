/** A number that stands for several equal observations. */
export interface Weighted {
  readonly value: number;
  /** How many observations have this value: a whole number, 1 or more. */
  readonly weight: number;
}

/** Mean, median and range of at least one observation. */
export interface Summary {
  readonly count: number;
  readonly mean: number;
  /** Of an even number of observations: the mean of the two in the middle. */
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The observation at a place of the sorted ones, counted from 0. */
function observationAt(sorted: readonly Weighted[], place: number): number {
  let seen = 0;
  for (const { value, weight } of sorted) {
    seen += weight;
    if (place < seen) return value;
  }
  return Number.NaN;
}

/** Undefined without observations: a mean of nothing is not 0. */
export function weightedSummary(observations: readonly Weighted[]): Summary | undefined {
  const sorted = observations.toSorted((a, b) => a.value - b.value);
  const [first, last] = [sorted.at(0), sorted.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  let count = 0;
  let sum = 0;
  for (const { value, weight } of sorted) {
    count += weight;
    sum += value * weight;
  }
  const low = observationAt(sorted, Math.floor((count - 1) / 2));
  const high = observationAt(sorted, Math.floor(count / 2));
  return { count, mean: sum / count, median: (low + high) / 2, min: first.value, max: last.value };
}

/** Of observations that count once each. */
export const summaryOf = (values: readonly number[]): Summary | undefined =>
  weightedSummary(values.map((value) => ({ value, weight: 1 })));

/**
 * Population standard deviation over the mean. Undefined without values and where the mean is 0.
 */
export function coefficientOfVariation(values: readonly number[]): number | undefined {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (!(mean > 0)) return undefined;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return Math.sqrt(variance) / mean;
}
