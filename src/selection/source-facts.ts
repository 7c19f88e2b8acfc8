import type { TermSpace } from "../plan/source-selection.ts";
import type { VoidDescription } from "../registry/void/void-description.ts";
import type { TripleCopy } from "./triple-copy.ts";

/** The terms of some triples, where they were read. */
export interface TripleTerms {
  readonly subjects: TermSpace;
  readonly objects: TermSpace;
}

/** What one endpoint has of one property. */
export interface PropertyFacts extends Partial<TripleTerms> {
  readonly triples: number;
  readonly distinctSubjects?: number | undefined;
  readonly distinctObjects?: number | undefined;
}

/**
 * What is certain of the default graph of one endpoint. A list is there only when it is complete and its counts are exact:
 * what it lacks, the endpoint has not.
 */
export interface SourceFacts {
  /** URL that the facts are about. */
  readonly url: string;
  /** Milliseconds since the epoch: when the first of the facts was seen, and until when they are relied upon. */
  readonly seenAt: number;
  readonly until: number;
  /** By IRI; `rdf:type` is one of them. */
  readonly properties?: ReadonlyMap<string, PropertyFacts> | undefined;
  /** Instances by IRI of the class. */
  readonly classes?: ReadonlyMap<string, number> | undefined;
  /** No two endpoints with the same one have a subject in common: shards that this registry placed so. */
  readonly partition?: string | undefined;
  /** Of all triples. */
  readonly all?: TripleTerms | undefined;
  /** All triples, where they were read. */
  readonly copy?: TripleCopy | undefined;
}

/**
 * The facts of a description, as far as they are certain: it is finished, of the default graph, not contradicted, and younger
 * than `maxAgeMs`, counted from when work on it began. Lists as in the planner's view: complete, and all of their counts exact.
 * @returns undefined when nothing is certain
 */
export function factsOf(description: VoidDescription, maxAgeMs: number): SourceFacts | undefined {
  const { graphs, namedGraphs, unfinished, startedAt, endpoint } = description;
  if (unfinished || graphs !== undefined || namedGraphs !== undefined || isContradicted(description)) return undefined;
  const properties = propertiesOf(description);
  const classes = classesOf(description);
  if (properties === undefined && classes === undefined) return undefined;
  const seenAt = Date.parse(startedAt);
  return { url: endpoint, seenAt, until: seenAt + maxAgeMs, properties, classes };
}

/**
 * Answers of the endpoint contradicted each other, or the data changed between them: each triple has one property, so exact
 * counts of all properties add up to the total. What its publisher claims may be wrong; that is no fact anyway.
 */
function isContradicted({ unknown, triples: all, propertiesComplete, propertyPartitions }: VoidDescription): boolean {
  if (unknown.some(({ why, what }) => why === "contradicted" && !what.endsWith(" of the publisher's description"))) {
    return true;
  }
  if (!propertiesComplete || all?.status !== "exact") return false;
  if (propertyPartitions.some(({ triples }) => triples?.status !== "exact")) return false;
  return propertyPartitions.reduce((sum, { triples }) => sum + (triples?.value ?? 0), 0) !== all.value;
}

function propertiesOf(description: VoidDescription): SourceFacts["properties"] {
  const { propertiesComplete, propertyPartitions } = description;
  if (!propertiesComplete) return undefined;
  const found = new Map<string, PropertyFacts>();
  for (const { property, triples, distinctSubjects, distinctObjects } of propertyPartitions) {
    if (triples?.status !== "exact") return undefined;
    found.set(property, {
      triples: triples.value,
      distinctSubjects: exactly(distinctSubjects),
      distinctObjects: exactly(distinctObjects),
    });
  }
  return found;
}

function classesOf({ classesComplete, classPartitions }: VoidDescription): SourceFacts["classes"] {
  if (!classesComplete || classPartitions.some(({ entities }) => entities?.status !== "exact")) return undefined;
  return new Map(classPartitions.map((partition) => [partition.class, partition.entities?.value ?? 0]));
}

const exactly = (count: { readonly status: string; readonly value: number } | undefined): number | undefined =>
  count?.status === "exact" ? count.value : undefined;
