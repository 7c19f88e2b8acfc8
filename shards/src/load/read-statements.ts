import { stat } from "node:fs/promises";
import { changedInput, invalidInput, type NamedInput } from "./input.ts";
import type { FileFacts, ReadOptions } from "./read-bytes.ts";
import { readLines, type ByteRange, readLinesWithin } from "./read-lines.ts";
import type { Statement, Visit } from "./statement.ts";

/** Progress of a pass over the inputs or over files made from them. */
export interface Progress {
  readonly phase: "learn" | "cells" | "split" | "sort" | "compress" | "verify";
  /** Statements so far, in this phase. */
  readonly triples: number;
  /** Bytes so far, in this phase; of the inputs as they lie there, compressed or not, where those are read. */
  readonly bytes: number;
  readonly totalBytes: number;
}

/** Options of each pass over the inputs. */
export interface PassOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called a few times a megabyte. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** An input as it was found. */
export interface ReadInput extends NamedInput, FileFacts {}

interface Pass extends PassOptions {
  readonly phase: Progress["phase"];
  /** Awaited now and then, between statements: what the visits gathered can be written then. */
  readonly afterChunk?: (() => Promise<void>) | undefined;
}

/** Counts the statements and bytes of a pass that begins. */
function countPass({ phase, onProgress, signal, afterChunk }: Pass, visit: Visit, totalBytes: number) {
  const progress = { phase, triples: 0, bytes: 0, totalBytes };
  return {
    counting: (statement: Statement): void => {
      progress.triples += 1;
      visit(statement);
    },
    options: {
      signal,
      afterChunk,
      onBytes: (bytes: number): void => {
        progress.bytes += bytes;
        onProgress?.({ ...progress });
      },
    },
    end: (): void => onProgress?.({ ...progress }),
  };
}

/**
 * Reads inputs one after the other and gives each statement to `visit`, which is called in the order of the files.
 * @returns the inputs with their checksums
 * @throws FedwayError `DATASET_INVALID`, also for an input that is not what an earlier pass found
 */
export async function readStatements(
  inputs: readonly (NamedInput & Partial<FileFacts>)[],
  visit: Visit,
  pass: Pass,
): Promise<readonly ReadInput[]> {
  const { counting, options, end } = countPass(pass, visit, await sizeOf(inputs));
  const found: ReadInput[] = [];
  for (const input of inputs) {
    pass.signal?.throwIfAborted();
    found.push(await readInput(input, counting, options));
  }
  end();
  return found;
}

async function readInput(
  input: NamedInput & Partial<FileFacts>,
  visit: Visit,
  options: ReadOptions,
): Promise<ReadInput> {
  const read = isLines(input) ? readLines : await quadReader();
  const facts = await read(input, visit, options);
  if (input.sha256 !== undefined && input.sha256 !== facts.sha256) throw changedInput(input.name);
  return { ...input, ...facts };
}

/** The parsers take longer to load than a thread that reads lines takes to start. */
const quadReader = async (): Promise<typeof readLines> => (await import("./read-quads.ts")).readQuads;

async function sizeOf(inputs: readonly NamedInput[]): Promise<number> {
  let bytes = 0;
  for (const input of inputs) {
    const found = await stat(input.path).catch((cause: unknown) => {
      throw invalidInput(input.name, "the file cannot be read", { cause });
    });
    if (!found.isFile()) throw invalidInput(input.name, "this is not a file");
    bytes += found.size;
  }
  return bytes;
}

/** An input, or the lines of it that begin in a range of its bytes. */
interface SliceInput extends ReadInput {
  readonly range?: ByteRange;
}

/** Inputs and parts of inputs that one reader goes through. */
export type Slice = readonly SliceInput[];

/**
 * Parts the inputs for several readers, each statement for one of them: uncompressed lines where that many bytes are over,
 * other inputs as a whole, since what one finds in them depends on what came before.
 */
export function slicesOf(inputs: readonly ReadInput[], sliceBytes: number): readonly Slice[] {
  const slices: SliceInput[][] = [[]];
  let room = sliceBytes;
  const put = (input: SliceInput, bytes: number): void => {
    if (room <= 0 || (input.range === undefined && bytes > room && slices.at(-1)!.length > 0)) {
      slices.push([]);
      room = sliceBytes;
    }
    slices.at(-1)!.push(input);
    room -= bytes;
  };
  for (const input of inputs) {
    if (!isPlainLines(input) || input.bytes <= Math.max(room, 0)) put(input, input.bytes);
    else {
      for (let from = 0; from < input.bytes; ) {
        const to = Math.min(input.bytes, from + (room > 0 ? room : sliceBytes));
        put({ ...input, range: { from, to } }, to - from);
        from = to;
      }
    }
  }
  return slices;
}

/** Bytes of the files that a slice's reader goes through. */
export const sizeOfSlice = (slice: Slice): number => slice.reduce((sum, input) => sum + bytesOf(input), 0);

/** Reads a slice as `readStatements` reads inputs. @throws FedwayError `DATASET_INVALID`; the signal's reason */
export async function readSlice(slice: Slice, visit: Visit, pass: Pass): Promise<void> {
  const { counting, options, end } = countPass(pass, visit, sizeOfSlice(slice));
  for (const { range, ...input } of slice) {
    pass.signal?.throwIfAborted();
    // Of uncompressed lines size and time of the last change tell whether they are still what was hashed.
    if (isPlainLines(input)) {
      await readLinesWithin({ ...input, range: range ?? { from: 0, to: input.bytes } }, counting, options);
    } else await readInput(input, counting, options);
  }
  end();
}

const isLines = ({ format }: NamedInput): boolean => format === "n-triples" || format === "n-quads";

const isPlainLines = (input: ReadInput): boolean => isLines(input) && !input.isCompressed;

const bytesOf = ({ range, bytes }: SliceInput): number => (range === undefined ? bytes : range.to - range.from);
