import type * as RDF from "@rdfjs/types";
import type { IActionContext, IQueryOperationResult } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { compareKeys, type SortKey, sortKey } from "../expressions/compare.ts";
import { type Holding, rowBytes, termBytes } from "../held-bytes.ts";
import { batches, type OperatorArgs, SolutionOperator } from "./clause-operands.ts";
import { controlKey, passedOn, createTurns, type Turns } from "./execution.ts";
import type { ValueOf } from "./expression-evaluator.ts";

/**
 * ORDER BY that counts what it holds, computes each key once, and gives others their turn. Below a LIMIT it holds
 * little more than the rows that are wanted (Comunica's `sort-limit-pushdown` tells how many).
 */
export class OrderBy extends SolutionOperator<Algebra.OrderBy> {
  constructor(args: OperatorArgs) {
    super(args, "orderby");
  }

  protected override async runOperation(
    operation: Algebra.OrderBy,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const input = await this.operand(operation.input, context);
    const criteria = operation.expressions.map(toCriterion);
    // An expression that fails sorts like an unbound variable.
    const keys = criteria.map(({ expression }) => this.args.expressions.compile(expression, context));
    const { signal, held } = context.getSafe(controlKey);
    const sort: Sort = {
      keys,
      compare: rowOrder(criteria),
      limit: (operation.metadata?.["sortLimit"] as number | undefined) ?? Number.POSITIVE_INFINITY,
      turns: createTurns(signal),
    };
    const bindingsStream = passedOn(context, () => sorted(batches(input), sort, held.open()));
    return { type: "bindings", bindingsStream, metadata: input.metadata };
  }
}

interface Sort {
  readonly keys: readonly ValueOf[];
  readonly compare: (a: KeyedRow, b: KeyedRow) => number;
  /** Rows that are wanted. */
  readonly limit: number;
  readonly turns: Turns;
}

interface Criterion {
  readonly expression: Algebra.Expression;
  readonly descending: boolean;
}

function toCriterion(expression: Algebra.Expression): Criterion {
  const { operator, args } = expression as Partial<Algebra.OperatorExpression>;
  const [only] = args ?? [];
  return operator === "desc" && only ? { expression: only, descending: true } : { expression, descending: false };
}

interface KeyedRow {
  readonly row: RDF.Bindings;
  readonly keys: readonly SortKey[];
  readonly bytes: number;
}

function rowOrder(criteria: readonly Criterion[]) {
  return (a: KeyedRow, b: KeyedRow): number => {
    for (const [at, { descending }] of criteria.entries()) {
      const [left, right] = [a.keys[at], b.keys[at]];
      const order = left && right ? compareKeys(left, right) : 0;
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };
}

// Sorting twice as many rows as are wanted, and then dropping the half, costs little more than a heap.
const FEWEST_ROWS = 1_000;

async function* sorted(
  rows: AsyncIterable<readonly RDF.Bindings[]>,
  sort: Sort,
  held: Holding,
): AsyncIterable<readonly RDF.Bindings[]> {
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

function keyedRow(row: RDF.Bindings, keysOf: readonly ValueOf[]): KeyedRow | Promise<KeyedRow> {
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
    for (let at = 0; at < runs.length; at += 2) longer.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], sorting));
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
    if (compare(left[i] as T, right[j] as T) <= 0) merged.push(left[i++] as T);
    else merged.push(right[j++] as T);
  }
  while (i < left.length) merged.push(left[i++] as T);
  while (j < right.length) merged.push(right[j++] as T);
  return merged;
}
