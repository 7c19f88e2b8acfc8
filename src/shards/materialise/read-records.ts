import { closeSync, openSync, readSync } from "node:fs";
import { recordHead } from "./record-writer.ts";

/** A line in a file of records; the bytes are only there until the next is asked for. */
export interface LineRecord {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly shard: number;
}

const readAhead = 1024 * 1024;

/** Reads records one by one, with no more in memory than the largest. */
export function* readRecords(path: string): Generator<LineRecord> {
  const file = openSync(path, "r");
  try {
    let bytes = Buffer.allocUnsafe(readAhead);
    let from = 0;
    let to = 0;
    for (;;) {
      const needed = to - from < recordHead ? recordHead : recordHead + bytes.readUInt32LE(from + 4);
      if (to - from >= needed && needed > recordHead) {
        yield { bytes, start: from + recordHead, end: from + needed, shard: bytes.readUInt32LE(from) };
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
