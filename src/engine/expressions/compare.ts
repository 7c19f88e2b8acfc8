import type * as RDF from "@rdfjs/types";
import { compareMoments, utcSeconds } from "./date-times.ts";
import { compareDurations, durationToText, roughSeconds } from "./durations.ts";
import { ExpressionError } from "./expression-error.ts";
import { compareNumbers, toNumber } from "./numbers.ts";
import { type Value, valueOf } from "./values.ts";
import { compareDecimals, type Decimal, decimalOfNumber } from "./decimal.ts";

/**
 * Two texts by code point (XPath and XQuery Functions and Operators, section 7.3.1), whatever the server's locale. That is
 * not the order of JavaScript's `<`: surrogates stand for characters behind U+FFFF.
 */
function compareTexts(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

const codePointRank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit);

/**
 * True if two terms are equal (SPARQL 1.1 Query, sections 17.3 and 17.4.1.7). Values of different kinds, such as a number
 * and a string, are not. Triple terms are when their parts are (SPARQL 1.2 Query).
 * @throws ExpressionError for literals of which one has a value that is not known
 */
export function equals(a: RDF.Term, b: RDF.Term): boolean {
  if (a.termType === "Quad" && b.termType === "Quad") {
    return equals(a.subject, b.subject) && equals(a.predicate, b.predicate) && equals(a.object, b.object);
  }
  if (a.termType !== "Literal" || b.termType !== "Literal") return a.equals(b);
  const [left, right] = [valueOf(a), valueOf(b)];
  const order = compareValues(left, right);
  if (order !== undefined) return order === 0;
  if (a.equals(b)) return true;
  if (!isUnsure(left, right)) return false;
  throw new ExpressionError("Whether the literals are equal is not known.");
}

/** True if two values without an order may be equal: one is not known, or only one of two moments has a time zone. */
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
  const isSameTag = a.kind === "tagged" && b.kind === "tagged" && a.tag === b.tag;
  return isSameTag ? compareTexts(a.text, b.text) : undefined;
}

/** A term as it is compared many times in ORDER BY, MIN and MAX: with its parts computed beforehand. */
export interface SortKey {
  readonly rank: number;
  readonly value: number | string;
  /** Decides between exact numbers that are one double, and between moments. */
  readonly exact?: Decimal | undefined;
  /** Decides between terms whose values have no order. */
  readonly text: string;
  /** Of a term that may equal another one in value: decides where one of them is to be taken. */
  readonly spelling?: string;
}

// Unbound, blank nodes, IRIs, literals (SPARQL 1.1 Query, section 15.1). Each kind of literal has a rank, so that no three
// literals go round in a circle.
const ranks = {
  unbound: 0,
  blank: 1,
  iri: 2,
  number: 3,
  string: 4,
  boolean: 5,
  moment: 6,
  duration: 7,
  other: 8,
} as const;

/** The key of a term; undefined is an unbound one. */
export function sortKey(term: RDF.Term | undefined): SortKey {
  switch (term?.termType) {
    case undefined:
      return { rank: ranks.unbound, value: 0, text: "" };
    case "BlankNode":
      return { rank: ranks.blank, value: term.value, text: "" };
    case "NamedNode":
      return { rank: ranks.iri, value: term.value, text: "" };
    case "Literal":
      return literalKey(term);
    default:
      return { rank: ranks.other, value: "", text: "" };
  }
}

function literalKey(term: RDF.Literal): SortKey {
  const value = valueOf(term);
  const { value: text } = term;
  switch (value.kind) {
    case "number": {
      const { number } = value;
      const size = toNumber(number);
      const exact = "exact" in number ? number.exact : undefined;
      // NaN comes before all numbers.
      return {
        rank: ranks.number,
        value: Number.isNaN(size) ? "" : size,
        exact,
        text: "",
        spelling: term.datatype.value + text,
      };
    }
    case "string":
      return { rank: ranks.string, value: text, text: term.datatype.value };
    case "tagged":
      return { rank: ranks.string, value: value.text, text: `@${value.tag}` };
    case "boolean":
      return { rank: ranks.boolean, value: Number(value.value), text: "", spelling: text };
    case "moment":
      return { rank: ranks.moment, value: value.type, exact: utcSeconds(value.moment), text: "", spelling: text };
    case "duration":
      return {
        rank: ranks.duration,
        value: 0,
        exact: roughSeconds(value.duration),
        text: durationToText(value.duration, "duration"),
        spelling: term.datatype.value + text,
      };
    default:
      return { rank: ranks.other, value: term.datatype.value, text };
  }
}

/** The order of ORDER BY, of all terms: 0 for those of one value, between which the next key decides; never throws. */
export function compareKeys(a: SortKey, b: SortKey): number {
  return a.rank - b.rank || compareSimple(a.value, b.value) || compareExact(a, b) || compareTexts(a.text, b.text);
}

/** The same, and between terms of one value by how they are spelled: the least of several is one, whichever comes first. */
export const compareSpelledKeys = (a: SortKey, b: SortKey): number =>
  compareKeys(a, b) || compareTexts(a.spelling ?? a.text, b.spelling ?? b.text);

function compareSimple(a: number | string, b: number | string): number {
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  if (typeof a === "string") return -1;
  if (typeof b === "string") return 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** A double counts as the shortest decimal that is written so: it equals one of the exact numbers that are this double, not all. */
function compareExact(a: SortKey, b: SortKey): number {
  if (!a.exact && !b.exact) return 0;
  const exactOf = ({ exact, value }: SortKey): Decimal => exact ?? decimalOfNumber(Number(value));
  return compareDecimals(exactOf(a), exactOf(b));
}
