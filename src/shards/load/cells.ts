import { FedwayError } from "../../errors/fedway-error.ts";
import { compareText } from "../../rdf/canonical.ts";
import type { Cell, Pattern } from "../problem.ts";
import { ByteTable } from "./byte-table.ts";
import type { Learned } from "./learn.ts";
import { PatternIndex } from "./pattern-index.ts";
import { type PassOptions, readStatements } from "./read-statements.ts";
import type { Statement } from "./statement.ts";
import { SubjectCursor } from "./subject-cursor.ts";

/** More cells than this no solver can place. */
const maxCells = 1_000_000;

/** What is asked of the second pass. */
export interface CellsRequest {
  readonly learned: Learned;
  /** Number of buckets of horizontal rules. */
  readonly buckets: number;
  /** Of each query its patterns. */
  readonly patterns: readonly (readonly Pattern[])[];
}

/** The dataset as rules see it. A statement that the inputs repeat counts as often as it stands there. */
export interface LearnedCells {
  /** By classes, predicate and bucket. */
  readonly cells: readonly Cell[];
  /** Of each cell, the bytes of its statements as canonical lines. */
  readonly bytes: readonly number[];
  /** Of each query the cells, by their place in `cells`, with a triple that one of its patterns matches. */
  readonly touches: readonly (readonly number[])[];
}

/** Reads the inputs again, to know which combinations of classes, predicate and bucket there are and who asks for them. */
export async function learnCells(request: CellsRequest, options: PassOptions = {}): Promise<LearnedCells> {
  const counter = new CellCounter(request);
  const touched = request.patterns.map((patterns) => patterns.map((pattern) => counter.patterns.add(pattern)));
  await readStatements(request.learned.inputs, (statement) => counter.take(statement), { ...options, phase: "cells" });
  const { cells, bytes, places } = counter.sorted();
  const touches = touched.map((sets) => {
    const found = new Set<number>();
    for (const set of sets) for (const cell of set) found.add(places[cell] ?? 0);
    return [...found].toSorted((left, right) => left - right);
  });
  return { cells, bytes, touches };
}

interface Counted {
  readonly classSet: number;
  readonly predicate: number;
  readonly bucket: number;
  triples: number;
  bytes: number;
}

class CellCounter {
  readonly patterns: PatternIndex;
  readonly #learned: Learned;
  readonly #buckets: number;
  readonly #terms = new ByteTable();
  readonly #cursor: SubjectCursor;
  readonly #cells: Counted[] = [];
  readonly #byKey = new Map<number, number>();

  constructor({ learned, buckets }: CellsRequest) {
    this.#learned = learned;
    this.#buckets = buckets;
    this.#cursor = new SubjectCursor(learned.subjects);
    this.patterns = new PatternIndex(this.#terms);
  }

  take(statement: Statement): void {
    const { bytes, start, subjectEnd, predicateEnd, end } = statement;
    this.#cursor.move(statement);
    const predicate = this.#terms.intern(bytes, subjectEnd + 1, predicateEnd);
    const bucket = this.#cursor.hash(statement) % this.#buckets;
    const number = this.#cellOf(this.#cursor.classSet, predicate, bucket);
    const cell = this.#cells[number]!;
    cell.triples += 1;
    cell.bytes += end - start;
    this.patterns.take(statement, predicate, number);
  }

  #cellOf(classSet: number, predicate: number, bucket: number): number {
    const key = (predicate * this.#learned.subjects.classSets.length + classSet) * this.#buckets + bucket;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    if (this.#cells.length === maxCells) {
      throw new FedwayError(
        "DATASET_INVALID",
        `The dataset has more than ${maxCells} combinations of classes and predicates.`,
        {
          next: "Build it in paper mode, which does not need them.",
        },
      );
    }
    const number = this.#cells.push({ classSet, predicate, bucket, triples: 0, bytes: 0 }) - 1;
    this.#byKey.set(key, number);
    this.patterns.openCell(predicate, number);
    return number;
  }

  /** The cells in canonical order; `places` tells where each has gone. */
  sorted(): { readonly cells: readonly Cell[]; readonly bytes: readonly number[]; readonly places: Uint32Array } {
    const { classSets } = this.#learned.subjects;
    const named = this.#cells.map(({ classSet, predicate, bucket, triples, bytes }, number) => {
      const types = classSets[classSet] ?? [];
      const cell = { types, predicate: this.#terms.textOf(predicate).slice(1, -1), bucket, triples };
      return { cell, bytes, number, key: types.join(" ") };
    });
    named.sort(
      (left, right) =>
        compareText(left.key, right.key) ||
        compareText(left.cell.predicate, right.cell.predicate) ||
        left.cell.bucket - right.cell.bucket,
    );
    const places = new Uint32Array(named.length);
    named.forEach(({ number }, place) => {
      places[number] = place;
    });
    return { cells: named.map(({ cell }) => cell), bytes: named.map(({ bytes }) => bytes), places };
  }
}
