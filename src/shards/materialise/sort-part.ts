import { readFileSync, rmSync, statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { rangesOf } from "./ranges.ts";
import { readRecords } from "./read-records.ts";
import { recordHead, RecordWriter } from "./record-writer.ts";
import type { ShardFiles } from "./shard-files.ts";
import { sortLines } from "./sort-lines.ts";

/** Parts that a larger one is parted into at a time. */
const splitCount = 16;
const sampleSize = 128;
const splitBufferBytes = 64 * 1024;
/** Splitters are made of this much of a line; what is equal in it cannot be parted by them. */
const maxSplitterBytes = 512 * 1024;

/**
 * Sorts the lines of a file of records, writes each once to the end of its shard, and returns how many there were,
 * repetitions included. A file that is too large for memory is parted first.
 */
export async function sortPart(path: string, files: ShardFiles, maxBytes: number): Promise<number> {
  if (statSync(path).size > maxBytes) return sortLargePart(path, files, maxBytes);
  const bytes = readFileSync(path);
  const { starts, ends, shards } = recordsOf(bytes);
  for (const [shard, order] of byShard(shards)) {
    sortLines({ bytes, starts, ends }, order);
    appendOnce({ bytes, starts, ends }, order, { shard, files });
    // Other work of this process has its turn.
    await setImmediate();
  }
  return shards.length;
}

interface Records {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly shards: Uint32Array;
}

function recordsOf(bytes: Buffer): Records {
  let count = 0;
  for (let at = 0; at < bytes.length; at += recordHead + bytes.readUInt32LE(at + 4)) count += 1;
  const records = { starts: new Uint32Array(count), ends: new Uint32Array(count), shards: new Uint32Array(count) };
  let at = 0;
  for (let line = 0; line < count; line += 1) {
    records.shards[line] = bytes.readUInt32LE(at);
    records.starts[line] = at + recordHead;
    at += recordHead + bytes.readUInt32LE(at + 4);
    records.ends[line] = at;
  }
  return records;
}

/** Numbers of lines by shard. */
function byShard(shards: Uint32Array): ReadonlyMap<number, Uint32Array> {
  const counts = new Map<number, number>();
  for (const shard of shards) counts.set(shard, (counts.get(shard) ?? 0) + 1);
  const orders = new Map([...counts].map(([shard, count]) => [shard, new Uint32Array(count)]));
  shards.forEach((shard, line) => {
    const left = counts.get(shard)!;
    const order = orders.get(shard)!;
    order[order.length - left] = line;
    counts.set(shard, left - 1);
  });
  return orders;
}

interface Appending {
  readonly shard: number;
  readonly files: ShardFiles;
}

function appendOnce(
  { bytes, starts, ends }: Omit<Records, "shards"> & { readonly bytes: Buffer },
  order: Uint32Array,
  { shard, files }: Appending,
): void {
  let size = 0;
  for (const line of order) size += ends[line]! - starts[line]!;
  const text = Buffer.allocUnsafe(size);
  let used = 0;
  let triples = 0;
  let last = -1;
  for (const line of order) {
    const start = starts[line]!;
    const end = ends[line]!;
    if (last >= 0 && isSame(bytes, { start, end }, { start: starts[last]!, end: ends[last]! })) continue;
    used += bytes.copy(text, used, start, end);
    triples += 1;
    last = line;
  }
  files.append(shard, text.subarray(0, used), triples);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const isSame = (bytes: Buffer, left: Span, right: Span): boolean =>
  left.end - left.start === right.end - right.start &&
  // The last byte in front of the dot differs most of the time.
  bytes[left.end - 4] === bytes[right.end - 4] &&
  bytes.compare(bytes, left.start, left.end, right.start, right.end) === 0;

/**
 * Parts a file at lines of a sample, and drops lines that repeat one of the sample: whatever the lines are, each part is
 * smaller than the whole.
 */
async function sortLargePart(path: string, files: ShardFiles, maxBytes: number): Promise<number> {
  const { paths, dropped } = splitPart(path);
  const { size } = statSync(path);
  let count = dropped;
  for (const each of paths) {
    // What cannot be parted is sorted as it is: lines that are equal for as long as a splitter is.
    const isSmaller = statSync(each).size < size;
    count += await sortPart(each, files, isSmaller ? maxBytes : Number.POSITIVE_INFINITY);
    rmSync(each);
  }
  return count;
}

function splitPart(path: string): { readonly paths: readonly string[]; readonly dropped: number } {
  const sample = sampleOf(path);
  const ranges = rangesOf(sample, splitCount);
  const paths = Array.from({ length: ranges.count }, (_, index) => `${path}.${index}`);
  // Lines of the sample; those that have come once are written already.
  const toCome = new Map(sample.map((line) => [line.toString("latin1"), true]));
  const writer = new RecordWriter(paths, splitBufferBytes);
  let dropped = 0;
  try {
    for (const { bytes, start, end, shard } of readRecords(path)) {
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

/** Sorted lines, at even distances, without repetitions. */
function sampleOf(path: string): readonly Buffer[] {
  const taken = new Map<string, Buffer>();
  const step = Math.max(1, Math.floor(statSync(path).size / sampleSize));
  let next = 0;
  let at = 0;
  for (const { bytes, start, end } of readRecords(path)) {
    at += end - start + recordHead;
    if (at < next) continue;
    next = at + step;
    const line = Buffer.from(bytes.subarray(start, Math.min(end, start + maxSplitterBytes)));
    taken.set(line.toString("latin1"), line);
  }
  return [...taken.values()].toSorted((left, right) => left.compare(right));
}
