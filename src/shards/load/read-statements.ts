import { stat } from "node:fs/promises";
import { changedInput, invalidInput, type NamedInput } from "./input.ts";
import type { FileFacts } from "./read-bytes.ts";
import { readLines, type ByteRange, readLinesWithin } from "./read-lines.ts";
import type { Visit } from "./statement.ts";

/** What is done, of a pass over the inputs or over what was made of them. */
export interface Progress {
  readonly phase: "learn" | "cells" | "split" | "sort" | "compress" | "verify";
  /** Statements so far, in this phase. */
  readonly triples: number;
  /** Bytes so far, in this phase; of the inputs as they lie there, compressed or not, where those are read. */
  readonly bytes: number;
  readonly totalBytes: number;
}

/** What each pass over the inputs can be told. */
export interface PassOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called a few times a megabyte. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** What a pass counts while it goes on. */
interface CountedPass {
  readonly progress: Progress;
  /** `visit`, with each statement counted. */
  readonly counting: Visit;
  /** Counts bytes and tells how far the pass is. */
  readonly onBytes: (bytes: number) => void;
}

/** Counts the statements and bytes of a pass that begins. */
function countPass(
  { phase, onProgress }: PassOptions & Pick<Progress, "phase">,
  visit: Visit,
  totalBytes: number,
): CountedPass {
  const progress = { phase, triples: 0, bytes: 0, totalBytes };
  return {
    progress,
    counting(statement) {
      progress.triples += 1;
      visit(statement);
    },
    onBytes(bytes) {
      progress.bytes += bytes;
      onProgress?.({ ...progress });
    },
  };
}

/** An input as it was found. */
export interface ReadInput extends NamedInput, FileFacts {}

interface Pass extends PassOptions {
  readonly phase: Progress["phase"];
  /** Awaited now and then, between statements: what the visits gathered can be written then. */
  readonly afterChunk?: () => Promise<void>;
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
  const { progress, counting, onBytes } = countPass(pass, visit, await sizeOf(inputs));
  const found: ReadInput[] = [];
  for (const input of inputs) {
    pass.signal?.throwIfAborted();
    const isLines = input.format === "n-triples" || input.format === "n-quads";
    const options = { signal: pass.signal, onBytes, afterChunk: pass.afterChunk };
    const facts = await (isLines ? readLines : await quadReader())(input, counting, options);
    if (input.sha256 !== undefined && input.sha256 !== facts.sha256) throw changedInput(input.name);
    found.push({ ...input, ...facts });
  }
  pass.onProgress?.({ ...progress });
  return found;
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
export async function readSlice(
  slice: Slice,
  visit: Visit,
  pass: PassOptions & { readonly phase: Progress["phase"] },
): Promise<void> {
  const { progress, counting, onBytes } = countPass(pass, visit, sizeOfSlice(slice));
  for (const { range, ...input } of slice) {
    pass.signal?.throwIfAborted();
    if (range === undefined && isPlainLines(input)) {
      // Size and time of the last change tell whether it is still what was hashed.
      await readLinesWithin({ ...input, range: { from: 0, to: input.bytes } }, counting, {
        signal: pass.signal,
        onBytes,
      });
    } else if (range === undefined) {
      const before = progress.bytes;
      const onProgress = ({ bytes }: Progress): void => onBytes(before + bytes - progress.bytes);
      await readStatements([input], counting, { ...pass, onProgress });
    } else await readLinesWithin({ ...input, range }, counting, { signal: pass.signal, onBytes });
  }
  pass.onProgress?.({ ...progress });
}

const isPlainLines = ({ format, isCompressed }: ReadInput): boolean =>
  (format === "n-triples" || format === "n-quads") && !isCompressed;

const bytesOf = ({ range, bytes }: SliceInput): number => (range === undefined ? bytes : range.to - range.from);
