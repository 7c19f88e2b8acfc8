import { closeSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { grown } from "../load/byte-table.ts";
import { rangesBetween, splittersOf } from "./gather-slice.ts";
import { type LineRecord, readRecords, recordHead, RecordWriter } from "./records.ts";
import { sortLines } from "./sort-lines.ts";

/** Parts that a larger one is parted into at a time. */
const splitCount = 16;
const sampleSize = 128;
const splitBufferBytes = 64 * 1024;
/** Splitters are made of this much of a line; what is equal in it cannot be parted by them. */
const maxSplitterBytes = 512 * 1024;

/** A file of records. */
interface RecordSource {
  readonly path: string;
  /** The shards that the numbers in it stand for; they are those of shards themselves by default. */
  readonly shards?: Uint32Array | undefined;
}

/** Where sorted lines go. */
export interface LineSink {
  /** Takes sorted lines, each once, behind those that it has of that shard. The bytes are only there during the call. */
  append(shard: number, bytes: Uint8Array, triples: number): void;
}

/** Sorts files of records one part after the other, in memory that it keeps. */
export class PartSorter {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  #bytes = Buffer.allocUnsafe(0);
  #text = Buffer.allocUnsafe(0);
  #starts: Uint32Array = new Uint32Array(1024);
  #ends: Uint32Array = new Uint32Array(1024);
  #shards: Uint32Array = new Uint32Array(1024);

  /** @param maxBytes a larger part is parted first */
  constructor(sink: LineSink, maxBytes: number) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
  }

  /**
   * Sorts the lines of the files of a part together, writes each once to the end of its shard, and returns how many there
   * were, repetitions included.
   */
  async sortPart(sources: readonly RecordSource[]): Promise<number> {
    const size = sizeOf(sources);
    return size > this.#maxBytes ? this.#sortLarge(sources, size) : this.#sortWhole(sources, size);
  }

  async #sortWhole(sources: readonly RecordSource[], size: number): Promise<number> {
    if (size > this.#bytes.length) this.#bytes = Buffer.allocUnsafe(size);
    let count = 0;
    let at = 0;
    for (const { path, shards } of sources) {
      const to = at + statSync(path).size;
      readWhole(path, this.#bytes.subarray(at, to));
      count = this.#records({ at, to, count, shards });
      at = to;
    }
    for (const [shard, order] of byShard(this.#shards.subarray(0, count))) {
      sortLines({ bytes: this.#bytes, starts: this.#starts, ends: this.#ends }, order);
      this.#append(shard, order);
      // Other work of this process has its turn.
      await setImmediate();
    }
    return count;
  }

  /** Finds the records in a span of the bytes, behind those that are known; returns how many there are in all. */
  #records(span: { readonly at: number; readonly to: number; readonly count: number } & Pick<RecordSource, "shards">) {
    const bytes = this.#bytes;
    const { to, shards } = span;
    let { count } = span;
    for (let { at } = span; at < to; count += 1) {
      if (count === this.#starts.length) {
        this.#starts = grown(this.#starts);
        this.#ends = grown(this.#ends);
        this.#shards = grown(this.#shards);
      }
      const number = bytes.readUInt32LE(at);
      const end = at + recordHead + bytes.readUInt32LE(at + 4);
      this.#shards[count] = shards === undefined ? number : shards[number]!;
      this.#starts[count] = at + recordHead;
      this.#ends[count] = end;
      at = end;
    }
    return count;
  }

  /** Adds sorted lines to the end of a shard, each once. */
  #append(shard: number, order: Uint32Array): void {
    const bytes = this.#bytes;
    if (this.#text.length < bytes.length) this.#text = Buffer.allocUnsafe(bytes.length);
    let used = 0;
    let triples = 0;
    let last: number | undefined;
    for (const line of order) {
      if (last !== undefined && this.#isSame(line, last)) continue;
      used += bytes.copy(this.#text, used, this.#starts[line], this.#ends[line]);
      triples += 1;
      last = line;
    }
    this.#sink.append(shard, this.#text.subarray(0, used), triples);
  }

  #isSame(line: number, other: number): boolean {
    const bytes = this.#bytes;
    const start = this.#starts[line]!;
    const end = this.#ends[line]!;
    const otherStart = this.#starts[other]!;
    const otherEnd = this.#ends[other]!;
    if (end - start !== otherEnd - otherStart) return false;
    // The last byte in front of the dot differs most of the time.
    if (bytes[end - 4] !== bytes[otherEnd - 4]) return false;
    return bytes.compare(bytes, start, end, otherStart, otherEnd) === 0;
  }

  /**
   * Parts the lines at those of a sample, and drops lines that repeat one of the sample: whatever the lines are, each part
   * is smaller than the whole.
   */
  async #sortLarge(sources: readonly RecordSource[], size: number): Promise<number> {
    const { paths, dropped } = splitPart(sources);
    let count = dropped;
    for (const path of paths) {
      const part = [{ path }];
      const partSize = sizeOf(part);
      // What cannot be parted is sorted as it is: lines that are equal for as long as a splitter is.
      count += await (partSize < size ? this.sortPart(part) : this.#sortWhole(part, partSize));
      rmSync(path);
    }
    return count;
  }
}

const sizeOf = (sources: readonly RecordSource[]): number =>
  sources.reduce((sum, { path }) => sum + statSync(path).size, 0);

function readWhole(path: string, bytes: Buffer): void {
  const file = openSync(path, "r");
  try {
    for (let at = 0, read = -1; at < bytes.length && read !== 0; at += read) {
      read = readSync(file, bytes, at, bytes.length - at, at);
    }
  } finally {
    closeSync(file);
  }
}

/** Numbers of lines by shard. */
function byShard(shards: Uint32Array): readonly (readonly [number, Uint32Array])[] {
  let most = 0;
  for (let line = 0; line < shards.length; line += 1) most = Math.max(most, shards[line]!);
  const ends = new Uint32Array(most + 2);
  for (let line = 0; line < shards.length; line += 1) ends[shards[line]! + 1]! += 1;
  for (let shard = 0; shard <= most; shard += 1) ends[shard + 1]! += ends[shard]!;
  const starts = ends.slice();
  const order = new Uint32Array(shards.length);
  // Until then the end of a shard is that of the one before, and moves on with each of its lines.
  for (let line = 0; line < shards.length; line += 1) {
    const shard = shards[line]!;
    order[ends[shard]!] = line;
    ends[shard]! += 1;
  }
  const all = Array.from(
    { length: most + 1 },
    (_, shard) => [shard, order.subarray(starts[shard], ends[shard])] as const,
  );
  return all.filter(([, lines]) => lines.length > 0);
}

function splitPart(sources: readonly RecordSource[]): { readonly paths: readonly string[]; readonly dropped: number } {
  const sample = sampleOf(sources);
  const ranges = rangesBetween(splittersOf(sample, splitCount));
  const first = sources[0]?.path ?? "";
  const paths = Array.from({ length: ranges.count }, (_, index) => `${first}.${index}`);
  // Lines of the sample; those that have come once are written already.
  const toCome = new Map(sample.map((line) => [line.toString("latin1"), true]));
  const writer = new RecordWriter(paths, splitBufferBytes);
  let dropped = 0;
  try {
    for (const record of recordsOf(sources)) {
      const { bytes, start, end, shard } = record;
      const text = end - start > maxSplitterBytes ? "" : bytes.toString("latin1", start, end);
      const isFirst = toCome.get(text);
      if (isFirst === false) dropped += 1;
      else writer.write(ranges.of(bytes, start, Math.min(end, start + maxSplitterBytes)), shard, { bytes, start, end });
      if (isFirst === true) toCome.set(text, false);
    }
    writer.finish();
  } finally {
    writer.close();
  }
  return { paths, dropped };
}

/** The records of all files, with the numbers of their shards. */
function* recordsOf(sources: readonly RecordSource[]): Generator<LineRecord> {
  for (const { path, shards } of sources) {
    for (const record of readRecords(path)) {
      yield shards === undefined ? record : { ...record, shard: shards[record.shard]! };
    }
  }
}

/** Sorted lines, at even distances, without repetitions. */
function sampleOf(sources: readonly RecordSource[]): readonly Buffer[] {
  const taken = new Map<string, Buffer>();
  const step = Math.max(1, Math.floor(sizeOf(sources) / sampleSize));
  let next = 0;
  let at = 0;
  for (const { bytes, start, end } of recordsOf(sources)) {
    at += end - start + recordHead;
    if (at < next) continue;
    next = at + step;
    const line = Buffer.from(bytes.subarray(start, Math.min(end, start + maxSplitterBytes)));
    taken.set(line.toString("latin1"), line);
  }
  return [...taken.values()].toSorted((left, right) => left.compare(right));
}
