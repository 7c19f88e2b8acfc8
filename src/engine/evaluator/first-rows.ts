import type { Bindings } from "../../results/model.ts";
import { hasBlankNode } from "../../results/terms.ts";
import { type HeldBytes, type Holding, keyBytes, rowBytes } from "../held-bytes.ts";
import { wholeRowText } from "./rows.ts";

type Rows = AsyncIterable<readonly Bindings[]>;

// Of the rows that a join begins with some find no partner.
const ROWS_FOR_ONE = 16;
const FEWEST_ROWS = 64;

/** How a part of a query of which few solutions may be enough is asked. */
interface FirstRowsOptions {
  /** Number of solutions of the query that are enough. */
  readonly wanted: number;
  /** About how many rows there are, where that is known. */
  readonly size: number | undefined;
  readonly held: HeldBytes;
}

/**
 * The rows of a request: where few solutions may be enough, the first of them are asked for, and all of them only when
 * these were not. Rows of the second answer that came before are left out, each once.
 * @param ask sends the request, for at most this number of rows
 */
export async function* firstRows(
  ask: (most?: number) => Rows,
  { wanted, size, held }: FirstRowsOptions,
): AsyncIterable<readonly Bindings[]> {
  const most = Math.max(FEWEST_ROWS, ROWS_FOR_ONE * wanted);
  if (size !== undefined && size <= most) {
    yield* ask();
    return;
  }
  const holding = held.open();
  try {
    const first: Bindings[] = [];
    for await (const rows of ask(most)) {
      for (const row of rows) holding.add(rowBytes(row));
      first.push(...rows);
    }
    const isAll = first.length < most;
    // Blank nodes have other labels in the second answer: the rows could not be recognised.
    const isRepeatable = !first.some((row) => row.values().some(hasBlankNode));
    if (isAll || isRepeatable) yield first;
    // Gathered rows are joined before more are requested.
    yield [];
    if (!isAll) yield* isRepeatable ? without(first, ask(), holding) : ask();
  } finally {
    holding.release();
  }
}

/** The rows but for those that came before. */
async function* without(before: readonly Bindings[], rows: Rows, holding: Holding): AsyncIterable<readonly Bindings[]> {
  const left = new Map<string, number>();
  for (const row of before) {
    const text = wholeRowText(row);
    const known = left.get(text) ?? 0;
    if (known === 0) holding.add(keyBytes(text));
    left.set(text, known + 1);
  }
  const isNew = (row: Bindings): boolean => {
    if (left.size === 0) return true;
    const text = wholeRowText(row);
    const count = left.get(text);
    if (count === undefined) return true;
    if (count > 1) left.set(text, count - 1);
    else left.delete(text);
    return false;
  };
  for await (const batch of rows) yield batch.filter(isNew);
}
