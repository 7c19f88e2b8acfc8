import type { PlannedEndpoint } from "./query-plan.ts";

/**
 * Reason for leaving a member out of a pattern: a fact that is complete, fresh and checked. A fact that is stale, partial or
 * contradicted is no certificate and excludes no member.
 */
export interface Certificate {
  /**
   * Where the fact comes from: a complete list of a description ("properties", "classes"), all triples of a member, which
   * were read ("triples"), the key of a shard set that the registry wrote ("partition"), or an existence query ("asked").
   * "unnamed" proves nothing: an incomplete description does not name the term, and the federation asks only who does.
   */
  readonly kind: "properties" | "classes" | "triples" | "partition" | "asked" | "unnamed";
  /** One sentence for the reader. */
  readonly because: string;
  /** ISO 8601: when the fact was seen, and until when it is relied upon; absent where nothing is certain. */
  readonly seenAt?: string | undefined;
  readonly until?: string | undefined;
}

/** A triple pattern as an existence query has it. */
export interface AskedPattern {
  /** `patternKey`. */
  readonly key: string;
  /** As SPARQL, without a dot. */
  readonly text: string;
}

/** Patterns without a match by facts about an endpoint. */
export interface Unmatched {
  readonly patterns: readonly AskedPattern[];
  /** Milliseconds since the epoch: when the oldest of the facts was seen. */
  readonly seenAt: number;
}

/** An endpoint that is not asked for some patterns because facts say that it has no match. */
export interface Exclusion extends Unmatched {
  readonly endpoint: PlannedEndpoint;
}

/** Parts that a plan leaves out by facts. Facts are as old as a description, so an answer must not rest on them alone. */
export interface Exclusions {
  readonly list: readonly Exclusion[];
  /**
   * True if the plan takes a part of the query for empty: an endpoint that a SERVICE names is not asked, or no member is asked
   * for some pattern. They are verified before the plan is executed.
   */
  readonly decisive: boolean;
}

/** Exclusions of several planning steps together: one for each endpoint. */
export function allExclusions(some: readonly (Exclusions | undefined)[]): Exclusions | undefined {
  const all = some.filter((one) => one !== undefined);
  if (all.length < 2) return all[0];
  const byUrl = new Map<string, Exclusion>();
  for (const exclusion of all.flatMap(({ list }) => list)) {
    const { endpoint, patterns, seenAt } = exclusion;
    const before = byUrl.get(endpoint.url);
    const joined = new Map([...(before?.patterns ?? []), ...patterns].map((pattern) => [pattern.key, pattern]));
    const oldest = Math.min(seenAt, before?.seenAt ?? seenAt);
    byUrl.set(endpoint.url, before ? { endpoint, patterns: [...joined.values()], seenAt: oldest } : exclusion);
  }
  return { list: [...byUrl.values()], decisive: all.some(({ decisive }) => decisive) };
}

/**
 * Terms that all engines compare, group and add up alike: IRIs, those of properties, which are few, plain strings, numbers of one
 * exact type. Of these, aggregates
 * may be computed where the data are.
 */
export type ValueKind = "property" | "iri" | "string" | "integer" | "decimal";

/**
 * The terms that may stand in one place of the triples that match a pattern at one member. Absent: any. A pattern's own
 * constants were held against all that is known when its sources were selected.
 */
export interface TermSpace {
  /** Every term there is one of these. */
  readonly kind?: ValueKind | undefined;
  /** Every IRI there begins with one of these. */
  readonly prefixes?: readonly string[] | undefined;
  /** There are no literals; no blank nodes. */
  readonly noLiterals?: true | undefined;
  readonly noBlankNodes?: true | undefined;
}

/** Lists of classes and properties: what one lacks, the endpoint has not. Absent: not certain. */
export interface TermFacts {
  readonly properties?: KnownList<Partial<Record<"subjects" | "objects", TermSpace | undefined>>> | undefined;
  readonly classes?: { has(iri: string): boolean } | undefined;
  /** Of the instances of each class, where all triples were read. */
  readonly instances?: ReadonlyMap<string, TermSpace> | undefined;
}

interface KnownList<T> {
  has(iri: string): boolean;
  get(iri: string): T | undefined;
}

/** Matches of one member for one pattern. */
export interface PatternSource {
  /** Index into `MergedMembers.members`. */
  readonly member: number;
  /**
   * Matching triples and how many different subjects and objects they have, where that is known; of a pattern with a constant
   * subject or object as many as there are on average.
   */
  readonly triples?: number | undefined;
  readonly distinctSubjects?: number | undefined;
  readonly distinctObjects?: number | undefined;
  readonly subjects?: TermSpace | undefined;
  readonly objects?: TermSpace | undefined;
}

/** The members that may have matches of a pattern, and why the others have none. */
export interface PatternSources {
  readonly sources: readonly PatternSource[];
  readonly excluded: readonly { readonly certificate: Certificate; readonly members: number }[];
}

/** Which members are asked for which patterns; unmentioned patterns are asked of all members. */
export interface SourceSelection {
  /** By `patternKey`. */
  readonly patterns: Readonly<Record<string, PatternSources>>;
  /**
   * Sets of members (indices) no two of which have a subject in common: all triples of a subject are in one of them, so a
   * star over one subject is answered within one member.
   */
  readonly disjointSubjects: readonly { readonly certificate: Certificate; readonly members: readonly number[] }[];
  /** Members of the federation that no pattern needs; they are not among `MergedMembers.members`. */
  readonly leftOut: number;
  /** Of how many members, of how many in all, facts are known; absent: not looked at. */
  readonly facts?: FactsKnown | undefined;
}

/** Members of which nothing is known are asked for every pattern. */
export interface FactsKnown {
  readonly known: number;
  readonly members: number;
}

/** Patterns that are about to be sent as one, and the members of which it is to be said whether they may have solutions. */
export interface HolderQuestion {
  readonly members: readonly { readonly id?: string | undefined; readonly url: string }[];
  /** Terms as N-Triples, variables as `?v0`, `?v1`, ...: existence queries have other names. */
  readonly patterns: readonly (readonly [subject: string, predicate: string, object: string])[];
  /** The variables that rows have values of, by column. */
  readonly variables: readonly string[];
  /** Join keys as N-Triples; empty: any term. Without keys there is one row without columns. */
  readonly rows: readonly (readonly string[])[];
}

/** For each member the indices of the rows that it may have solutions for; null: all. */
export type HeldRows = readonly (readonly number[] | null)[];

/**
 * Names a triple pattern in a `SourceSelection`: its terms as N-Triples, `?` for variables and blank nodes. A pattern whose
 * key is not known is looked up with `?` in place of its subject, then of its object too.
 * @param graph name of its graph in the same form; absent: the default graph
 */
export function patternKey(
  subject: string | undefined,
  predicate: string | undefined,
  object: string | undefined,
  graph?: string,
): string {
  const triple = `${subject ?? "?"} ${predicate ?? "?"} ${object ?? "?"}`;
  return graph === undefined ? triple : `${triple} GRAPH ${graph}`;
}

/** Subject, predicate and object of a triple pattern as N-Triples; absent: a variable. */
export interface KeyTerms {
  readonly subject?: string | undefined;
  readonly predicate?: string | undefined;
  readonly object?: string | undefined;
  /** `?` for a variable; absent: the default graph. */
  readonly graph?: string | undefined;
}

/** Sources of a pattern, or of the narrowest one that has its matches; undefined: any member may have some. */
export function patternSources(
  { patterns }: SourceSelection,
  { subject, predicate, object, graph }: KeyTerms,
): PatternSources | undefined {
  const keys = [
    patternKey(subject, predicate, object, graph),
    patternKey(undefined, predicate, object, graph),
    patternKey(undefined, predicate, undefined, graph),
  ];
  const key = keys.find((known) => Object.hasOwn(patterns, known));
  return key === undefined ? undefined : patterns[key];
}
