/** First and second moments of a solution of the relaxation: E[x(r)], and E[x(r) x(s)] row by row. */
export interface Moments {
  readonly first: Float64Array;
  readonly second: Float64Array;
}

/** A quadratic function `constant + linear x + x' matrix x` that is being put together. */
export interface QuadraticSum {
  constant: number;
  readonly linear: Float64Array;
  readonly matrix: Float64Array;
}

/**
 * Products of two inequalities that every cover obeys, for a query q and a rule r: `(t(q) - 1) x(r) >= 0` and
 * `(t(q) - 1) (1 - x(r)) >= 0` (the operator N+ of Lovasz and Schrijver 1991), with t(q) the number of chosen rules that
 * cover q. There are too many to keep all: a pool takes in those that the moments violate most, and where it is full new
 * ones take the place of those without weight.
 */
export interface ProductCuts {
  /** How many the pool can hold: the length of the arrays of multipliers. */
  readonly room: number;
  /** Takes in the cuts that are violated most, and gives each a small multiplier. */
  takeIn(moments: Moments, multipliers: Float64Array): void;
  /** Subtracts the cuts times their multipliers from a function. */
  subtractFrom(sum: QuadraticSum, multipliers: Float64Array): void;
  /** What the cuts come to; negative for those that are violated, 0 for places that nothing has taken. */
  valuesAt(moments: Moments): Float64Array;
}

/** `sign` is 1 for the product with x(rule), -1 for that with 1 - x(rule). */
interface Cut {
  readonly query: number;
  readonly rule: number;
  readonly sign: 1 | -1;
}

const maxRoom = 20_000;
const mostAtOnce = 2_500;
const smallestViolation = 0.003;
/** What a new cut is multiplied by. */
export const startMultiplier = 1e-4;
/** A cut with a smaller multiplier may have to go. */
const weightless = 1e-6;
/** With more pairs of a query and a rule it takes too long to look through all. */
const maxPairs = 2_000_000;

type Coverers = readonly (readonly number[])[];

/** An empty pool for `n` rules. */
export function createProductCuts(coverers: Coverers, n: number): ProductCuts {
  const pairs = coverers.length * n;
  const room = pairs > maxPairs ? 0 : Math.min(maxRoom, 2 * pairs);
  const cuts: Cut[] = [];
  const held = new Set<number>();
  const keyOf = ({ query, rule, sign }: Cut): number => sign * (query * n + rule + 1);

  return {
    room,
    takeIn(moments, multipliers) {
      if (room === 0) return;
      const found = mostViolated(coverers, moments, (cut) => held.has(keyOf(cut)));
      const places = placesFor(found.length, { taken: cuts.length, multipliers });
      for (const [at, place] of places.entries()) {
        const [cut, old] = [found[at], cuts[place]];
        if (cut === undefined) break;
        if (old !== undefined) held.delete(keyOf(old));
        held.add(keyOf(cut));
        cuts[place] = cut;
        multipliers[place] = startMultiplier;
      }
    },
    subtractFrom(sum, multipliers) {
      for (const [place, cut] of cuts.entries()) subtract(sum, { ...cut, by: multipliers[place] ?? 0, coverers });
    },
    valuesAt(moments) {
      const values = new Float64Array(room);
      for (const [place, { query, rule, sign }] of cuts.entries()) {
        values[place] = valueAt(moments, { rules: coverers[query] ?? [], rule, sign });
      }
      return values;
    },
  };
}

function valueAt(
  { first, second }: Moments,
  { rules, rule, sign }: { readonly rules: readonly number[]; readonly rule: number; readonly sign: 1 | -1 },
): number {
  const row = rule * first.length;
  let [times, both] = [0, 0];
  for (const other of rules) {
    times += first[other] ?? 0;
    both += second[row + other] ?? 0;
  }
  const withRule = both - (first[rule] ?? 0);
  return sign === 1 ? withRule : times - 1 - withRule;
}

function subtract(sum: QuadraticSum, cut: Cut & { readonly by: number; readonly coverers: Coverers }): void {
  const { linear, matrix } = sum;
  const { rule, by, sign } = cut;
  const n = linear.length;
  const half = (sign * by) / 2;
  for (const other of cut.coverers[cut.query] ?? []) {
    matrix[rule * n + other] = (matrix[rule * n + other] ?? 0) - half;
    matrix[other * n + rule] = (matrix[other * n + rule] ?? 0) - half;
    if (sign === -1) linear[other] = (linear[other] ?? 0) - by;
  }
  linear[rule] = (linear[rule] ?? 0) + sign * by;
  if (sign === -1) sum.constant += by;
}

interface ValuedCut extends Cut {
  readonly value: number;
}

/** The worst of the cuts that are not held yet, the most violated first. */
function mostViolated(coverers: Coverers, moments: Moments, isHeld: (cut: Cut) => boolean): readonly Cut[] {
  const n = moments.first.length;
  let found: ValuedCut[] = [];
  for (const [query, rules] of coverers.entries()) {
    for (let rule = 0; rule < n; rule += 1) {
      for (const sign of [1, -1] as const) {
        const value = valueAt(moments, { rules, rule, sign });
        if (value > -smallestViolation) continue;
        const cut = { query, rule, sign, value };
        if (!isHeld(cut)) found.push(cut);
      }
    }
    if (found.length > 10 * mostAtOnce) found = worstOf(found);
  }
  return worstOf(found);
}

/** Sorting is stable: of equal ones the first query's comes first. */
const worstOf = (cuts: readonly ValuedCut[]): ValuedCut[] =>
  cuts.toSorted((left, right) => left.value - right.value).slice(0, mostAtOnce);

/** Where new cuts go: to free places first, then to those of cuts without weight. */
function placesFor(
  count: number,
  { taken, multipliers }: { readonly taken: number; readonly multipliers: Float64Array },
): readonly number[] {
  const places: number[] = [];
  for (let place = taken; place < multipliers.length && places.length < count; place += 1) places.push(place);
  for (let place = 0; place < taken && places.length < count; place += 1) {
    if ((multipliers[place] ?? 0) < weightless) places.push(place);
  }
  return places;
}
