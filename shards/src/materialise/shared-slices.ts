import { mkdir, readFile } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { PassOptions } from "../load/read-statements.ts";
import { isListOf, isShape, isText, parsedAs } from "../guards.ts";
import { loadSubjects, saveSubjects } from "../load/subject-classes.ts";
import { writeDurably, placeOf } from "./build-folder.ts";
import type { SliceWork } from "./gather.ts";
import { type GatherPlan, gatherSlice, sliceRequest } from "./gather-slice.ts";

/** A slice of a build that is under way, for a reader in another process that has the same folders. */
export interface SharedSlice {
  /** The build's target. */
  readonly target: string;
  /** Folder that has all inputs below it. */
  readonly base: string;
  readonly slice: number;
  /** Fingerprint of the plan: a plan of another build is ignored. */
  readonly fingerprint: string;
}

const planFile = (target: string): string => join(placeOf(target).readers, "plan.json");
const subjectFile = (target: string): string => join(placeOf(target).readers, "subjects");

/** Puts what readers of slices need into the folder of the build, with paths of inputs as they are below `base`. */
export async function shareSlices({ place, plan, learned }: SliceWork, base: string): Promise<void> {
  await mkdir(place.readers, { recursive: true });
  await saveSubjects(subjectFile(place.target), learned.subjects);
  const slices = plan.slices.map((slice) => slice.map((input) => ({ ...input, path: relative(base, input.path) })));
  await writeDurably(planFile(place.target), JSON.stringify({ ...plan, slices }));
}

/**
 * Reads one slice of a build that another process has shared.
 * @throws FedwayError `SHARDS_UNKNOWN` when there is no such build any more; what `gatherSlice` throws
 */
export async function gatherShared(shared: SharedSlice, options: PassOptions = {}): Promise<void> {
  const { target, slice, fingerprint } = shared;
  const plan = await planOf(shared);
  if (plan.fingerprint !== fingerprint || slice >= plan.slices.length) throw unknownBuild();
  const subjects = await loadSubjects(subjectFile(target));
  await gatherSlice(sliceRequest(placeOf(target), { plan, slice, subjects }), options);
}

const unknownBuild = (cause?: unknown): FedwayError =>
  new FedwayError("SHARDS_UNKNOWN", "The build that this part belongs to is not there any more.", { cause });

async function planOf({ target, base }: SharedSlice): Promise<GatherPlan> {
  const text = await readFile(planFile(target), "utf8").catch((cause: unknown) => {
    throw unknownBuild(cause);
  });
  const found = parsedAs(text, isPlan);
  if (found === undefined) throw unknownBuild();
  const slices = found.slices.map((slice) => slice.map((input) => ({ ...input, path: below(base, input.path) })));
  return { ...found, slices };
}

function below(base: string, path: string): string {
  const full = resolve(base, path);
  if (full.startsWith(`${resolve(base)}${sep}`)) return full;
  throw new FedwayError("REQUEST_INVALID", "An input of the shards lies outside of the folder of inputs.");
}

const isParts = isShape({ fingerprint: isText, slices: Array.isArray, splitters: isListOf(isText) });

/** The file is only ever written as a whole, by this program. */
const isPlan = (value: unknown): value is GatherPlan => isParts(value);
