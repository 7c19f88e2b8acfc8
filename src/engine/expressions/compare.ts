import type * as RDF from "@rdfjs/types";
import { compareMoments } from "./date-times.ts";
import { compareDurations } from "./durations.ts";
import { ExpressionError } from "./expression-error.ts";
import { compareNumbers } from "./numbers.ts";
import { type Value, valueOf } from "./values.ts";

/**
 * Two texts by code point (XPath and XQuery Functions and Operators, section 7.3.1), whatever the server's locale. That is
 * not the order of JavaScript's `<`: surrogates stand for characters behind U+FFFF.
 */
export function compareTexts(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

const codePointRank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit);

/**
 * Whether two terms are equal (SPARQL 1.1 Query, sections 17.3 and 17.4.1.7). Values of different kinds, such as a number
 * and a string, are not.
 * @throws ExpressionError for literals of which one has a value that is not known
 */
export function equals(a: RDF.Term, b: RDF.Term): boolean {
  if (a.termType !== "Literal" || b.termType !== "Literal") return a.equals(b);
  const [left, right] = [valueOf(a), valueOf(b)];
  const order = compareValues(left, right);
  if (order !== undefined) return order === 0;
  if (a.equals(b)) return true;
  if (!isUnsure(left, right)) return false;
  throw new ExpressionError("Whether the literals are equal is not known.");
}

/** Whether two values without an order may be equal: one is not known, or only one of two moments has a time zone. */
function isUnsure(a: Value, b: Value): boolean {
  if (a.kind === "other" || b.kind === "other") return a.kind !== "tagged" && b.kind !== "tagged";
  return a.kind === "moment" && b.kind === "moment" && a.type === b.type;
}

/** The order of two literals; NaN is in none. @throws ExpressionError for terms without an order */
export function compare(a: RDF.Term, b: RDF.Term): number {
  const order =
    a.termType === "Literal" && b.termType === "Literal" ? compareValues(valueOf(a), valueOf(b)) : undefined;
  if (order === undefined) throw new ExpressionError("The terms have no order.");
  return order;
}

/** Undefined where the values have no order. */
function compareValues(a: Value, b: Value): number | undefined {
  if (a.kind === "moment" && b.kind === "moment" && a.type === b.type) return compareMoments(a.moment, b.moment);
  if (a.kind === "duration" && b.kind === "duration") return compareDurations(a.duration, b.duration);
  if (a.kind === "number" && b.kind === "number") return compareNumbers(a.number, b.number);
  if (a.kind === "boolean" && b.kind === "boolean") return Number(a.value) - Number(b.value);
  return compareStrings(a, b);
}

function compareStrings(a: Value, b: Value): number | undefined {
  if (a.kind === "string" && b.kind === "string") return compareTexts(a.text, b.text);
  const sameLanguage =
    a.kind === "tagged" && b.kind === "tagged" && a.language.toLowerCase() === b.language.toLowerCase();
  return sameLanguage ? compareTexts(a.text, b.text) : undefined;
}
