import type { Cell, Pattern } from "../problem.ts";
import { ByteTable } from "./byte-table.ts";
import { type CellFacts, type LearnedCells, maxCells, mergeCells, tooManyCells } from "./cell-facts.ts";
import { PatternIndex } from "./pattern-index.ts";
import { type PassOptions, readStatements, type ReadInput } from "./read-statements.ts";
import { hasGraph, type Statement } from "./statement.ts";
import type { SubjectClasses } from "./subject-classes.ts";
import { SubjectCursor } from "./subject-cursor.ts";

/** What cells are told apart by, and who asks for them. */
export interface CellQuestions {
  readonly subjects: SubjectClasses;
  /** Number of buckets; a multiple of those of the rules that come of it. */
  readonly buckets: number;
  /** Of each query its patterns. */
  readonly patterns: readonly (readonly Pattern[])[];
}

/** What is asked of a pass that writes nothing. */
export interface CellsRequest extends Omit<CellQuestions, "subjects"> {
  readonly learned: { readonly inputs: readonly ReadInput[]; readonly subjects: SubjectClasses };
}

/** Reads the inputs again, to know which combinations of classes, predicate and bucket there are and who asks for them. */
export async function learnCells(
  { learned, buckets, patterns }: CellsRequest,
  options: PassOptions = {},
): Promise<LearnedCells> {
  const counter = new CellCounter({ subjects: learned.subjects, buckets, patterns });
  await readStatements(learned.inputs, (statement) => void counter.take(statement), { ...options, phase: "cells" });
  return mergeCells([counter.facts()]).learned;
}

interface Counted extends Pick<Cell, "bucket"> {
  readonly classSet: number;
  readonly predicate: number;
  triples: number;
  bytes: number;
  /** Which graphs have statements of it: 1 for the default graph, 2 for named ones. */
  graphs: number;
}

/** Numbers cells in the order in which their statements come, and counts what is in them. */
export class CellCounter {
  /** Follows the subject of the statement that was taken last. */
  readonly cursor: SubjectCursor;
  readonly #subjects: SubjectClasses;
  readonly #buckets: number;
  readonly #terms = new ByteTable();
  /** Of each predicate the one that came behind it last. */
  readonly #following: number[] = [];
  #lastPredicate = 0;
  readonly #patterns = new PatternIndex(this.#terms);
  readonly #touched: readonly (readonly ReadonlySet<number>[])[];
  readonly #cells: Counted[] = [];
  readonly #byKey = new Map<number, number>();

  constructor({ subjects, buckets, patterns }: CellQuestions) {
    this.#subjects = subjects;
    this.#buckets = buckets;
    this.cursor = new SubjectCursor(subjects);
    this.#touched = patterns.map((each) => each.map((pattern) => this.#patterns.add(pattern)));
  }

  /** Takes a statement in, and returns the number of its cell. */
  take(statement: Statement): number {
    const { start, end } = statement;
    this.cursor.move(statement);
    const predicate = this.#predicateOf(statement);
    const bucket = this.cursor.hash(statement) % this.#buckets;
    const number = this.#cellOf(this.cursor.classSet, predicate, bucket);
    const cell = this.#cells[number]!;
    cell.triples += 1;
    cell.bytes += end - start;
    const isNamed = hasGraph(statement);
    const graph = isNamed ? 2 : 1;
    if ((cell.graphs & graph) === 0) {
      cell.graphs |= graph;
      this.#patterns.openCell(predicate, number, isNamed);
    }
    this.#patterns.take(statement, predicate, number);
    return number;
  }

  /** Subjects of one class most often have the same predicates in the same order. */
  #predicateOf(statement: Statement): number {
    const guess = this.#following[this.#lastPredicate];
    if (guess !== undefined && this.#terms.isPredicate(guess, statement)) {
      this.#lastPredicate = guess;
      return guess;
    }
    const { bytes, subjectEnd, predicateEnd } = statement;
    const predicate = this.#terms.intern(bytes, subjectEnd + 1, predicateEnd);
    this.#following[this.#lastPredicate] = predicate;
    this.#lastPredicate = predicate;
    return predicate;
  }

  #cellOf(classSet: number, predicate: number, bucket: number): number {
    const key = (predicate * this.#subjects.classSets.length + classSet) * this.#buckets + bucket;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    if (this.#cells.length === maxCells) throw tooManyCells();
    const number = this.#cells.push({ classSet, predicate, bucket, triples: 0, bytes: 0, graphs: 0 }) - 1;
    this.#byKey.set(key, number);
    return number;
  }

  facts(): CellFacts {
    const { classSets } = this.#subjects;
    return {
      cells: this.#cells.map(({ classSet, predicate, bucket, triples, bytes }) => ({
        types: classSets[classSet] ?? [],
        predicate: this.#terms.textOf(predicate).slice(1, -1),
        bucket,
        triples,
        bytes,
      })),
      touches: this.#touched.map((sets) => Array.from(new Set(sets.flatMap((set) => Array.from(set))))),
    };
  }
}
