import type { ClauseVariable } from "../../plan/query-plan.ts";

/** An operand of a join: its estimated number of solutions, and its variables with their numbers of values. */
export interface Sized {
  readonly size: number;
  readonly variables: readonly ClauseVariable[];
  /** Solutions that it was seen to have for one of those that it is joined with. */
  readonly perSolution?: number | undefined;
  /** Its figures were corrected by received rows. */
  readonly isCorrected?: boolean | undefined;
  /** Its place in the order that rests on no figures: see `ranked`. */
  readonly rank?: number | undefined;
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

/** Kinds of terms that all engines spell alike. */
const spelledAlike: ReadonlySet<ClauseVariable["kind"]> = new Set(["property", "iri", "string"]);

const mayBeRespelled = ({ noLiterals, kind }: ClauseVariable): boolean =>
  noLiterals !== true && !spelledAlike.has(kind);

/**
 * True if two parts share a variable whose values may be literals of which engines match several spellings. Then the one that is
 * asked with the other's values decides which of them it has, and the answer depends on which one that is.
 */
export function sharesValues(one: Pick<Sized, "variables">, other: Pick<Sized, "variables">): boolean {
  const names = new Set(one.variables.flatMap((variable) => (mayBeRespelled(variable) ? [variable.name] : [])));
  return other.variables.some((variable) => names.has(variable.name) && mayBeRespelled(variable));
}

/**
 * The parts with their ranks, where two of them share values. The order of those two then rests on the query alone: neither a
 * description nor an earlier answer changes an answer.
 * @param sizeOf size as the text alone suggests it
 */
export function ranked<T extends Sized>(parts: readonly T[], sizeOf: (part: T) => number, start?: Sized): readonly T[] {
  const hasPairs = parts.some((part, at) => parts.slice(at + 1).some((other) => sharesValues(part, other)));
  if (!hasPairs) return parts;
  const textual = parts.map((part) => ({ part, size: sizeOf(part), variables: part.variables.map(withoutFigures) }));
  const order = joinOrder(textual, start && { size: 1, variables: start.variables }).map(({ part }) => part);
  return parts.map((part) => ({ ...part, rank: order.indexOf(part) }));
}

const withoutFigures = ({ name, certain }: ClauseVariable): ClauseVariable => ({ name, certain });

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
  const starts = new Set([...bySize.slice(0, mostStarts), ...parts.filter(({ rank }) => rank === 0)]);
  const orders = [...starts].map((first) => {
    const others = bySize.filter((part) => part !== first);
    const rest = orderFrom(first, others);
    const isAstray = rest.isAstray || !isFree(first, others);
    return { order: [first, ...rest.order], moved: isAstray ? Number.POSITIVE_INFINITY : first.size + rest.moved };
  });
  return orders.reduce(
    (least, other) => (other.moved < least.moved ? other : least),
    orders[0] ?? { order: [], moved: 0 },
  ).order;
}

/** None of the others has to come before the part. */
const isFree = (part: Sized, others: readonly Sized[]): boolean =>
  part.rank === undefined ||
  !others.some(({ rank = 0, variables }) => rank < (part.rank ?? 0) && sharesValues(part, { variables }));

/** The part of the lowest rank; all of them where they have none. */
function lowestOf<T extends Sized>(parts: readonly T[]): readonly T[] {
  const lowest = Math.min(...parts.map(({ rank = 0 }) => rank));
  return parts.filter(({ rank = 0 }) => rank === lowest);
}

interface Order<T> {
  readonly order: readonly T[];
  /** Keys and solutions that go over the wire. */
  readonly moved: number;
  /** A part comes before another one of lower rank that it shares values with. */
  readonly isAstray: boolean;
}

function orderFrom<T extends Sized>(start: Sized, parts: readonly T[]): Order<T> {
  const rest = [...parts];
  const order: T[] = [];
  let moved = 0;
  let isAstray = false;
  let known = start;
  while (rest.length > 0) {
    const names = new Set(known.variables.map(({ name }) => name));
    const connected = rest.filter(
      ({ variables }) => variables.length === 0 || variables.some(({ name }) => names.has(name)),
    );
    const candidates = connected.length > 0 ? connected : lowestOf(rest);
    const free = candidates.filter((part) => isFree(part, rest));
    isAstray ||= free.length === 0;
    const sized = (free.length > 0 ? free : lowestOf(candidates)).map((part) => ({
      part,
      size: expectedJoin(known, part),
    }));
    const { part: best, size } = sized.reduce((least, other) => (other.size < least.size ? other : least));
    // Taken in whole where that is less than the keys and their solutions.
    moved += Math.min(known.size + size, best.size);
    known = { size, variables: boundTogether(known, best) };
    rest.splice(rest.indexOf(best), 1);
    order.push(best);
  }
  return { order, moved, isAstray };
}

/** The variables of a join; it has no more values of each than either side. */
export function boundTogether(
  left: Pick<Sized, "variables">,
  right: Pick<Sized, "variables">,
): readonly ClauseVariable[] {
  const known = new Map(left.variables.map((variable) => [variable.name, variable]));
  for (const variable of right.variables) {
    const { name, certain, values } = variable;
    const before = known.get(name);
    const fewest = Math.min(values ?? Number.POSITIVE_INFINITY, before?.values ?? Number.POSITIVE_INFINITY);
    const sides = [variable, ...(before ? [before] : [])].filter((side) => side.certain);
    known.set(name, {
      name,
      certain: certain || before?.certain === true,
      values: Number.isFinite(fewest) ? fewest : undefined,
      kind: sides.find((side) => side.kind !== undefined)?.kind,
      noLiterals: sides.find((side) => side.noLiterals)?.noLiterals,
    });
  }
  return [...known.values()];
}
