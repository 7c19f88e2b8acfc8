import type { Statement, Visit } from "./statement.ts";

const space = 0x20;
const lineFeed = 0x0a;

/**
 * Finds the statements of a file that an earlier pass found to be canonical N-Triples, line by line, and does not check
 * them again: terms have a space between them, and neither subjects nor predicates have one inside. For a file that has
 * been changed since it finds nonsense; so who reads compares its checksum.
 */
export class TrustedScanner {
  readonly #visit: Visit;
  readonly #statement: Statement;

  constructor(visit: Visit) {
    this.#visit = visit;
    const bytes = Buffer.alloc(0);
    this.#statement = { bytes, start: 0, subjectEnd: 0, predicateEnd: 0, objectEnd: 0, end: 0 };
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
