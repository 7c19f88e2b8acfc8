import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";

const longestIri = 2048;
const longestText = 8192;
const longestQuery = 1_000_000;
const mostPartitions = 200_000;
const mostNames = 10_000;
const mostRecords = 100_000;

/** A non-empty text of at most `most` UTF-16 code units. */
export const text = (most: number) =>
  Type.Refine(
    Type.String(),
    (value) => value !== "" && value.length <= most,
    () => `must have 1 to ${most} characters`,
  );

/** A finite number from 0 on. */
export const quantity = Type.Number({ minimum: 0 });

/** An ISO 8601 moment. */
export const instant = Type.Refine(
  Type.String(),
  (value) => value.length <= 40 && !Number.isNaN(Date.parse(value)),
  () => "must be a moment",
);

/** An object with these members and no others. */
export const exactly = <Members extends Record<string, TSchema>>(members: Members) =>
  Type.Object(members, { additionalProperties: false });

const list = <Item extends TSchema>(item: Item, maxItems: number) => Type.Array(item, { maxItems });

const iri = text(longestIri);
const optionalText = Type.Optional(text(longestText));

/** The status of a fact, and the index into `records` of the request that it came from. */
const known = {
  status: Type.Enum(["exact", "lowerBound", "exists", "sampled", "claimed"]),
  record: Type.Integer({ minimum: 0 }),
};

const countSchema = exactly({ value: quantity, ...known });
const count = Type.Optional(countSchema);

const objectSchema = exactly({ /** IRI of the class or datatype. */ iri, ...known, triples: count });
const objects = list(objectSchema, mostPartitions);

const propertySchema = exactly({
  property: iri,
  /** How it is known that the property occurs here. */
  ...known,
  triples: count,
  distinctSubjects: count,
  distinctObjects: count,
  objectClasses: objects,
  datatypes: objects,
  /** Two independent ways agree that no object class or datatype is missing. */
  objectsComplete: Type.Boolean(),
});
const properties = list(propertySchema, mostPartitions);

const classSchema = exactly({
  class: iri,
  ...known,
  /** Distinct instances: `void:entities` and `void:distinctSubjects`. */
  entities: count,
  triples: count,
  properties,
  /** Two independent ways agree that no property is missing. */
  propertiesComplete: Type.Boolean(),
});

const graphSchema = exactly({ graph: iri, ...known, triples: count });

const graphsSchema = exactly({ list: list(graphSchema, mostNames), complete: Type.Boolean() });

const linksetSchema = exactly({
  property: iri,
  subjectClass: Type.Optional(iri),
  objectClass: Type.Optional(iri),
  /** Catalogue id of the endpoint that describes the objects; absent for links inside the dataset. */
  targetEndpoint: Type.Optional(text(64)),
  /** IRI of the dataset there, or of the one that a publisher names. */
  targetDataset: Type.Optional(iri),
  triples: count,
  ...known,
});

const termSchema = exactly({
  /** IRI of a class or property of the dataset. */
  iri,
  /** On one line, English where there are several. */
  label: Type.Optional(text(300)),
  description: Type.Optional(text(1_000)),
  ...known,
});

const iris = list(iri, mostNames);

const builtSchema = exactly({
  properties: list(exactly({ property: iri, subjectClasses: iris, objectClasses: iris }), mostNames),
  parts: list(
    exactly({
      class: iri,
      /** How many there are, this one included. */
      parts: Type.Integer({ minimum: 2 }),
      /** Catalogue ids of the endpoints with the others, and the properties of the class there. */
      siblings: list(exactly({ endpoint: text(64), properties: iris }), mostNames),
    }),
    mostNames,
  ),
});

const unknownSchema = exactly({
  /** A few words, e.g. `triples`, `properties of <http://...>`. */
  what: text(longestText),
  why: Type.Enum(["timeout", "refused", "budget", "partial", "failed", "contradicted"]),
  /** Absent when nothing was sent. */
  record: Type.Optional(known.record),
});

const recordSchema = exactly({
  /** 0: retrieved with a description; 1 to 3: level of the strategy; 5: ASK; 6: search for links; 4 in older ones. */
  rung: Type.Enum([0, 1, 2, 3, 4, 5, 6]),
  /** Query text; the document's URL for level 0. */
  query: text(longestQuery),
  /** Absent when no answer came. */
  httpStatus: Type.Optional(quantity),
  durationMs: quantity,
  at: instant,
  outcome: Type.Enum(["ok", "partial", "timeout", "refused", "failed"]),
});

const descriptionSchema = exactly({
  /** URL. */
  endpoint: iri,
  /** Catalogue id, where it has one. */
  id: Type.Optional(text(64)),
  /** IRI that names the dataset: the publisher's own, or `<publicUrl>/endpoints/<id>#dataset`. */
  dataset: iri,
  /** "retrieved": the publisher's; "computed": by our queries; "mixed": both. */
  source: Type.Enum(["retrieved", "computed", "mixed"]),
  /** URL the publisher's description came from. */
  retrievedFrom: Type.Optional(iri),
  startedAt: instant,
  finishedAt: instant,
  /** Checksum of the data that all of this was found in, where this service hosts them and they cannot change. */
  build: optionalText,
  /** Work is left (budget, time-outs, restart); the next run goes on from here. */
  unfinished: Type.Boolean(),
  title: optionalText,
  description: optionalText,
  license: Type.Optional(iri),
  /** How the data wants to be cited (`dcterms:bibliographicCitation`). */
  citation: optionalText,
  /** IRI of what the data comes from (`dcterms:source`). */
  origin: Type.Optional(iri),
  triples: count,
  /** The publisher's count of the things its data are about (`void:entities`). */
  entities: count,
  /** Classes named by an IRI; those that are blank nodes are not counted. */
  classes: count,
  properties: count,
  distinctSubjects: count,
  distinctObjects: count,
  /** In descending order of `entities`, unknown last, then by IRI. */
  classPartitions: list(classSchema, mostPartitions),
  /** Two independent ways agree that no class is missing. */
  classesComplete: Type.Boolean(),
  /** Partitions of the whole dataset, in descending order of `triples`, unknown last, then by IRI. */
  propertyPartitions: properties,
  propertiesComplete: Type.Boolean(),
  languages: list(text(80), mostNames),
  namespaces: list(iri, mostNames),
  /** Where the publisher offers the data as files (`void:dataDump`), and the vocabularies that it names (`void:vocabulary`). */
  dumps: Type.Optional(list(iri, mostNames)),
  vocabularies: Type.Optional(list(iri, mostNames)),
  /** Named graphs that were described together instead of the endpoint's default graph, which holds more (Virtuoso's own). */
  graphs: Type.Optional(list(iri, mostNames)),
  /**
   * Set when the default graph is empty: everything here is said of the union of all named graphs, a triple that lies in
   * several of them counted once. `list` has at most 500 of them, in descending order of `triples`.
   */
  namedGraphs: Type.Optional(graphsSchema),
  /** The same graphs where the default graph has data, which is what everything here is said of. */
  graphsBeside: Type.Optional(graphsSchema),
  linksets: list(linksetSchema, mostPartitions),
  /** The endpoint's own names of its classes and properties, in the order of IRIs; those without a name are left out. */
  terms: Type.Optional(list(termSchema, mostPartitions)),
  /**
   * Statements of a shard's builder about the whole dataset. For readers only: they were not found by asking
   * this endpoint, and never decide who is asked.
   */
  built: Type.Optional(builtSchema),
  unknown: list(unknownSchema, mostPartitions),
  records: list(recordSchema, mostRecords),
  /** Work done: requests sent, decoded bytes received, milliseconds. */
  cost: exactly({ requests: quantity, bytes: quantity, ms: quantity }),
});

/** Read-only throughout; optional fields may also be undefined. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> | (object extends Pick<T, Name> ? undefined : never) }
    : T;

/** Description of the data behind an endpoint (VoID); JSON-serialisable. */
export type VoidDescription = Frozen<Static<typeof descriptionSchema>>;

/** A count; an unknown count is absent, never 0. */
export type Count = Frozen<Static<typeof countSchema>>;

/**
 * How well a fact is known, best first: counted; summed from additive slices; at least this much;
 * seen by ASK; seen in a sample; stated by the endpoint's own description and not contradicted by spot checks.
 */
export type FactStatus = Count["status"];

/** Values that a property has, by class (`void:classPartition`, `void-ext:objectClassPartition`) or datatype. */
export type ObjectPartition = Frozen<Static<typeof objectSchema>>;

/** One property, in the whole dataset or within a class (`void:propertyPartition`). */
export type PropertyPartition = Frozen<Static<typeof propertySchema>>;

/** One class (`void:classPartition`). */
export type ClassPartition = Frozen<Static<typeof classSchema>>;

/** Links from one dataset to another catalogue endpoint (`void:Linkset`), or between two classes. */
export type Linkset = Frozen<Static<typeof linksetSchema>>;

/** Label and description of a class or property. */
export type TermText = Frozen<Static<typeof termSchema>>;

/** Classes at the ends of a shard's properties, and the classes that it has a part of. */
export type BuiltFacts = Frozen<Static<typeof builtSchema>>;

/** Something that could not be found out, or that contradicts something else, and why. */
export type UnknownFact = Frozen<Static<typeof unknownSchema>>;

/** One request of a description, the provenance of facts (PROV, DQV). */
export type MeasurementRecord = Frozen<Static<typeof recordSchema>>;

const validator = Compile(descriptionSchema);

/**
 * A description from outside the process (storage, a document), checked throughout; unknown members are refused.
 * @returns the same value, or the reason why it is none
 */
export function checkDescription(value: unknown): VoidDescription | { readonly reason: string } {
  if (!validator.Check(value)) {
    const [error] = validator.Errors(value);
    return { reason: `${error?.instancePath.slice(1) || "it"} ${error?.message ?? "is no description"}` };
  }
  const { records } = value;
  return pointsBeyond(value, records.length) ? { reason: "a record points to no record" } : value;
}

/** True if a fact comes from a request that is not on record. */
function pointsBeyond(value: unknown, records: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if ("record" in value && typeof value.record === "number" && value.record >= records) return true;
  return Object.values(value).some((part) => pointsBeyond(part, records));
}

/** Descending, unknown last. */
export const byCount = (one: Count | undefined, other: Count | undefined): number =>
  (other?.value ?? -1) - (one?.value ?? -1);
