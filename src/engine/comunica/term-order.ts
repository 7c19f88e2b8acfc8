import type { ActorTermComparatorFactory, ITermComparator } from "@comunica/bus-term-comparator-factory";
import type * as RDF from "@rdfjs/types";

/** A term as it is compared many times: what can be computed beforehand is. */
export interface SortKey {
  readonly term: RDF.Term | undefined;
  readonly rank: number;
  /** What terms of this rank are compared by; undefined: by Comunica. */
  readonly value: number | string | undefined;
}

/** Compares two keys in the order of ORDER BY (SPARQL 1.1 Query, section 15.1); never throws. */
export type CompareKeys = (a: SortKey, b: SortKey) => number;

// Unbound, blank nodes, IRIs, literals. Numbers and strings come before other literals, so that no three literals of
// different datatypes go round in a circle.
const ranks = { unbound: 0, blank: 1, iri: 2, number: 3, string: 4, other: 5 } as const;

const xsd = "http://www.w3.org/2001/XMLSchema#";
const numeric: ReadonlySet<string> = new Set(
  "integer decimal double float long int short byte unsignedLong unsignedInt unsignedShort unsignedByte"
    .concat(" nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger")
    .split(" ")
    .map((name) => xsd + name),
);
// A number of more digits is left to Comunica.
const numberText = /^[+-]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][+-]?\d{1,10})?$/;

/** The key of a term; undefined is an unbound one. */
export function sortKey(term: RDF.Term | undefined): SortKey {
  switch (term?.termType) {
    case undefined:
      return { term, rank: ranks.unbound, value: 0 };
    case "BlankNode":
      return { term, rank: ranks.blank, value: term.value };
    case "NamedNode":
      return { term, rank: ranks.iri, value: term.value };
    case "Literal":
      return literalKey(term);
    default:
      return { term, rank: ranks.other, value: undefined };
  }
}

function literalKey(term: RDF.Literal): SortKey {
  const datatype = term.datatype.value;
  if (datatype === `${xsd}string`) return { term, rank: ranks.string, value: term.value };
  if (numeric.has(datatype) && numberText.test(term.value))
    return { term, rank: ranks.number, value: Number(term.value) };
  return { term, rank: ranks.other, value: undefined };
}

/** The comparison of keys by an execution's comparator. */
export function keyOrder(comparator: ITermComparator): CompareKeys {
  return (a, b) => {
    if (a.rank !== b.rank) return a.rank - b.rank;
    if (a.value === undefined || b.value === undefined) return comparator.orderTypes(a.term, b.term);
    if (a.value === b.value) return 0;
    return a.value < b.value ? -1 : 1;
  };
}

/** Comparators for MIN, MAX and ORDER BY that never throw: Comunica's do, for literals that are not what their datatype says. */
export function guardTermOrder(factory: ActorTermComparatorFactory): void {
  const run = factory.run.bind(factory);
  factory.run = async (action, sideData) => {
    const comparator = await run(action, sideData);
    const orderTypes = comparator.orderTypes.bind(comparator);
    const compare = keyOrder({ orderTypes: (a, b) => attempt(() => orderTypes(a, b)) ?? byText(a, b) });
    return Object.assign(comparator, {
      orderTypes: (a?: RDF.Term, b?: RDF.Term) => Math.sign(compare(sortKey(a), sortKey(b))) as -1 | 0 | 1,
    });
  };
}

function attempt<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}

function byText(a: RDF.Term | undefined, b: RDF.Term | undefined): -1 | 0 | 1 {
  const [left, right] = [a, b].map((term) => [
    term?.termType === "Literal" ? term.datatype.value : "",
    term?.value ?? "",
  ]);
  for (const at of [0, 1]) {
    const [one, other] = [left?.[at] ?? "", right?.[at] ?? ""];
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}
