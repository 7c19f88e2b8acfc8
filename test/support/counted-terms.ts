import type * as RDF from "@rdfjs/types";
import type { PropertyTerms } from "../../src/registry/descriptions.ts";
import type { ReadTriple } from "../../src/registry/descriptions/compute/read-whole.ts";
import { termSpaceOf } from "../../src/selection/term-space.ts";

/** The terms of each property, as the description of a large endpoint counts them. */
export function countedTerms(triples: readonly ReadTriple[]): ReadonlyMap<string, PropertyTerms> {
  const byProperty = Map.groupBy(triples, ({ property }) => property);
  return new Map(
    [...byProperty].map(([property, own]) => [
      property,
      { subjects: countsOf(own.map(({ subject }) => subject)), objects: countsOf(own.map(({ object }) => object)) },
    ]),
  );
}

function countsOf(terms: readonly RDF.Term[]): PropertyTerms["subjects"] {
  const count = (type: RDF.Term["termType"]): number => terms.filter(({ termType }) => termType === type).length;
  return {
    iris: count("NamedNode"),
    blankNodes: count("BlankNode"),
    literals: count("Literal"),
    prefixes: termSpaceOf(terms).prefixes,
  };
}
