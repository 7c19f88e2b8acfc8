import type { CoverInstance } from "./cover-instance.ts";
import { ascendDual, type DualSolution } from "./quadratic-dual.ts";

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

/** Beyond this many rules the dense matrices are too slow to be worth it. */
export const maxQuadraticRules = 600;

const plainRounds = 400;
/** They end when they bring no more. */
const cutRounds = 2_000;

/**
 * The function with the largest minimum that is found. Undefined when no start is definite.
 * @param better hears of each higher bound of the size of a cover, a whole number
 * @param cuts takes in products of inequalities, too, up to a known cover of size `target`: slower, higher, and the
 * function is dense
 */
export function quadraticMinorant(
  instance: CoverInstance,
  better: (lowerBound: number) => void,
  cuts?: { readonly target: number },
): QuadraticMinorant | undefined {
  const effort = cuts === undefined ? { rounds: plainRounds, cuts: false } : { rounds: cutRounds, cuts: true, ...cuts };
  const found = ascendDual(instance, { ...effort, better });
  return found && minorantOf(found, instance.rules.length);
}

function minorantOf({ constant, linear, matrix, inverse, minimiser }: DualSolution, n: number): QuadraticMinorant {
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
