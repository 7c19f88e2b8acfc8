import type * as RDF from "@rdfjs/types";
import { xsd } from "./vocabularies.ts";

/** Characters that no IRIREF may hold (Turtle 1.1, production 18). */
const notInIri = /[\p{Cc}\p{Cs} <>"{}|^`\\]/u;
const notInIriAll = new RegExp(notInIri.source, "gu");
/** Characters that are escaped in quoted literals; other control characters may stand as they are, but do not travel well. */
const notInLiteral = /["\\\p{Cc}\p{Cs}]/u;
const notInLiteralAll = new RegExp(notInLiteral.source, "gu");

const shortEscapes: ReadonlyMap<string, string> = new Map([
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

/** An IRI in angle brackets. One with characters that IRIs may not have is escaped, and no parser takes it back. */
export const iriText = (iri: string): string =>
  `<${notInIri.test(iri) ? iri.replaceAll(notInIriAll, numericEscape) : iri}>`;

/** A text in quotation marks, on one line. */
export const stringText = (text: string): `"${string}"` =>
  notInLiteral.test(text)
    ? `"${text.replaceAll(notInLiteralAll, (character) => shortEscapes.get(character) ?? numericEscape(character))}"`
    : `"${text}"`;

/** What follows the quotation marks of a literal with a language: tags are lower-cased, as RDF 1.1 allows. */
export function languageText(literal: RDF.Literal): string {
  const { direction } = literal;
  const suffix = direction === undefined || direction === null || direction === "" ? "" : `--${direction}`;
  return `@${literal.language.toLowerCase()}${suffix}`;
}

/** A literal in N-Triples syntax. */
export function literalText(literal: RDF.Literal): string {
  if (literal.language !== "") return `${stringText(literal.value)}${languageText(literal)}`;
  const datatype = literal.datatype.value;
  return datatype === xsd.string ? stringText(literal.value) : `${stringText(literal.value)}^^${iriText(datatype)}`;
}
