import { rm } from "node:fs/promises";
import { appendFileSync, truncateSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { valueFor } from "../../../src/values.ts";
import { type BuildState, type WrittenShard, writeState, type BuildFolder } from "./build-folder.ts";
import type { Gathered } from "./gather.ts";
import { rangeFile } from "./gather-slice.ts";
import type { MaterialiseOptions } from "./materialise.ts";
import { type AddRange, sortAhead, threadCount } from "./threads.ts";
import { readRecords } from "./records.ts";

/** Statements of this many bytes or more are sorted in threads. */
const leastThreadBytes = 256 * 1024 * 1024;
const defaultMaxPartBytes = 32 * 1024 * 1024;

/** Sorting that has begun. */
export interface Sorting {
  readonly gathered: Gathered;
  /** For each cell the key of its shard. */
  readonly keys: readonly string[];
  readonly state: BuildState;
  /** File name extension of the shards. */
  readonly ending: ".nt" | ".nq";
  /** Number of statements to sort, repetitions included. */
  readonly statements: number;
  readonly statementBytes: number;
}

/** The files of a range, one of each slice. */
export const filesOf = (place: BuildFolder, { places }: Gathered, range: number): readonly string[] =>
  places.map((_, slice) => rangeFile(place.parts, slice, range));

/**
 * Sorts one range after the other and adds its lines to the ends of the shards, each once; notes how far it is.
 * @returns the shards as they were written
 */
export async function sortRanges(
  place: BuildFolder,
  sorting: Sorting,
  options: MaterialiseOptions,
): Promise<readonly WrittenShard[]> {
  const { gathered, state, ending, statements, statementBytes: totalBytes } = sorting;
  if (state.nextRange === gathered.ranges) return state.shards;
  const { now = () => performance.now(), noteMs = 2_000, onProgress, signal } = options;
  const files = openShardFiles(place.shards, ending, state.shards);
  // What an earlier run has done counts, but for repetitions.
  const before = state.shards.reduce((sum, { triples }) => sum + triples, 0);
  const progress = { phase: "sort" as const, triples: before, bytes: 0, totalBytes };
  const sorter = rangeSorter(place, { sorting, files }, options);
  let notedMs = now();
  const done: string[] = [];
  try {
    for (let range = state.nextRange; range < gathered.ranges; range += 1) {
      signal?.throwIfAborted();
      progress.triples += await sorter.add(range);
      progress.bytes = Math.round((totalBytes * progress.triples) / statements);
      done.push(...filesOf(place, gathered, range));
      if (now() - notedMs >= noteMs || range === gathered.ranges - 1) {
        await writeState(place.building, { ...state, nextRange: range + 1, shards: files.written() });
        for (const each of done.splice(0)) await rm(each, { force: true });
        notedMs = now();
      }
      onProgress?.({ ...progress });
    }
    return files.written();
  } finally {
    await sorter.close();
  }
}

/** Sorts in threads when there is enough to sort, and here otherwise. */
function rangeSorter(
  place: BuildFolder,
  { sorting, files }: { readonly sorting: Sorting; readonly files: ReturnType<typeof openShardFiles> },
  { maxPartBytes = defaultMaxPartBytes, threads, signal }: MaterialiseOptions,
): ReturnType<typeof sortAhead> {
  const { gathered, state, statementBytes } = sorting;
  const shardsOfSlices = shardNumbers(sorting);
  const { append } = files;
  const filesOfRange = (range: number): readonly string[] => filesOf(place, gathered, range);
  const addHere: AddRange = (range) =>
    sortPart(
      filesOfRange(range).map((path, slice) => ({ path, shards: shardsOfSlices[slice]! })),
      maxPartBytes,
      append,
    );
  const { ranges } = gathered;
  const wanted = threads ?? (statementBytes < leastThreadBytes ? 1 : threadCount());
  const count = Math.min(ranges - state.nextRange, wanted);
  if (count < 2) return { add: addHere, close: async () => {} };
  const common = { shardsOfSlices, filesOf: filesOfRange, ranges, count, signal };
  return sortAhead({ ...common, append, addHere, maxPartBytes });
}

/** For each slice, the shards of its cells. */
function shardNumbers({ gathered, keys, state }: Sorting): readonly Uint32Array[] {
  const numbers = new Map(state.shards.map(({ key }, number) => [key, number]));
  const ofCells = Uint32Array.from(keys, (key) => valueFor(numbers, key));
  return gathered.places.map((places) => places.map((place) => ofCells[place]!));
}

/**
 * The shards' files while lines are added to their ends; all of them are there. Cuts off what a build that was killed wrote
 * behind its last state.
 */
export function openShardFiles(folder: string, ending: string, shards: readonly WrittenShard[]) {
  const written = shards.map((shard) => ({ ...shard }));
  const pathOf = ({ id }: WrittenShard): string => join(folder, `${id}${ending}`);
  for (const shard of written) {
    appendFileSync(pathOf(shard), "");
    truncateSync(pathOf(shard), shard.bytes);
  }
  const append: AppendLines = (number, bytes, triples) => {
    const shard = written[number]!;
    appendFileSync(pathOf(shard), bytes);
    shard.bytes += bytes.length;
    shard.triples += triples;
  };
  return { append, written: (): readonly WrittenShard[] => structuredClone(written) };
}

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
