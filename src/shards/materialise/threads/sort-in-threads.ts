import { statSync } from "node:fs";
import type { LineSink } from "../sort-part.ts";
import { startThreads, type Threads } from "../../threads/start-threads.ts";

/** What a thread that sorts is started with. */
export interface SortData {
  /** Of each slice, the shards of its cells. */
  readonly shardsOfSlices: readonly Uint32Array[];
}

/** The files of a range, one of each slice. */
export interface SortTask {
  readonly paths: readonly string[];
  /** Bytes of the files. */
  readonly size: number;
  /** For the sorted lines: memory of a range that is added, since new memory costs more time than adding does. */
  readonly spare: Uint8Array<ArrayBuffer>;
}

/** Lines that follow each other in one shard. */
export interface SortedLines {
  readonly shard: number;
  readonly bytes: number;
  readonly triples: number;
}

/** What a range gives. */
export interface SortedRange {
  /** The lines, those of one shard behind those of the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lines: readonly SortedLines[];
  /** Lines that there were, repetitions included. */
  readonly count: number;
}

/** Adds the lines of a range to the ends of their shards; ranges come in order. Returns how many there were. */
export type AddRange = (range: number) => Promise<number>;

export interface SortInThreads {
  readonly shardsOfSlices: readonly Uint32Array[];
  readonly filesOf: (range: number) => readonly string[];
  readonly ranges: number;
  readonly sink: LineSink;
  /** For ranges that are too large to be held several at a time, or than `maxPartBytes`. */
  readonly addHere: AddRange;
  readonly maxPartBytes: number;
  readonly count: number;
  readonly signal?: AbortSignal | undefined;
}

/** Ranges have about 8 MB. A thread holds a range three times, and two ranges a thread wait at most. */
const mostBytes = 16 * 1024 * 1024;
const aheadPerThread = 2;

/** Adds ranges that threads sort while others are added. */
export class RangesAhead {
  readonly #work: SortInThreads;
  readonly #threads: Threads<SortTask, SortedRange>;
  /** By range; undefined for one that is sorted here. */
  readonly #ahead = new Map<number, Promise<SortedRange> | undefined>();
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];

  constructor(work: SortInThreads) {
    const { shardsOfSlices, count, signal } = work;
    const data: SortData = { shardsOfSlices };
    this.#work = work;
    this.#threads = startThreads({ script: new URL("./sort-thread.ts", import.meta.url), data, count, signal });
  }

  readonly add: AddRange = async (range) => {
    const { ranges, addHere, sink } = this.#work;
    const end = Math.min(ranges, range + this.#threads.count * aheadPerThread);
    for (let next = range; next < end; next += 1) if (!this.#ahead.has(next)) this.#ahead.set(next, this.#begin(next));
    const sorting = this.#ahead.get(range);
    this.#ahead.delete(range);
    if (sorting === undefined) return addHere(range);
    const { bytes, lines, count } = await sorting;
    let from = 0;
    for (const { shard, bytes: length, triples } of lines) {
      sink.append(shard, bytes.subarray(from, from + length), triples);
      from += length;
    }
    this.#spare.push(bytes);
    return count;
  };

  close(): Promise<void> {
    return this.#threads.close();
  }

  #begin(range: number): Promise<SortedRange> | undefined {
    const paths = this.#work.filesOf(range);
    const size = paths.reduce((sum, path) => sum + statSync(path).size, 0);
    if (size > Math.min(mostBytes, this.#work.maxPartBytes)) return undefined;
    const spare = this.#spare.pop() ?? new Uint8Array();
    const sorting = this.#threads.run({ paths, size, spare }, { transfer: [spare.buffer] });
    // Its error is told when its turn comes.
    sorting.catch(() => {});
    return sorting;
  }
}
