/**
 * A thread that reads slices. Input: `workerData` (`GatherData`), then numbers of slices. Output: for each slice how far
 * it is, and its end. It runs from source (Node strips the types) and compiled.
 */
import { workerData } from "node:worker_threads";
import { subjectsOf } from "../../load/subject-classes.ts";
import { gatherSlice } from "../gather-slice.ts";
import { sliceRequest } from "../slice-plan.ts";
import type { GatherData } from "./gather-in-threads.ts";
import { serveTasks } from "../../threads/serve-tasks.ts";

const { parts, plan, shared }: GatherData = workerData;
const subjects = subjectsOf(shared);

serveTasks((slice: number, onProgress) =>
  gatherSlice(sliceRequest({ parts }, { plan, slice, subjects }), { onProgress }),
);
