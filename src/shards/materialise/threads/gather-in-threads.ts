import type { PassOptions, Progress } from "../../load/read-statements.ts";
import { sizeOfSlice } from "../../load/slices.ts";
import type { SharedSubjects } from "../../load/subject-classes.ts";
import { removeUnfinished } from "../gather-slice.ts";
import type { SliceWork } from "../gather.ts";
import type { GatherPlan } from "../slice-plan.ts";
import { startThreads } from "../../threads/start-threads.ts";

/** What a thread that reads slices is started with. */
export interface GatherData {
  readonly parts: string;
  readonly plan: GatherPlan;
  readonly shared: SharedSubjects;
}

/**
 * Reads slices side by side. When it ends, no thread is left, nor anything of a slice that is not complete.
 * @throws of several slices that fail, what the first of them in the inputs throws
 */
export async function gatherInThreads(work: SliceWork, options: PassOptions, count: number): Promise<void> {
  const { place, plan, learned, open } = work;
  const data: GatherData = { parts: place.parts, plan, shared: learned.subjects.share() };
  const threads = startThreads<number, void>({
    script: new URL("./gather-thread.ts", import.meta.url),
    data,
    count,
    signal: options.signal,
  });
  const listener = sumOfSlices(work, options);
  try {
    const running = open.map((slice) => threads.run(slice, { onProgress: listener() }));
    for (const slice of running) slice.catch(() => {});
    for (const slice of running) await slice;
  } finally {
    await threads.close();
    await removeUnfinished(place.parts);
  }
}

type Listen = (progress: Progress) => void;

/** For each slice one who hears how far it is, and tells how far all are together. */
function sumOfSlices({ plan, open }: SliceWork, { onProgress }: PassOptions): () => Listen {
  const totalBytes = open.reduce((sum, slice) => sum + sizeOfSlice(plan.slices[slice] ?? []), 0);
  const sum = { phase: "split" as const, triples: 0, bytes: 0, totalBytes };
  return () => {
    let before = { triples: 0, bytes: 0 };
    return ({ triples, bytes }) => {
      sum.triples += triples - before.triples;
      sum.bytes += bytes - before.bytes;
      before = { triples, bytes };
      onProgress?.({ ...sum });
    };
  };
}
