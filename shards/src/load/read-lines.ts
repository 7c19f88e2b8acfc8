import { isUtf8 } from "node:buffer";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { changedInput, invalidInput, type NamedInput, skolemBase } from "./input.ts";
import { SyntaxFault, type LineSyntax, parseLine } from "./parse-line.ts";
import { type BadLines, type FileFacts, InputBytes, LeftOut, type ReadOptions, refuseChanged } from "./read-bytes.ts";
import { type Visit, type Statement, statementOf } from "./statement.ts";

/** A longer line is an error: it would have to be held in memory. */
const maxLineBytes = 64 * 1024 * 1024;

const lineFeed = 0x0a;
const byteOrderMark = Buffer.from("\uFEFF");

/**
 * Reads N-Triples or N-Quads.
 * @throws FedwayError `DATASET_INVALID` with the number of the line
 */
export async function readLines(input: NamedInput, visit: Visit, options: ReadOptions): Promise<FileFacts> {
  const bytes = new InputBytes(input, options);
  const badLines = await scanLines(input, { chunks: bytes.chunks(), visit, options });
  return { ...bytes.facts(), badLines };
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
  const { range } = input;
  let left = range.to - range.from;
  // The last chunk may have bytes of the next range.
  const onBytes = (bytes: number): void => {
    const counted = Math.min(bytes, left);
    left -= counted;
    if (counted > 0) options.onBytes?.(counted);
  };
  const bytes = new InputBytes(input, { ...options, onBytes }, Math.max(0, range.from - 1));
  try {
    await scanLines(input, { chunks: linesWithin(bytes.chunks(), range), visit, options });
  } catch (error) {
    // All of it was in order before; and the reader of a part does not know the numbers of its lines.
    throw error instanceof FedwayError && error.details.where !== undefined ? changedInput(input.name) : error;
  }
  await refuseChanged(input);
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

interface Scanning {
  readonly chunks: AsyncIterable<Buffer>;
  readonly visit: Visit;
  readonly options: ReadOptions;
}

async function scanLines(input: NamedInput, { chunks, visit, options }: Scanning): Promise<BadLines | undefined> {
  const graphs = input.format === "n-quads";
  const scanner = new LineScanner(
    { graphs, skolemBase: skolemBase(input.name), skips: input.skipBadLines === true },
    visit,
  );
  try {
    for await (const lines of wholeLines(chunks)) {
      const hasMark = scanner.lines === 0 && byteOrderMark.equals(lines.subarray(0, byteOrderMark.length));
      scanner.scan(hasMark ? lines.subarray(byteOrderMark.length) : lines);
      await options.afterChunk?.();
    }
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    throw invalidInput(input.name, error.message, { line: scanner.lines + 1, cause: error });
  }
  return scanner.badLines;
}

/** The same bytes, each piece up to the end of a line. @throws SyntaxFault for a line that is too long */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of chunks) {
    // The line that is held ends with the first line feed; the others are scanned where they lie.
    const first = heldBytes > 0 ? chunk.indexOf(lineFeed) + 1 : 0;
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (first > 0) yield Buffer.concat([...held.splice(0), chunk.subarray(0, first)]);
    if (end > first) yield chunk.subarray(first, end);
    if (end > 0) heldBytes = 0;
    if (end < chunk.length) held.push(Buffer.from(chunk.subarray(end)));
    heldBytes += chunk.length - end;
    if (heldBytes > maxLineBytes) throw new SyntaxFault(`the line is longer than ${maxLineBytes} bytes`);
  }
  if (heldBytes > 0) yield Buffer.concat(held);
}

// Over bytes as characters of Latin-1: those of longer characters lie above 0x7f.
const iri = String.raw`<[A-Za-z][A-Za-z0-9+.\-]*:[^\0-\x20<>"{}|^\x60\\]*>`;
const plain = String.raw`[^"\\\0-\x1f\x7f]*`;
const datatype = String.raw`\^\^(?!<http://www\.w3\.org/2001/XMLSchema#string>)${iri}`;
// Literals with more escapes are parsed: each escape takes room on the stack of the expression.
const literal = String.raw`"${plain}(?:\\[tbnrf"\\]${plain}){0,1000}"(?:@[a-z]+(?:-[a-z0-9]+)*|${datatype})?`;
const canonicalLine = (graph: string): string => String.raw`(${iri}) (${iri}) (${iri}|${literal})${graph} \.\n`;
const canonicalTriple = new RegExp(canonicalLine(""), "y");
const canonicalQuad = new RegExp(canonicalLine(`(?: ${iri})?`), "y");

/**
 * Reads N-Triples and N-Quads (RDF 1.1), which have to be UTF-8. A line that is canonical already, which one regular
 * expression finds, is handed on where it lies; others are parsed and written anew.
 */
export class LineScanner {
  /** Lines that are done with. */
  lines = 0;
  readonly #bad = new LeftOut();
  readonly #syntax: LineSyntax;
  readonly #skips: boolean;
  readonly #canonical: RegExp;
  readonly #statement: Statement = statementOf(["", "", ""]);
  readonly #visit: Visit;

  /**
   * @param options `skips`: bad lines are left out
   * @param visit called for each statement
   */
  constructor(options: LineSyntax & { readonly skips?: boolean }, visit: Visit) {
    this.#syntax = options;
    this.#skips = options.skips === true;
    this.#visit = visit;
    this.#canonical = options.graphs ? canonicalQuad : canonicalTriple;
  }

  /** Lines that were left out. */
  get badLines(): BadLines | undefined {
    return this.#bad.badLines;
  }

  /** Scans whole lines; the last one of a file may lack its line feed. @throws SyntaxFault */
  scan(bytes: Buffer): void {
    const canonical = this.#canonical;
    const text = bytes.toString("latin1");
    const isText = isUtf8(bytes);
    this.#statement.bytes = bytes;
    for (let at = 0; at < bytes.length; this.lines += 1) {
      canonical.lastIndex = at;
      const found = isText ? canonical.exec(text) : null;
      if (found === null) {
        const feed = text.indexOf("\n", at);
        const end = feed < 0 ? bytes.length : feed;
        this.#parse(bytes.subarray(at, end));
        at = end + 1;
      } else {
        this.#take(at, found);
        at = canonical.lastIndex;
      }
    }
  }

  #take(at: number, [line, subject = "", predicate = "", object = ""]: RegExpExecArray): void {
    const statement = this.#statement;
    statement.start = at;
    statement.subjectEnd = at + subject.length;
    statement.predicateEnd = statement.subjectEnd + 1 + predicate.length;
    statement.objectEnd = statement.predicateEnd + 1 + object.length;
    statement.end = at + line.length;
    this.#visit(statement);
  }

  /** One line, or several that only carriage returns part. */
  #parse(bytes: Buffer): void {
    try {
      if (!isUtf8(bytes)) throw new SyntaxFault("this is not UTF-8 text");
      for (const line of bytes.toString("utf8").split("\r")) {
        const terms = parseLine(line, this.#syntax);
        if (terms.length > 0) this.#visit(statementOf(terms));
      }
    } catch (error) {
      if (!this.#skips || !(error instanceof SyntaxFault)) throw error;
      this.#bad.add(this.lines + 1, error.message);
    }
  }
}
