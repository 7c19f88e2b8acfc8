import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { FedwayError } from "../../errors/fedway-error.ts";
import { withDefaultGraphs } from "../../sparql/default-graphs.ts";
import { parseQuery } from "../../sparql/parse-query.ts";
import type { LearnedCells } from "../load/cell-facts.ts";
import type { Learned } from "../load/learn.ts";
import { readStatements } from "../load/read-statements.ts";
import { SubjectCursor } from "../load/subject-cursor.ts";
import type { Cell, QueryFeatures } from "../problem.ts";
import { rowsOf } from "../verify/answer-rows.ts";
import { type AnswerStore, askStore, type OpenStore } from "../verify/answer-store.ts";

/** Answers of queries over parts of a dataset. */
export interface CellAnswers {
  /**
   * Sorted rows of a query over these cells alone; undefined when they are not known.
   * @param untilMs what is asked later than this, by `performance.now()`, is unknown
   */
  rows(query: QueryFeatures, cells: readonly number[], untilMs: number): Promise<readonly string[] | undefined>;
  close(): Promise<void>;
}

/** What the answers are taken from. */
export interface CellData {
  readonly learned: Learned;
  readonly buckets: number;
  readonly cells: LearnedCells["cells"];
}

export interface CellAnswersOptions {
  readonly openStore: OpenStore;
  readonly signal: AbortSignal;
}

/** Larger datasets are not loaded into a store for this. */
export const answerLimits = { statements: 250_000, bytes: 64 * 1024 * 1024 } as const;

/**
 * Loads a dataset into a store with each cell as a named graph: a query with the graphs of some cells as its default graph
 * is answered from these alone. Undefined for a dataset that is too large or has named graphs itself, and when no store
 * takes it.
 */
export async function openCellAnswers(data: CellData, options: CellAnswersOptions): Promise<CellAnswers | undefined> {
  const { statements, statementBytes, hasGraphs } = data.learned;
  if (hasGraphs || statements > answerLimits.statements || statementBytes > answerLimits.bytes) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "fedway-cells-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const path = join(folder, "cells.nq");
    await writeFile(path, await quadsOf(data, options));
    const store = await options.openStore([{ path, format: "n-quads", gzip: false }], options.signal);
    return {
      rows: (query, cells, untilMs) => rowsFrom(store, { query, cells, untilMs, signal: options.signal }),
      async close() {
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

async function quadsOf({ learned, buckets, cells }: CellData, options: CellAnswersOptions): Promise<string> {
  const numbers = new Map(cells.map((cell, number) => [keyOf(cell), number]));
  const cursor = new SubjectCursor(learned.subjects);
  let quads = "";
  await readStatements(
    learned.inputs,
    (statement) => {
      cursor.move(statement);
      const { bytes, start, subjectEnd, predicateEnd, objectEnd } = statement;
      const types = learned.subjects.classSets[cursor.classSet] ?? [];
      const predicate = bytes.toString("utf8", subjectEnd + 2, predicateEnd - 1);
      const cell = numbers.get(keyOf({ types, predicate, bucket: cursor.hash(statement) % buckets }));
      quads += `${bytes.toString("utf8", start, objectEnd)} <${graphOf(cell ?? -1)}> .\n`;
    },
    { signal: options.signal, phase: "cells" },
  );
  return quads;
}

const keyOf = ({ types, predicate, bucket }: Omit<Cell, "triples">): string =>
  JSON.stringify([types, predicate, bucket]);

interface Asked {
  readonly query: QueryFeatures;
  readonly cells: readonly number[];
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

async function rowsFrom(store: AnswerStore, asked: Asked): Promise<readonly string[] | undefined> {
  const { query, cells, untilMs, signal } = asked;
  if (performance.now() >= untilMs || query.patterns.some(({ graph }) => graph !== undefined)) return undefined;
  const graphs = cells.length === 0 ? [graphOf(-1)] : cells.map(graphOf);
  try {
    return rowsOf(await askStore(store, withDefaultGraphs(parseQuery(query.query.text), graphs), signal));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FedwayError) return undefined;
    throw error;
  }
}
