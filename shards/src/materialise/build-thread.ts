/**
 * A thread of a build. Input: `workerData`, then for `GatherData` numbers of slices and for `SortData` the files of ranges. Output:
 * of a slice how far it is, and its end; of a range the `SortedRange`. It runs from source (Node strips the types) and compiled.
 */
import { workerData } from "node:worker_threads";
import { serveTasks } from "../../../src/workers/threads.ts";
import type { Progress } from "../load/read-statements.ts";
import { SubjectClasses } from "../load/subject-classes.ts";
import { gatherSlice } from "./gather-slice.ts";
import { sortPart } from "./sort-ranges.ts";
import type { GatherData, SortData, SortedRange } from "./threads.ts";

const data: GatherData | SortData = workerData;
if (data.kind === "gather") serveGathering(data);
else serveSorting(data);

function serveGathering({ parts, plan, shared }: GatherData): void {
  const subjects = SubjectClasses.of(shared);
  serveTasks((slice: number, onProgress: (progress: Progress) => void) =>
    gatherSlice({ parts, plan, slice, subjects }, { onProgress }),
  );
}

function serveSorting({ shardsOfSlices }: SortData): void {
  serveTasks(async (paths: readonly string[]): Promise<SortedRange> => {
    const lines: SortedRange["lines"][number][] = [];
    const sources = paths.map((path, slice) => ({ path, shards: shardsOfSlices[slice]! }));
    const count = await sortPart(sources, Number.POSITIVE_INFINITY, (shard, bytes, triples) =>
      lines.push({ shard, bytes, triples }),
    );
    return { lines, count };
  });
}
