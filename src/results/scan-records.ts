import type { AnswerScanner, ScanVerdict } from "./scanner.ts";

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const tab = 0x09;
const comma = 0x2c;
const quote = 0x22;

/** Counts records and compares their number of fields with the header's. */
class RecordCounter {
  #records = 0;
  #headerSeparators = 0;
  #ragged = 0;
  /** State of the record under way. */
  separators = 0;
  bytes = 0;
  /** Last byte before the current chunk; 0 at the beginning of the document. */
  lastByte = 0;

  /** Ends a record; a blank line is a record only where the header has at most one field. */
  close(): void {
    const blank = this.separators === 0 && (this.bytes === 0 || (this.bytes === 1 && this.lastByte === carriageReturn));
    if (this.#records === 0) this.#headerSeparators = this.separators;
    if (!blank || this.#headerSeparators === 0) {
      this.#records += 1;
      if (this.separators !== this.#headerSeparators) this.#ragged ||= this.#records;
    }
    this.separators = 0;
    this.bytes = 0;
  }

  verdict(openQuote: boolean): ScanVerdict {
    if (this.bytes > 0) this.close();
    if (this.#records === 0) return { complete: false, detail: "The body is empty: even the header line is missing." };
    const rows = this.#records - 1;
    if (openQuote) return { complete: false, rows, detail: "The last record ends inside a quoted value." };
    if (this.#ragged === 0) return { complete: true, rows };
    return {
      complete: false,
      rows,
      detail: `Record ${this.#ragged} has a different number of fields than the header.`,
    };
  }
}

/** Scans CSV (RFC 4180): records may span lines inside quotes; a quote opens only at the beginning of a field. */
export function createCsvScanner(): AnswerScanner {
  const records = new RecordCounter();
  let quoted = false;
  /** Where the last quote closed, relative to the chunk; a quote right after it is a doubled one. */
  let closedAt = -2;

  const onQuote = (chunk: Uint8Array, at: number): void => {
    const before = at > 0 ? chunk[at - 1]! : records.lastByte;
    if (quoted) closedAt = at;
    quoted = !quoted && (before === comma || before === lineFeed || before === 0 || closedAt === at - 1);
  };

  const push = (chunk: Uint8Array): void => {
    const length = chunk.length;
    let start = -records.bytes;
    let separators = records.separators;
    for (let at = 0; at < length; at += 1) {
      const byte = chunk[at]!;
      if (byte > comma) continue;
      if (byte === quote) onQuote(chunk, at);
      else if (quoted) continue;
      else if (byte === comma) separators += 1;
      else if (byte === lineFeed) {
        records.bytes = at - start;
        records.separators = separators;
        if (at > 0) records.lastByte = chunk[at - 1]!;
        records.close();
        start = at + 1;
        separators = 0;
      }
    }
    records.bytes = length - start;
    records.separators = separators;
    if (length > 0) records.lastByte = chunk[length - 1]!;
    closedAt -= length;
  };

  return { push, end: () => records.verdict(quoted) };
}

/** Follows the terms of one TSV record, to know whether it ends inside one. */
class TsvTermState {
  /** The byte that closes the term under way; 0 outside, -1 in the rest of a field that was closed. */
  #closer = 0;
  #escaped = false;

  get open(): boolean {
    return this.#closer > 0;
  }

  reset(): void {
    this.#closer = 0;
    this.#escaped = false;
  }

  feed(chunk: Uint8Array, from: number): void {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at]!;
      if (this.#escaped) this.#escaped = false;
      else if (byte === tab) this.#closer = 0;
      else if (this.#closer > 0) {
        if (byte === this.#closer) this.#closer = -1;
        else this.#escaped = byte === 0x5c;
      } else if (this.#closer === 0) this.#closer = TsvTermState.#closerOf(byte);
    }
  }

  static #closerOf(first: number): number {
    if (first === 0x3c) return 0x3e;
    return first === quote || first === 0x27 ? first : -1;
  }
}

/** Scans TSV: a line is a record, because terms escape line breaks and tabs. */
export function createTsvScanner(): AnswerScanner {
  const records = new RecordCounter();
  const lastTerm = new TsvTermState();

  const push = (chunk: Uint8Array): void => {
    const length = chunk.length;
    const carried = records.bytes;
    let start = -carried;
    let separators = records.separators;
    for (let at = 0; at < length; at += 1) {
      const byte = chunk[at]!;
      if (byte > lineFeed) continue;
      if (byte === tab) separators += 1;
      else if (byte === lineFeed) {
        records.bytes = at - start;
        records.separators = separators;
        if (at > 0) records.lastByte = chunk[at - 1]!;
        records.close();
        start = at + 1;
        separators = 0;
      }
    }
    records.bytes = length - start;
    records.separators = separators;
    if (length > 0) records.lastByte = chunk[length - 1]!;
    if (start > 0) lastTerm.reset();
    lastTerm.feed(chunk, Math.max(start, 0));
  };

  return { push, end: () => records.verdict(lastTerm.open) };
}
