import { ByteTable } from "./byte-table.ts";
import type { Statement } from "./statement.ts";
import { hashOf } from "../rules/placement.ts";
import { createReadStream } from "node:fs";
import { open, rename } from "node:fs/promises";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { type Guarded, isCount, isListOf, isShape, isText, parsedAs } from "../guards.ts";

/** What another thread is sent: the memory is shared, not copied. */
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

  /** Whether a number is that of a statement's subject. */
  isSubject(subject: number, statement: Statement): boolean {
    return this.#table.isSubject(subject, statement);
  }

  /** A subject as it stands in a line. */
  bytesOf(subject: number): Buffer {
    return this.#table.bytesOf(subject);
  }

  /** The number of a subject's set of classes; 0 for -1. */
  classSetOf(subject: number): number {
    return subject < 0 ? 0 : (this.#sets[subject] ?? 0);
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

// The file: a line of JSON with the sets of classes and the number of subjects; then, of each subject by number, its
// set (4 bytes), its length (4 bytes, both little-endian) and its bytes.

const isHead = isShape({ size: isCount, classSets: isListOf(isListOf(isText)) });
type Head = Guarded<typeof isHead>;

const lineFeed = 0x0a;
const recordHead = 8;
const bufferBytes = 1024 * 1024;

/** Writes the classes of subjects to a file, so that other processes need not learn them. */
export async function saveSubjects(path: string, subjects: SubjectClasses): Promise<void> {
  const aside = `${path}.part`;
  const file = await open(aside, "w");
  try {
    const head: Head = { size: subjects.size, classSets: subjects.classSets };
    await file.appendFile(`${JSON.stringify(head)}\n`);
    let chunk: Buffer[] = [];
    let bytes = 0;
    for (let subject = 0; subject < subjects.size; subject += 1) {
      const text = subjects.bytesOf(subject);
      const record = Buffer.allocUnsafe(recordHead);
      record.writeUInt32LE(subjects.classSetOf(subject), 0);
      record.writeUInt32LE(text.length, 4);
      chunk.push(record, text);
      bytes += recordHead + text.length;
      if (bytes < bufferBytes && subject < subjects.size - 1) continue;
      await file.appendFile(Buffer.concat(chunk));
      chunk = [];
      bytes = 0;
    }
  } finally {
    await file.close();
  }
  await rename(aside, path);
}

/** Reads what `saveSubjects` wrote. @throws FedwayError `SHARDS_INVALID` for anything else */
export async function loadSubjects(path: string): Promise<SubjectClasses> {
  const reader = new SubjectReader();
  try {
    const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: bufferBytes });
    for await (const chunk of chunks) reader.push(chunk);
  } catch (cause) {
    throw cause instanceof FedwayError ? cause : damaged(cause);
  }
  return reader.finish();
}

const damaged = (cause?: unknown): FedwayError =>
  new FedwayError("SHARDS_INVALID", "The file with the classes of subjects is damaged.", { cause });

class SubjectReader {
  readonly #table = new ByteTable();
  #held = Buffer.alloc(0);
  #head: Head | undefined;
  #sets = new Uint32Array(0);

  push(chunk: Buffer): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let at = 0;
    if (this.#head === undefined) {
      const end = bytes.indexOf(lineFeed);
      if (end >= 0) {
        this.#head = parsedAs(bytes.toString("utf8", 0, end), isHead);
        if (this.#head === undefined) throw damaged();
        this.#sets = new Uint32Array(this.#head.size);
        at = end + 1;
      }
    }
    if (this.#head !== undefined) at = this.#records(bytes, at, this.#head);
    // A copy: the stream keeps its chunks.
    this.#held = Buffer.from(bytes.subarray(at));
  }

  #records(bytes: Buffer, from: number, { classSets, size }: Head): number {
    let at = from;
    while (at + recordHead <= bytes.length) {
      const set = bytes.readUInt32LE(at);
      const end = at + recordHead + bytes.readUInt32LE(at + 4);
      if (end > bytes.length) break;
      const subject = this.#table.intern(bytes, at + recordHead, end);
      if (subject >= size || this.#table.size - 1 !== subject || set >= classSets.length) throw damaged();
      this.#sets[subject] = set;
      at = end;
    }
    return at;
  }

  finish(): SubjectClasses {
    const table = this.#table;
    if (this.#head === undefined || this.#held.length > 0 || table.size !== this.#head.size) throw damaged();
    return new SubjectClasses(table, this.#sets, this.#head.classSets);
  }
}
