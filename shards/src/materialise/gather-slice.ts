import type { SubjectClasses } from "../load/subject-classes.ts";
import type { Pattern } from "../rules/problem.ts";
import { type Guarded, isCount, isListOf, isObject, isShape, isText, parsedAs } from "../guards.ts";
import { type BuildFolder, writeDurably } from "./build-folder.ts";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type CellFacts, CellCounter, type CellQuestions } from "../load/cells.ts";
import { type PassOptions, readSlice, type Slice } from "../load/read-statements.ts";
import type { Statement } from "../load/statement.ts";
import { RecordWriter } from "./records.ts";

/** Buffered bytes of all files of one slice together. */
const bufferBytes = 16 * 1024 * 1024;
const unknown = 0xffff;

/** One part of the inputs, and what its reader needs. */
interface SliceRequest extends CellQuestions {
  readonly slice: Slice;
  readonly ranges: Ranges;
  /** Where the statements go: a folder of its own for each slice, with a file for each range. */
  readonly folder: string;
  /** Fingerprint of the inputs and options. */
  readonly fingerprint: string;
}

/** What is noted beside the files when all of them are complete; only ever written as a whole, by this program. */
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

/** The file of a range of a slice. */
export const rangeFile = (folder: string, range: number): string => join(folder, String(range));

/**
 * Reads a slice and writes its statements, each with the number of its cell, to files by range of subjects. Of two readers of
 * one slice the first that finishes counts.
 * @throws FedwayError `DATASET_INVALID`; the signal's reason, or an error of the file system. Nothing is left behind then.
 */
export async function gatherSlice(request: SliceRequest, options: PassOptions = {}): Promise<void> {
  const { folder, ranges, fingerprint } = request;
  const aside = `${folder}${asideMark}${randomUUID()}`;
  // Not its parents: a discarded build must not come back.
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

/** Removes what readers left behind that were killed. */
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

/** The cells of a finished slice; undefined when there is none, or one of another build. */
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
  const text = await readFile(noteOf(folder), "utf8").catch(() => "");
  const found = parsedAs(text, isNote);
  return found?.fingerprint === fingerprint ? found : undefined;
}

/** Parts of a dataset that follow each other in the order of lines' bytes, so that each can be sorted alone. */
interface Ranges {
  readonly count: number;
  /** The range of a line, by the bytes of its subject, or of as much of the line as the splitters were made of. */
  of(bytes: Buffer, from: number, to: number): number;
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

/** The ranges in front of, between and behind sorted splitters. */
export function rangesBetween(splitters: readonly Buffer[]): Ranges {
  const shared = sharedLength(splitters);
  return {
    count: splitters.length + 1,
    of(bytes, from, to) {
      const line = { bytes, from, to };
      const [first] = splitters;
      if (first === undefined) return 0;
      const depth = sameUntil(first, line, { from: 0, to: shared });
      let low = 0;
      let high = splitters.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (isUpTo(splitters[middle]!, line, depth)) low = middle + 1;
        else high = middle;
      }
      return low;
    },
  };
}

interface Line {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

/** How many bytes all splitters begin with. */
function sharedLength(splitters: readonly Buffer[]): number {
  const first = splitters[0] ?? Buffer.alloc(0);
  return splitters.reduce(
    (shared, bytes) => sameUntil(first, { bytes, from: 0, to: bytes.length }, { from: 0, to: shared }),
    first.length,
  );
}

/** Where a splitter and a line first differ, or the end of one of them, or `to`. */
function sameUntil(splitter: Buffer, { bytes, from, to }: Line, span: { readonly from: number; readonly to: number }) {
  const end = Math.min(span.to, to - from);
  let at = span.from;
  while (at < end && splitter[at] === bytes[from + at]) at += 1;
  return at;
}

/** Whether a splitter is not behind a line, of which the first bytes are known to be the same. */
function isUpTo(splitter: Buffer, line: Line, depth: number): boolean {
  const at = sameUntil(splitter, line, { from: depth, to: splitter.length });
  if (at === splitter.length) return true;
  return line.from + at < line.to && splitter[at]! < line.bytes[line.from + at]!;
}

/** What readers of slices need beside their slices and the subjects; a JSON value. */
export interface GatherPlan {
  /** See `CellQuestions`. */
  readonly buckets: number;
  readonly patterns: readonly (readonly Pattern[])[];
  readonly fingerprint: string;
  readonly slices: readonly Slice[];
  /** Where one range ends and the next begins, in base64. */
  readonly splitters: readonly string[];
}

/** The folder of a slice's statements. */
export const sliceFolder = ({ parts }: Pick<BuildFolder, "parts">, slice: number): string => join(parts, String(slice));

/** What the reader of a slice is asked for. */
export function sliceRequest(
  place: Pick<BuildFolder, "parts">,
  { plan, slice, subjects }: { readonly plan: GatherPlan; readonly slice: number; readonly subjects: SubjectClasses },
): SliceRequest {
  const { buckets, patterns, fingerprint, splitters, slices } = plan;
  const ranges = rangesBetween(splitters.map((splitter) => Buffer.from(splitter, "base64")));
  const inputs = slices[slice];
  if (inputs === undefined) throw new RangeError(`there is no slice ${slice} among ${slices.length}`);
  return { subjects, buckets, patterns, fingerprint, ranges, slice: inputs, folder: sliceFolder(place, slice) };
}
