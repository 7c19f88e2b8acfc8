import type { Bindings } from "../../results/model.ts";
import { type HeldBytes, type Holding, keyBytes, rowBytes } from "../held-bytes.ts";
import { createTurns, type Turns } from "./execution.ts";
import { merged, rowText } from "./rows.ts";

/** A join whose right side cannot be asked by key: it is taken in whole. */
export interface BufferedJoin {
  readonly left: AsyncIterable<readonly Bindings[]>;
  readonly right: AsyncIterable<readonly Bindings[]>;
  /** Hash keys: compatible solutions have equal ones. A solution without a key has no partner. */
  readonly key: { readonly left: RowKey; readonly right: RowKey };
  /** All shared variables. */
  readonly shared: readonly string[];
  /** Memory account of the evaluation. */
  readonly held: HeldBytes;
  /** Aborted when the evaluation is over. */
  readonly signal: AbortSignal;
}

type RowKey = (row: Bindings) => string | undefined;

/** The key of solutions that all bind these variables. */
export const keyOn =
  (names: readonly string[]): RowKey =>
  (row) =>
    rowText(row, names);

const ROWS_PER_BATCH = 64;

/** A condition over merged solutions. */
export interface Condition {
  /** How many solutions are judged at once, whichever left solutions they are of. */
  readonly atOnce: number;
  holds(solutions: readonly Bindings[]): Promise<readonly boolean[]>;
}

/** Those of the candidates for which the condition holds. */
export async function accepted<T extends { readonly merged: Bindings }>(
  candidates: readonly T[],
  condition: Condition | undefined,
): Promise<readonly T[]> {
  const verdicts = await condition?.holds(candidates.map((candidate) => candidate.merged));
  return verdicts ? candidates.filter((_, index) => verdicts[index]) : candidates;
}

/** Join (SPARQL 1.1 Query, section 18.5). */
export async function* bufferedInnerJoin(join: BufferedJoin): AsyncIterable<readonly Bindings[]> {
  yield* withTable(join, async function* ({ left: all, candidates, turns }) {
    for await (const rows of all) {
      let batch: Bindings[] = [];
      for (const row of rows) {
        for (const candidate of candidates(row)) {
          const pause = turns();
          if (pause) await pause;
          const solution = merged(row, candidate);
          if (solution) batch.push(solution);
          if (batch.length < ROWS_PER_BATCH) continue;
          yield batch;
          batch = [];
        }
      }
      yield batch;
    }
  });
}

/** LeftJoin (SPARQL 1.1 Query, section 18.5) with its condition. */
export async function* bufferedLeftJoin(join: BufferedJoin, condition?: Condition): AsyncIterable<readonly Bindings[]> {
  const atOnce = condition?.atOnce ?? 1;
  yield* withTable(join, async function* ({ left: all, candidates, turns }) {
    let batch = new LeftBatch();
    const judged = async () => batch.solutions(await accepted(batch.partners, condition));
    for await (const rows of all) {
      for (const row of rows) {
        const left = { row, matched: false };
        for (const candidate of candidates(row)) {
          const pause = turns();
          if (pause) await pause;
          const solution = merged(row, candidate);
          if (solution) batch.partners.push({ left, merged: solution });
          if (batch.size < Math.max(atOnce, ROWS_PER_BATCH)) continue;
          yield await judged();
          batch = new LeftBatch();
        }
        batch.ended.push(left);
      }
      if (batch.size < atOnce) continue;
      yield await judged();
      batch = new LeftBatch();
    }
    yield await judged();
  });
}

interface LeftRow {
  readonly row: Bindings;
  matched: boolean;
}

interface LeftPartner {
  readonly left: LeftRow;
  readonly merged: Bindings;
}

/** Left solutions whose partners are judged together. */
class LeftBatch {
  readonly partners: LeftPartner[] = [];
  /** Those of which all partners are in this batch or in one before it. */
  readonly ended: LeftRow[] = [];

  get size(): number {
    return this.partners.length + this.ended.length;
  }

  /** @param kept the partners for which the condition holds */
  solutions(kept: readonly LeftPartner[]): Bindings[] {
    for (const { left } of kept) left.matched = true;
    const alone = this.ended.filter(({ matched }) => !matched);
    return [...kept.map((partner) => partner.merged), ...alone.map(({ row }) => row)];
  }
}

/** Minus (SPARQL 1.1 Query, section 18.5): compatible solutions with no variable in common take nothing away. */
export async function* bufferedMinus(join: BufferedJoin): AsyncIterable<readonly Bindings[]> {
  const takesAway = (row: Bindings, candidate: Bindings): boolean =>
    join.shared.some((name) => row.has(name) && candidate.has(name)) && merged(row, candidate) !== undefined;
  yield* withTable(join, async function* ({ left: all, candidates, turns }) {
    for await (const rows of all) {
      const batch: Bindings[] = [];
      for (const row of rows) {
        let isTaken = false;
        for (const candidate of candidates(row)) {
          const pause = turns();
          if (pause) await pause;
          isTaken = takesAway(row, candidate);
          if (isTaken) break;
        }
        if (!isTaken) batch.push(row);
      }
      yield batch;
    }
  });
}

interface Table {
  readonly left: AsyncIterable<readonly Bindings[]>;
  readonly candidates: (row: Bindings) => readonly Bindings[];
  readonly turns: Turns;
}

/** The sides are independent: the left one is asked at once, and waits with its first batch for the whole of the right one. */
async function* withTable(
  { left: rows, right, key, held, signal }: BufferedJoin,
  join: (table: Table) => AsyncIterable<readonly Bindings[]>,
): AsyncIterable<readonly Bindings[]> {
  const holding = held.open();
  const source = rows[Symbol.asyncIterator]();
  const first = source.next();
  // Its reader gets the failure.
  first.catch(() => {});
  async function* left(): AsyncIterable<readonly Bindings[]> {
    for (let next = await first; next.done !== true; next = await source.next()) yield next.value;
  }
  try {
    const table = await hashTable(right, key.right, holding);
    const candidates = (row: Bindings): readonly Bindings[] => {
      const text = key.left(row);
      return text === undefined ? [] : (table.get(text) ?? []);
    };
    yield* join({ left: left(), candidates, turns: createTurns(signal) });
  } finally {
    holding.release();
    source.return?.().catch(() => {});
  }
}

async function hashTable(
  solutions: AsyncIterable<readonly Bindings[]>,
  keyOf: RowKey,
  holding: Holding,
): Promise<ReadonlyMap<string, readonly Bindings[]>> {
  const table = new Map<string, Bindings[]>();
  const add = (solution: Bindings): void => {
    const key = keyOf(solution);
    if (key === undefined) return;
    const known = table.get(key);
    holding.add(rowBytes(solution) + (known ? 0 : keyBytes(key)));
    if (known) known.push(solution);
    else table.set(key, [solution]);
  };
  for await (const batch of solutions) for (const solution of batch) add(solution);
  return table;
}
