import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { makeFolder } from "../../../src/make-folder.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import {
  type CellFacts,
  type CellFeatures,
  type LearnedCells,
  maxCells,
  mergeCells,
  tooManyCells,
} from "../load/cells.ts";
import type { Learned } from "../load/learn.ts";
import { type PassOptions, slicesOf } from "../load/read-statements.ts";

import {
  hasState,
  readPlan,
  writePlan,
  type BuildFolder,
  placeOf,
  removeFolder,
  asDiskFull,
  freeBytesAt,
  needRoom,
} from "./build-folder.ts";
import { type GatherPlan, gatherSlice, sliceFacts, type SliceTask, splittersOf } from "./gather-slice.ts";
import { gatherInThreads, threadCount } from "./threads.ts";

/** Bytes of one range, which sorts in a few hundredths of a second. */
const defaultPartBytes = 8 * 1024 * 1024;
const maxParts = 1024;
/** Statements of this many bytes or more are read in several slices and threads. */
const leastThreadBytes = 64 * 1024 * 1024;
/** The same on each machine, so that another one can resume a build. */
const partsOfLarge = 4;
const spareBytes = 16 * 1024 * 1024;

/** A request to gather slices. */
export interface GatherRequest extends CellFeatures {
  readonly learned: Learned;
}

export interface GatherOptions extends PassOptions {
  /** Free bytes at a folder; asks the file system by default. */
  readonly freeBytes?: ((folder: string) => Promise<number>) | undefined;
  /** Bytes of a range. */
  readonly partBytes?: number | undefined;
  /** Bytes of the inputs that one reader goes through; by default a few slices of the same size when they are large. */
  readonly sliceBytes?: number | undefined;
  /** Threads that work side by side; as many as there are processors, up to a few, when the inputs are large by default. */
  readonly threads?: number | undefined;
}

/** The dataset as rules see it, and its statements on the disk, parted so that they can be sorted. */
export interface Gathered {
  readonly fingerprint: string;
  readonly cells: LearnedCells;
  /** For each slice, the places of its cells in `cells`. */
  readonly places: readonly Uint32Array[];
  readonly ranges: number;
  /** No statement has been taken out yet to be sorted. */
  readonly isWhole: boolean;
}

/**
 * Reads the inputs for the second and last time, before the rules are chosen: which cells there are, which of them queries
 * touch, and the statements themselves in ranges of subjects, each with the number of its cell. The rules decide later which
 * shard a cell goes to. Resumes an earlier run of the same request.
 * @throws FedwayError `DISK_FULL` (nothing is left), `DATASET_INVALID`; the signal's reason when that is aborted
 */
export async function gather(target: string, request: GatherRequest, options: GatherOptions = {}): Promise<Gathered> {
  const place = placeOf(target);
  const plan = planOf(request, options);
  try {
    if ((await readPlan(place.building)) !== plan.fingerprint) await begin(place, { request, plan }, options);
    const isWhole = !(await hasState(place.building));
    if (isWhole) await runOpen(place, { request, plan }, options);
    return await gathered(place, plan, isWhole);
  } catch (error) {
    const full = asDiskFull(error);
    if (full instanceof FedwayError && full.code === "DISK_FULL") await removeFolder(place.building);
    throw full;
  }
}

function planOf({ learned, buckets, patterns }: GatherRequest, options: GatherOptions): GatherPlan {
  const wanted = Math.ceil(learned.statementBytes / (options.partBytes ?? defaultPartBytes));
  const splitters = splittersOf(learned.sample, Math.min(maxParts, Math.max(1, wanted)));
  const slices = slicesOf(learned.inputs, options.sliceBytes ?? sliceBytesOf(learned));
  const plan = { buckets, patterns, slices, splitters: splitters.map((splitter) => splitter.toString("base64")) };
  // A file that was moved, or written again with the same bytes, is the same.
  const inputs = slices.map((slice) => slice.map((input) => ({ ...input, path: "", modifiedMs: 0 })));
  const text = JSON.stringify({ version: 4, ...plan, slices: inputs });
  return { ...plan, fingerprint: createHash("sha256").update(text).digest("hex") };
}

function sliceBytesOf({ inputs, statementBytes }: Learned): number {
  if (statementBytes < leastThreadBytes) return Number.POSITIVE_INFINITY;
  return Math.ceil(inputs.reduce((sum, { bytes }) => sum + bytes, 0) / partsOfLarge);
}

type Work = { readonly request: GatherRequest; readonly plan: GatherPlan };

async function begin(place: BuildFolder, { request, plan }: Work, options: GatherOptions): Promise<void> {
  const { statementBytes, statements } = request.learned;
  await removeFolder(place.building);
  // Parts are removed as shards are written, most of them at once.
  const needed = statementBytes * 1.25 + statements * 8 + spareBytes;
  needRoom(needed, await (options.freeBytes ?? freeBytesAt)(dirname(place.target)));
  await makeFolder(place.parts);
  await writePlan(place.building, plan.fingerprint);
}

async function runOpen({ parts }: BuildFolder, { request, plan }: Work, options: GatherOptions): Promise<void> {
  const { subjects, statementBytes } = request.learned;
  const open: SliceTask[] = [];
  for (const slice of plan.slices.keys()) {
    const task = { parts, plan, slice, subjects };
    if ((await sliceFacts(task, true)) === undefined) open.push(task);
  }
  const threads = Math.min(open.length, options.threads ?? (statementBytes < leastThreadBytes ? 1 : threadCount()));
  if (threads > 1) return gatherInThreads(open, options, threads);
  for (const task of open) await gatherSlice(task, options);
}

async function gathered(place: BuildFolder, plan: GatherPlan, isWhole: boolean): Promise<Gathered> {
  const facts: CellFacts[] = [];
  for (const slice of plan.slices.keys()) {
    const found = await sliceFacts({ parts: place.parts, plan, slice }, false);
    if (found === undefined) throw new Error(`the gathered data of slice ${slice} are gone`);
    facts.push(found);
  }
  const { learned: cells, places } = mergeCells(facts);
  if (cells.cells.length > maxCells) throw tooManyCells();
  return { fingerprint: plan.fingerprint, cells, places, ranges: plan.splitters.length + 1, isWhole };
}
