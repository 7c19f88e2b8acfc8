import { itemAt } from "../../../../src/values.ts";
/** A share or a mean as a sum over what it is of: of one question, or of several together. */
export interface Ratio {
  readonly part: number;
  readonly of: number;
}

const resamples = 1_000;
const seed = 16;

/** Numbers from 0 to 1, the same for the same seed (Mulberry32). */
function createRandom(state: number): () => number {
  let at = state;
  return () => {
    at = (at + 0x6d2b79f5) | 0;
    let mixed = Math.imul(at ^ (at >>> 15), at | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Draws of `count` questions with replacement; the same for each number of questions. */
export function drawsOf(count: number): readonly Uint32Array[] {
  const random = createRandom(seed);
  return Array.from({ length: count === 0 ? 0 : resamples }, () =>
    Uint32Array.from({ length: count }, () => Math.floor(random() * count)),
  );
}

/** The value of ratios together; null where they are of nothing. */
export function valueOf(ratios: readonly Ratio[]): number | null {
  let [part, of] = [0, 0];
  for (const ratio of ratios) [part, of] = [part + ratio.part, of + ratio.of];
  return of === 0 ? null : part / of;
}

/** Values of the draws, in order of size; draws without a value are left out. */
const drawn = (draws: readonly Uint32Array[], value: (draw: Uint32Array) => number | null): readonly number[] =>
  draws.flatMap((draw) => value(draw) ?? []).toSorted((left, right) => left - right);

function ratioIn(ratios: readonly Ratio[], draw: Uint32Array): number | null {
  let [part, of] = [0, 0];
  for (const at of draw) {
    const ratio = itemAt(ratios, at);
    part += ratio.part;
    of += ratio.of;
  }
  return of === 0 ? null : part / of;
}

const intervalOf = (sorted: readonly number[]) => ({
  low: sorted[Math.floor(sorted.length * 0.025)] ?? null,
  high: sorted[Math.ceil(sorted.length * 0.975) - 1] ?? null,
});

/** The interval that 95 % of the draws lie in (percentile bootstrap over questions). */
export const bootstrap = (ratios: readonly Ratio[], draws: readonly Uint32Array[]) =>
  intervalOf(drawn(draws, (draw) => ratioIn(ratios, draw)));

const difference = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : one - other;

/**
 * The difference of two systems over the same questions: the interval of paired draws, and how likely a difference as large is where
 * the systems change places at random, question by question (paired randomisation test).
 */
export function pairedDifference(left: readonly Ratio[], right: readonly Ratio[], draws: readonly Uint32Array[]) {
  const observed = difference(valueOf(left), valueOf(right));
  const interval = intervalOf(drawn(draws, (draw) => difference(ratioIn(left, draw), ratioIn(right, draw))));
  if (observed === null) return { ...interval, p: null };
  const random = createRandom(seed);
  let asLarge = 0;
  for (let at = 0; at < resamples; at++) {
    const swaps = left.map(() => random() < 0.5);
    const side = (own: readonly Ratio[], other: readonly Ratio[]): number | null =>
      valueOf(own.map((ratio, index) => (swaps[index] ? itemAt(other, index) : ratio)));
    const swapped = difference(side(left, right), side(right, left)) ?? 0;
    if (Math.abs(swapped) >= Math.abs(observed) - 1e-12) asLarge++;
  }
  // One more: no number of draws shows that something is impossible.
  return { ...interval, p: (asLarge + 1) / (resamples + 1) };
}

/**
 * McNemar's exact test: two-sided binomial probability that of the pairs that differ as few, or fewer, are on the rarer side.
 */
export function mcNemar(onlyLeft: number, onlyRight: number): number {
  const count = onlyLeft + onlyRight;
  let logTerm = -count * Math.LN2;
  let sum = 0;
  for (let at = 0; at <= Math.min(onlyLeft, onlyRight); at++) {
    sum += Math.exp(logTerm);
    logTerm += Math.log((count - at) / (at + 1));
  }
  return Math.min(1, 2 * sum);
}
