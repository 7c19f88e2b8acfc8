import { SyntaxFault, type LineTerms, rewriting } from "./term-scanner.ts";
import { skolemLabel } from "./input.ts";

/**
 * One statement as a line of canonical N-Triples or N-Quads, in UTF-8: terms with one space between them, then ` .` and a
 * line feed. A reader gives the same object for each statement; the bytes are only there during the call.
 *
 * Canonical: no escapes but those of `"`, `\`, LF, CR, TAB, BS, FF and, as `\u00XX`, other control characters of ASCII;
 * language tags in lower case; no datatype `xsd:string`; blank nodes are skolem IRIs.
 */
export interface Statement {
  bytes: Buffer;
  /** Where the subject, and with it the line, begins. */
  start: number;
  /** The predicate begins one byte behind. */
  subjectEnd: number;
  /** The object begins one byte behind. */
  predicateEnd: number;
  objectEnd: number;
  /** Behind the line feed. */
  end: number;
}

/** Called for each statement; must not keep it. */
export type Visit = (statement: Statement) => void;

/** In a named graph: there is more behind the object than ` .` and a line feed. */
export const hasGraph = ({ objectEnd, end }: Statement): boolean => end - objectEnd > 3;

/** Escapes of canonical literals. */
const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\b", "\\b"],
  ["\f", "\\f"],
]);

const escaped = (character: string): string =>
  escapes.get(character) ?? `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

const notRaw = /["\\[\p{ASCII}&&\p{Cc}]]/gv;

/** A text in quotation marks, canonical. */
export const canonicalString = (text: string): string => `"${text.replaceAll(notRaw, escaped)}"`;

/** An absolute IRI that angle brackets may hold. */
export const absoluteIri = /^[A-Za-z][A-Za-z0-9+.\-]*:[^\p{Cs} <>"\{\}\|^`\\[[\p{ASCII}&&\p{Cc}]--[\x7f]]]*$/v;

const xsdString = "http://www.w3.org/2001/XMLSchema#string";

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["t", "\t"],
  ["b", "\b"],
  ["n", "\n"],
  ["r", "\r"],
  ["f", "\f"],
  ['"', '"'],
  ["'", "'"],
  ["\\", "\\"],
]);

/** Writes statements that are not canonical where they lie. */
export class TermWriter {
  readonly #skolemBase: string;
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  constructor(skolemBase: string) {
    this.#skolemBase = skolemBase;
  }

  /**
   * Writes the terms of `bytes` as one canonical line into `statement`, which it overwrites.
   * @throws SyntaxFault for escapes that stand for nothing
   */
  write(bytes: Buffer, terms: LineTerms, statement: Statement): void {
    this.#length = 0;
    const ends: [number, number, number, number] = [0, 0, 0, 0];
    for (let index = 0; index < terms.count; index += 1) {
      this.#term(bytes, terms, index);
      ends[index] = this.#length;
      this.#text(" ");
    }
    this.#text(".\n");
    statement.bytes = this.#bytes;
    statement.start = 0;
    [statement.subjectEnd, statement.predicateEnd, statement.objectEnd] = ends;
    statement.end = this.#length;
  }

  #term(bytes: Buffer, terms: LineTerms, index: number): void {
    const start = terms.starts[index]!;
    const end = terms.ends[index]!;
    const how = terms.rewritings[index]!;
    if (how === rewriting.asIs) this.#copy(bytes, start, end);
    else if (how === rewriting.iri) this.#text(plainIri(bytes.toString("utf8", start + 1, end - 1)));
    else if (how === rewriting.blank) {
      this.#text(`<${this.#skolemBase}${skolemLabel(bytes.toString("utf8", start + 2, end))}>`);
    } else {
      const value = unescaped(bytes.toString("utf8", start + 1, terms.quoteEnd - 1));
      this.#text(canonicalString(value) + suffix(bytes.toString("utf8", terms.quoteEnd, end)));
    }
  }

  #copy(bytes: Buffer, start: number, end: number): void {
    this.#reserve(end - start);
    this.#length += bytes.copy(this.#bytes, this.#length, start, end);
  }

  #text(text: string): void {
    this.#reserve(text.length < 1024 ? text.length * 3 : Buffer.byteLength(text));
    this.#length += this.#bytes.write(text, this.#length, "utf8");
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + bytes));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** What stands behind the quotation marks. */
function suffix(text: string): string {
  const trimmed = text.trimStart();
  if (!trimmed.startsWith("^^")) return trimmed.toLowerCase();
  const datatype = plainIri(trimmed.slice(2).trimStart().slice(1, -1));
  return datatype === `<${xsdString}>` ? "" : `^^${datatype}`;
}

function plainIri(text: string): string {
  const iri = text.replaceAll(/\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.?)/gsu, (escape) => {
    if (escape.length <= 2) throw new SyntaxFault("an IRI has an unknown escape");
    return codePoint(escape);
  });
  if (!absoluteIri.test(iri)) throw new SyntaxFault("an IRI is not absolute or has characters that IRIs may not have");
  return `<${iri}>`;
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.?)/gsu, (escape) => {
    const plain = shortEscapes.get(escape.slice(1));
    if (plain !== undefined) return plain;
    if (escape.length <= 2) throw new SyntaxFault("a literal has an unknown escape");
    return codePoint(escape);
  });

/** The character of `\uXXXX` or `\UXXXXXXXX`. */
function codePoint(escape: string): string {
  const code = Number.parseInt(escape.slice(2), 16);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    throw new SyntaxFault(`the escape ${escape} stands for no character`);
  }
  return String.fromCodePoint(code);
}
