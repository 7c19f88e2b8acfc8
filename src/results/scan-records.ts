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
  /** Last byte before the current chunk; the document begins as after a line. */
  lastByte = lineFeed;

  /**
   * Ends a record of so many bytes; a blank line is a record only where the header has at most one field.
   * @param last its last byte, when it has one
   */
  close(bytes: number, separators: number, last: number): void {
    const blank = separators === 0 && (bytes === 0 || (bytes === 1 && last === carriageReturn));
    if (this.#records === 0) this.#headerSeparators = separators;
    if (blank && this.#headerSeparators > 0) return;
    this.#records += 1;
    if (separators !== this.#headerSeparators) this.#ragged ||= this.#records;
  }

  /** Remembers the record that a chunk ends in. */
  carry(bytes: number, separators: number, chunk: Uint8Array): void {
    this.bytes = bytes;
    this.separators = separators;
    this.lastByte = chunk.at(-1) ?? this.lastByte;
  }

  verdict(openQuote: boolean): ScanVerdict {
    if (this.bytes > 0) this.close(this.bytes, this.separators, this.lastByte);
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
export class CsvScanner implements AnswerScanner {
  /** Index in the last chunk behind the last record that ended there; 0 when none did. */
  lastEnd = 0;
  readonly #records = new RecordCounter();
  #quoted = false;
  /** Where the last quote closed, relative to the chunk; a quote right after it is a doubled one. */
  #closedAt = -2;

  /** The record under way is inside a quoted value. */
  get isQuoted(): boolean {
    return this.#quoted;
  }

  push(chunk: Uint8Array): void {
    const records = this.#records;
    const { length } = chunk;
    let start = -records.bytes;
    let { separators } = records;
    for (let at = 0; at < length; at += 1) {
      const byte = chunk[at]!;
      if (byte > comma) continue;
      if (byte === quote) this.#onQuote(chunk, at);
      else if (this.#quoted) continue;
      else if (byte === comma) separators += 1;
      else if (byte === lineFeed) {
        records.close(at - start, separators, at > 0 ? chunk[at - 1]! : records.lastByte);
        start = at + 1;
        separators = 0;
      }
    }
    this.lastEnd = Math.max(0, start);
    records.carry(length - start, separators, chunk);
    this.#closedAt -= length;
  }

  end(): ScanVerdict {
    return this.#records.verdict(this.#quoted);
  }

  #onQuote(chunk: Uint8Array, at: number): void {
    const before = at > 0 ? chunk[at - 1]! : this.#records.lastByte;
    if (this.#quoted) this.#closedAt = at;
    this.#quoted = !this.#quoted && (before === comma || before === lineFeed || this.#closedAt === at - 1);
  }
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
export class TsvScanner implements AnswerScanner {
  readonly #records = new RecordCounter();
  readonly #lastTerm = new TsvTermState();

  push(chunk: Uint8Array): void {
    const records = this.#records;
    const { length } = chunk;
    let start = -records.bytes;
    let { separators } = records;
    for (let at = 0; at < length; at += 1) {
      const byte = chunk[at]!;
      if (byte > lineFeed) continue;
      if (byte === tab) separators += 1;
      else if (byte === lineFeed) {
        records.close(at - start, separators, at > 0 ? chunk[at - 1]! : records.lastByte);
        start = at + 1;
        separators = 0;
      }
    }
    records.carry(length - start, separators, chunk);
    if (start > 0) this.#lastTerm.reset();
    this.#lastTerm.feed(chunk, Math.max(start, 0));
  }

  end(): ScanVerdict {
    return this.#records.verdict(this.#lastTerm.open);
  }
}
