import type { AnswerScanner, ScanVerdict } from "./scanner.ts";

const lineFeed = 0x0a;
const dot = 0x2e;
const hash = 0x23;

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d;

/** What one line is, followed byte by byte; only lines that are split or do not simply end in a dot need it. */
class LineFollower {
  #first = 0;
  #last = 0;
  /** The byte that closes the term under way; 0 outside. */
  #closer = 0;
  #escaped = false;
  #comment = false;

  feed(chunk: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to && !this.#comment; at += 1) {
      const byte = chunk[at]!;
      if (this.#closer === 0) this.#outside(byte);
      else if (this.#escaped) this.#escaped = false;
      else if (byte === 0x5c) this.#escaped = true;
      else if (byte === this.#closer) this.#closer = 0;
    }
  }

  #outside(byte: number): void {
    if (isSpace(byte)) return;
    if (byte === hash) {
      this.#comment = true;
      return;
    }
    if (byte === 0x3c) this.#closer = 0x3e;
    else if (byte === 0x22) this.#closer = 0x22;
    this.#first ||= byte;
    this.#last = byte;
  }

  /** Ends the line. */
  take(): "blank" | "statement" | "broken" {
    // A line that begins with V is the version directive of RDF 1.2, which has no dot.
    const blank = this.#first === 0 || this.#first === 0x56;
    const closed = this.#last === dot && this.#closer === 0;
    this.#first = 0;
    this.#last = 0;
    this.#closer = 0;
    this.#escaped = false;
    this.#comment = false;
    if (blank) return "blank";
    return closed ? "statement" : "broken";
  }
}

/** Scans N-Triples and N-Quads: rows are the statements, one a line, each ended by a dot. */
export function createNTriplesScanner(): AnswerScanner {
  const line = new LineFollower();
  let split = false;
  let rows = 0;
  let lines = 0;
  let brokenLine = 0;

  const closeLine = (): void => {
    lines += 1;
    const kind = line.take();
    if (kind === "statement") rows += 1;
    else if (kind === "broken") brokenLine ||= lines;
  };

  const push = (chunk: Uint8Array): void => {
    const length = chunk.length;
    let at = 0;
    while (at < length) {
      const found = chunk.indexOf(lineFeed, at);
      const end = found < 0 ? length : found;
      const first = chunk[at];
      if (!split && found > at && chunk[end - 1] === dot && (first === 0x3c || first === 0x5f)) {
        lines += 1;
        rows += 1;
      } else {
        line.feed(chunk, at, end);
        split = found < 0;
        if (!split) closeLine();
      }
      at = end + 1;
    }
  };

  const end = (): ScanVerdict => {
    if (split) closeLine();
    if (brokenLine === 0) return { complete: true, rows };
    return { complete: false, rows, detail: `Line ${brokenLine} is not a whole statement.` };
  };

  return { push, end };
}
