import { type CoverInstance, coverersOf } from "./cover-instance.ts";
import { inverseOfDefinite } from "./dense-matrix.ts";

/**
 * A convex quadratic function that no cover exceeds its own size in: for x the 0-1 vector of a cover,
 * `constant + linear x + x' Q x <= number of chosen rules`.
 *
 * With t(q) the number of chosen rules that cover q, d(q) the number of all: t(q) - 1 >= 0, (t(q) - 1)(d(q) - t(q)) >= 0
 * and x(r) - x(r)^2 = 0 hold for each cover. Subtracted from the sum of x with multipliers y, w >= 0 and any u, they give
 * such a function; Q = sum of w(q) a(q) a(q)' + diag(u) must be positive definite. This is the Lagrangian dual of the
 * semidefinite relaxation (Shor 1987), and sees what the linear one cannot: that all t(q) = 1 at once is impossible.
 */
export interface QuadraticMinorant {
  readonly constant: number;
  readonly linear: Float64Array;
  /** Of each rule its neighbours and the coefficients of Q, the diagonal apart. */
  readonly neighbours: readonly Int32Array[];
  readonly coefficients: readonly Float64Array[];
  readonly diagonal: Float64Array;
  /** Where it is smallest when x is free. */
  readonly minimiser: Float64Array;
  /** Diagonal of the inverse of Q: how expensive it is to move one coordinate away from the minimiser. */
  readonly stiffness: Float64Array;
}

/** The multipliers, and what belongs to them. */
interface Point {
  readonly onQuery: Float64Array;
  readonly onSquare: Float64Array;
  readonly onRule: Float64Array;
}

interface Evaluated {
  readonly value: number;
  readonly constant: number;
  readonly linear: Float64Array;
  readonly matrix: Float64Array;
  readonly inverse: Float64Array;
  readonly minimiser: Float64Array;
}

/** Beyond this many rules the dense matrices are too slow to be worth it. */
export const maxQuadraticRules = 600;

const rounds = 400;
/** From here on steps become shorter. */
const settlingRound = 100;
/** More than what rounding can add up to. */
const safety = 1e-4;
const roundsPerBarrier = 20;

/**
 * Multipliers that make the minorant's minimum large: gradient ascent (Adam) with a barrier that keeps Q definite and
 * is lowered step by step. Undefined when no start is definite.
 * @param better hears of each higher bound of the size of a cover, a whole number
 */
export function quadraticMinorant(
  instance: CoverInstance,
  better: (lowerBound: number) => void,
): QuadraticMinorant | undefined {
  const coverers = coverersOf(instance);
  const n = instance.rules.length;
  let point = startPoint(instance, 0.1);
  let now = evaluate(coverers, point, n);
  if (now === undefined) {
    point = startPoint(instance, 0);
    now = evaluate(coverers, point, n);
  }
  let best = now;
  const ascent = [point.onQuery, point.onSquare, point.onRule].map(({ length }) => createAscent(length));
  let barrier = 0.02;
  for (let round = 1; round <= rounds && now !== undefined; round += 1) {
    const gradient = gradientAt(coverers, point, { now, barrier, n });
    const direction = [gradient.onQuery, gradient.onSquare, gradient.onRule].map((part, at) =>
      ascent[at]?.direction(part, round),
    );
    const moved = stepInside(coverers, point, { direction, n, longest: 0.02 * Math.min(1, settlingRound / round) });
    if (moved === undefined) break;
    ({ point, now } = moved);
    if (best === undefined || now.value > best.value) {
      // The minimum of the minorant over all x is one over the covers.
      if (Math.ceil(now.value - safety) > Math.ceil((best?.value ?? 0) - safety)) better(Math.ceil(now.value - safety));
      best = now;
    }
    if (round % roundsPerBarrier === 0) barrier *= 0.9;
  }
  return best && minorantOf(best, n);
}

/** Multipliers to start from; the boldness decides how far below the safe diagonal. */
function startPoint({ rules, queries }: CoverInstance, boldness: number): Point {
  const square = 0.05;
  return {
    onQuery: new Float64Array(queries).fill(0.001),
    onSquare: new Float64Array(queries).fill(square),
    // Without boldness the matrix is definite for sure.
    onRule: Float64Array.from(rules, ({ length }) => 0.001 - boldness * square * length),
  };
}

/** The minorant of these multipliers; undefined when its matrix is not definite. */
function evaluate(coverers: readonly (readonly number[])[], point: Point, n: number): Evaluated | undefined {
  const { constant, linear, matrix } = assemble(coverers, point, n);
  const inverse = inverseOfDefinite(matrix, n);
  if (inverse === undefined) return undefined;
  const minimiser = linear.map((_, row) => {
    let product = 0;
    for (let column = 0; column < n; column += 1) product += (inverse[row * n + column] ?? 0) * (linear[column] ?? 0);
    return -product / 2;
  });
  const value = linear.reduce((total, slope, rule) => total + (slope * (minimiser[rule] ?? 0)) / 2, constant);
  return { value, constant, linear, matrix, inverse, minimiser };
}

function assemble(
  coverers: readonly (readonly number[])[],
  point: Point,
  n: number,
): Pick<Evaluated, "constant" | "linear" | "matrix"> {
  const matrix = new Float64Array(n * n);
  const linear = point.onRule.map((value) => 1 - value);
  for (const [rule, value] of point.onRule.entries()) matrix[rule * n + rule] = value;
  let constant = 0;
  for (const [query, rules] of coverers.entries()) {
    const [plain, square] = [point.onQuery[query] ?? 0, point.onSquare[query] ?? 0];
    constant += plain + rules.length * square;
    for (const rule of rules) {
      linear[rule] = (linear[rule] ?? 0) - plain - (rules.length + 1) * square;
      for (const other of rules) matrix[rule * n + other] = (matrix[rule * n + other] ?? 0) + square;
    }
  }
  return { constant, linear, matrix };
}

function gradientAt(
  coverers: readonly (readonly number[])[],
  { onQuery, onSquare }: Point,
  { now, barrier, n }: { readonly now: Evaluated; readonly barrier: number; readonly n: number },
): Point {
  const { minimiser: x, inverse } = now;
  const forQuery = new Float64Array(onQuery.length);
  const forSquare = new Float64Array(onSquare.length);
  for (const [query, rules] of coverers.entries()) {
    let times = 0;
    let spread = 0;
    for (const rule of rules) {
      times += x[rule] ?? 0;
      for (const other of rules) spread += inverse[rule * n + other] ?? 0;
    }
    // Both are kept positive by stepping in their logarithms.
    forQuery[query] = (1 - times) * (onQuery[query] ?? 0) + barrier * 0.01;
    forSquare[query] = ((times - 1) * (times - rules.length) + barrier * spread) * (onSquare[query] ?? 0);
  }
  const onRule = x.map((value, rule) => value * value - value + barrier * (inverse[rule * n + rule] ?? 0));
  return { onQuery: forQuery, onSquare: forSquare, onRule };
}

/** Adam (Kingma, Ba 2015) without its step size. */
function createAscent(length: number): { direction(gradient: Float64Array, round: number): Float64Array } {
  const [keepMean, keepSquare] = [0.9, 0.99];
  const mean = new Float64Array(length);
  const square = new Float64Array(length);
  return {
    direction: (gradient, round) =>
      gradient.map((slope, at) => {
        const first = keepMean * (mean[at] ?? 0) + (1 - keepMean) * slope;
        const second = keepSquare * (square[at] ?? 0) + (1 - keepSquare) * slope * slope;
        mean[at] = first;
        square[at] = second;
        return first / (1 - keepMean ** round) / (Math.sqrt(second / (1 - keepSquare ** round)) + 1e-9);
      }),
  };
}

/** A step in the direction, halved until the matrix is definite. */
function stepInside(
  coverers: readonly (readonly number[])[],
  point: Point,
  {
    direction,
    n,
    longest,
  }: { readonly direction: readonly (Float64Array | undefined)[]; readonly n: number; readonly longest: number },
): { readonly point: Point; readonly now: Evaluated } | undefined {
  const [query, square, rule] = direction;
  for (let length = longest; length > 1e-6; length /= 2) {
    const next: Point = {
      onQuery: point.onQuery.map((value, at) => value * Math.exp(length * (query?.[at] ?? 0))),
      onSquare: point.onSquare.map((value, at) => value * Math.exp(length * (square?.[at] ?? 0))),
      onRule: point.onRule.map((value, at) => value + 0.1 * length * (rule?.[at] ?? 0)),
    };
    const now = evaluate(coverers, next, n);
    if (now !== undefined) return { point: next, now };
  }
  return undefined;
}

function minorantOf({ constant, linear, matrix, inverse, minimiser }: Evaluated, n: number): QuadraticMinorant {
  const rules = [...linear.keys()];
  const rows = rules.map((row) =>
    Int32Array.from(rules.filter((column) => column !== row && matrix[row * n + column] !== 0)),
  );
  return {
    constant,
    linear,
    neighbours: rows,
    coefficients: rows.map((columns, row) => Float64Array.from(columns, (column) => matrix[row * n + column] ?? 0)),
    diagonal: Float64Array.from(linear, (_, rule) => matrix[rule * n + rule] ?? 0),
    minimiser,
    stiffness: Float64Array.from(linear, (_, rule) => inverse[rule * n + rule] ?? 1),
  };
}
