import type { QueryTree } from "../parse/query.ts";
import { rdf } from "../../rdf/vocabularies.ts";
import { type PatternTerm, queryPatterns } from "./query-patterns.ts";

/** A class or property that a query's patterns name. */
export interface UsedTerm {
  readonly kind: "class" | "property";
  readonly iri: string;
}

/** The terms of the patterns that one endpoint is asked. */
interface UsedTerms {
  /** The IRI that SERVICE names; undefined for the patterns outside of every SERVICE. */
  readonly service: string | undefined;
  readonly terms: readonly UsedTerm[];
}

/**
 * The classes and properties that the patterns of a query name, by the endpoint that they are for; those of a SERVICE with a
 * variable are left out, and so are those in a template and in negated paths, which data need not have.
 */
export function usedTerms(query: QueryTree): readonly UsedTerms[] {
  const byService = Map.groupBy(queryPatterns(query, { services: true }), ({ service }) => service);
  return [...byService].map(([service, patterns]) => ({ service, terms: termsOf(patterns) }));
}

interface NamingPattern {
  readonly predicate: PatternTerm;
  readonly object: PatternTerm;
}

/** The classes and properties that some patterns name, each once. */
export function termsOf(patterns: readonly NamingPattern[]): readonly UsedTerm[] {
  const found = new Map<string, UsedTerm>();
  for (const { predicate, object } of patterns) {
    if (predicate.kind !== "iri") continue;
    if (predicate.iri !== rdf.type) found.set(`p ${predicate.iri}`, { kind: "property", iri: predicate.iri });
    else if (object.kind === "iri") found.set(`c ${object.iri}`, { kind: "class", iri: object.iri });
  }
  return [...found.values()];
}
