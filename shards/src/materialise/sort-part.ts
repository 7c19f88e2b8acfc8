import { statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { readRecords } from "./records.ts";

/** A file of records. */
interface RecordSource {
  readonly path: string;
  /** The shards that the numbers in it stand for. */
  readonly shards: Uint32Array;
}

/** Takes sorted lines, each once, behind those that a shard has. The bytes are only there during the call. */
export type AppendLines = (shard: number, bytes: Uint8Array, triples: number) => void;

/**
 * Sorts the lines of the files of a range together and gives each once to its shard. More than `maxBytes` are sorted in
 * parts, for each of which the files are read again.
 * @returns how many lines there were, repetitions included
 */
export async function sortPart(
  sources: readonly RecordSource[],
  maxBytes: number,
  append: AppendLines,
): Promise<number> {
  const size = sources.reduce((sum, { path }) => sum + statSync(path).size, 0);
  const splitters = size > maxBytes ? splittersIn(sources, { size, parts: Math.ceil((size * 2) / maxBytes) }) : [];
  let count = 0;
  for (let part = 0; part <= splitters.length; part += 1) {
    const [from = "", to] = [splitters[part - 1], splitters[part]];
    const linesOf = new Map<number, string[]>();
    for (const { path, shards } of sources) {
      for (const { number, line } of readRecords(path)) {
        if (line < from || (to !== undefined && line >= to)) continue;
        count += 1;
        const shard = shards[number]!;
        const lines = linesOf.get(shard);
        if (lines === undefined) linesOf.set(shard, [line]);
        else lines.push(line);
      }
    }
    for (const [shard, lines] of linesOf) {
      // Bytes as characters of Latin-1 have the order of bytes.
      lines.sort();
      const once = lines.filter((line, at) => line !== lines[at - 1]);
      append(shard, Buffer.from(once.join(""), "latin1"), once.length);
      // Other work of this process has its turn.
      await setImmediate();
    }
  }
  return count;
}

const samplesPerPart = 16;
/** Splitters are made of this much of a line; lines equal in it cannot be parted. */
const maxSplitterBytes = 64 * 1024;

/** Lines at even distances among a sample that is sorted. */
function splittersIn(
  sources: readonly RecordSource[],
  { size, parts }: { readonly size: number; readonly parts: number },
): readonly string[] {
  const sample = new Set<string>();
  let [at, next] = [0, 0];
  for (const { path } of sources) {
    for (const { line } of readRecords(path)) {
      at += line.length;
      if (at < next) continue;
      next = at + size / (parts * samplesPerPart);
      sample.add(line.slice(0, maxSplitterBytes));
    }
  }
  const sorted = [...sample].toSorted();
  const chosen = Array.from(
    { length: parts - 1 },
    (_, part) => sorted[Math.floor(((part + 1) * sorted.length) / parts)]!,
  );
  return [...new Set(chosen)];
}
