import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { itemAt, valueFor } from "../../../src/values.ts";
import type { LearnedCells } from "../load/cells.ts";
import type { Learned } from "../load/learn.ts";
import { readStatements } from "../load/read-statements.ts";
import { SubjectCursor } from "../load/subject-classes.ts";
import { processorMs } from "../processor-time.ts";
import { parseQuery } from "../../../src/sparql/query.ts";
import { takesAnyRows } from "../verify/uncut-query.ts";
import { type AnswerStore, areSameRows, askStore, type OpenStore, rowsOf } from "../verify/answer-store.ts";
import type { QueryFeatures } from "./problem.ts";

/**
 * Where the answer of a query comes from. `none`: it has no row over the whole dataset (an ASK says no, a graph is empty);
 * `one-shard`: some shard alone gives the whole answer; `several-shards`: none does.
 */
export type AnswerSource = "none" | "one-shard" | "several-shards";

/** Answers of queries, as evidence about shards. */
export type QueryAnswers = NonNullable<Awaited<ReturnType<typeof openQueryAnswers>>>;

/** The queries, and the data to ask. */
interface QueryAnswersInput {
  readonly queries: readonly QueryFeatures[];
  readonly learned: Learned;
  readonly buckets: number;
  readonly cells: LearnedCells;
  /** Of each cell the number of the part of the data that it is in: cells then stand for parts here. */
  readonly parts?: readonly number[] | undefined;
}

/**
 * Undefined for data that cannot be asked: see `openCellAnswers`.
 * @param options `totalMs`: answers that are not found within it, all questions together, are undefined
 */
export async function openQueryAnswers(
  { queries, cells: { cells, touches }, parts, ...data }: QueryAnswersInput,
  { totalMs, ...options }: CellAnswersOptions & { readonly totalMs: number },
) {
  const held = affordableCells(data.learned, cells, touches);
  const answers = await openCellAnswers({ ...data, cells, held }, options);
  if (answers === undefined) return undefined;
  const untilMs = processorMs() + totalMs;
  let all: Promise<readonly WholeAnswer[]> | undefined;
  const within = async <Result>(
    work: (whole: WholeAnswer, at: number) => Promise<Result>,
  ): Promise<readonly Result[]> => {
    // No triple of another cell has a say in an answer.
    all ??= inTurn(queries, async (query, at) => {
      const inPart = Map.groupBy(itemAt(touches, at), (cell) => parts?.[cell] ?? cell);
      const isHeld = itemAt(touches, at).every((cell) => held.has(cell));
      const ask = async (some: readonly number[]) => {
        const asked = some.flatMap((part) => valueFor(inPart, part));
        return isHeld ? answers.rows(query, asked, untilMs) : undefined;
      };
      const isSame = takesAnyRows(parseQuery(query.query.text)) ? areAsMany : areSameRows;
      return wholeAnswer(
        ask,
        isSame,
        [...inPart.keys()].toSorted((left, right) => left - right),
      );
    });
    return inTurn(await all, work);
  };
  return {
    /** Of each query, the cells without any one of which its answer differs; undefined where that is unknown or it has none. */
    neededCells: () => within(neededBy),
    /** Asks each shard that a query touches alone. @param keys of each cell that of its shard */
    sources: (keys: readonly string[]) => within((whole) => sourceOf(whole, keys)),
    /** Of each query that one shard answers alone, as few cells of that shard as still give the whole answer. */
    enoughCells: (sources: readonly Sourced[]) => within((whole, at) => enoughOf(whole, sources[at]?.alone)),
    close: () => answers.close(),
  };
}

const areAsMany: typeof areSameRows = (left, right) => left.length === right.length;

/** A query's answer over the whole dataset. */
interface WholeAnswer {
  readonly touched: readonly number[];
  /** Sorted; undefined when they are not known. */
  readonly rows: readonly string[] | undefined;
  /** True if these cells alone give the whole answer; undefined where that is not known. The same cells are asked once. */
  readonly isWholeOf: (cells: readonly number[]) => Promise<boolean | undefined>;
}

async function wholeAnswer(
  ask: (cells: readonly number[]) => Promise<readonly string[] | undefined>,
  isSame: typeof areSameRows,
  touched: readonly number[],
): Promise<WholeAnswer> {
  const rows = await ask(touched);
  const known = new Map<string, boolean>();
  const isWholeOf: WholeAnswer["isWholeOf"] = async (cells) => {
    // As long as it is, a list of cells would take the memory of many answers.
    const key = createHash("sha256").update(cells.join()).digest("base64");
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = await ask(cells);
    if (found === undefined || rows === undefined) return undefined;
    const isWhole = isSame(found, rows);
    known.set(key, isWhole);
    return isWhole;
  };
  return { touched, rows, isWholeOf };
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

async function neededBy({ touched, rows, isWholeOf }: WholeAnswer): Promise<readonly number[] | undefined> {
  if (rows === undefined || isNone(rows)) return undefined;
  const needed: number[] = [];
  for (const cell of touched) {
    const isWhole = await isWholeOf(touched.filter((other) => other !== cell));
    if (isWhole === undefined) return undefined;
    if (!isWhole) needed.push(cell);
  }
  return needed;
}

/** Where a query's answer comes from; absent where that is unknown. `alone`: the cells of a shard that gives all of it. */
interface Sourced {
  readonly source?: AnswerSource;
  readonly alone?: readonly number[];
}

async function sourceOf({ touched, rows, isWholeOf }: WholeAnswer, keys: readonly string[]): Promise<Sourced> {
  if (rows === undefined) return {};
  if (isNone(rows)) return { source: "none" };
  const parts = [...Map.groupBy(touched, (cell) => itemAt(keys, cell)).values()];
  if (parts.length < 2) return { source: "one-shard", alone: touched };
  for (const alone of parts) {
    const isWhole = await isWholeOf(alone);
    if (isWhole === undefined) return {};
    if (isWhole) return { source: "one-shard", alone };
  }
  return { source: "several-shards" };
}

async function enoughOf({ isWholeOf }: WholeAnswer, alone: readonly number[] = []) {
  let enough = alone;
  for (const cell of alone) {
    const others = enough.filter((other) => other !== cell);
    if (await isWholeOf(others)) enough = others;
  }
  return enough;
}

const isNone = (rows: readonly string[]): boolean => rows.length === 0 || (rows.length === 1 && rows[0] === "false");

/** Sources of the answers. */
interface CellData {
  readonly learned: Learned;
  readonly buckets: number;
  readonly cells: LearnedCells["cells"];
  /** Those whose triples are in the store. */
  readonly held: ReadonlySet<number>;
}

type CellAnswersOptions = { readonly openStore: OpenStore; readonly signal: AbortSignal };

/** More is not loaded into a store for this. */
const answerLimits = { statements: 1_000_000, bytes: 256 * 1024 * 1024 } as const;

/** The cells of as many queries as a store can hold, of those with the fewest triples first: no triple of another cell has a say in an answer. */
function affordableCells(
  { statements, statementBytes }: Learned,
  cells: LearnedCells["cells"],
  touches: LearnedCells["touches"],
): ReadonlySet<number> {
  const most = Math.min(answerLimits.statements, (answerLimits.bytes * statements) / Math.max(1, statementBytes));
  const sizeOf = (some: readonly number[]): number => some.reduce((sum, cell) => sum + itemAt(cells, cell).triples, 0);
  const held = new Set<number>();
  let size = 0;
  for (const touched of touches.toSorted((left, right) => sizeOf(left) - sizeOf(right))) {
    const more = touched.filter((cell) => !held.has(cell));
    size += sizeOf(more);
    if (size > most) break;
    for (const cell of more) held.add(cell);
  }
  return held;
}

/**
 * Loads cells into a store with each as a named graph: a query with the graphs of some cells as its default graph
 * is answered from these alone. Undefined for a dataset that has named graphs itself, and when no store takes them.
 */
async function openCellAnswers(data: CellData, options: CellAnswersOptions) {
  if (data.learned.hasGraphs) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "fedway-cells-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, "cells.nq");
    await writeFile(path, await quadsOf(data, options));
    const store = await options.openStore([{ path, format: "n-quads", gzip: false }], options.signal);
    return {
      /** @param untilMs answers to later questions, by `processorMs()`, are unknown */
      rows: (query: QueryFeatures, cells: readonly number[], untilMs: number) =>
        rowsFrom(store, { query, cells, untilMs, signal: options.signal }),
      async close(): Promise<void> {
        await store.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    options.signal.throwIfAborted();
    if (error instanceof FedwayError && error.code !== "DATASET_INVALID") return undefined;
    throw error;
  }
}

const graphOf = (cell: number): string => `urn:fedway:cell:${cell}`;

async function quadsOf({ learned, buckets, cells, held }: CellData, options: CellAnswersOptions): Promise<string> {
  const numbers = new Map(
    cells.map(({ types, predicate, bucket }, number) => [keyOf(types, predicate, bucket), number]),
  );
  const cursor = new SubjectCursor(learned.subjects);
  let quads = "";
  await readStatements(
    learned.inputs,
    (statement) => {
      cursor.move(statement);
      const { bytes, start, subjectEnd, predicateEnd, objectEnd } = statement;
      const types = itemAt(learned.subjects.classSets, cursor.classSet);
      const predicate = bytes.toString("utf8", subjectEnd + 2, predicateEnd - 1);
      const cell = valueFor(numbers, keyOf(types, predicate, cursor.hash(statement) % buckets));
      if (held.has(cell)) quads += `${bytes.toString("utf8", start, objectEnd)} <${graphOf(cell)}> .\n`;
    },
    { signal: options.signal, phase: "cells" },
  );
  return quads;
}

const keyOf = (types: readonly string[], predicate: string, bucket: number): string =>
  JSON.stringify([types, predicate, bucket]);

interface Asked {
  readonly query: QueryFeatures;
  readonly cells: readonly number[];
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

async function rowsFrom(store: AnswerStore, asked: Asked): Promise<readonly string[] | undefined> {
  const { query, cells, untilMs, signal } = asked;
  if (processorMs() >= untilMs || query.patterns.some(({ graph }) => graph !== undefined)) return undefined;
  const graphs = cells.length === 0 ? [graphOf(-1)] : cells.map(graphOf);
  try {
    return rowsOf(await askStore(store, query.query.text, signal, graphs));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FedwayError) return undefined;
    throw error;
  }
}
