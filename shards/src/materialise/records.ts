import { closeSync, openSync, writeSync, readSync } from "node:fs";

/** In front of each line: a number and its length, little-endian. */
const recordHead = 8;

/** Files of records, written through one buffer each. Every file is there from the start, empty or not. */
export class RecordWriter {
  readonly #files: number[] = [];
  readonly #buffers: Buffer[] = [];
  readonly #used: Uint32Array;

  constructor(paths: readonly string[], bufferBytes: number) {
    this.#used = new Uint32Array(paths.length);
    for (const path of paths) {
      this.#files.push(openSync(path, "w"));
      this.#buffers.push(Buffer.allocUnsafe(bufferBytes));
    }
  }

  write(file: number, number: number, line: { bytes: Buffer; start: number; end: number }): void {
    const length = line.end - line.start;
    let buffer = this.#buffers[file]!;
    if (this.#used[file]! + recordHead + length > buffer.length) {
      this.#flush(file);
      if (recordHead + length > buffer.length) buffer = Buffer.allocUnsafe(recordHead + length);
    }
    const at = this.#used[file]!;
    buffer.writeUInt32LE(number, at);
    buffer.writeUInt32LE(length, at + 4);
    line.bytes.copy(buffer, at + recordHead, line.start, line.end);
    if (buffer === this.#buffers[file]) this.#used[file] = at + recordHead + length;
    else writeAll(this.#files[file]!, buffer);
  }

  #flush(file: number): void {
    const used = this.#used[file]!;
    this.#used[file] = 0;
    if (used > 0) writeAll(this.#files[file]!, this.#buffers[file]!.subarray(0, used));
  }

  /** Writes the rest. */
  finish(): void {
    for (let file = 0; file < this.#files.length; file += 1) this.#flush(file);
    this.close();
  }

  close(): void {
    for (const descriptor of this.#files.splice(0)) closeSync(descriptor);
  }
}

/** Writes all of the bytes: one call may write only a part. */
function writeAll(descriptor: number, bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length) at += writeSync(descriptor, bytes, at);
}

const readAhead = 1024 * 1024;

/** Reads records one by one, their lines as Latin-1, with no more in memory than the largest. */
export function* readRecords(path: string): Generator<{ readonly number: number; readonly line: string }> {
  const file = openSync(path, "r");
  try {
    let bytes = Buffer.allocUnsafe(readAhead);
    let from = 0;
    let to = 0;
    for (;;) {
      const needed = to - from < recordHead ? recordHead : recordHead + bytes.readUInt32LE(from + 4);
      if (to - from >= needed && needed > recordHead) {
        yield { number: bytes.readUInt32LE(from), line: bytes.toString("latin1", from + recordHead, from + needed) };
        from += needed;
        continue;
      }
      const kept = bytes.subarray(from, to);
      if (needed > bytes.length) bytes = Buffer.concat([kept], Math.max(needed, bytes.length * 2));
      else bytes.copyWithin(0, from, to);
      to = kept.length;
      from = 0;
      const count = readSync(file, bytes, to, bytes.length - to, null);
      if (count === 0) return;
      to += count;
    }
  } finally {
    closeSync(file);
  }
}
