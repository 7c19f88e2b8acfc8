import type { Bindings } from "../../results/model.ts";
import { termToText } from "../../results/terms.ts";
import type { Top } from "../demand.ts";
import { compareNumbers, type Numeric } from "../expressions/numbers.ts";
import { numeric, valueOf } from "../expressions/values.ts";

type Batches = AsyncIterable<readonly Bindings[]>;

/**
 * The first solutions of one endpoint and all that equal the last of them. One more than are wanted is requested, which shows whether
 * there are others. Of several endpoints each has its own cut: their answers together say nothing of what one has left out.
 * @param ask solutions that the endpoint summarises so; undefined: all of them
 */
export async function* tiedRows(top: Top, ask: (top: Top | undefined) => Batches): Batches {
  const rows: Bindings[] = [];
  for await (const batch of ask({ ...top, rows: top.rows + 1 })) rows.push(...batch);
  const numbers = rows.length <= top.rows ? [] : rows.map((row) => numberIn(row, top.order));
  const known = numbers.filter((number) => number !== undefined);
  const bound = tiedNumber(known, top);
  // What a description called a number and is none has its place in the order of all solutions.
  if (known.length < numbers.length) yield* ask(undefined);
  else if (bound === undefined) yield rows;
  else yield* ask({ ...top, bound: termToText(numeric(bound)) });
}

function numberIn(row: Bindings, name: string): Numeric | undefined {
  const term = row.get(name);
  const value = term?.termType === "Literal" ? valueOf(term) : undefined;
  return value?.kind === "number" ? value.number : undefined;
}

/** The last number that is wanted, where the next one equals it. */
function tiedNumber(numbers: readonly Numeric[], { rows, descending }: Top): Numeric | undefined {
  const sign = descending ? -1 : 1;
  const sorted = numbers.toSorted((one, other) => sign * compareNumbers(one, other));
  const [last, next] = [sorted[rows - 1], sorted[rows]];
  return last && next && compareNumbers(last, next) === 0 ? last : undefined;
}
