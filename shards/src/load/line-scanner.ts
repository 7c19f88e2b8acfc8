import { isUtf8 } from "node:buffer";
import type { BadLines } from "./read-bytes.ts";
import { type LineTerms, TermScanner, SyntaxFault } from "./term-scanner.ts";
import { type Statement, type Visit, TermWriter } from "./statement.ts";

const space = 0x20;
const lineFeed = 0x0a;
const return_ = 0x0d;
const dot = 0x2e;
const hash = 0x23;

/** Places of bad lines that are kept. */
const mostBad = 10;

/** What is wrong with bytes that are no text. */
export const notText = "this is not UTF-8 text";

const emptyStatement = (): Statement => {
  const bytes = Buffer.alloc(0);
  return { bytes, start: 0, subjectEnd: 0, predicateEnd: 0, objectEnd: 0, end: 0 };
};

/**
 * Reads N-Triples and N-Quads (RDF 1.1) a line at a time, straight from the bytes, which have to be UTF-8. A line that is
 * canonical already is handed on where it lies; others are written anew.
 */
export class LineScanner {
  /** Lines that are done with. */
  lines = 0;
  /** Each line so far is a canonical statement. */
  isCanonical = true;
  /** All that is scanned is known to be UTF-8; only where bad lines are skipped it may not be. */
  isText = true;
  /** Lines that were left out. */
  badCount = 0;
  readonly #firstBad: BadLines["first"][number][] = [];
  readonly #skips: boolean;
  readonly #terms: TermScanner;
  readonly #writer: TermWriter;
  readonly #statement = emptyStatement();
  readonly #visit: Visit;

  /**
   * @param options `graphs`: statements may name a graph; `skolemBase`: see `skolemBase`; `skips`: bad lines are left out
   * @param visit called for each statement
   */
  constructor(
    options: { readonly graphs: boolean; readonly skolemBase: string; readonly skips?: boolean },
    visit: Visit,
  ) {
    const { graphs, skolemBase, skips = false } = options;
    this.#skips = skips;
    this.#visit = visit;
    this.#terms = new TermScanner(graphs);
    this.#writer = new TermWriter(skolemBase);
  }

  /**
   * Scans whole lines.
   * @returns the place of the first byte behind the last line feed
   * @throws SyntaxFault
   */
  scan(bytes: Buffer, from: number, to: number): number {
    let at = from;
    while (at < to) {
      const end = bytes.indexOf(lineFeed, at);
      if (end < 0 || end >= to) return at;
      this.#lineOrSkip(bytes, at, end);
      this.lines += 1;
      at = end + 1;
    }
    return at;
  }

  /** Scans the last line of a file, which may lack its line feed. */
  finish(bytes: Buffer, from: number, to: number): void {
    if (from < to) this.#lineOrSkip(bytes, from, to);
  }

  get badLines(): BadLines | undefined {
    return this.badCount === 0 ? undefined : { count: this.badCount, first: this.#firstBad };
  }

  #lineOrSkip(bytes: Buffer, from: number, end: number): void {
    try {
      if (!this.isText && !isUtf8(bytes.subarray(from, end))) throw new SyntaxFault(notText);
      this.#line(bytes, from, end);
    } catch (error) {
      if (!this.#skips || !(error instanceof SyntaxFault)) throw error;
      this.isCanonical = false;
      this.badCount += 1;
      if (this.#firstBad.length < mostBad) this.#firstBad.push({ line: this.lines + 1, reason: error.message });
    }
  }

  /** One line, or several that only carriage returns part. `bytes[end]` is a line feed, or the end of the file. */
  #line(bytes: Buffer, from: number, end: number): void {
    let at = from;
    if (at === end) this.isCanonical = false;
    while (at < end) {
      const first = bytes[at]!;
      if (first === hash || first === space || first === 0x09 || first === return_) {
        this.isCanonical = false;
        at = first === hash ? afterReturn(bytes, at, end) : at + 1;
      } else at = this.#statementAt(bytes, at, end);
    }
  }

  /** The place behind the statement that begins at `from`, and behind its end of line. */
  #statementAt(bytes: Buffer, from: number, end: number): number {
    const terms = this.#terms.scan(bytes, from, end);
    let at = terms.dotAt;
    if (at >= end || bytes[at] !== dot) throw new SyntaxFault("a dot is expected");
    at += 1;
    if (at === end && terms.isCanonical && bytes[end] === lineFeed) {
      this.#inPlace(bytes, terms, end);
      this.#visit(this.#statement);
      return end;
    }
    while (at < end && (bytes[at] === space || bytes[at] === 0x09)) at += 1;
    if (at < end && bytes[at] !== return_ && bytes[at] !== hash) {
      throw new SyntaxFault("there is something behind the dot");
    }
    this.isCanonical = false;
    this.#writer.write(bytes, terms, this.#statement);
    this.#visit(this.#statement);
    return afterReturn(bytes, at, end);
  }

  #inPlace(bytes: Buffer, terms: LineTerms, end: number): void {
    const statement = this.#statement;
    statement.bytes = bytes;
    statement.start = terms.starts[0]!;
    statement.subjectEnd = terms.ends[0]!;
    statement.predicateEnd = terms.ends[1]!;
    statement.objectEnd = terms.ends[2]!;
    statement.end = end + 1;
  }
}

/** The place behind the next carriage return, which ends a line or comment as a line feed does. */
function afterReturn(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== return_) at += 1;
  return at < end ? at + 1 : end;
}

/**
 * Finds the statements of a file that an earlier pass found to be canonical N-Triples, line by line, and does not check
 * them again: terms have a space between them, and neither subjects nor predicates have one inside. In a file that has
 * changed since it finds nonsense: its reader compares the checksum.
 */
export class TrustedScanner {
  readonly #visit: Visit;
  readonly #statement = emptyStatement();

  constructor(visit: Visit) {
    this.#visit = visit;
  }

  /** Scans whole lines; returns the place behind the last line feed. */
  scan(bytes: Buffer, from: number, to: number): number {
    const statement = this.#statement;
    statement.bytes = bytes;
    let start = from;
    while (start < to) {
      const feed = bytes.indexOf(lineFeed, start);
      if (feed < 0 || feed >= to) return start;
      let at = start;
      while (at < feed && bytes[at] !== space) at += 1;
      statement.start = start;
      statement.subjectEnd = at;
      at += 1;
      while (at < feed && bytes[at] !== space) at += 1;
      statement.predicateEnd = Math.min(at, feed);
      statement.objectEnd = Math.max(statement.predicateEnd, feed - 2);
      statement.end = feed + 1;
      this.#visit(statement);
      start = feed + 1;
    }
    return start;
  }
}
