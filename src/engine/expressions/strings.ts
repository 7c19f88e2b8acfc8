import type * as RDF from "@rdfjs/types";
import { isLanguageTag } from "../../rdf/term-text.ts";
import { ExpressionError, longestComputed, tooLong } from "./expression-error.ts";
import { numberOf, simpleText, string, tagged, textOf } from "./values.ts";
import { truncate } from "./decimal.ts";

/** Two string literals, the second simple or in the language and direction of the first (SPARQL 1.2 Query, argument compatibility). */
export function compatible(a: RDF.Term, b: RDF.Term) {
  const [first, second] = [textOf(a), textOf(b)];
  if (second.tag !== "" && second.tag !== first.tag) {
    throw new ExpressionError("The strings are in different languages or directions.");
  }
  return { ...first, sought: second.text };
}

/** `fn:substring` with whole numbers: the characters at the positions from `start`, of which the first is 1. */
export function substring(source: RDF.Term, from: RDF.Term, count?: RDF.Term): RDF.Literal {
  const { text, tag } = textOf(source);
  const start = position(from);
  const end = count === undefined ? Number.POSITIVE_INFINITY : start + position(count);
  const characters = Array.from(text);
  return tagged(characters.slice(Math.max(0, start - 1), Math.max(0, end - 1)).join(""), tag);
}

function position(term: RDF.Term): number {
  const number = numberOf(term);
  if (number.type !== "integer") throw new ExpressionError("A position in a string is an integer.");
  return Number(truncate(number.exact));
}

/** STRBEFORE; without a match the empty string without a language. */
export function before(a: RDF.Term, b: RDF.Term): RDF.Literal {
  const { text, tag, sought } = compatible(a, b);
  const at = text.indexOf(sought);
  return at < 0 ? string("") : tagged(text.slice(0, at), tag);
}

/** STRAFTER; without a match the empty string without a language. */
export function after(a: RDF.Term, b: RDF.Term): RDF.Literal {
  const { text, tag, sought } = compatible(a, b);
  const at = text.indexOf(sought);
  return at < 0 ? string("") : tagged(text.slice(at + sought.length), tag);
}

/** CONCAT: in the language and direction that all have; simple otherwise. */
export function concat(parts: readonly RDF.Term[]): RDF.Literal {
  const texts: string[] = [];
  const tags = new Set<string>();
  let length = 0;
  for (const part of parts) {
    const { text, tag } = textOf(part);
    length += text.length;
    if (length > longestComputed) throw tooLong();
    texts.push(text);
    tags.add(tag);
  }
  const [only = ""] = tags;
  return tagged(texts.join(""), tags.size === 1 ? only : "");
}

/** `fn:encode-for-uri`: all but the unreserved characters of RFC 3986. */
export const encodeForUri = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** LANGMATCHES: basic filtering (RFC 4647, section 3.3.1). */
export function languageMatches(a: RDF.Term, b: RDF.Term): boolean {
  const [tag, range] = [simpleText(a).toLowerCase(), simpleText(b).toLowerCase()];
  if (range === "*") return tag !== "";
  return tag === range || tag.startsWith(`${range}-`);
}

/** A language tag. @throws ExpressionError if invalid */
export function checkedTag(text: string): string {
  if (!isLanguageTag(text)) throw new ExpressionError("The text is no language tag.");
  return text;
}
