import type { FactStatus } from "../descriptions/void-description.ts";

/** A count without the request that it came from. */
export interface KnownCount {
  readonly value: number;
  readonly status: FactStatus;
}

/** Counts of a property. Unknown ones are absent. */
export interface PropertyCounts {
  readonly triples?: KnownCount | undefined;
  readonly distinctSubjects?: KnownCount | undefined;
  readonly distinctObjects?: KnownCount | undefined;
}

/** A property, in the whole dataset or within a class. */
export interface KnownProperty extends PropertyCounts {
  readonly property: string;
  readonly objectClasses: readonly { readonly iri: string }[];
  readonly datatypes: readonly { readonly iri: string; readonly triples?: KnownCount | undefined }[];
  /** No object class or datatype is missing. */
  readonly objectsComplete: boolean;
}

/** A class. */
export interface KnownClass {
  readonly class: string;
  readonly entities?: KnownCount | undefined;
  readonly properties: readonly KnownProperty[];
  readonly propertiesComplete: boolean;
}

/** Links inside a dataset, or to that of another endpoint. */
export interface KnownLinkset {
  readonly property: string;
  readonly subjectClass?: string | undefined;
  readonly objectClass?: string | undefined;
  readonly targetEndpoint?: string | undefined;
  readonly triples?: KnownCount | undefined;
}

/** Classes, properties and links, most frequent first: a VoID description, or a model without its records. */
export interface KnownSchema {
  readonly classPartitions: readonly KnownClass[];
  readonly propertyPartitions: readonly KnownProperty[];
  readonly linksets: readonly KnownLinkset[];
}

export type TermKind = "class" | "property";

/** A class or property of one endpoint. */
export interface KnownTerm {
  readonly kind: TermKind;
  readonly iri: string;
  readonly label?: string | undefined;
  /** Instances or triples of the whole dataset. */
  readonly count?: KnownCount | undefined;
}
