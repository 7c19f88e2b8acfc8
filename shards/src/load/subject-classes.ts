import { ByteTable } from "./byte-table.ts";
import type { Statement } from "./statement.ts";
import { hashOf } from "../rules/placement.ts";

/** Data sent to another thread: the memory is shared, not copied. */
export type SharedSubjects = ReturnType<SubjectClasses["share"]>;

/** The classes of subjects, in about 80 bytes a subject. */
export class SubjectClasses {
  readonly #table: ByteTable;
  readonly #sets: Uint32Array;
  /** For each set of classes their IRIs, sorted; 0 is the empty one. */
  readonly classSets: readonly (readonly string[])[];

  /** @param sets the number of the set of classes of each subject in the table */
  constructor(table: ByteTable, sets: Uint32Array, classSets: readonly (readonly string[])[]) {
    this.#table = table;
    this.#sets = sets;
    this.classSets = classSets;
  }

  /** The subjects that another thread has shared. */
  static of({ table, sets, classSets }: SharedSubjects): SubjectClasses {
    return new SubjectClasses(ByteTable.of(table), sets, classSets);
  }

  share() {
    return { table: this.#table.share(), sets: this.#sets, classSets: this.classSets };
  }

  /** How many numbers there are. */
  get size(): number {
    return this.#table.size;
  }

  /** The number of a subject, brackets included; -1 for one without a type that was not remembered. */
  find(bytes: Buffer, from: number, to: number): number {
    return this.#table.find(bytes, from, to);
  }

  /** True if a number is that of a statement's subject. */
  isSubject(subject: number, statement: Statement): boolean {
    return this.#table.isSubject(subject, statement);
  }

  /** The number of a subject's set of classes; 0 for -1. */
  classSetOf(subject: number): number {
    return subject < 0 ? 0 : this.#sets[subject]!;
  }
}

/** Follows the subject from statement to statement: its classes, and the hash that buckets are made of. */
export class SubjectCursor {
  /** The subject's number; -1 for one that was not remembered. */
  subject = -1;
  /** The number of its set of classes. */
  classSet = 0;
  readonly #subjects: SubjectClasses;
  readonly #hashes: Uint32Array;
  readonly #isHashed: Uint8Array;

  constructor(subjects: SubjectClasses) {
    this.#subjects = subjects;
    this.#hashes = new Uint32Array(subjects.size);
    this.#isHashed = new Uint8Array(subjects.size);
  }

  move(statement: Statement): void {
    if (this.subject >= 0 && this.#subjects.isSubject(this.subject, statement)) return;
    const { bytes, start, subjectEnd } = statement;
    this.subject = this.#subjects.find(bytes, start, subjectEnd);
    this.classSet = this.#subjects.classSetOf(this.subject);
  }

  /** `hashOf` the subject of the statement that it was moved to. */
  hash({ bytes, start, subjectEnd }: Statement): number {
    const { subject } = this;
    if (subject >= 0 && this.#isHashed[subject] === 1) return this.#hashes[subject]!;
    const hash = hashOf(bytes.subarray(start + 1, subjectEnd - 1));
    if (subject >= 0) {
      this.#hashes[subject] = hash;
      this.#isHashed[subject] = 1;
    }
    return hash;
  }
}
