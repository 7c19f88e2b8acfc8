import type { TermKind } from "./schema.ts";

/** A class or property that public sources name at an endpoint. */
export interface PublishedTerm {
  readonly iri: string;
  /** Published queries that name it; absent: none does, or nobody counted. */
  readonly uses?: number | undefined;
  /** Instances or triples, as the publisher says, of one release. */
  readonly count?: number | undefined;
}

/**
 * What public sources say of an endpoint, as of a date. It serves to find, to complete and to check; it is no list of what the
 * endpoint has, so it never leaves an endpoint out and never says that a term is missing.
 */
export interface PublishedFacts {
  /** ISO 8601 date. */
  readonly asOf: string;
  /** Where it is from, e.g. `owner/repository at commit`. */
  readonly sources: readonly string[];
  readonly terms: Readonly<Record<TermKind, ReadonlyMap<string, PublishedTerm>>>;
  /** Prefixes that the endpoint knows without a declaration, with their namespaces. */
  readonly prefixes: ReadonlyMap<string, string>;
  /** Namespaces of the data's own IRIs, with how many published queries use them. */
  readonly namespaces: ReadonlyMap<string, number>;
}
