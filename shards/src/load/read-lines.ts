import { isUtf8 } from "node:buffer";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { changedInput, invalidInput, type NamedInput, skolemBase } from "./input.ts";
import { LineScanner, TrustedScanner } from "./line-scanner.ts";
import { type FileFacts, InputBytes, type ReadOptions, refuseChanged } from "./read-bytes.ts";
import type { Visit } from "./statement.ts";
import { SyntaxFault } from "./term-scanner.ts";

/** A longer line is an error: it would have to be held in memory. */
const maxLineBytes = 64 * 1024 * 1024;

const lineFeed = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** The beginning of a line that is not yet whole. */
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
  const bytes = new InputBytes(input, options);
  for await (const chunk of bytes.chunks()) {
    reader.push(chunk);
    await options.afterChunk?.();
  }
  reader.finish();
  return { ...bytes.facts(reader.isCanonical), badLines: reader.badLines };
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
  const bytes = new InputBytes(input, { ...options, onBytes }, Math.max(0, input.range.from - 1));
  try {
    for await (const lines of linesWithin(bytes.chunks(), input.range)) {
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

/** Ignores bytes of the next range, which the last chunk may contain. */
function countUpTo({ from, to }: ByteRange, onBytes: ReadOptions["onBytes"]): (bytes: number) => void {
  let left = to - from;
  return (bytes) => {
    const counted = Math.min(bytes, left);
    left -= counted;
    if (counted > 0) onBytes?.(counted);
  };
}

/** The lines that begin in the range; the bytes start one before it, where there is one. */
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

  constructor(input: NamedInput & Partial<FileFacts>, visit: Visit) {
    this.#input = input;
    const graphs = input.format === "n-quads";
    this.#scanner = new LineScanner(
      { graphs, skolemBase: skolemBase(input.name), skips: input.skipBadLines === true },
      visit,
    );
    if (input.isCanonical === true && input.sha256 !== undefined) this.#trusted = new TrustedScanner(visit);
  }

  get badLines(): FileFacts["badLines"] {
    return this.#scanner.badLines;
  }

  get isCanonical(): boolean {
    if (this.#trusted !== undefined) return true;
    return this.#scanner.isCanonical && !this.#hasMark && this.#input.format === "n-triples";
  }

  push(chunk: Buffer): void {
    const held = this.#held;
    if (this.#isFirst) {
      this.#begin(chunk);
      return;
    }
    // The line that is held ends with the first line feed; the others are scanned where they lie.
    const first = held.length === 0 ? 0 : chunk.indexOf(lineFeed) + 1;
    if (first > 0) {
      held.add(chunk.subarray(0, first));
      this.#scan(held.bytes.subarray(0, held.length));
      held.length = 0;
    }
    const end = held.length === 0 ? chunk.lastIndexOf(lineFeed) + 1 : 0;
    if (end > first) this.#scan(chunk.subarray(first, end));
    this.#hold(chunk.subarray(end));
  }

  /** The first bytes, which may be a byte order mark. */
  #begin(chunk: Buffer): void {
    const held = this.#held;
    held.add(chunk);
    if (held.length < byteOrderMark.length) return;
    this.#isFirst = false;
    const all = Buffer.from(held.bytes.subarray(0, held.length));
    held.length = 0;
    this.#hasMark = byteOrderMark.compare(all, 0, byteOrderMark.length) === 0;
    this.push(this.#hasMark ? all.subarray(byteOrderMark.length) : all);
  }

  #hold(rest: Buffer): void {
    this.#held.add(rest);
    if (this.#held.length > maxLineBytes) throw this.#fault(`the line is longer than ${maxLineBytes} bytes`);
  }

  finish(): void {
    this.#scan(this.#held.bytes.subarray(0, this.#held.length), true);
  }

  #scan(lines: Buffer, isLast = false): void {
    if (this.#trusted !== undefined) {
      this.#trusted.scan(lines, 0, lines.length);
      return;
    }
    try {
      this.#scanner.isText = isUtf8(lines);
      const rest = this.#scanner.scan(lines, 0, lines.length);
      if (isLast) this.#scanner.finish(lines, rest, lines.length);
    } catch (error) {
      throw error instanceof SyntaxFault ? this.#fault(error.message, error) : error;
    }
  }

  #fault(reason: string, cause?: unknown): Error {
    return invalidInput(this.#input.name, reason, { line: this.#scanner.lines + 1, cause });
  }
}
