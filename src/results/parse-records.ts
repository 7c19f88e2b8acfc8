import type * as RDF from "@rdfjs/types";
import { type AnswerHead, createUtf8Reader, malformed, type TupleDecoder, variablesOf } from "./decoder.ts";
import type { Bindings } from "./model.ts";
import { blankNodeFromLabel, literalFromParts, nodeFromIri, termFromText } from "./terms.ts";

/** What tells CSV and TSV apart. */
interface RecordSyntax {
  readonly name: "CSV" | "TSV";
  /** Records may span lines inside quotes. */
  readonly quotes: boolean;
  readonly split: (record: string) => readonly string[];
  /** The name in a header field. */
  readonly variable: (field: string) => string;
  /** The term of a field: undefined when unbound. @throws a plain `Error` that says what is wrong */
  readonly term: (field: string) => RDF.Term | undefined;
}

/** Fields as written, quotes included. */
function splitCsv(record: string): readonly string[] {
  if (!record.includes('"')) return record.split(",");
  const fields: string[] = [];
  let start = 0;
  while (start <= record.length) {
    let end = start;
    if (record[start] === '"') {
      end = record.indexOf('"', start + 1);
      while (end >= 0 && record[end + 1] === '"') end = record.indexOf('"', end + 2);
    }
    const comma = end < 0 ? -1 : record.indexOf(",", end);
    const next = comma < 0 ? record.length : comma;
    fields.push(record.slice(start, next));
    start = next + 1;
  }
  return fields;
}

const unquoteCsv = (field: string): string =>
  field.startsWith('"') && field.endsWith('"') && field.length > 1 ? field.slice(1, -1).replaceAll('""', '"') : field;

const bareName = (field: string): string => field.replace(/^[?$]/, "");

/** Schemes of IRIs without an authority that occur in RDF. */
const absoluteIri = /^(?:[a-z][a-z0-9+.-]{0,20}:\/\/|urn:[a-z0-9]|mailto:|tag:|tel:|doi:)[^\s<>"{}|\\^`]*$/i;

/**
 * CSV has no types (SPARQL 1.1 CSV, section 3): `_:x` is read as a blank node, what looks like an absolute IRI as one,
 * all else as a plain literal; an empty field is unbound, `""` the empty literal.
 */
function termFromCsv(field: string): RDF.Term | undefined {
  if (field === "") return undefined;
  const value = unquoteCsv(field);
  if (/^_:\S+$/.test(value)) return blankNodeFromLabel(value);
  return absoluteIri.test(value) ? nodeFromIri(value) : literalFromParts(value);
}

const csv: RecordSyntax = {
  name: "CSV",
  quotes: true,
  split: splitCsv,
  variable: (field) => bareName(unquoteCsv(field)),
  term: termFromCsv,
};

const tsv: RecordSyntax = {
  name: "TSV",
  quotes: false,
  split: (record) => record.split("\t"),
  variable: (field) => bareName(unquoteCsv(field)),
  term: (field) => (field === "" ? undefined : termFromText(field)),
};

/** SPARQL 1.1 Query Results CSV; see `termFromCsv` for what is lost. */
export const createCsvDecoder = (): TupleDecoder => new RecordDecoder(csv);

/** SPARQL 1.1 Query Results TSV. */
export const createTsvDecoder = (): TupleDecoder => new RecordDecoder(tsv);

class RecordDecoder implements TupleDecoder {
  head: AnswerHead | undefined;
  readonly #syntax: RecordSyntax;
  readonly #utf8;
  #variables: readonly string[] = [];
  #rest = "";
  /** Where the search for the end of the record goes on, and whether that place is inside quotes. */
  #searched = 0;
  #quoted = false;
  /** Index of the last quote that closed. */
  #closedAt = -2;
  /** The next line feed and quote, as far as they were looked for: to look again for each field takes too long. */
  #lineFeed = -1;
  #quote = -1;
  #records = 0;

  constructor(syntax: RecordSyntax) {
    this.#syntax = syntax;
    this.#utf8 = createUtf8Reader(syntax.name);
  }

  push(bytes: Uint8Array): readonly Bindings[] {
    this.#rest += this.#utf8.read(bytes);
    const rows: Bindings[] = [];
    let start = 0;
    for (let end = this.#endOfRecord(0); end >= 0; end = this.#endOfRecord(start)) {
      this.#record(this.#rest.slice(start, end), rows);
      start = end + 1;
      this.#searched = start;
    }
    this.#rest = this.#rest.slice(start);
    this.#searched -= start;
    this.#closedAt -= start;
    this.#lineFeed = -1;
    this.#quote = -1;
    return rows;
  }

  end(): readonly Bindings[] {
    const rows: Bindings[] = [];
    this.#rest += this.#utf8.end();
    if (this.#quoted) throw this.#broken("ends inside a quoted value");
    if (this.#rest !== "") this.#record(this.#rest, rows);
    if (this.head === undefined) throw this.#broken("is empty: even its header line is missing");
    return rows;
  }

  /** Index of the line feed that ends the record, or -1 while it is not there. */
  #endOfRecord(start: number): number {
    const rest = this.#rest;
    let at = Math.max(start, this.#searched);
    if (!this.#syntax.quotes) {
      this.#searched = rest.length;
      return rest.indexOf("\n", at);
    }
    for (;;) {
      if (this.#quoted) {
        const quote = this.#nextQuote(at);
        if (quote === rest.length) break;
        this.#quoted = false;
        this.#closedAt = quote;
        at = quote + 1;
      }
      const lineFeed = this.#nextLineFeed(at);
      const quote = this.#openingQuote(at, lineFeed, start);
      if (quote < 0) {
        this.#searched = rest.length;
        return lineFeed === rest.length ? -1 : lineFeed;
      }
      this.#quoted = true;
      at = quote + 1;
    }
    this.#searched = rest.length;
    return -1;
  }

  /** A quote opens only at the beginning of a field, or right after a quote that closed (a doubled one). */
  #openingQuote(from: number, to: number, start: number): number {
    const rest = this.#rest;
    for (let at = this.#nextQuote(from); at < to; at = this.#nextQuote(at + 1)) {
      const before = rest[at - 1];
      if (at === start || before === "," || this.#closedAt === at - 1) return at;
    }
    return -1;
  }

  #nextQuote(from: number): number {
    if (this.#quote < from) this.#quote = indexOrEnd(this.#rest, '"', from);
    return this.#quote;
  }

  #nextLineFeed(from: number): number {
    if (this.#lineFeed < from) this.#lineFeed = indexOrEnd(this.#rest, "\n", from);
    return this.#lineFeed;
  }

  #record(line: string, rows: Bindings[]): void {
    const record = line.endsWith("\r") ? line.slice(0, -1) : line;
    this.#records += 1;
    if (this.head === undefined) {
      this.#variables = record === "" ? [] : variablesOf(this.#syntax.split(record)).map(this.#syntax.variable);
      this.head = { variables: this.#variables };
      return;
    }
    if (record === "" && this.#variables.length > 1) return;
    rows.push(this.#row(record));
  }

  #row(record: string): Bindings {
    const fields = record === "" && this.#variables.length === 0 ? [] : this.#syntax.split(record);
    if (fields.length !== this.#variables.length) {
      throw this.#broken(`has ${fields.length} instead of ${this.#variables.length} fields in record ${this.#records}`);
    }
    const row = new Map<string, RDF.Term>();
    for (const [index, field] of fields.entries()) {
      const term = this.#term(field);
      if (term !== undefined) row.set(this.#variables[index]!, term);
    }
    return row;
  }

  #term(field: string): RDF.Term | undefined {
    try {
      return this.#syntax.term(field);
    } catch (error) {
      throw this.#broken(`has no RDF term in record ${this.#records} (${error instanceof Error ? error.message : ""})`);
    }
  }

  #broken(what: string): Error {
    return malformed(`The endpoint's ${this.#syntax.name} answer ${what}.`);
  }
}

function indexOrEnd(text: string, wanted: string, from: number): number {
  const found = text.indexOf(wanted, from);
  return found < 0 ? text.length : found;
}
