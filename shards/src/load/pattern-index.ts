import type { Pattern, TriplePlace } from "../rules/problem.ts";
import type { ByteTable } from "./byte-table.ts";
import { parseLine, SyntaxFault } from "./parse-line.ts";
import { hasGraph, type Statement } from "./statement.ts";

/** A pattern with its constants as canonical bytes. */
interface Compiled {
  readonly subject: Buffer | undefined;
  readonly object: Buffer | undefined;
  readonly equal: readonly (readonly [TriplePlace, TriplePlace])[];
  /** The default graph when undefined; bytes are the IRI of one. */
  readonly graph: "named" | Buffer | undefined;
  /** As they stand in a line. */
  readonly exceptPredicates: ReadonlySet<string>;
  /** Cells with a triple that it matches. */
  readonly cells: Set<number>;
}

/** Patterns that one predicate may match. */
interface Group {
  /** Any triple with the predicate matches, in the graphs that are asked for. */
  readonly open: Compiled[];
  /** By the number of the constant object, or of the subject where the object is none. */
  readonly byConstant: Map<number, Compiled[]>;
  /** Every triple is compared with them. */
  readonly others: Compiled[];
}

const emptyGroup = (): Group => ({ open: [], byConstant: new Map(), others: [] });

/** Finds the cells that patterns touch while statements are read. */
export class PatternIndex {
  readonly #constants: ByteTable;
  readonly #byPredicate = new Map<number, Group>();
  readonly #anyPredicate = emptyGroup();
  readonly #compiled = new Map<string, Compiled>();

  /** @param constants has the predicates' numbers too */
  constructor(constants: ByteTable) {
    this.#constants = constants;
  }

  /** The growing set of cells that a pattern touches; the same for equal patterns. */
  add(pattern: Pattern): ReadonlySet<number> {
    const { subject, predicate, object, graph, equal = [], exceptPredicates = [] } = pattern;
    const key = JSON.stringify([[subject, predicate, object, graph], equal, exceptPredicates]);
    const known = this.#compiled.get(key);
    if (known !== undefined) return known.cells;
    const compiled: Compiled = {
      subject: bytesOf(subject),
      object: bytesOf(object),
      graph: graph === "named" ? graph : bytesOf(graph),
      equal,
      exceptPredicates: new Set(exceptPredicates.map((iri) => `<${iri}>`)),
      cells: new Set(),
    };
    this.#compiled.set(key, compiled);
    const constants = [subject, predicate, object, graph === "named" ? undefined : graph];
    // A constant that is no term of N-Triples is in no dataset.
    const isPossible = constants.every((term) => term === undefined || canonicalTerm(term) !== undefined);
    if (isPossible) this.#file(this.#groupOf(bytesOf(predicate)), compiled);
    return compiled.cells;
  }

  #groupOf(predicate: Buffer | undefined): Group {
    if (predicate === undefined) return this.#anyPredicate;
    const number = this.#constants.intern(predicate, 0, predicate.length);
    const group = this.#byPredicate.get(number) ?? emptyGroup();
    this.#byPredicate.set(number, group);
    return group;
  }

  #file({ open, byConstant, others }: Group, compiled: Compiled): void {
    const { subject, object = subject, equal, graph } = compiled;
    if (object !== undefined) {
      const number = this.#constants.intern(object, 0, object.length);
      byConstant.set(number, [...(byConstant.get(number) ?? []), compiled]);
    } else if (equal.length > 0 || Buffer.isBuffer(graph)) others.push(compiled);
    else open.push(compiled);
  }

  /** The first statement with this predicate lies in a cell, of those in the default graph or of those in named ones. */
  openCell(predicate: number, cell: number, isNamed: boolean): void {
    const name = this.#constants.textOf(predicate);
    for (const { open } of [this.#anyPredicate, this.#byPredicate.get(predicate) ?? emptyGroup()]) {
      for (const { cells, graph, exceptPredicates } of open) {
        if ((graph === "named") === isNamed && !exceptPredicates.has(name)) cells.add(cell);
      }
    }
  }

  /** A statement lies in a cell. */
  take(statement: Statement, predicate: number, cell: number): void {
    this.#match(this.#anyPredicate, statement, cell);
    const group = this.#byPredicate.get(predicate);
    if (group !== undefined) this.#match(group, statement, cell);
  }

  #match({ byConstant, others }: Group, statement: Statement, cell: number): void {
    const { bytes, start, subjectEnd, predicateEnd, objectEnd } = statement;
    if (byConstant.size > 0) {
      touch(byConstant.get(this.#constants.find(bytes, start, subjectEnd)), statement, cell);
      touch(byConstant.get(this.#constants.find(bytes, predicateEnd + 1, objectEnd)), statement, cell);
    }
    if (others.length > 0) touch(others, statement, cell);
  }
}

function touch(patterns: readonly Compiled[] | undefined, statement: Statement, cell: number): void {
  if (patterns === undefined) return;
  for (const pattern of patterns) {
    if (!pattern.cells.has(cell) && matches(pattern, statement)) pattern.cells.add(cell);
  }
}

function matches(pattern: Compiled, statement: Statement): boolean {
  const { subject, object, equal, exceptPredicates } = pattern;
  if (!isInGraph(pattern, statement)) return false;
  if (exceptPredicates.size > 0 && exceptPredicates.has(spanOf(statement, "predicate").toString("utf8"))) return false;
  if (subject !== undefined && !subject.equals(spanOf(statement, "subject"))) return false;
  if (object !== undefined && !object.equals(spanOf(statement, "object"))) return false;
  return equal.every(([left, right]) => spanOf(statement, left).equals(spanOf(statement, right)));
}

function isInGraph({ graph }: Compiled, statement: Statement): boolean {
  if (graph === undefined || !hasGraph(statement)) return (graph === undefined) !== hasGraph(statement);
  if (graph === "named") return true;
  const { bytes, objectEnd, end } = statement;
  return graph.equals(bytes.subarray(objectEnd + 1, end - endOfQuad));
}

/** Behind the graph: a space, a dot and a line feed. */
const endOfQuad = 3;

function spanOf({ bytes, start, subjectEnd, predicateEnd, objectEnd }: Statement, place: TriplePlace): Buffer {
  if (place === "subject") return bytes.subarray(start, subjectEnd);
  if (place === "predicate") return bytes.subarray(subjectEnd + 1, predicateEnd);
  return bytes.subarray(predicateEnd + 1, objectEnd);
}

function bytesOf(term: string | undefined): Buffer | undefined {
  const canonical = term === undefined ? undefined : canonicalTerm(term);
  return canonical === undefined ? undefined : Buffer.from(canonical);
}

/** A term in N-Triples syntax as the reader of statements writes it; undefined for anything but an IRI or literal. */
function canonicalTerm(text: string): string | undefined {
  if (text.startsWith("_:") || /[\r\n]/u.test(text)) return undefined;
  try {
    return parseLine(`<x:s> <x:p> ${text} .`, { graphs: false, skolemBase: "" })[2];
  } catch (error) {
    if (error instanceof SyntaxFault) return undefined;
    throw error;
  }
}
