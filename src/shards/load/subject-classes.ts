import { ByteTable, type SharedTable } from "./byte-table.ts";
import type { Statement } from "./statement.ts";

/** The classes of subjects, in about 80 bytes a subject. */
export interface SubjectClasses {
  /** The number of a subject, brackets included; -1 for one without a type that was not remembered. */
  find(bytes: Buffer, from: number, to: number): number;
  /** Whether a number is that of a statement's subject. */
  isSubject(subject: number, statement: Statement): boolean;
  /** A subject as it stands in a line. */
  bytesOf(subject: number): Buffer;
  /** How many numbers there are. */
  readonly size: number;
  /** The number of a subject's set of classes; 0, the empty set, for -1. */
  classSetOf(subject: number): number;
  /** Of each set of classes their IRIs, sorted. */
  readonly classSets: readonly (readonly string[])[];
  /** What other threads can have them from. */
  share(): SharedSubjects;
}

/** The same as a message to another thread: the memory is shared, not copied. */
export interface SharedSubjects {
  readonly table: SharedTable;
  readonly sets: Uint32Array;
  readonly classSets: SubjectClasses["classSets"];
}

/** The classes of the subjects in a table; `sets` has the number of the set of classes of each. */
export const subjectClasses = (
  table: ByteTable,
  sets: Uint32Array,
  classSets: SubjectClasses["classSets"],
): SubjectClasses => ({
  find: (bytes, from, to) => table.find(bytes, from, to),
  isSubject: (subject, statement) => table.isSubject(subject, statement),
  bytesOf: (subject) => table.bytesOf(subject),
  size: table.size,
  classSetOf: (subject) => (subject < 0 ? 0 : (sets[subject] ?? 0)),
  classSets,
  share: () => ({ table: table.share(), sets, classSets }),
});

/** The subjects that another thread has shared. */
export const subjectsOf = ({ table, sets, classSets }: SharedSubjects): SubjectClasses =>
  subjectClasses(ByteTable.of(table), sets, classSets);
