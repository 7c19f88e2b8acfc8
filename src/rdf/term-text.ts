import type * as RDF from "@rdfjs/types";
import { languageTypes, rdf, xsd } from "./vocabularies.ts";

/** Characters that no IRIREF may hold (Turtle 1.1, production 18). */
const notInIri = /[\p{Cc}\p{Cs} <>"{}|^`\\]/u;
const notInIriAll = new RegExp(notInIri.source, "gu");
/** Characters that are escaped in quoted literals; other control characters may stand as they are, but do not travel well. */
const notInLiteral = /["\\\p{Cc}\p{Cs}]/u;
const notInLiteralAll = new RegExp(notInLiteral.source, "gu");

/** Escapes of two characters. */
export const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\b", "\\b"],
  ["\f", "\\f"],
]);

/** `\uXXXX`; a lone surrogate, which no escape may name, becomes U+FFFD. */
function numericEscape(character: string): string {
  const code = character.charCodeAt(0);
  return code >= 0xd800 && code <= 0xdfff ? "\ufffd" : `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The escape of a character in N-Triples. */
export const escapeOf = (character: string): string => shortEscapes.get(character) ?? numericEscape(character);

/** An IRI in angle brackets. One with characters that IRIs may not have is escaped, and no parser takes it back. */
export const iriText = (iri: string): string =>
  `<${notInIri.test(iri) ? iri.replaceAll(notInIriAll, numericEscape) : iri}>`;

/** A text in quotation marks, on one line. */
export const stringText = (text: string): `"${string}"` =>
  notInLiteral.test(text) ? `"${text.replaceAll(notInLiteralAll, escapeOf)}"` : `"${text}"`;

/**
 * The language of a literal in lower case, as RDF 1.1 allows, with its base direction (RDF 1.2): `en`, `ar--rtl`; empty without a
 * language. Literals of the same text are one term if these and their datatypes are the same.
 */
export const tagOf = ({ language, direction }: RDF.Literal): string =>
  direction ? `${language.toLowerCase()}--${direction}` : language.toLowerCase();

/**
 * True if parsers of Turtle, N-Triples, TSV and SPARQL read a `tagOf` (their production LANG_DIR). It may still be no tag of a
 * language: data have "zh-classical" and "x-abcdefghij".
 */
export const isReadableTag = (tag: string): boolean => /^[a-z]+(?:-[a-z0-9]+)*(?:--(?:ltr|rtl))?$/i.test(tag);

/** A literal in N-Triples syntax. */
export function literalText(literal: RDF.Literal): string {
  const tag = tagOf(literal);
  if (tag !== "") return `${stringText(literal.value)}@${tag}`;
  const datatype = literal.datatype.value;
  return datatype === xsd.string ? stringText(literal.value) : `${stringText(literal.value)}^^${iriText(datatype)}`;
}

/** What is wrong with the IRIs of a term, with the beginning of the first that is none; undefined where they may be written. */
export function termFault(term: RDF.Term): string | undefined {
  if (term.termType === "NamedNode") return iriFault(term.value);
  if (term.termType === "Quad") return termFault(term.subject) ?? termFault(term.predicate) ?? termFault(term.object);
  if (term.termType !== "Literal") return undefined;
  const { language, datatype } = term;
  if (language !== "") return undefined;
  return languageTypes.has(datatype.value) ? "a language string has no language" : iriFault(datatype.value);
}

function iriFault(iri: string): string | undefined {
  if (notInIri.test(iri)) return `${shown(iri)} has characters that IRIs may not have`;
  return /^[a-z][a-z0-9+.-]*:/i.test(iri) ? undefined : `${shown(iri)} is not absolute`;
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 100));

// Beyond ASCII: `ucschar` of RFC 3987, section 2.2.
const other = String.raw`\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u{E000}-\u{F8FF}\u{FFF0}-\u{FFFF}\u{E0000}-\u{E0FFF}\u{F0000}-\u{10FFFF}`;
const escape = "%[0-9A-Fa-f]{2}";
const within = (delimiters: string): string => String.raw`(?:[^%\s<>"{}|^\x60\\\[\]${other}${delimiters}]|${escape})*`;
const authority = String.raw`(?:${within("/?#@")}@)?(?:\[[0-9A-Fa-f:.]+\]|${within("/?#@:")})(?::\d*)?(?=[/?#]|$)`;
const iri = new RegExp(
  String.raw`^[A-Za-z][A-Za-z0-9+.\-]*:(?:\/\/${authority}|(?!\/\/))${within("?#")}(?:\?${within("#")})?(?:#${within("#")})?$`,
  "u",
);

/** Well-formed by RFC 5646, section 2.1, as RDF 1.1 Concepts asks for; of the irregular tags those that begin with `i-`. */
const languageTag = new RegExp(
  "^(?:(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?" +
    "(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(?:-[0-9a-wyz](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?" +
    "|x(?:-[a-z0-9]{1,8})+|i-[a-z]{2,8})$",
  "i",
);

export const isLanguageTag = (text: string): boolean => languageTag.test(text);

/**
 * True if every parser accepts an IRI as it is written: absolute, and of RFC 3987, which strict engines demand of queries.
 */
export const isWritableIri = (text: string): boolean => iri.test(text);

/**
 * True if every parser of SPARQL 1.1 accepts a term as it is written. Endpoints return others: IRIs with spaces, relative
 * ones, tags that are none. Blank nodes have no name in another request.
 */
export function isWritable(term: RDF.Term): boolean {
  if (term.termType === "NamedNode") return isWritableIri(term.value);
  if (term.termType !== "Literal" || !term.value.isWellFormed()) return false;
  const { language, datatype, direction } = term;
  if (direction) return false;
  if (language !== "") return isLanguageTag(language);
  return datatype.value !== rdf.langString && isWritableIri(datatype.value);
}
