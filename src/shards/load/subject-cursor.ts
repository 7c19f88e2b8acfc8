import { hashOf } from "../placement.ts";
import type { Statement } from "./statement.ts";
import type { SubjectClasses } from "./subject-classes.ts";

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
