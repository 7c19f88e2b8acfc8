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
