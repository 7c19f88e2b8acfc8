import type { SubjectClasses } from "../load/subject-classes.ts";
import { type Guarded, isCount, isListOf, isObject, isShape, isText, parsedAs } from "../guards.ts";
import { writeDurably } from "./build-folder.ts";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type CellFacts, CellCounter, type CellFeatures } from "../load/cells.ts";
import { type PassOptions, readSlice, type Slice } from "../load/read-statements.ts";
import type { Statement } from "../load/statement.ts";
import { RecordWriter } from "./records.ts";

/** Buffered bytes of all files of one slice together. */
const bufferBytes = 16 * 1024 * 1024;
const unknown = 0xffff;

/** Inputs of readers beside their slices and the subjects; a JSON value. */
export interface GatherPlan extends CellFeatures {
  /** Of the inputs and options. */
  readonly fingerprint: string;
  readonly slices: readonly Slice[];
  /** Where one range ends and the next begins, in base64. */
  readonly splitters: readonly string[];
}

/** One part of the inputs. */
interface SlicePart {
  /** See `BuildFolder`. */
  readonly parts: string;
  readonly plan: GatherPlan;
  readonly slice: number;
}

/** One part of the inputs, and what its reader needs. */
export interface SliceTask extends SlicePart {
  readonly subjects: SubjectClasses;
}

/** Note beside the files when all of them are complete; only ever written as a whole, by this program. */
const isNote = isShape({
  fingerprint: isText,
  /** Bytes of the files, by range. */
  sizes: isListOf(isCount),
  facts: (value): value is CellFacts => isObject(value),
});
type SliceNote = Guarded<typeof isNote>;

/** In the names of folders whose files are not complete: slice, mark, reader. */
const asideMark = ".part.";

const noteOf = (folder: string): string => join(folder, "note.json");

/** The folder of a slice's statements. */
const sliceFolder = (parts: string, slice: number): string => join(parts, String(slice));

/** The file of a range of a slice. */
export const rangeFile = (parts: string, slice: number, range: number): string =>
  join(sliceFolder(parts, slice), String(range));

/**
 * Reads a slice and writes its statements, each with the number of its cell, to files by range of subjects. Of two readers of
 * one slice the first that finishes counts.
 * @throws FedwayError `DATASET_INVALID`; the signal's reason, or an error of the file system. Nothing is left behind then.
 */
export async function gatherSlice(task: SliceTask, options: PassOptions = {}): Promise<void> {
  const { parts, plan, slice } = task;
  const folder = sliceFolder(parts, slice);
  const aside = `${folder}${asideMark}${randomUUID()}`;
  // Not its parents: a discarded build must not come back.
  await mkdir(aside);
  try {
    const facts = await writeSlice(task, aside, options);
    const sizes = await sizesIn(aside, plan.splitters.length + 1);
    const note: SliceNote = { fingerprint: plan.fingerprint, sizes, facts };
    await writeDurably(noteOf(aside), JSON.stringify(note));
    await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Removes what readers left behind that were killed. */
export async function removeUnfinished(parts: string): Promise<void> {
  const names = await readdir(parts).catch(() => []);
  const asides = names.filter((name) => name.includes(asideMark));
  await Promise.all(asides.map((name) => rm(join(parts, name), { recursive: true, force: true })));
}

async function writeSlice(
  { plan, slice, subjects }: SliceTask,
  folder: string,
  options: PassOptions,
): Promise<CellFacts> {
  const splitters = plan.splitters.map((splitter) => Buffer.from(splitter, "base64"));
  const paths = Array.from({ length: splitters.length + 1 }, (_, range) => join(folder, String(range)));
  const perRange = Math.min(256 * 1024, Math.max(16 * 1024, Math.floor(bufferBytes / paths.length)));
  const counter = new CellCounter({ ...plan, subjects });
  const rangeOf = new Uint16Array(subjects.size).fill(unknown);
  const writer = new RecordWriter(paths, perRange);
  const visit = (statement: Statement): void => {
    const cell = counter.take(statement);
    const { subject } = counter.cursor;
    let range = subject < 0 ? unknown : rangeOf[subject]!;
    if (range === unknown) {
      range = rangeIn(splitters, statement);
      if (subject >= 0) rangeOf[subject] = range;
    }
    writer.write(range, cell, statement);
  };
  try {
    await readSlice(plan.slices[slice]!, visit, { ...options, phase: "split" });
    writer.finish();
  } finally {
    writer.close();
  }
  return counter.facts();
}

const sizesIn = (folder: string, ranges: number): Promise<readonly number[]> =>
  Promise.all(Array.from({ length: ranges }, async (_, range) => (await stat(join(folder, String(range)))).size));

/**
 * The cells of a finished slice; undefined when there is none, or one of another build.
 * @param isWhole all of its files have to be there as they were written
 */
export async function sliceFacts({ parts, plan, slice }: SlicePart, isWhole: boolean): Promise<CellFacts | undefined> {
  const folder = sliceFolder(parts, slice);
  const note = parsedAs(await readFile(noteOf(folder), "utf8").catch(() => ""), isNote);
  if (note?.fingerprint !== plan.fingerprint) return undefined;
  const found = isWhole ? await sizesIn(folder, note.sizes.length).catch(() => []) : note.sizes;
  return note.sizes.every((size, range) => size === found[range]) ? note.facts : undefined;
}

/**
 * Where to part lines so that each range holds about as much of a sorted sample.
 * @param most how many ranges there may be
 */
export function splittersOf(sample: readonly Buffer[], most: number): readonly Buffer[] {
  const splitters: Buffer[] = [];
  for (let index = 1; index < most; index += 1) {
    const splitter = sample[Math.floor((index * sample.length) / most)];
    const last = splitters.at(-1);
    if (splitter !== undefined && (last === undefined || last.compare(splitter) < 0)) splitters.push(splitter);
  }
  return splitters;
}

/** The range of a statement's subject, in front of, between or behind sorted splitters: each can be sorted alone. */
function rangeIn(splitters: readonly Buffer[], { bytes, start, subjectEnd }: Statement): number {
  let [low, high] = [0, splitters.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const splitter = splitters[middle]!;
    if (bytes.compare(splitter, 0, splitter.length, start, subjectEnd) >= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
