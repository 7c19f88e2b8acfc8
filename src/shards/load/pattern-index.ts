import type { Pattern } from "../problem.ts";
import type { ByteTable } from "./byte-table.ts";
import { canonicalTerm } from "./canonical-term.ts";
import type { Statement } from "./statement.ts";

type Place = "subject" | "predicate" | "object";

/** A pattern with its constants as canonical bytes. */
interface Compiled {
  readonly subject: Buffer | undefined;
  readonly object: Buffer | undefined;
  readonly equal: readonly (readonly [Place, Place])[];
  /** Cells with a triple that it matches. */
  readonly cells: Set<number>;
}

/** Patterns that one predicate may match. */
interface Group {
  /** Any triple with the predicate matches. */
  readonly open: Compiled[];
  /** By the constant object, by the constant subject, and by equal variables only. */
  readonly byObject: Map<number, Compiled[]>;
  readonly bySubject: Map<number, Compiled[]>;
  readonly equal: Compiled[];
}

const emptyGroup = (): Group => ({ open: [], byObject: new Map(), bySubject: new Map(), equal: [] });

/** Finds out which cells patterns touch while statements pass by. */
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
    const key = JSON.stringify([pattern.subject, pattern.predicate, pattern.object, pattern.equal ?? []]);
    const known = this.#compiled.get(key);
    if (known !== undefined) return known.cells;
    const [subject, object] = [pattern.subject, pattern.object].map((text) => text && canonicalTerm(text));
    const predicate = pattern.predicate && canonicalTerm(pattern.predicate);
    const compiled: Compiled = {
      subject: subject ? Buffer.from(subject) : undefined,
      object: object ? Buffer.from(object) : undefined,
      equal: pattern.equal ?? [],
      cells: new Set(),
    };
    this.#compiled.set(key, compiled);
    // A constant that is no term of N-Triples is in no dataset.
    const isPossible = [
      [pattern.subject, subject],
      [pattern.predicate, predicate],
      [pattern.object, object],
    ].every(([text, term]) => text === undefined || term !== undefined);
    if (isPossible) this.#file(this.#groupOf(predicate), compiled);
    return compiled.cells;
  }

  #groupOf(predicate: string | undefined): Group {
    if (predicate === undefined) return this.#anyPredicate;
    const number = this.#numberOf(Buffer.from(predicate));
    let group = this.#byPredicate.get(number);
    if (group === undefined) {
      group = emptyGroup();
      this.#byPredicate.set(number, group);
    }
    return group;
  }

  #numberOf(constant: Buffer): number {
    return this.#constants.intern(constant, 0, constant.length);
  }

  #file(group: Group, compiled: Compiled): void {
    if (compiled.object !== undefined) push(group.byObject, this.#numberOf(compiled.object), compiled);
    else if (compiled.subject !== undefined) push(group.bySubject, this.#numberOf(compiled.subject), compiled);
    else if (compiled.equal.length > 0) group.equal.push(compiled);
    else group.open.push(compiled);
  }

  /** A cell with this predicate is there. */
  openCell(predicate: number, cell: number): void {
    for (const { cells } of this.#anyPredicate.open) cells.add(cell);
    for (const { cells } of this.#byPredicate.get(predicate)?.open ?? []) cells.add(cell);
  }

  /** A statement lies in a cell. */
  take(statement: Statement, predicate: number, cell: number): void {
    this.#match(this.#anyPredicate, statement, cell);
    const group = this.#byPredicate.get(predicate);
    if (group !== undefined) this.#match(group, statement, cell);
  }

  #match(group: Group, statement: Statement, cell: number): void {
    const { bytes, start, subjectEnd, predicateEnd, objectEnd } = statement;
    if (group.byObject.size > 0) {
      const object = this.#constants.find(bytes, predicateEnd + 1, objectEnd);
      if (object >= 0) touch(group.byObject.get(object), statement, cell);
    }
    if (group.bySubject.size > 0) {
      const subject = this.#constants.find(bytes, start, subjectEnd);
      if (subject >= 0) touch(group.bySubject.get(subject), statement, cell);
    }
    if (group.equal.length > 0) touch(group.equal, statement, cell);
  }
}

function push(map: Map<number, Compiled[]>, key: number, compiled: Compiled): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [compiled]);
  else list.push(compiled);
}

function touch(patterns: readonly Compiled[] | undefined, statement: Statement, cell: number): void {
  if (patterns === undefined) return;
  for (const pattern of patterns) {
    if (!pattern.cells.has(cell) && matches(pattern, statement)) pattern.cells.add(cell);
  }
}

function matches({ subject, object, equal }: Compiled, statement: Statement): boolean {
  if (subject !== undefined && !subject.equals(spanOf(statement, "subject"))) return false;
  if (object !== undefined && !object.equals(spanOf(statement, "object"))) return false;
  return equal.every(([left, right]) => spanOf(statement, left).equals(spanOf(statement, right)));
}

function spanOf({ bytes, start, subjectEnd, predicateEnd, objectEnd }: Statement, place: Place): Buffer {
  if (place === "subject") return bytes.subarray(start, subjectEnd);
  if (place === "predicate") return bytes.subarray(subjectEnd + 1, predicateEnd);
  return bytes.subarray(predicateEnd + 1, objectEnd);
}
