import type { AnswerScanner, ScanVerdict } from "./scanner.ts";

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const tab = 0x09;
const comma = 0x2c;
const quote = 0x22;
const apostrophe = 0x27;
const [openParenthesis, closeParenthesis, less, greater, caret] = [0x28, 0x29, 0x3c, 0x3e, 0x5e];

/** A header of more than 10,000 long names. */
const maxHeaderBytes = 1_048_576;

/** Counts records, and compares their number of fields with that of the header, which names the columns. */
abstract class RecordScanner implements AnswerScanner {
  readonly #split: (text: string) => readonly string[][];
  #records = 0;
  #headerSeparators = 0;
  #ragged = 0;
  #headerParts: Buffer[] = [];
  #headerBytes = 0;
  /** Index in the chunk at which the record under way begins; negative where an earlier chunk has its beginning. */
  protected start = 0;
  /** Index in the last chunk behind the last record that was as the header wants it. */
  soundTo = 0;
  /** State of the record under way. */
  protected separators = 0;
  /** Last byte before the current chunk; the document begins as after a line. */
  protected lastByte = lineFeed;
  /** The first record, once it has passed. */
  #header: string | undefined;

  /** @param split gives the fields of each of some records */
  constructor(split: (text: string) => readonly string[][]) {
    this.#split = split;
  }

  abstract push(chunk: Uint8Array): void;
  abstract end(): ScanVerdict;

  get form(): AnswerScanner["form"] {
    return this.#header === undefined ? undefined : "bindings";
  }

  get variables(): readonly string[] | undefined {
    if (this.#header === undefined) return undefined;
    const [names = []] = this.#split(`${this.#header.replace(/^\uFEFF/u, "")}\n`);
    return names.filter((field) => field !== "").map(columnName);
  }

  /**
   * Ends a record in a chunk; a blank line is a record only where the header has at most one field.
   * @param at index of its line feed
   */
  protected close(chunk: Uint8Array, at: number, separators: number): void {
    const bytes = at - this.start;
    const last = at > 0 ? chunk[at - 1]! : this.lastByte;
    const blank = separators === 0 && (bytes === 0 || (bytes === 1 && last === carriageReturn));
    if (this.#records === 0) {
      this.#headerSeparators = separators;
      this.#keepHeader(chunk.subarray(0, at));
      this.#header = Buffer.concat(this.#headerParts).toString();
    }
    this.start = at + 1;
    if (!blank || this.#headerSeparators === 0) {
      this.#records += 1;
      if (separators !== this.#headerSeparators) this.#ragged ||= this.#records;
    }
    if (this.#ragged === 0) this.soundTo = this.start;
  }

  /** A chunk ends, with a record under way. */
  protected carry(chunk: Uint8Array, separators: number): void {
    this.start -= chunk.length;
    this.separators = separators;
    this.lastByte = chunk.at(-1) ?? this.lastByte;
    if (this.#records === 0) this.#keepHeader(chunk);
  }

  #keepHeader(bytes: Uint8Array): void {
    this.#headerBytes += bytes.length;
    if (this.#headerBytes <= maxHeaderBytes) this.#headerParts.push(Buffer.from(bytes));
  }

  protected verdict(openQuote: boolean): ScanVerdict {
    if (this.start < 0) this.close(new Uint8Array(0), 0, this.separators);
    if (this.#records === 0) return { complete: false, detail: "The body is empty: even the header line is missing." };
    const rows = this.#records - 1;
    if (openQuote) return { complete: false, rows, detail: "The last record ends inside a quoted value." };
    if (this.#headerBytes > maxHeaderBytes) return { complete: false, rows, detail: "The header is too long." };
    if (this.#ragged === 0) return { complete: true, rows };
    return {
      complete: false,
      rows,
      detail: `Record ${this.#ragged} has a different number of fields than the header.`,
    };
  }
}

/** Scans CSV (RFC 4180): records may span lines inside quotes; a quote opens only at the beginning of a field. */
export class CsvScanner extends RecordScanner {
  /** Index in the last chunk behind the last record that ended there; 0 when none did. */
  lastEnd = 0;
  #quoted = false;
  /** Where the last quote closed, relative to the chunk; a quote right after it is a doubled one. */
  #closedAt = -2;

  /** The record under way is inside a quoted value. */
  get isQuoted(): boolean {
    return this.#quoted;
  }

  constructor() {
    super(splitCsv);
  }

  override push(chunk: Uint8Array): void {
    const { length } = chunk;
    let { separators } = this;
    this.soundTo = 0;
    for (let at = 0; at < length; at += 1) {
      const byte = chunk[at]!;
      if (byte > comma) continue;
      if (byte === quote) this.#onQuote(chunk, at);
      else if (this.#quoted) continue;
      else if (byte === comma) separators += 1;
      else if (byte === lineFeed) {
        this.close(chunk, at, separators);
        separators = 0;
      }
    }
    this.lastEnd = Math.max(0, this.start);
    this.carry(chunk, separators);
    this.#closedAt -= length;
  }

  override end(): ScanVerdict {
    return this.verdict(this.#quoted);
  }

  #onQuote(chunk: Uint8Array, at: number): void {
    const before = at > 0 ? chunk[at - 1]! : this.lastByte;
    if (this.#quoted) this.#closedAt = at;
    this.#quoted = !this.#quoted && (before === comma || before === lineFeed || this.#closedAt === at - 1);
  }
}

/** Follows the terms of one TSV record, to know whether it ends inside one. */
class TsvTermState {
  /** The byte that closes the term under way; 0 outside, -1 in the rest of a field that is not looked at. */
  #closer = 0;
  #escaped = false;
  /** Triple terms that are open. */
  #depth = 0;

  get open(): boolean {
    return this.#closer > 0 || this.#depth > 0;
  }

  reset(): void {
    this.#closer = 0;
    this.#escaped = false;
    this.#depth = 0;
  }

  feed(chunk: Uint8Array, from: number): void {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at]!;
      if (this.#escaped) this.#escaped = false;
      else if (byte === tab) this.reset();
      else if (this.#closer > 0) this.#inside(byte);
      else if (this.#closer === 0) this.#outside(byte);
    }
  }

  #inside(byte: number): void {
    // What follows `<<` and is no `(` is RDF-star, whose end is not known here.
    if (this.#closer === openParenthesis) {
      this.#depth += byte === openParenthesis ? 1 : 0;
      this.#closer = byte === openParenthesis ? 0 : -1;
    } else if (byte === this.#closer) this.#closer = 0;
    else if (this.#closer === greater && byte === less) this.#closer = openParenthesis;
    else this.#escaped = byte === 0x5c;
  }

  #outside(byte: number): void {
    const isInTriple = this.#depth > 0;
    if (byte === less || (isInTriple && byte === closeParenthesis)) this.#closer = greater;
    else if (byte === quote || byte === apostrophe) this.#closer = byte;
    else if (isInTriple) this.#depth -= byte === greater ? 1 : 0;
    else if (byte !== caret) this.#closer = -1;
  }
}

/** Scans TSV: a line is a record, because terms escape line breaks and tabs. */
export class TsvScanner extends RecordScanner {
  readonly #lastTerm = new TsvTermState();

  constructor() {
    super(splitTsv);
  }

  override push(chunk: Uint8Array): void {
    const { length } = chunk;
    let { separators } = this;
    this.soundTo = 0;
    for (let at = 0; at < length; at += 1) {
      const byte = chunk[at]!;
      if (byte > lineFeed) continue;
      if (byte === tab) separators += 1;
      else if (byte === lineFeed) {
        this.close(chunk, at, separators);
        separators = 0;
      }
    }
    const { start } = this;
    this.carry(chunk, separators);
    if (start > 0) this.#lastTerm.reset();
    this.#lastTerm.feed(chunk, Math.max(start, 0));
  }

  override end(): ScanVerdict {
    return this.verdict(this.#lastTerm.open);
  }
}

/** The fields of each of some whole records that end in line feeds. */
export const splitTsv = (text: string): readonly string[][] =>
  text
    .slice(0, -1)
    .split("\n")
    .map((record) => (record.endsWith("\r") ? record.slice(0, -1) : record).split("\t"));

/** The same of CSV, quotes as written: one opens only at the beginning of a field; within the value it is doubled. */
export function splitCsv(text: string): readonly string[][] {
  const records: string[][] = [];
  let fields: string[] = [];
  // To look for the next comma and line feed again for each field takes too long where they are far away.
  let nextComma = -1;
  let nextLine = -1;
  for (let at = 0; at < text.length; ) {
    const from = text[at] === '"' ? behindQuotes(text, at) : at;
    if (nextComma < from) nextComma = indexOrEnd(text, ",", from);
    if (nextLine < from) nextLine = indexOrEnd(text, "\n", from);
    const end = Math.min(nextComma, nextLine);
    fields.push(text.slice(at, end === nextLine && text[end - 1] === "\r" ? end - 1 : end));
    if (end === nextLine) {
      records.push(fields);
      fields = [];
    }
    at = end + 1;
  }
  return records;
}

/** Index behind the quote that closes the value that is opened at `from`. */
function behindQuotes(text: string, from: number): number {
  let end = indexOrEnd(text, '"', from + 1);
  while (text[end + 1] === '"') end = indexOrEnd(text, '"', end + 2);
  return Math.min(end + 1, text.length);
}

function indexOrEnd(text: string, wanted: string, from: number): number {
  const found = text.indexOf(wanted, from);
  return found < 0 ? text.length : found;
}

/** The value of a field of CSV. */
export const unquoted = (field: string): string =>
  field.startsWith('"') && field.endsWith('"') && field.length > 1 ? field.slice(1, -1).replaceAll('""', '"') : field;

/** The column that a field of the header names. */
export const columnName = (field: string): string => unquoted(field).replace(/^[?$]/, "");
