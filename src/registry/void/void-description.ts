/**
 * How well a fact is known, best first: counted; summed from additive slices; at least this much;
 * seen by ASK; seen in a sample; told by the endpoint's own description and not contradicted by spot checks.
 */
export type FactStatus = "exact" | "lowerBound" | "exists" | "sampled" | "claimed";

/** A count; an unknown count is absent, never 0. */
export interface Count {
  readonly value: number;
  readonly status: FactStatus;
  /** Index into `VoidDescription.records`: the request this count came from. */
  readonly record: number;
}

/** One request of a description, the provenance of facts (PROV, DQV). */
export interface MeasurementRecord {
  /** Level of the strategy, 1 (all keys at once) to 6 (a sample); 0: retrieved with a description. Stored under this name. */
  readonly rung: 0 | 1 | 2 | 3 | 4 | 5 | 6;
  /** Query text; the document's URL for level 0. */
  readonly query: string;
  /** HTTP status; absent when no answer came. */
  readonly httpStatus?: number;
  readonly durationMs: number;
  /** ISO 8601. */
  readonly at: string;
  readonly outcome: "ok" | "partial" | "timeout" | "refused" | "failed";
}

/** Values that a property has, by class (`void:classPartition`, `void-ext:objectClassPartition`) or datatype. */
export interface ObjectPartition {
  /** IRI of the class or datatype. */
  readonly iri: string;
  readonly triples?: Count;
  readonly status: FactStatus;
  readonly record: number;
}

/** One property, in the whole dataset or within a class (`void:propertyPartition`). */
export interface PropertyPartition {
  readonly property: string;
  /** How it is known that the property occurs here. */
  readonly status: FactStatus;
  readonly record: number;
  readonly triples?: Count;
  readonly distinctSubjects?: Count;
  readonly distinctObjects?: Count;
  readonly objectClasses: readonly ObjectPartition[];
  readonly datatypes: readonly ObjectPartition[];
  /** Two independent ways agree that no object class or datatype is missing. */
  readonly objectsComplete: boolean;
}

/** One class (`void:classPartition`). */
export interface ClassPartition {
  readonly class: string;
  readonly status: FactStatus;
  readonly record: number;
  /** Distinct instances: `void:entities` and `void:distinctSubjects`. */
  readonly entities?: Count;
  readonly triples?: Count;
  readonly properties: readonly PropertyPartition[];
  /** Two independent ways agree that no property is missing. */
  readonly propertiesComplete: boolean;
}

/** One named graph. */
export interface NamedGraph {
  readonly graph: string;
  readonly status: FactStatus;
  readonly record: number;
  readonly triples?: Count;
}

/** Links from one dataset to another catalogue endpoint (`void:Linkset`), or between two classes. */
export interface Linkset {
  readonly property: string;
  readonly subjectClass?: string;
  readonly objectClass?: string;
  /** Catalogue id of the endpoint that describes the objects; absent for links inside the dataset. */
  readonly targetEndpoint?: string;
  /** IRI of the dataset there. */
  readonly targetDataset?: string;
  readonly triples?: Count;
  readonly status: FactStatus;
  readonly record: number;
}

/** Something that could not be found out, or that contradicts something else, and why. */
export interface UnknownFact {
  /** A few words, e.g. `triples`, `properties of <http://...>`. */
  readonly what: string;
  readonly why: "timeout" | "refused" | "budget" | "partial" | "failed" | "contradicted";
  /** Index into `records`; absent when nothing was sent. */
  readonly record?: number;
}

/** What is known of the data behind an endpoint (VoID); JSON-serialisable. Absent counts are unknown. */
export interface VoidDescription {
  /** Endpoint URL. */
  readonly endpoint: string;
  /** Catalogue id, where it has one. */
  readonly id?: string;
  /** IRI that names the dataset: the publisher's own, or `<publicUrl>/endpoints/<id>#dataset`. */
  readonly dataset: string;
  /** "retrieved": the publisher's; "computed": by our queries; "mixed": both. */
  readonly source: "retrieved" | "computed" | "mixed";
  /** URL the publisher's description came from. */
  readonly retrievedFrom?: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly finishedAt: string;
  /** Work is left (budget, time-outs, restart); the next run goes on from here. */
  readonly unfinished: boolean;
  readonly title?: string;
  readonly description?: string;
  readonly license?: string;
  /** How the data wants to be cited (`dcterms:bibliographicCitation`). */
  readonly citation?: string;
  /** IRI of what the data comes from (`dcterms:source`). */
  readonly origin?: string;
  readonly triples?: Count;
  /** Classes named by an IRI; those that are blank nodes are not counted. */
  readonly classes?: Count;
  readonly properties?: Count;
  readonly distinctSubjects?: Count;
  readonly distinctObjects?: Count;
  /** In descending order of `entities`, unknown last, then by IRI. */
  readonly classPartitions: readonly ClassPartition[];
  /** Two independent ways agree that no class is missing. */
  readonly classesComplete: boolean;
  /** Properties of the whole dataset, in descending order of `triples`, unknown last, then by IRI. */
  readonly propertyPartitions: readonly PropertyPartition[];
  readonly propertiesComplete: boolean;
  readonly languages: readonly string[];
  readonly namespaces: readonly string[];
  /** Named graphs that were described together instead of the endpoint's default graph, which holds more (Virtuoso's own). */
  readonly graphs?: readonly string[];
  /**
   * Set when the default graph is empty: everything here is said of the union of all named graphs, a triple that lies in
   * several of them counted once. `list` has at most 500 of them, in descending order of `triples`.
   */
  readonly namedGraphs?: { readonly list: readonly NamedGraph[]; readonly complete: boolean };
  readonly linksets: readonly Linkset[];
  readonly unknown: readonly UnknownFact[];
  readonly records: readonly MeasurementRecord[];
  /** Work done: requests sent, decoded bytes received, milliseconds. */
  readonly cost: { readonly requests: number; readonly bytes: number; readonly ms: number };
}

/** Code unit order. */
export const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Descending, unknown last. */
export const byCount = (one: Count | undefined, other: Count | undefined): number =>
  (other?.value ?? -1) - (one?.value ?? -1);
