import type * as RDF from "@rdfjs/types";
import { compareTexts } from "./compare.ts";
import { utcSeconds } from "./date-times.ts";
import { roughSeconds } from "./durations.ts";
import { compareDecimals, type Decimal } from "./decimal.ts";
import { toNumber } from "./numbers.ts";
import { valueOf } from "./values.ts";

/** A term as it is compared many times in ORDER BY, MIN and MAX: what can be computed beforehand is. */
export interface SortKey {
  readonly rank: number;
  readonly value: number | string;
  /** Decides between equal values: exact numbers that are one double, and moments. */
  readonly exact?: Decimal | undefined;
  /** Decides at the end. */
  readonly text: string;
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
      return { rank: ranks.number, value: Number.isNaN(size) ? "" : size, exact, text: term.datatype.value + text };
    }
    case "string":
      return { rank: ranks.string, value: text, text: term.datatype.value };
    case "tagged":
      return { rank: ranks.string, value: text, text: `@${value.language.toLowerCase()}` };
    case "boolean":
      return { rank: ranks.boolean, value: Number(value.value), text };
    case "moment":
      return { rank: ranks.moment, value: value.type, exact: utcSeconds(value.moment), text };
    case "duration":
      return { rank: ranks.duration, value: 0, exact: roughSeconds(value.duration), text: term.datatype.value + text };
    default:
      return { rank: ranks.other, value: term.datatype.value, text };
  }
}

/** The order of ORDER BY, of all terms and total; never throws. */
export function compareKeys(a: SortKey, b: SortKey): number {
  return (
    a.rank - b.rank || compareSimple(a.value, b.value) || compareExact(a.exact, b.exact) || compareTexts(a.text, b.text)
  );
}

function compareSimple(a: number | string, b: number | string): number {
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  if (typeof a === "string") return -1;
  if (typeof b === "string") return 1;
  return a === b ? 0 : a < b ? -1 : 1;
}

function compareExact(a: Decimal | undefined, b: Decimal | undefined): number {
  if (a && b) return compareDecimals(a, b);
  return a ? 1 : b ? -1 : 0;
}
