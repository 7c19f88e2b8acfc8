import { escapeOf } from "../../../src/rdf/term-text.ts";

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

/** The statement of canonical terms: subject, predicate, object and, with one, graph. */
export function statementOf(terms: readonly string[]): Statement {
  const bytes = Buffer.from(`${terms.join(" ")} .\n`);
  const [subject = 0, predicate = 0, object = 0] = terms.map((term) => Buffer.byteLength(term));
  const predicateEnd = subject + 1 + predicate;
  return {
    bytes,
    start: 0,
    subjectEnd: subject,
    predicateEnd,
    objectEnd: predicateEnd + 1 + object,
    end: bytes.length,
  };
}

const notRaw = /["\\[\p{ASCII}&&\p{Cc}]]/gv;

/** A text in quotation marks, canonical. */
export const canonicalString = (text: string): string => `"${text.replaceAll(notRaw, escapeOf)}"`;

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/u;
const notInIri = /[\p{Cs} <>"\{\}\|^`\\[[\p{ASCII}&&\p{Cc}]--[\x7f]]]/v;

/** Absolute, and without a character that angle brackets may not hold. */
export const isAbsoluteIri = (text: string): boolean => scheme.test(text) && !notInIri.test(text);
