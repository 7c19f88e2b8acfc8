import { isUtf8 } from "node:buffer";
import { FedwayError } from "../../errors/fedway-error.ts";
import { changedInput, invalidInput, type NamedInput } from "./input.ts";
import { LineScanner } from "./line-scanner.ts";
import { type FileFacts, noFacts, readBytes, readBytesFrom, type ReadOptions, refuseChanged } from "./read-bytes.ts";
import { skolemBase } from "./skolem.ts";
import type { Visit } from "./statement.ts";
import { SyntaxFault } from "./syntax-fault.ts";
import { TrustedScanner } from "./trusted-scanner.ts";

/** A longer line is an error: it would have to be held in memory. */
export const maxLineBytes = 64 * 1024 * 1024;

const lineFeed = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Bytes of lines that are not yet whole, followed by a new chunk. */
class LineBuffer {
  bytes = Buffer.allocUnsafe(1024 * 1024);
  length = 0;

  add(chunk: Buffer): void {
    if (this.length + chunk.length > this.bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.length + chunk.length));
      this.bytes.copy(grown, 0, 0, this.length);
      this.bytes = grown;
    }
    chunk.copy(this.bytes, this.length);
    this.length += chunk.length;
  }

  drop(count: number): void {
    this.bytes.copyWithin(0, count, this.length);
    this.length -= count;
  }
}

/**
 * Reads N-Triples or N-Quads.
 * @throws FedwayError `DATASET_INVALID` with the number of the line
 */
export async function readLines(
  input: NamedInput & Partial<FileFacts>,
  visit: Visit,
  options: ReadOptions,
): Promise<FileFacts> {
  const reader = new LineReader(input, visit);
  const chunks = readBytes(input, options);
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) {
        reader.finish();
        return { ...next.value, isCanonical: reader.isCanonical };
      }
      reader.push(next.value);
      await options.afterChunk?.();
    }
  } finally {
    await chunks.return(noFacts);
  }
}

/** Bytes of a file, the last one not included. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads the lines of an uncompressed file that begin in a range of its bytes: of ranges that follow each other each line
 * is in one. The file has been read before.
 * @throws FedwayError `DATASET_INVALID`, also for a file that has been changed since
 */
export async function readLinesWithin(
  input: NamedInput & FileFacts & { readonly range: ByteRange },
  visit: Visit,
  options: ReadOptions,
): Promise<void> {
  const reader = new LineReader(input, visit);
  const onBytes = countUpTo(input.range, options.onBytes);
  const chunks = readBytesFrom(input, Math.max(0, input.range.from - 1), { ...options, onBytes });
  try {
    for await (const lines of linesWithin(chunks, input.range)) {
      reader.push(lines);
      await options.afterChunk?.();
    }
    reader.finish();
  } catch (error) {
    // All of it was in order before; and the reader of a part does not know the numbers of its lines.
    throw error instanceof FedwayError && error.details.where !== undefined ? changedInput(input.name) : error;
  }
  await refuseChanged(input);
}

/** Counts no bytes of other ranges, into which the last chunk goes. */
function countUpTo({ from, to }: ByteRange, onBytes: ReadOptions["onBytes"]): (bytes: number) => void {
  let left = to - from;
  return (bytes) => {
    const counted = Math.min(bytes, left);
    left -= counted;
    if (counted > 0) onBytes?.(counted);
  };
}

/** Of bytes that begin in front of the range by one, if there is one, the lines that begin in it. */
async function* linesWithin(chunks: AsyncIterable<Buffer>, { from, to }: ByteRange): AsyncGenerator<Buffer> {
  let at = Math.max(0, from - 1);
  let isInside = from === 0;
  for await (let chunk of chunks) {
    if (!isInside) {
      const feed = chunk.indexOf(lineFeed);
      const dropped = feed < 0 ? chunk.length : feed + 1;
      isInside = feed >= 0;
      chunk = chunk.subarray(dropped);
      at += dropped;
    }
    // A line that begins further on is of another range.
    if (at >= to) return;
    // The last line ends with the first line feed that is the range's last byte, or lies behind it.
    const last = at + chunk.length < to ? -1 : chunk.indexOf(lineFeed, Math.max(0, to - 1 - at));
    yield last < 0 ? chunk : chunk.subarray(0, last + 1);
    if (last >= 0) return;
    at += chunk.length;
  }
}

/** Scans what is whole, and holds the rest. */
class LineReader {
  readonly #input: NamedInput;
  readonly #scanner: LineScanner;
  readonly #trusted: TrustedScanner | undefined;
  readonly #held = new LineBuffer();
  #isFirst = true;
  #hasMark = false;
  /** A line that spans many chunks is not searched again from its beginning. */
  #searched = 0;

  constructor(input: NamedInput & Partial<FileFacts>, visit: Visit) {
    this.#input = input;
    const graphs = input.format === "n-quads";
    this.#scanner = new LineScanner({ graphs, skolemBase: skolemBase(input.name), visit });
    if (input.isCanonical === true && input.sha256 !== undefined) this.#trusted = new TrustedScanner(visit);
  }

  get isCanonical(): boolean {
    if (this.#trusted !== undefined) return true;
    return this.#scanner.isCanonical && !this.#hasMark && this.#input.format === "n-triples";
  }

  push(chunk: Buffer): void {
    const held = this.#held;
    held.add(chunk);
    if (this.#isFirst && held.length >= byteOrderMark.length) {
      this.#isFirst = false;
      this.#hasMark = byteOrderMark.compare(held.bytes, 0, byteOrderMark.length) === 0;
      if (this.#hasMark) held.drop(byteOrderMark.length);
    }
    const lastFeed = held.bytes.subarray(this.#searched, held.length).lastIndexOf(lineFeed);
    if (lastFeed >= 0) {
      const end = this.#searched + lastFeed + 1;
      this.#scan(end, false);
      held.drop(end);
    }
    this.#searched = held.length;
    if (held.length > maxLineBytes) throw this.#fault(`the line is longer than ${maxLineBytes} bytes`);
  }

  finish(): void {
    this.#scan(this.#held.length, true);
  }

  #scan(end: number, isLast: boolean): void {
    const { bytes } = this.#held;
    if (this.#trusted !== undefined) {
      this.#trusted.scan(bytes, 0, end);
      return;
    }
    try {
      if (!isUtf8(bytes.subarray(0, end))) skipToInvalid(bytes, end, this.#scanner);
      const rest = this.#scanner.scan(bytes, 0, end);
      if (isLast) this.#scanner.finish(bytes, rest, end);
    } catch (error) {
      throw error instanceof SyntaxFault ? this.#fault(error.message, error) : error;
    }
  }

  #fault(reason: string, cause?: unknown): Error {
    return invalidInput(this.#input.name, reason, { line: this.#scanner.lines + 1, cause });
  }
}

/** Counts the lines in front of the first one that is not UTF-8. */
function skipToInvalid(bytes: Buffer, end: number, scanner: LineScanner): never {
  let at = 0;
  for (;;) {
    const feed = bytes.indexOf(lineFeed, at);
    const lineEnd = feed < 0 || feed >= end ? end : feed + 1;
    if (!isUtf8(bytes.subarray(at, lineEnd)) || lineEnd === end) throw new SyntaxFault("this is not UTF-8 text");
    scanner.lines += 1;
    at = lineEnd;
  }
}
