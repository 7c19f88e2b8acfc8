import { performance } from "node:perf_hooks";
import type { LearnedCells } from "../load/cell-facts.ts";
import type { QueryFeatures } from "../problem.ts";
import { type CellAnswers, type CellAnswersOptions, type CellData, openCellAnswers } from "./cell-answers.ts";

/**
 * Where the answer of a query comes from. `none`: it has no row over the whole dataset (an ASK says no, a graph is empty);
 * `one-shard`: some shard alone gives the whole answer; `several-shards`: none does.
 */
export type AnswerSource = "none" | "one-shard" | "several-shards";

/** What the answers of queries say about shards; what is not known in `totalMs` for each of both is undefined. */
export interface QueryAnswers {
  /**
   * Of each query, cells that no shard may have all of, lest it gives the whole answer alone: those without any one of which
   * the answer is another one. Where fewer than two are so, or that is not known, all cells that it touches.
   */
  neededCells(): Promise<readonly (readonly number[])[]>;
  /** Asks each shard that a query touches alone. @param keyOf the shard of a cell */
  sources(keyOf: (cell: number) => string): Promise<readonly (AnswerSource | undefined)[]>;
  close(): Promise<void>;
}

/** What is asked, over which data. */
export interface QueryAnswersInput extends Omit<CellData, "cells"> {
  readonly queries: readonly QueryFeatures[];
  readonly cells: Pick<LearnedCells, "cells" | "touches">;
}

/** Undefined for data that cannot be asked: see `openCellAnswers`. */
export async function openQueryAnswers(
  { queries, cells: { cells, touches }, ...data }: QueryAnswersInput,
  { totalMs, ...options }: CellAnswersOptions & { readonly totalMs: number },
): Promise<QueryAnswers | undefined> {
  const answers = await openCellAnswers({ ...data, cells }, options);
  if (answers === undefined) return undefined;
  let all: Promise<readonly WholeAnswer[]> | undefined;
  const within = async <Result>(
    work: (ask: Ask, whole: WholeAnswer) => Promise<Result>,
  ): Promise<readonly Result[]> => {
    const untilMs = performance.now() + totalMs;
    const ask: Ask = (query, some) => answers.rows(query, some, untilMs);
    // No triple of another cell has a say in an answer.
    all ??= inTurn(queries, async (query, at) => {
      const touched = touches[at] ?? [];
      return { query, touched, rows: await ask(query, touched) };
    });
    return inTurn(await all, (whole) => work(ask, whole));
  };
  return {
    neededCells: () => within(neededBy),
    sources: (keyOf) => within((ask, whole) => sourceOf(ask, whole, keyOf)),
    close: () => answers.close(),
  };
}

type Ask = (query: QueryFeatures, cells: readonly number[]) => ReturnType<CellAnswers["rows"]>;

/** A query's answer over the whole dataset. */
interface WholeAnswer {
  readonly query: QueryFeatures;
  readonly touched: readonly number[];
  /** Sorted; undefined when they are not known. */
  readonly rows: readonly string[] | undefined;
}

/** The store works on one query at a time. */
async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const [at, item] of items.entries()) results.push(await work(item, at));
  return results;
}

async function neededBy(ask: Ask, { query, touched, rows }: WholeAnswer): Promise<readonly number[]> {
  if (rows === undefined || isNone(rows)) return touched;
  const needed: number[] = [];
  for (const cell of touched) {
    const others = touched.filter((other) => other !== cell);
    const rest = await ask(query, others);
    if (rest === undefined) return touched;
    if (!isSame(rest, rows)) needed.push(cell);
  }
  return needed.length < 2 ? touched : needed;
}

async function sourceOf(
  ask: Ask,
  { query, touched, rows }: WholeAnswer,
  keyOf: (cell: number) => string,
): Promise<AnswerSource | undefined> {
  if (rows === undefined) return undefined;
  if (isNone(rows)) return "none";
  const parts = [...Map.groupBy(touched, keyOf).values()];
  if (parts.length < 2) return "one-shard";
  for (const part of parts) {
    const alone = await ask(query, part);
    if (alone === undefined) return undefined;
    if (isSame(alone, rows)) return "one-shard";
  }
  return "several-shards";
}

const isNone = (rows: readonly string[]): boolean => rows.length === 0 || (rows.length === 1 && rows[0] === "false");

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((row, at) => row === right[at]);
