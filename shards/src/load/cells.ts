import type { Cell, Pattern } from "../rules/problem.ts";
import { ByteTable } from "./byte-table.ts";
import type { Learned } from "./learn.ts";
import { PatternIndex } from "./pattern-index.ts";
import { type PassOptions, readStatements } from "./read-statements.ts";
import { hasGraph, type Statement } from "./statement.ts";
import { type SubjectClasses, SubjectCursor } from "./subject-classes.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { itemAt } from "../../../src/values.ts";
import { compareText } from "../../../src/rdf/canonical.ts";

const less = 0x3c;
const greater = 0x3e;

/** Features that distinguish cells beside the classes of subjects, and the queries that touch them; a JSON value. */
export interface CellFeatures {
  /** Number of buckets; a multiple of those of the rules. */
  readonly buckets: number;
  /** For each query its patterns. */
  readonly patterns: readonly (readonly Pattern[])[];
}

interface CellQuestions extends CellFeatures {
  readonly subjects: SubjectClasses;
}

/** Reads the inputs again, to know which combinations of classes, predicate and bucket there are and who asks for them. */
export async function learnCells(
  { learned, ...features }: CellFeatures & { readonly learned: Learned },
  options: PassOptions = {},
): Promise<LearnedCells> {
  const counter = new CellCounter({ ...features, subjects: learned.subjects });
  await readStatements(learned.inputs, (statement) => void counter.take(statement), { ...options, phase: "cells" });
  return mergeCells([counter.facts()]).learned;
}

interface Counted {
  readonly bucket: number;
  readonly classSet: number;
  /** Sets of classes of its objects. */
  readonly objectSets: Set<number>;
  readonly predicate: number;
  triples: number;
  /** Which graphs have statements of it: 1 for the default graph, 2 for named ones. */
  graphs: number;
}

/** Numbers cells in the order of their statements, and counts their triples. */
export class CellCounter {
  /** At the subject of the last statement. */
  readonly cursor: SubjectCursor;
  readonly #subjects: SubjectClasses;
  readonly #buckets: number;
  readonly #terms = new ByteTable();
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
    this.cursor.move(statement);
    const { bytes, subjectEnd, predicateEnd } = statement;
    const predicate = this.#terms.intern(bytes, subjectEnd + 1, predicateEnd);
    const bucket = this.cursor.hash(statement) % this.#buckets;
    const number = this.#cellOf(this.cursor.classSet, predicate, bucket);
    const cell = this.#cells[number]!;
    cell.triples += 1;
    const objectSet = this.#objectSetOf(statement);
    if (objectSet !== 0) cell.objectSets.add(objectSet);
    const isNamed = hasGraph(statement);
    const graph = isNamed ? 2 : 1;
    if ((cell.graphs & graph) === 0) {
      cell.graphs |= graph;
      this.#patterns.openCell(predicate, number, isNamed);
    }
    this.#patterns.take(statement, predicate, number);
    return number;
  }

  /** The set of classes of the object; 0 for literals and things without a class. */
  #objectSetOf({ bytes, predicateEnd, objectEnd }: Statement): number {
    const from = predicateEnd + 1;
    if (bytes[from] !== less || bytes[objectEnd - 1] !== greater) return 0;
    return this.#subjects.classSetOf(this.#subjects.find(bytes, from, objectEnd));
  }

  #cellOf(classSet: number, predicate: number, bucket: number): number {
    const key = (predicate * this.#subjects.classSets.length + classSet) * this.#buckets + bucket;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    if (this.#cells.length === maxCells) throw tooManyCells();
    const number = this.#cells.push({ classSet, objectSets: new Set(), predicate, bucket, triples: 0, graphs: 0 }) - 1;
    this.#byKey.set(key, number);
    return number;
  }

  facts(): CellFacts {
    const { classSets } = this.#subjects;
    return {
      cells: this.#cells.map(({ classSet, objectSets, predicate: number, bucket, triples }) => {
        const predicate = this.#terms.textOf(number).slice(1, -1);
        const cell = { types: itemAt(classSets, classSet), predicate, bucket, triples };
        return cellWith(
          cell,
          [...objectSets].flatMap((set) => itemAt(classSets, set)),
        );
      }),
      touches: this.#touched.map((sets) => Array.from(new Set(sets.flatMap((set) => Array.from(set))))),
    };
  }
}

/** A cell with the classes of its objects: each once, sorted. */
const cellWith = (cell: Cell, classes: readonly string[]): Cell =>
  classes.length === 0 ? cell : { ...cell, objectClasses: [...new Set(classes)].toSorted(compareText) };

/** No solver can place more cells. */
export const maxCells = 1_000_000;

/** The error of a dataset that has more. */
export const tooManyCells = (): FedwayError =>
  new FedwayError("DATASET_INVALID", `The dataset has more than ${maxCells} combinations of classes and predicates.`, {
    next: "Leave out predicates or classes that no query asks for.",
  });

/** The dataset as rules see it. A statement that the inputs repeat counts as often as it stands there. */
export interface LearnedCells {
  /** By classes, predicate and bucket. */
  readonly cells: readonly Cell[];
  /** For each query the cells, by their place in `cells`, with a triple that one of its patterns matches. */
  readonly touches: readonly (readonly number[])[];
}

/** The same as one reader saw it, of a part of the inputs; a JSON value. */
export interface CellFacts {
  /** By the reader's numbers. */
  readonly cells: readonly Cell[];
  /** For each query the reader's numbers. */
  readonly touches: readonly (readonly number[])[];
}

interface Met {
  readonly types: string;
  readonly cell: Cell;
  readonly objectClasses: string[];
  triples: number;
  /** Reader and number. */
  readonly at: (readonly [number, number])[];
}

/**
 * Puts together what readers of parts saw; the order of the parts makes no difference. `places`: of each reader, where its
 * cells have gone.
 */
export function mergeCells(parts: readonly CellFacts[]): {
  readonly learned: LearnedCells;
  readonly places: readonly Uint32Array[];
} {
  const met = [...metIn(parts)].toSorted(
    (left, right) =>
      compareText(left.types, right.types) ||
      compareText(left.cell.predicate, right.cell.predicate) ||
      left.cell.bucket - right.cell.bucket,
  );
  const places = parts.map(({ cells }) => new Uint32Array(cells.length));
  met.forEach(({ at }, place) => {
    for (const [reader, number] of at) itemAt(places, reader)[number] = place;
  });
  const learned = {
    cells: met.map(({ cell: { types, predicate, bucket }, objectClasses, triples }) =>
      cellWith({ types, predicate, bucket, triples }, objectClasses),
    ),
    touches: touchesOf(parts, places),
  };
  return { learned, places };
}

function metIn(parts: readonly CellFacts[]): Iterable<Met> {
  const met = new Map<string, Met>();
  parts.forEach(({ cells }, reader) =>
    cells.forEach((cell, number) => {
      const types = cell.types.join(" ");
      const key = `${types}\n${cell.predicate}\n${cell.bucket}`;
      const known = met.get(key) ?? { types, cell, objectClasses: [], triples: 0, at: [] };
      known.objectClasses.push(...(cell.objectClasses ?? []));
      known.triples += cell.triples;
      known.at.push([reader, number]);
      met.set(key, known);
    }),
  );
  return met.values();
}

function touchesOf(parts: readonly CellFacts[], places: readonly Uint32Array[]): LearnedCells["touches"] {
  return itemAt(parts, 0).touches.map((_, query) => {
    const found = new Set<number>();
    parts.forEach(({ touches }, reader) => {
      const moved = itemAt(places, reader);
      for (const number of itemAt(touches, query)) found.add(itemAt(moved, number));
    });
    return [...found].toSorted((left, right) => left - right);
  });
}
