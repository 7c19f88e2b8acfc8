import type * as RDF from "@rdfjs/types";
import { type AnswerHead, createUtf8Reader, malformed, type TupleDecoder, variablesOf } from "./decoder.ts";
import type { Bindings } from "./model.ts";
import { columnName, CsvScanner, splitCsv, splitTsv, unquoted } from "./scan-records.ts";
import { blankNodeFromLabel, literalFromParts, nodeFromIri, termFromText } from "./terms.ts";

/** Differences between CSV and TSV. */
interface RecordSyntax {
  readonly name: "CSV" | "TSV";
  /** Takes the next bytes; gives the index behind the last record that ends in them, 0 when none does. */
  readonly lastEnd: (bytes: Uint8Array) => number;
  /** The fields of each of some whole records, which end in line feeds (the carriage return before goes); quotes as written. */
  readonly split: (text: string) => readonly string[][];
  /** True if the text so far ends inside a quoted value. */
  readonly isQuoted?: () => boolean;
  /** The term of a field: undefined when unbound. @throws a plain `Error` that says what is wrong */
  readonly term: (field: string) => RDF.Term | undefined;
}

/** SPARQL 1.1 Query Results CSV; see `termFromCsv` for what is lost. */
export function createCsvDecoder(): TupleDecoder {
  const scanner = new CsvScanner();
  const lastEnd = (bytes: Uint8Array): number => {
    scanner.push(bytes);
    return scanner.lastEnd;
  };
  return new RecordDecoder({
    name: "CSV",
    lastEnd,
    isQuoted: () => scanner.isQuoted,
    split: splitCsv,
    term: termFromCsv,
  });
}

/** SPARQL 1.1 Query Results TSV. */
export const createTsvDecoder = (): TupleDecoder =>
  new RecordDecoder({
    name: "TSV",
    lastEnd: (bytes) => bytes.lastIndexOf(lineFeed) + 1,
    split: splitTsv,
    term: (field) => (field === "" ? undefined : termFromText(field)),
  });

const lineFeed = 0x0a;

/** A scanner finds where records end; those that are whole are read. */
class RecordDecoder implements TupleDecoder {
  head: AnswerHead | undefined;
  readonly #syntax: RecordSyntax;
  readonly #utf8;
  #variables: readonly string[] = [];
  /** The beginning of the record under way. */
  #rest = "";
  #records = 0;

  constructor(syntax: RecordSyntax) {
    this.#syntax = syntax;
    this.#utf8 = createUtf8Reader(syntax.name);
  }

  push(bytes: Uint8Array): readonly Bindings[] {
    const lastEnd = this.#syntax.lastEnd(bytes);
    const text = this.#rest + this.#utf8.read(bytes.subarray(0, lastEnd));
    const rest = this.#utf8.read(bytes.subarray(lastEnd));
    this.#rest = lastEnd === 0 ? text + rest : rest;
    return lastEnd === 0 ? [] : this.#read(text);
  }

  end(): readonly Bindings[] {
    const rest = this.#rest + this.#utf8.end();
    if (this.#syntax.isQuoted?.() === true) throw this.#broken("ends inside a quoted value");
    const rows = rest === "" ? [] : this.#read(`${rest}\n`);
    if (this.head === undefined) throw this.#broken("is empty: even its header line is missing");
    return rows;
  }

  #read(text: string): readonly Bindings[] {
    const rows: Bindings[] = [];
    for (const fields of this.#syntax.split(text)) {
      const isBlank = fields.length === 1 && fields[0] === "";
      this.#records += 1;
      if (this.head === undefined) {
        this.#variables = isBlank ? [] : variablesOf(fields).map(columnName);
        this.head = { variables: this.#variables };
      } else if (!isBlank || this.#variables.length < 2) {
        rows.push(this.#row(isBlank && this.#variables.length === 0 ? [] : fields));
      }
    }
    return rows;
  }

  #row(fields: readonly string[]): Bindings {
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
