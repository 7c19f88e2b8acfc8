import type * as RDF from "../../rdf/term.ts";
import type { Bindings } from "../../results/model.ts";
import { compareKeys, type SortKey, sortKey } from "../expressions/compare.ts";
import { type Holding, rowBytes, termBytes } from "../held-bytes.ts";
import type { Expression, OrderBy } from "./algebra.ts";
import {
  createTurns,
  type Execution,
  passedOn,
  type Rows,
  type Solutions,
  solutionsOf,
  type Turns,
  wantingAll,
} from "./execution.ts";
import { type ValueOf, valueIn } from "./expressions.ts";
import { itemAt } from "../../values.ts";

/** ORDER BY, each key of which is computed once. Below a LIMIT it holds little more than the rows that are wanted. */
export async function orderBy(
  { input, expressions, limit = Number.POSITIVE_INFINITY }: OrderBy,
  execution: Execution,
): Promise<Solutions> {
  const solutions = await solutionsOf(input, wantingAll(execution));
  const criteria = expressions.map(toCriterion);
  const sort: Sort = {
    // An expression that fails sorts like an unbound variable.
    keys: criteria.map(({ expression }) => valueIn(expression, execution)),
    compare: rowOrder(criteria),
    limit,
    turns: createTurns(execution.signal),
  };
  return passedOn(solutions, execution, () => sorted(solutions.rows, sort, execution.held.open()));
}

interface Sort {
  readonly keys: readonly ValueOf[];
  readonly compare: (a: KeyedRow, b: KeyedRow) => number;
  /** Rows that are wanted. */
  readonly limit: number;
  readonly turns: Turns;
}

interface Criterion {
  readonly expression: Expression;
  readonly descending: boolean;
}

function toCriterion(expression: Expression): Criterion {
  if (expression.subType !== "operator") return { expression, descending: false };
  const { operator, args } = expression;
  return operator === "desc" && args[0] ? { expression: args[0], descending: true } : { expression, descending: false };
}

interface KeyedRow {
  readonly row: Bindings;
  readonly keys: readonly SortKey[];
  readonly bytes: number;
}

/** By index: an iterator for each comparison would cost as much as the comparison. */
function rowOrder(criteria: readonly Criterion[]) {
  return (a: KeyedRow, b: KeyedRow): number => {
    for (let at = 0; at < criteria.length; at++) {
      const order = compareKeys(a.keys[at]!, b.keys[at]!);
      if (order !== 0) return criteria[at]!.descending ? -order : order;
    }
    return 0;
  };
}

// Sorting twice as many rows as are wanted, and then dropping the half, costs little more than a heap.
const FEWEST_ROWS = 1_000;

async function* sorted(rows: Rows, sort: Sort, held: Holding): Rows {
  const { keys, compare, limit, turns } = sort;
  let kept: KeyedRow[] = [];
  try {
    for await (const batch of rows) {
      for (const row of batch) {
        const pause = turns();
        if (pause) await pause;
        const made = keyedRow(row, keys);
        const keyed = made instanceof Promise ? await made : made;
        held.add(keyed.bytes);
        kept.push(keyed);
      }
      if (kept.length < FEWEST_ROWS || kept.length < 2 * limit) continue;
      kept = [...(await sortInTurns(kept, { compare, turns }))];
      for (const { bytes } of kept.splice(limit)) held.add(-bytes);
    }
    const inOrder = await sortInTurns(kept, { compare, turns });
    for (let from = 0; from < inOrder.length; from += RUN) yield inOrder.slice(from, from + RUN).map(({ row }) => row);
  } finally {
    held.release();
  }
}

function keyedRow(row: Bindings, keysOf: readonly ValueOf[]): KeyedRow | Promise<KeyedRow> {
  const found = keysOf.map((keyOf) => keyOf(row));
  const made = (terms: readonly (RDF.Term | undefined)[]): KeyedRow => {
    const bytes = terms.reduce((sum, term) => sum + termBytes(term), rowBytes(row));
    return { row, keys: terms.map((term) => sortKey(term)), bytes };
  };
  return areValues(found) ? made(found) : Promise.all(found.map(async (value) => value)).then(made);
}

const areValues = (found: readonly ReturnType<ValueOf>[]): found is readonly (RDF.Term | undefined)[] =>
  !found.some((value) => value instanceof Promise);

/** How items are sorted. */
interface Sorting<T> {
  readonly compare: (a: T, b: T) => number;
  readonly turns: Turns;
}

const RUN = 64;

/** The items in order, equal ones in the order they came in: a merge sort that gives others their turn. */
async function sortInTurns<T>(items: readonly T[], sorting: Sorting<T>): Promise<readonly T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += RUN) {
    runs.push(items.slice(from, from + RUN).toSorted(sorting.compare));
    const pause = sorting.turns();
    if (pause) await pause;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) longer.push(await merge(itemAt(runs, at), runs[at + 1] ?? [], sorting));
    runs = longer;
  }
  return runs[0] ?? [];
}

async function merge<T>(left: readonly T[], right: readonly T[], { compare, turns }: Sorting<T>): Promise<T[]> {
  const merged: T[] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    const pause = turns();
    if (pause) await pause;
    if (compare(left[i]!, right[j]!) <= 0) merged.push(left[i++]!);
    else merged.push(right[j++]!);
  }
  while (i < left.length) merged.push(left[i++]!);
  while (j < right.length) merged.push(right[j++]!);
  return merged;
}
