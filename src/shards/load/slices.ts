import { type ByteRange, readLinesWithin } from "./read-lines.ts";
import { countPass, type PassOptions, type Progress, type ReadInput, readStatements } from "./read-statements.ts";
import type { Visit } from "./statement.ts";

/** An input, or the lines of it that begin in a range of its bytes. */
export interface SliceInput extends ReadInput {
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
