import { type AscentDirection, createAscentDirection } from "./ascent-direction.ts";
import { type CoverInstance, coverersOf } from "./cover-instance.ts";
import { inverseOfDefinite } from "./dense-matrix.ts";
import {
  createProductCuts,
  startMultiplier,
  type Moments,
  type ProductCuts,
  type QuadraticSum,
} from "./product-cuts.ts";

/** A convex function below the size of covers, whose minimum over all x is `value`. */
export interface DualSolution extends QuadraticSum {
  readonly value: number;
  readonly inverse: Float64Array;
  readonly minimiser: Float64Array;
}

/** How far one ascent goes. */
export interface AscentEffort {
  readonly rounds: number;
  /** Whether products of inequalities are taken in. */
  readonly cuts: boolean;
  /** Size of a known cover: nothing is left to prove when the bound reaches it. */
  readonly target?: number;
  /** Hears of each higher bound of the size of a cover, a whole number. */
  readonly better: (lowerBound: number) => void;
}

/** The multipliers: of `t(q) - 1 >= 0`, of `(t(q) - 1)(d(q) - t(q)) >= 0`, of `x(r) - x(r)^2 = 0`, of the cuts. */
interface Multipliers {
  readonly onQuery: Float64Array;
  readonly onSquare: Float64Array;
  readonly onRule: Float64Array;
  readonly onCut: Float64Array;
}
type Part = keyof Multipliers;
const parts: readonly Part[] = ["onQuery", "onSquare", "onRule", "onCut"];

/** More than what rounding can add up to. */
const safety = 1e-4;
/** From here on steps become shorter. */
const settlingRound = { plain: 100, cuts: 150 };
const longestStep = { plain: 0.02, cuts: 0.04 };
const roundsPerBarrier = 20;
const barrierDecline = { plain: 0.9, cuts: 0.92 };
/** Cuts count from this round on, and come in at intervals. */
const firstCutRound = 100;
const roundsPerCuts = 20;
/** Ends when so many rounds have not brought that much. */
const patience = { rounds: 100, gain: 0.01 };
/** Steps that lose this much were too long. */
const setback = 0.3;
/** Cuts that are not needed keep this multiplier: from 0 no logarithm would come back. */
const smallestMultiplier = 1e-7;

/**
 * Multipliers that make the minimum of the function large: gradient ascent with a barrier that keeps its matrix definite
 * and is lowered step by step. Undefined when no start is definite.
 */
export function ascendDual(instance: CoverInstance, effort: AscentEffort): DualSolution | undefined {
  const ascent = openAscent(instance, effort);
  if (ascent === undefined) return undefined;
  let best = ascent.now;
  let [sinceRound, sinceValue] = [0, best.value];
  const last = (): number => Math.ceil(best.value - safety);
  for (let round = 1; round <= effort.rounds && last() < (effort.target ?? Number.POSITIVE_INFINITY); round += 1) {
    const now = ascent.step(round);
    if (now === undefined) break;
    if (now.value > best.value) {
      // The minimum over all x is one over the covers.
      if (Math.ceil(now.value - safety) > last()) effort.better(Math.ceil(now.value - safety));
      best = now;
    }
    if (best.value > sinceValue + patience.gain) [sinceRound, sinceValue] = [round, best.value];
    else if (effort.cuts && round - sinceRound > patience.rounds) break;
  }
  return best;
}

/** Everything that one ascent works on. */
interface Ascent {
  readonly now: DualSolution;
  /** One round; undefined when no step stays definite. */
  step(round: number): DualSolution | undefined;
}

function openAscent(instance: CoverInstance, effort: AscentEffort): Ascent | undefined {
  const coverers = coverersOf(instance);
  const cuts = createProductCuts(coverers, effort.cuts ? instance.rules.length : 0);
  const evaluate = (multipliers: Multipliers): DualSolution | undefined =>
    solve(assemble(coverers, multipliers, cuts), instance.rules.length);
  const start = firstDefinite(instance, cuts.room, evaluate);
  if (start === undefined) return undefined;
  const way = effort.cuts ? "cuts" : "plain";
  const directions = directionsFor(start.at);
  let best = start;
  let current = start;
  let barrier = 0.02;
  let calm = 1;
  return {
    now: start.now,
    step(round) {
      const { at } = current;
      const moments = momentsOf(current.now, barrier);
      if (effort.cuts && round >= firstCutRound && round % roundsPerCuts === 0) cuts.takeIn(moments, at.onCut);
      const gradient = gradientAt(at, { coverers, moments, cuts, barrier });
      const direction = (part: Part): Float64Array => directions[part].next(gradient[part], round);
      const longest = calm * longestStep[way] * Math.min(1, settlingRound[way] / round);
      const moved = stepInside(at, { direction, longest, evaluate });
      if (moved === undefined) return undefined;
      if (moved.now.value > best.now.value) best = moved;
      const isTooLong = moved.now.value < best.now.value - setback;
      if (isTooLong) calm /= 2;
      current = isTooLong ? best : moved;
      if (round % roundsPerBarrier === 0) barrier *= barrierDecline[way];
      return moved.now;
    },
  };
}

/** Multipliers, and the function that they give. */
interface Place {
  readonly at: Multipliers;
  readonly now: DualSolution;
}

function firstDefinite(
  instance: CoverInstance,
  room: number,
  evaluate: (multipliers: Multipliers) => DualSolution | undefined,
): Place | undefined {
  for (const boldness of [0.1, 0]) {
    const at = startAt(instance, boldness, room);
    const now = evaluate(at);
    if (now !== undefined) return { at, now };
  }
  return undefined;
}

const directionsFor = ({ onQuery, onSquare, onRule, onCut }: Multipliers): Readonly<Record<Part, AscentDirection>> => ({
  onQuery: createAscentDirection(onQuery.length),
  onSquare: createAscentDirection(onSquare.length),
  onRule: createAscentDirection(onRule.length),
  onCut: createAscentDirection(onCut.length),
});

/** Multipliers to start from; the boldness decides how far below the safe diagonal. */
function startAt({ rules, queries }: CoverInstance, boldness: number, room: number): Multipliers {
  const square = 0.05;
  return {
    onQuery: new Float64Array(queries).fill(0.001),
    onSquare: new Float64Array(queries).fill(square),
    // Without boldness the matrix is definite for sure.
    onRule: Float64Array.from(rules, ({ length }) => 0.001 - boldness * square * length),
    // Where no cut is yet, nothing is multiplied.
    onCut: new Float64Array(room).fill(startMultiplier),
  };
}

function assemble(
  coverers: readonly (readonly number[])[],
  { onQuery, onSquare, onRule, onCut }: Multipliers,
  cuts: ProductCuts,
): QuadraticSum {
  const n = onRule.length;
  const sum = { constant: 0, linear: onRule.map((value) => 1 - value), matrix: new Float64Array(n * n) };
  const { linear, matrix } = sum;
  for (const [rule, value] of onRule.entries()) matrix[rule * n + rule] = value;
  for (const [query, rules] of coverers.entries()) {
    const [plain, square] = [onQuery[query] ?? 0, onSquare[query] ?? 0];
    sum.constant += plain + rules.length * square;
    for (const rule of rules) {
      linear[rule] = (linear[rule] ?? 0) - plain - (rules.length + 1) * square;
      for (const other of rules) matrix[rule * n + other] = (matrix[rule * n + other] ?? 0) + square;
    }
  }
  cuts.subtractFrom(sum, onCut);
  return sum;
}

/** The function's minimum; undefined when its matrix is not definite. */
function solve(sum: QuadraticSum, n: number): DualSolution | undefined {
  const { constant, linear, matrix } = sum;
  const inverse = inverseOfDefinite(matrix, n);
  if (inverse === undefined) return undefined;
  const minimiser = linear.map((_, row) => {
    let product = 0;
    for (let column = 0; column < n; column += 1) product += (inverse[row * n + column] ?? 0) * (linear[column] ?? 0);
    return -product / 2;
  });
  const value = linear.reduce((total, slope, rule) => total + (slope * (minimiser[rule] ?? 0)) / 2, constant);
  return { constant, linear, matrix, value, inverse, minimiser };
}

/** What the barrier makes of the inverse: moments of the relaxation's solution, which the multipliers are prices of. */
function momentsOf({ minimiser, inverse }: DualSolution, barrier: number): Moments {
  const n = minimiser.length;
  const second = inverse.map((value) => barrier * value);
  for (let row = 0; row < n; row += 1) {
    const own = minimiser[row] ?? 0;
    for (let column = 0; column < n; column += 1) {
      second[row * n + column] = (second[row * n + column] ?? 0) + own * (minimiser[column] ?? 0);
    }
  }
  return { first: minimiser, second };
}

interface Surroundings {
  readonly coverers: readonly (readonly number[])[];
  readonly moments: Moments;
  readonly cuts: ProductCuts;
  readonly barrier: number;
}

/** All but `onRule` are kept positive by stepping in their logarithms. */
function gradientAt(at: Multipliers, { coverers, moments, cuts, barrier }: Surroundings): Multipliers {
  const { first, second } = moments;
  const n = first.length;
  const onQuery = new Float64Array(coverers.length);
  const onSquare = new Float64Array(coverers.length);
  for (const [query, rules] of coverers.entries()) {
    let times = 0;
    let squared = 0;
    for (const rule of rules) {
      times += first[rule] ?? 0;
      for (const other of rules) squared += second[rule * n + other] ?? 0;
    }
    onQuery[query] = (1 - times) * (at.onQuery[query] ?? 0) + barrier * 0.01;
    onSquare[query] = (squared - (rules.length + 1) * times + rules.length) * (at.onSquare[query] ?? 0);
  }
  const onRule = first.map((value, rule) => (second[rule * n + rule] ?? 0) - value);
  const onCut = cuts.valuesAt(moments).map((value, place) => -value * (at.onCut[place] ?? 0));
  return { onQuery, onSquare, onRule, onCut };
}

interface Step {
  readonly direction: (part: Part) => Float64Array;
  readonly longest: number;
  readonly evaluate: (multipliers: Multipliers) => DualSolution | undefined;
}

/** A step in the direction, halved until the matrix is definite. */
function stepInside(at: Multipliers, { direction, longest, evaluate }: Step): Place | undefined {
  const [query = [], square = [], rule = [], cut = []] = parts.map(direction);
  for (let length = longest; length > 1e-6; length /= 2) {
    const next: Multipliers = {
      onQuery: at.onQuery.map((value, place) => value * Math.exp(length * (query[place] ?? 0))),
      onSquare: at.onSquare.map((value, place) => value * Math.exp(length * (square[place] ?? 0))),
      onRule: at.onRule.map((value, place) => value + 0.1 * length * (rule[place] ?? 0)),
      onCut: at.onCut.map((value, place) =>
        Math.max(smallestMultiplier, value * Math.exp(5 * length * (cut[place] ?? 0))),
      ),
    };
    const now = evaluate(next);
    if (now !== undefined) return { at: next, now };
  }
  return undefined;
}
