import { createReadStream } from "node:fs";
import { open, rename } from "node:fs/promises";
import { FedwayError } from "../../errors/fedway-error.ts";
import { ByteTable } from "./byte-table.ts";
import { type SubjectClasses, subjectClasses } from "./subject-classes.ts";

// The file: a line of JSON with the sets of classes and the number of subjects; then, of each subject by number, its
// set (4 bytes), its length (4 bytes, both little-endian) and its bytes.

interface Head {
  readonly size: number;
  readonly classSets: readonly (readonly string[])[];
}

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
        this.#head = headOf(bytes.toString("utf8", 0, end));
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
    return subjectClasses(table, this.#sets, this.#head.classSets);
  }
}

function headOf(text: string): Head {
  const found: unknown = JSON.parse(text);
  if (isHead(found)) return found;
  throw damaged();
}

const isHead = (value: unknown): value is Head =>
  typeof value === "object" &&
  value !== null &&
  "size" in value &&
  Number.isSafeInteger(value.size) &&
  "classSets" in value &&
  Array.isArray(value.classSets);
