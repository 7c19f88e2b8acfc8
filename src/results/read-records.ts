import type * as RDF from "@rdfjs/types";
import {
  type AnswerHead,
  createUtf8Reader,
  malformed,
  type ScanVerdict,
  type TupleReader,
  type Utf8Reader,
  variablesOf,
} from "./answer-reader.ts";
import type { Bindings } from "./model.ts";
import { blankNodeFromLabel, literalFromParts, nodeFromIri, termFromText } from "./terms.ts";

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const tab = 0x09;
const comma = 0x2c;
const quote = 0x22;
const apostrophe = 0x27;
const [openParenthesis, closeParenthesis, less, greater, caret] = [0x28, 0x29, 0x3c, 0x3e, 0x5e];

/** A header of more than 10,000 long names. */
const maxHeaderBytes = 1_048_576;

/** Differences between CSV and TSV. */
interface RecordSyntax {
  readonly name: "CSV" | "TSV";
  /** The fields of each of some whole records, which end in line feeds (the carriage return before goes); quotes as written. */
  readonly split: (text: string) => readonly string[][];
  /** The term of a field: undefined when unbound. @throws a plain `Error` that says what is wrong */
  readonly term: (field: string) => RDF.Term | undefined;
}

/** Counts records, and compares their number of fields with that of the header, which names the columns; records are rows. */
abstract class RecordReader implements TupleReader {
  head: AnswerHead | undefined;
  readonly #syntax: RecordSyntax;
  #utf8: Utf8Reader | undefined;
  /** The text behind the last whole record, where rows are read. */
  #rest = "";
  /** Records that were read. */
  #read = 0;
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

  constructor(syntax: RecordSyntax) {
    this.#syntax = syntax;
  }

  abstract push(chunk: Uint8Array): void;
  abstract end(): ScanVerdict;
  /** Takes the next bytes; gives the index behind the last record that ends in them, 0 when none does. */
  protected abstract lastEnd(bytes: Uint8Array): number;
  /** True if the text so far ends inside a quoted value. */
  protected abstract isQuoted(): boolean;

  read(bytes: Uint8Array): readonly Bindings[] {
    this.#utf8 ??= createUtf8Reader(this.#syntax.name);
    const lastEnd = this.lastEnd(bytes);
    const text = this.#rest + this.#utf8.read(bytes.subarray(0, lastEnd));
    const rest = this.#utf8.read(bytes.subarray(lastEnd));
    this.#rest = lastEnd === 0 ? text + rest : rest;
    return lastEnd === 0 ? [] : this.#rows(text);
  }

  finish(): readonly Bindings[] {
    const rest = this.#rest + (this.#utf8?.end() ?? "");
    if (this.isQuoted()) throw this.#broken("ends inside a quoted value");
    const rows = rest === "" ? [] : this.#rows(`${rest}\n`);
    if (this.head === undefined) throw this.#broken("is empty: even its header line is missing");
    return rows;
  }

  #rows(text: string): readonly Bindings[] {
    const rows: Bindings[] = [];
    for (const fields of this.#syntax.split(text)) {
      const isBlank = fields.length === 1 && fields[0] === "";
      const variables = this.head?.variables;
      this.#read += 1;
      if (variables === undefined) {
        this.head = { variables: isBlank ? [] : variablesOf(fields).map(columnName) };
      } else if (!isBlank || variables.length < 2) {
        rows.push(this.#row(isBlank && variables.length === 0 ? [] : fields, variables));
      }
    }
    return rows;
  }

  #row(fields: readonly string[], variables: readonly string[]): Bindings {
    if (fields.length !== variables.length) {
      throw this.#broken(`has ${fields.length} instead of ${variables.length} fields in record ${this.#read}`);
    }
    const row = new Map<string, RDF.Term>();
    for (const [index, field] of fields.entries()) {
      const term = this.#term(field);
      if (term !== undefined) row.set(variables[index]!, term);
    }
    return row;
  }

  #term(field: string): RDF.Term | undefined {
    try {
      return this.#syntax.term(field);
    } catch (error) {
      throw this.#broken(`has no RDF term in record ${this.#read} (${error instanceof Error ? error.message : ""})`);
    }
  }

  #broken(what: string): Error {
    return malformed(`The endpoint's ${this.#syntax.name} answer ${what}.`);
  }

  get form(): TupleReader["form"] {
    return this.#header === undefined ? undefined : "bindings";
  }

  get variables(): readonly string[] | undefined {
    if (this.#header === undefined) return undefined;
    const [names = []] = this.#syntax.split(`${this.#header.replace(/^\uFEFF/u, "")}\n`);
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

/**
 * SPARQL 1.1 Query Results CSV (RFC 4180): records may span lines inside quotes; a quote opens only at the beginning of a field.
 * See `termFromCsv` for what is lost.
 */
export class CsvReader extends RecordReader {
  /** Index in the last chunk behind the last record that ended there; 0 when none did. */
  #lastEnd = 0;
  #quoted = false;
  /** Where the last quote closed, relative to the chunk; a quote right after it is a doubled one. */
  #closedAt = -2;

  constructor() {
    super({ name: "CSV", split: splitCsv, term: termFromCsv });
  }

  protected override lastEnd(bytes: Uint8Array): number {
    this.push(bytes);
    return this.#lastEnd;
  }

  protected override isQuoted(): boolean {
    return this.#quoted;
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
    this.#lastEnd = Math.max(0, this.start);
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

/** SPARQL 1.1 Query Results TSV: a line is a record, because terms escape line breaks and tabs. */
export class TsvReader extends RecordReader {
  readonly #lastTerm = new TsvTermState();

  constructor() {
    super({ name: "TSV", split: splitTsv, term: (field) => (field === "" ? undefined : termFromText(field)) });
  }

  protected override lastEnd(bytes: Uint8Array): number {
    return bytes.lastIndexOf(lineFeed) + 1;
  }

  protected override isQuoted(): boolean {
    return false;
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
const splitTsv = (text: string): readonly string[][] =>
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
const columnName = (field: string): string => unquoted(field).replace(/^[?$]/, "");

/** Schemes of IRIs without an authority that occur in RDF. */
const absoluteIri = /^(?:[a-z][a-z0-9+.-]{0,20}:\/\/|urn:[a-z0-9]|mailto:|tag:|tel:|doi:)[^\s<>"{}|\\^`]*$/i;

/**
 * CSV has no types (SPARQL 1.1 CSV, section 3): `_:x` is read as a blank node, what looks like an absolute IRI as one,
 * all else as a plain literal; an empty field is unbound, `""` the empty literal.
 */
function termFromCsv(field: string): RDF.Term | undefined {
  if (field === "") return undefined;
  const value = unquoted(field);
  if (/^_:\S+$/.test(value)) return blankNodeFromLabel(value);
  return absoluteIri.test(value) ? nodeFromIri(value) : literalFromParts(value);
}
