/**
 * A thread that sorts ranges. Input: `workerData` (`SortData`), then `SortTask`s. Output: for each a `SortedRange`. It
 * runs from source (Node strips the types) and compiled.
 */
import { workerData } from "node:worker_threads";
import { type LineSink, PartSorter } from "../sort-part.ts";
import { serveTasks } from "../../threads/serve-tasks.ts";
import type { SortData, SortedLines, SortedRange, SortTask } from "./sort-in-threads.ts";

const { shardsOfSlices }: SortData = workerData;

/** The sorted lines of a range, one shard after the other. */
let bytes = new Uint8Array();
let used = 0;
let lines: SortedLines[] = [];
const sink: LineSink = {
  append(shard, sorted, triples) {
    bytes.set(sorted, used);
    used += sorted.length;
    lines.push({ shard, bytes: sorted.length, triples });
  },
};
const sorter = new PartSorter(sink, Number.POSITIVE_INFINITY);

async function sortRange({ paths, size, spare }: SortTask): Promise<SortedRange> {
  bytes = spare.length < size ? new Uint8Array(size) : spare;
  used = 0;
  lines = [];
  const count = await sorter.sortPart(paths.map((path, slice) => ({ path, shards: shardsOfSlices[slice] })));
  return { bytes, lines, count };
}

serveTasks(sortRange, (range) => [range.bytes.buffer]);
