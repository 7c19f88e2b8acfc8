import { setImmediate as otherWork } from "node:timers/promises";
import type { PatternTerm } from "../../sparql/path-steps.ts";
import { parseQuery } from "../../sparql/parse-query.ts";
import { type PlacedPattern, queryPatterns } from "../../sparql/query-patterns.ts";
import type { QueryFeatures, ShardQuery } from "../problem.ts";
import type { Reading } from "../rule.ts";
import type { Ontology } from "./ontology.ts";
import { distinctPatterns, placementPattern } from "./placement-pattern.ts";

/** A query whose patterns have been read, so that its features in several readings cost one parse. */
export interface ReadQuery {
  readonly query: ShardQuery;
  readonly patterns: readonly PlacedPattern[];
}

/** What of a reading decides about features. */
export type FeatureReading = Pick<Reading, "infer" | "exists">;

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** Reads the patterns of queries; other work of the process goes on in between. @throws FedwayError as `readQuery` */
export async function readQueries(queries: readonly ShardQuery[]): Promise<readonly ReadQuery[]> {
  const read: ReadQuery[] = [];
  for (const [index, query] of queries.entries()) {
    if (index % queriesAtATime === 0) await otherWork();
    read.push(readQuery(query));
  }
  return read;
}

const queriesAtATime = 20;

/** Reads the patterns of a query. @throws FedwayError as `parseQuery`; `loadQueries` has left such texts out */
export function readQuery(query: ShardQuery): ReadQuery {
  return { query, patterns: queryPatterns(parseQuery(query.text)) };
}

/**
 * P(q), C(q) and S(q) in a reading (Dobriy et al., section 4). Property paths count by their steps, blank nodes as
 * variables; without an ontology `infer` adds no class.
 */
export function featuresOf(
  { query, patterns }: ReadQuery,
  reading: FeatureReading,
  ontology?: Ontology,
): QueryFeatures {
  const predicates = new Set<string>();
  const classes = new Set<string>();
  const subjects = new Set<string>();
  for (const pattern of patterns) {
    if (pattern.inExists && !reading.exists) continue;
    const predicate = iriOf(pattern.predicate);
    if (pattern.subject.kind === "variable") subjects.add(pattern.subject.name);
    if (predicate === undefined) continue;
    predicates.add(predicate);
    const named = predicate === rdfType ? iriOf(pattern.object) : undefined;
    if (named !== undefined) classes.add(named);
    if (reading.infer) for (const inferred of ontology?.classesOf.get(predicate) ?? []) classes.add(inferred);
  }
  return {
    query,
    predicates: [...predicates].toSorted(),
    classes: [...classes].toSorted(),
    subjectVariables: subjects.size,
    patterns: distinctPatterns(patterns.map(placementPattern)),
  };
}

const iriOf = (term: PatternTerm): string | undefined => (term.kind === "iri" ? term.iri : undefined);
