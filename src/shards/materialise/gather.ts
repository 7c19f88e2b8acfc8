import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FedwayError } from "../../errors/fedway-error.ts";
import { type CellFacts, type LearnedCells, maxCells, mergeCells, tooManyCells } from "../load/cell-facts.ts";
import type { Learned } from "../load/learn.ts";
import type { PassOptions } from "../load/read-statements.ts";
import { type Slice, slicesOf } from "../load/slices.ts";
import type { SubjectClasses } from "../load/subject-classes.ts";
import type { Pattern } from "../problem.ts";
import { hasState, readPlan, writePlan } from "./build-state.ts";
import { asDiskFull, freeBytesAt, needRoom } from "./disk-space.ts";
import { gatherSlice, isSliceWhole, readSliceFacts, type SliceRequest } from "./gather-slice.ts";
import { type Place, placeOf } from "./publish.ts";
import { rangesBetween, splittersOf } from "./ranges.ts";

/** Bytes of one range; a few hundredths of a second of sorting. */
const defaultPartBytes = 8 * 1024 * 1024;
const maxParts = 1024;
const spareBytes = 16 * 1024 * 1024;

/** What is gathered. */
export interface GatherRequest {
  readonly learned: Learned;
  /** Number of buckets that subjects are told apart by; a multiple of those of the rules. */
  readonly buckets: number;
  /** Of each query its patterns. */
  readonly patterns: readonly (readonly Pattern[])[];
}

/** What readers of slices need beside their slices; a JSON value. */
export interface GatherPlan extends Omit<GatherRequest, "learned"> {
  readonly fingerprint: string;
  readonly slices: readonly Slice[];
  /** Where one range ends and the next begins, in base64. */
  readonly splitters: readonly string[];
}

/** Has slices read, by this process or by others; resolves when all are there. */
export type RunSlices = (work: SliceWork, options: PassOptions) => Promise<void>;

/** Slices that are to be read. */
export interface SliceWork {
  readonly place: Place;
  readonly plan: GatherPlan;
  readonly learned: Learned;
  /** Numbers of the slices that are not there yet. */
  readonly open: readonly number[];
}

export interface GatherOptions extends PassOptions {
  /** Free bytes at a folder; asks the file system by default. */
  readonly freeBytes?: ((folder: string) => Promise<number>) | undefined;
  /** Bytes of a range. */
  readonly partBytes?: number | undefined;
  /** Bytes of the inputs that one reader goes through; all of them by default. */
  readonly sliceBytes?: number | undefined;
  /** One slice after the other in this process by default. */
  readonly runSlices?: RunSlices | undefined;
}

/** The dataset as rules see it, and its statements on the disk, parted so that they can be sorted. */
export interface Gathered {
  readonly fingerprint: string;
  readonly cells: LearnedCells;
  /** Of each slice, the places of its cells in `cells`. */
  readonly places: readonly Uint32Array[];
  readonly ranges: number;
  /** No statement has been taken out yet to be sorted. */
  readonly isWhole: boolean;
}

/** The folder of a slice's statements. */
export const sliceFolder = ({ parts }: Pick<Place, "parts">, slice: number): string => join(parts, String(slice));

/**
 * Reads the inputs for the second and last time, before the rules are chosen: which cells there are, which of them queries
 * touch, and the statements themselves in ranges of subjects, each with the number of its cell. So the rules decide later
 * which shard a cell goes to. What an earlier run with the same request has done is not done again.
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
    if (full instanceof FedwayError && full.code === "DISK_FULL")
      await rm(place.building, { recursive: true, force: true });
    throw full;
  }
}

function planOf({ learned, buckets, patterns }: GatherRequest, options: GatherOptions): GatherPlan {
  const wanted = Math.ceil(learned.statementBytes / (options.partBytes ?? defaultPartBytes));
  const splitters = splittersOf(learned.sample, Math.min(maxParts, Math.max(1, wanted)));
  const slices = slicesOf(learned.inputs, options.sliceBytes ?? Number.POSITIVE_INFINITY);
  const plan = { buckets, patterns, slices, splitters: splitters.map((splitter) => splitter.toString("base64")) };
  // A file that was moved, or written again with the same bytes, is the same.
  const inputs = slices.map((slice) => slice.map((input) => ({ ...input, path: "", modifiedMs: 0 })));
  const text = JSON.stringify({ version: 2, ...plan, slices: inputs });
  return { ...plan, fingerprint: createHash("sha256").update(text).digest("hex") };
}

interface Work {
  readonly request: GatherRequest;
  readonly plan: GatherPlan;
}

async function begin(place: Place, { request, plan }: Work, options: GatherOptions): Promise<void> {
  const { statementBytes, statements } = request.learned;
  await rm(place.building, { recursive: true, force: true });
  // The parts go as the shards come, but for some that are not yet removed.
  const needed = statementBytes * 1.25 + statements * 8 + spareBytes;
  needRoom(needed, await (options.freeBytes ?? freeBytesAt)(dirname(place.target)));
  await mkdir(place.parts, { recursive: true });
  await writePlan(place.building, plan.fingerprint);
}

async function runOpen(place: Place, { request, plan }: Work, options: GatherOptions): Promise<void> {
  const open: number[] = [];
  for (let slice = 0; slice < plan.slices.length; slice += 1) {
    if (!(await isSliceWhole(sliceFolder(place, slice), plan.fingerprint))) open.push(slice);
  }
  if (open.length === 0) return;
  await (options.runSlices ?? runHere)({ place, plan, learned: request.learned, open }, options);
}

/** Reads slices one after the other in this process. */
export async function runHere(
  { place, plan, learned: { subjects }, open }: SliceWork,
  options: PassOptions,
): Promise<void> {
  for (const slice of open) await gatherSlice(sliceRequest(place, { plan, slice, subjects }), options);
}

/** What the reader of a slice is asked for. */
export function sliceRequest(
  place: Pick<Place, "parts">,
  { plan, slice, subjects }: { readonly plan: GatherPlan; readonly slice: number; readonly subjects: SubjectClasses },
): SliceRequest {
  const { buckets, patterns, fingerprint, splitters, slices } = plan;
  const ranges = rangesBetween(splitters.map((splitter) => Buffer.from(splitter, "base64")));
  const inputs = slices[slice];
  if (inputs === undefined) throw new RangeError(`there is no slice ${slice} among ${slices.length}`);
  return { subjects, buckets, patterns, fingerprint, ranges, slice: inputs, folder: sliceFolder(place, slice) };
}

async function gathered(place: Place, plan: GatherPlan, isWhole: boolean): Promise<Gathered> {
  const facts: CellFacts[] = [];
  for (let slice = 0; slice < plan.slices.length; slice += 1) {
    const found = await readSliceFacts(sliceFolder(place, slice), plan.fingerprint);
    if (found === undefined) throw new Error(`what was gathered of slice ${slice} is gone`);
    facts.push(found);
  }
  const { learned: cells, places } = mergeCells(facts);
  if (cells.cells.length > maxCells) throw tooManyCells();
  return { fingerprint: plan.fingerprint, cells, places, ranges: plan.splitters.length + 1, isWhole };
}
