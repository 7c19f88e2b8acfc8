import type { ClauseVariable } from "../../plan/query-plan.ts";

/** An operand of a join: its estimated number of solutions, and its variables with their numbers of values. */
export interface Sized {
  readonly size: number;
  readonly variables: readonly ClauseVariable[];
  /** Solutions that it was seen to have for one of those that it is joined with. */
  readonly perSolution?: number | undefined;
  /** Its figures were corrected by received rows. */
  readonly isCorrected?: boolean | undefined;
}

/**
 * About how many solutions a join has: T(R) T(S) / max(V(R, a), V(S, a)) for the variable a that leaves the fewest (Selinger
 * et al., Access Path Selection, 1979). A common variable of which nothing is known joins about one solution with each.
 */
export function expectedJoin(left: Sized, right: Sized): number {
  if (right.perSolution !== undefined) return left.size * right.perSolution;
  const valuesOf = valuesIn(left.variables);
  const shared = right.variables.filter(({ name }) => valuesOf.has(name));
  const product = left.size * right.size;
  if (shared.length === 0) return product;
  const most = Math.max(...shared.map(({ name, values }) => Math.max(values ?? 0, valuesOf.get(name) ?? 0)));
  return most > 0 ? Math.ceil(product / most) : Math.max(left.size, right.size);
}

const indexed = new WeakMap<readonly ClauseVariable[], ReadonlyMap<string, number | undefined>>();

/** The values of variables by name; one list is compared with many others. */
function valuesIn(variables: readonly ClauseVariable[]): ReadonlyMap<string, number | undefined> {
  const values = indexed.get(variables) ?? new Map(variables.map((variable) => [variable.name, variable.values]));
  indexed.set(variables, values);
  return values;
}

/** Parts that are tried as the first one: the time grows with each. */
const mostStarts = 8;

/**
 * The order in which parts are joined, each with the keys of those before it: always one that shares a variable with what is
 * bound already, and of those the one after which there are the fewest solutions. Of the orders that begin with one of the
 * smallest parts the one is taken that moves the least. Ties keep the order of size, then of the query.
 * @param start the operand they are joined with
 */
export function joinOrder<T extends Sized>(parts: readonly T[], start?: Sized): readonly T[] {
  const bySize = parts.toSorted((one, other) => one.size - other.size);
  if (start) return orderFrom(start, bySize).order;
  const orders = bySize.slice(0, mostStarts).map((first) => {
    const rest = orderFrom(
      first,
      bySize.filter((part) => part !== first),
    );
    return { order: [first, ...rest.order], moved: first.size + rest.moved };
  });
  return orders.reduce(
    (least, other) => (other.moved < least.moved ? other : least),
    orders[0] ?? { order: [], moved: 0 },
  ).order;
}

interface Order<T> {
  readonly order: readonly T[];
  /** Keys and solutions that go over the wire. */
  readonly moved: number;
}

function orderFrom<T extends Sized>(start: Sized, parts: readonly T[]): Order<T> {
  const rest = [...parts];
  const order: T[] = [];
  let moved = 0;
  let known = start;
  while (rest.length > 0) {
    const names = new Set(known.variables.map(({ name }) => name));
    const connected = rest.filter(
      ({ variables }) => variables.length === 0 || variables.some(({ name }) => names.has(name)),
    );
    const candidates = connected.length > 0 ? connected : rest;
    const sized = candidates.map((part) => ({ part, size: expectedJoin(known, part) }));
    const { part: best, size } = sized.reduce((least, other) => (other.size < least.size ? other : least));
    // Taken in whole where that is less than the keys and their solutions.
    moved += Math.min(known.size + size, best.size);
    known = { size, variables: boundTogether(known, best) };
    rest.splice(rest.indexOf(best), 1);
    order.push(best);
  }
  return { order, moved };
}

/** The variables of a join; it has no more values of each than either side. */
export function boundTogether(
  left: Pick<Sized, "variables">,
  right: Pick<Sized, "variables">,
): readonly ClauseVariable[] {
  const known = new Map(left.variables.map((variable) => [variable.name, variable]));
  for (const { name, certain, values } of right.variables) {
    const before = known.get(name);
    const fewest = Math.min(values ?? Number.POSITIVE_INFINITY, before?.values ?? Number.POSITIVE_INFINITY);
    const isKnown = Number.isFinite(fewest);
    known.set(name, { name, certain: certain || before?.certain === true, values: isKnown ? fewest : undefined });
  }
  return [...known.values()];
}
