import { availableParallelism } from "node:os";
import { type PassOptions, type Progress, sizeOfSlice } from "../load/read-statements.ts";
import type { SharedSubjects } from "../load/subject-classes.ts";
import { type GatherPlan, removeUnfinished, type SliceTask } from "./gather-slice.ts";
import { itemAt } from "../../../src/values.ts";
import { Threads } from "../../../src/workers/threads.ts";
import { statSync } from "node:fs";
import type { AppendLines } from "./sort-ranges.ts";

const script = new URL("./build-thread.ts", import.meta.url);

/** Each takes 40 to 60 MB; sequential reading and writing does not get quicker with more. */
const mostThreads = 4;

/**
 * How many threads work on what takes one alone more than a second or two: each costs a third of a second of a processor
 * until it has started and compiled its code, much of it at the same time as the others.
 */
export const threadCount = (): number => Math.min(mostThreads, availableParallelism());

/** Start data of a thread that reads slices. */
export interface GatherData {
  readonly kind: "gather";
  readonly parts: string;
  readonly plan: GatherPlan;
  readonly shared: SharedSubjects;
}

/**
 * Reads slices side by side. When it ends, no thread is left, nor anything of a slice that is not complete.
 * @throws of several slices that fail, what the first of them in the inputs throws
 */
export async function gatherInThreads(
  slices: readonly SliceTask[],
  { signal, onProgress }: PassOptions,
  count: number,
): Promise<void> {
  const [first] = slices;
  if (first === undefined) return;
  const { parts, plan, subjects } = first;
  const data: GatherData = { kind: "gather", parts, plan, shared: subjects.share() };
  const threads = new Threads<number, void, Progress>({ script, data, count, signal });
  const totalBytes = slices.reduce((sum, { slice }) => sum + sizeOfSlice(itemAt(plan.slices, slice)), 0);
  const sum = { phase: "split" as const, triples: 0, bytes: 0, totalBytes };
  try {
    const running = slices.map(({ slice }) => {
      let before = { triples: 0, bytes: 0 };
      const onSlice = ({ triples, bytes }: Progress): void => {
        sum.triples += triples - before.triples;
        sum.bytes += bytes - before.bytes;
        before = { triples, bytes };
        onProgress?.({ ...sum });
      };
      return threads.run(slice, { onProgress: onSlice });
    });
    for (const slice of running) slice.catch(() => {});
    for (const slice of running) await slice;
  } finally {
    await threads.close();
    await removeUnfinished(parts);
  }
}

/** Start data of a thread that sorts. */
export interface SortData {
  readonly kind: "sort";
  /** For each slice, the shards of its cells. */
  readonly shardsOfSlices: readonly Uint32Array[];
}

/** Result of a range. */
export interface SortedRange {
  readonly lines: readonly { readonly shard: number; readonly bytes: Uint8Array; readonly triples: number }[];
  /** Lines that there were, repetitions included. */
  readonly count: number;
}

/** Adds the lines of a range to the ends of their shards; ranges come in order. Returns how many there were. */
export type AddRange = (range: number) => Promise<number>;

interface SortInThreads {
  readonly shardsOfSlices: readonly Uint32Array[];
  readonly filesOf: (range: number) => readonly string[];
  readonly ranges: number;
  readonly append: AppendLines;
  /** For ranges that are too large to be held several at a time, or than `maxPartBytes`. */
  readonly addHere: AddRange;
  readonly maxPartBytes: number;
  readonly count: number;
  readonly signal?: AbortSignal | undefined;
}

/** Ranges have about 8 MB. A thread holds a range three times, and two ranges a thread wait at most. */
const mostBytes = 16 * 1024 * 1024;
const aheadPerThread = 2;

/** Has threads sort ranges while others are added. */
export function sortAhead(work: SortInThreads): { readonly add: AddRange; readonly close: () => Promise<void> } {
  const { shardsOfSlices, filesOf, ranges, append, addHere, maxPartBytes, count, signal } = work;
  const data: SortData = { kind: "sort", shardsOfSlices };
  const threads = new Threads<readonly string[], SortedRange>({ script, data, count, signal });
  /** By range; undefined for one that is sorted here. */
  const ahead = new Map<number, Promise<SortedRange> | undefined>();
  const begin = (range: number): Promise<SortedRange> | undefined => {
    const paths = filesOf(range);
    const size = paths.reduce((sum, path) => sum + statSync(path).size, 0);
    if (size > Math.min(mostBytes, maxPartBytes)) return undefined;
    const sorting = threads.run(paths);
    // Its error is thrown when its turn comes.
    sorting.catch(() => {});
    return sorting;
  };
  const add = async (range: number): Promise<number> => {
    const end = Math.min(ranges, range + count * aheadPerThread);
    for (let next = range; next < end; next += 1) if (!ahead.has(next)) ahead.set(next, begin(next));
    const sorting = ahead.get(range);
    ahead.delete(range);
    if (sorting === undefined) return addHere(range);
    const sorted = await sorting;
    for (const { shard, bytes, triples } of sorted.lines) append(shard, bytes, triples);
    return sorted.count;
  };
  return { add, close: () => threads.close() };
}
