/**
 * A thread of a build. Input: `workerData`, then for `GatherData` numbers of slices and for `SortData` `SortTask`s. Output:
 * of a slice how far it is, and its end; of a range the `SortedRange`. It runs from source (Node strips the types) and compiled.
 */
import { workerData } from "node:worker_threads";
import { serveTasks } from "../../../src/workers/threads.ts";
import type { Progress } from "../load/read-statements.ts";
import { SubjectClasses } from "../load/subject-classes.ts";
import { gatherSlice, sliceRequest } from "./gather-slice.ts";
import { PartSorter } from "./sort-part.ts";
import type { GatherData, SortData, SortedRange, SortTask } from "./threads.ts";

const data: GatherData | SortData = workerData;
if (data.kind === "gather") serveGathering(data);
else serveSorting(data);

function serveGathering({ parts, plan, shared }: GatherData): void {
  const subjects = SubjectClasses.of(shared);
  serveTasks((slice: number, onProgress: (progress: Progress) => void) =>
    gatherSlice(sliceRequest({ parts }, { plan, slice, subjects }), { onProgress }),
  );
}

function serveSorting({ shardsOfSlices }: SortData): void {
  /** The sorted lines of a range, one shard after the other. */
  let bytes = new Uint8Array();
  let used = 0;
  let lines: SortedRange["lines"][number][] = [];
  const sorter = new PartSorter(
    {
      append(shard, sorted, triples) {
        bytes.set(sorted, used);
        used += sorted.length;
        lines.push({ shard, bytes: sorted.length, triples });
      },
    },
    Number.POSITIVE_INFINITY,
  );
  const sortRange = async ({ paths, size, spare }: SortTask): Promise<SortedRange> => {
    bytes = spare.length < size ? new Uint8Array(size) : spare;
    used = 0;
    lines = [];
    const count = await sorter.sortPart(paths.map((path, slice) => ({ path, shards: shardsOfSlices[slice] })));
    return { bytes, lines, count };
  };
  serveTasks(sortRange, (range) => [range.bytes.buffer]);
}
