import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { CellFacts } from "../load/cell-facts.ts";
import { CellCounter, type CellQuestions } from "../load/cells.ts";
import type { PassOptions } from "../load/read-statements.ts";
import { readSlice, type Slice } from "../load/slices.ts";
import type { Statement } from "../load/statement.ts";
import { writeDurably } from "./build-state.ts";
import type { Ranges } from "./ranges.ts";
import { RecordWriter } from "./record-writer.ts";

/** Of all files of one slice together. */
const bufferBytes = 16 * 1024 * 1024;
const unknown = 0xffff;

/** One part of the inputs, and what its reader needs. */
export interface SliceRequest extends CellQuestions {
  readonly slice: Slice;
  readonly ranges: Ranges;
  /** Where the statements go: a folder of its own for each slice, with a file for each range. */
  readonly folder: string;
  /** Of what is built from what. */
  readonly fingerprint: string;
}

/** What is noted beside the files when all of them are complete. */
interface SliceNote {
  readonly fingerprint: string;
  /** Bytes of the files, by range. */
  readonly sizes: readonly number[];
  readonly facts: CellFacts;
}

/** Between the name of a slice and that of a reader, while files are not complete. */
const asideMark = ".part.";

const noteOf = (folder: string): string => join(folder, "note.json");

/** The file of a range of a slice. */
export const rangeFile = (folder: string, range: number): string => join(folder, String(range));

/**
 * Reads a slice and writes its statements, each with the number of its cell, to files by range of subjects. Two readers of
 * one slice do not disturb each other: the first that is done counts.
 * @throws FedwayError `DATASET_INVALID`; the signal's reason, or an error of the file system: nothing is left of it then
 */
export async function gatherSlice(request: SliceRequest, options: PassOptions = {}): Promise<void> {
  const { folder, ranges, fingerprint } = request;
  const aside = `${folder}${asideMark}${randomUUID()}`;
  // Not what is above it: a build that was discarded does not come back.
  await mkdir(aside);
  try {
    const facts = await writeSlice(request, aside, options);
    const sizes = await sizesIn(aside, ranges.count);
    const note: SliceNote = { fingerprint, sizes, facts };
    await writeDurably(noteOf(aside), JSON.stringify(note));
    await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Removes what readers left that were ended before they could do it themselves. */
export async function removeUnfinished(parts: string): Promise<void> {
  const names = await readdir(parts).catch(() => []);
  const asides = names.filter((name) => name.includes(asideMark));
  await Promise.all(asides.map((name) => rm(join(parts, name), { recursive: true, force: true })));
}

async function writeSlice(
  { slice, ranges, ...questions }: SliceRequest,
  folder: string,
  options: PassOptions,
): Promise<CellFacts> {
  const paths = Array.from({ length: ranges.count }, (_, range) => rangeFile(folder, range));
  const perRange = Math.min(256 * 1024, Math.max(16 * 1024, Math.floor(bufferBytes / paths.length)));
  const counter = new CellCounter(questions);
  const rangeOf = new Uint16Array(questions.subjects.size).fill(unknown);
  const writer = new RecordWriter(paths, perRange);
  const visit = (statement: Statement): void => {
    const cell = counter.take(statement);
    const { subject } = counter.cursor;
    let range = subject < 0 ? unknown : rangeOf[subject]!;
    if (range === unknown) {
      range = ranges.of(statement.bytes, statement.start, statement.subjectEnd);
      if (subject >= 0) rangeOf[subject] = range;
    }
    writer.write(range, cell, statement);
  };
  try {
    await readSlice(slice, visit, { ...options, phase: "split" });
    writer.finish();
  } finally {
    writer.close();
  }
  return counter.facts();
}

const sizesIn = (folder: string, ranges: number): Promise<readonly number[]> =>
  Promise.all(Array.from({ length: ranges }, async (_, range) => (await stat(rangeFile(folder, range))).size));

/** What a finished slice holds; undefined for one that is not there, or is another one's. */
export async function readSliceFacts(folder: string, fingerprint: string): Promise<CellFacts | undefined> {
  return (await readNote(folder, fingerprint))?.facts;
}

/** Whether all files of a finished slice are there as they were written. */
export async function isSliceWhole(folder: string, fingerprint: string): Promise<boolean> {
  const note = await readNote(folder, fingerprint);
  if (note === undefined) return false;
  const found = await sizesIn(folder, note.sizes.length).catch(() => []);
  return found.length > 0 && note.sizes.every((size, range) => size === found[range]);
}

async function readNote(folder: string, fingerprint: string): Promise<SliceNote | undefined> {
  try {
    const found: unknown = JSON.parse(await readFile(noteOf(folder), "utf8"));
    return isNote(found) && found.fingerprint === fingerprint ? found : undefined;
  } catch {
    return undefined;
  }
}

/** The file is only ever written as a whole, by this program. */
const isNote = (value: unknown): value is SliceNote =>
  typeof value === "object" &&
  value !== null &&
  "fingerprint" in value &&
  "sizes" in value &&
  Array.isArray(value.sizes) &&
  "facts" in value;
