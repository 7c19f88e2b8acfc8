import type * as RDF from "@rdfjs/types";
import { xsd } from "./vocabularies.ts";

/** Characters that no IRIREF may hold (Turtle 1.1, production 18). */
const notInIri = /[\p{Cc}\p{Cs} <>"{}|^`\\]/gu;
/** What has to be, or had better be, escaped between quotation marks. */
const notInLiteral = /["\\\p{Cc}\p{Cs}]/gu;

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
function escaped(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  return shortEscapes.get(character) ?? `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** An IRI in angle brackets. One with characters that IRIs may not have is escaped, and no parser takes it back. */
export const iriText = (iri: string): string => `<${iri.replaceAll(notInIri, escaped)}>`;

/** A text in quotation marks, on one line. */
export const stringText = (text: string): string => `"${text.replaceAll(notInLiteral, escaped)}"`;

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
