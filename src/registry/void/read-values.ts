import type * as RDF from "@rdfjs/types";
import { isWritable } from "../compute/iri-text.ts";

/** A whole number without sign tricks, exponent or fraction, and within the numbers that JavaScript counts in. */
const wholeNumber = /^\+?0{0,20}(\d{1,15})$/u;
const languageTag = /^[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,8}$/iu;
const longestTitle = 300;
const longestText = 4000;

/** The number that a literal spells, whatever its datatype; undefined for anything but a whole number. */
export function wholeNumberOf(term: RDF.Term): number | undefined {
  if (term.termType !== "Literal" || term.value.length > 40) return undefined;
  const digits = wholeNumber.exec(term.value.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The one number that all readable values agree on; undefined when there is none, or when they contradict each other. */
export function agreedNumber(terms: readonly RDF.Term[]): number | undefined {
  const values = new Set(terms.map(wholeNumberOf).filter((value) => value !== undefined));
  const [first] = values;
  return values.size === 1 ? first : undefined;
}

/** The IRI of a term that may be written into queries and documents. */
export function iriOf(term: RDF.Term | undefined): string | undefined {
  return term?.termType === "NamedNode" && isWritable(term.value) ? term.value : undefined;
}

/** The same for a literal that holds an IRI, as careless publishers write endpoints and namespaces. */
export function iriTextOf(term: RDF.Term): string | undefined {
  if (term.termType === "Literal") return isWritable(term.value) ? term.value : undefined;
  return iriOf(term);
}

/** The only valid IRI among the terms; undefined when there are several or none. */
export function onlyIri(terms: readonly RDF.Term[]): string | undefined {
  const iris = new Set(terms.map(iriOf).filter((iri) => iri !== undefined));
  const [first] = iris;
  return iris.size === 1 ? first : undefined;
}

/** A language tag (BCP 47) in lower case. */
export function languageOf(term: RDF.Term): string | undefined {
  return term.termType === "Literal" && languageTag.test(term.value) ? term.value.toLowerCase() : undefined;
}

function plainText(terms: readonly RDF.Term[], most: number): string | undefined {
  const literals = terms.filter((term) => term.termType === "Literal");
  const english = literals.find(({ language }) => /^en(?:-|$)/iu.test(language));
  const untagged = literals.find(({ language }) => language === "");
  const text = (english ?? untagged ?? literals[0])?.value
    .slice(0, most * 2)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  return text === undefined || text === "" ? undefined : text.slice(0, most).toWellFormed();
}

/** A title on one line, English first; at most 300 characters. */
export const titleOf = (terms: readonly RDF.Term[]): string | undefined => plainText(terms, longestTitle);

/** A text without line breaks and control characters, English first; at most 4,000 characters. */
export const textOf = (terms: readonly RDF.Term[]): string | undefined => plainText(terms, longestText);
