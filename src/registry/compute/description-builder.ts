import type {
  ClassPartition,
  Count,
  Linkset,
  MeasurementRecord,
  NamedGraph,
  ObjectPartition,
  PropertyPartition,
  UnknownFact,
  VoidDescription,
} from "../void/void-description.ts";
import type { ClassFact, FactBase, ObjectFact, PropertyFact } from "./fact-base.ts";

/** What a description says beside its facts. */
export interface Frame {
  readonly endpoint: string;
  readonly id?: string;
  readonly dataset: string;
  readonly known?: VoidDescription;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly unfinished: boolean;
  readonly unknown: readonly UnknownFact[];
  readonly records: readonly MeasurementRecord[];
  readonly cost: VoidDescription["cost"];
}

const mostLinksets = 20_000;

/** The description of what is in a fact base. Values are snapshots: later changes of the base do not show. */
export function buildDescription(base: FactBase, frame: Frame): VoidDescription {
  const { known } = frame;
  const classPartitions = [...base.classes]
    .map(([iri, fact]) => classPartition(iri, fact))
    .toSorted((one, other) => byCount(one.entities, other.entities) || compareText(one.class, other.class));
  return {
    endpoint: frame.endpoint,
    ...(frame.id !== undefined && { id: frame.id }),
    dataset: frame.dataset,
    source: known === undefined || known.source === "computed" ? "computed" : "mixed",
    startedAt: frame.startedAt,
    finishedAt: frame.finishedAt,
    unfinished: frame.unfinished,
    ...(known && published(known)),
    ...Object.fromEntries(base.totals),
    classPartitions,
    classesComplete: base.classesComplete,
    propertyPartitions: propertyPartitions(base.properties),
    propertiesComplete: base.propertiesComplete,
    languages: [...base.languages].toSorted(compareText),
    namespaces: [...base.namespaces].toSorted(compareText),
    ...(base.graphs.size > 0 && { graphs: [...base.graphs].toSorted(compareText) }),
    ...(base.namedGraphs.size > 0 && { namedGraphs: { list: namedGraphs(base), complete: base.graphsComplete } }),
    linksets: [
      ...(known?.linksets.filter((linkset) => isPublished(linkset) && isPossible(base, linkset)) ?? []),
      ...linksetsWithin(classPartitions),
    ].slice(0, mostLinksets),
    unknown: frame.unknown,
    records: [...frame.records],
    cost: frame.cost,
  };
}

const namedGraphs = (base: FactBase): readonly NamedGraph[] =>
  Array.from(base.namedGraphs, ([graph, fact]) => ({ graph, ...fact })).toSorted(
    (one, other) => byCount(one.triples, other.triples) || compareText(one.graph, other.graph),
  );

/** What only the publisher can say. */
function published(
  known: VoidDescription,
): Pick<VoidDescription, "retrievedFrom" | "title" | "description" | "license" | "citation" | "origin"> {
  const { retrievedFrom, title, description, license, citation, origin } = known;
  return {
    ...(retrievedFrom !== undefined && { retrievedFrom }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(license !== undefined && { license }),
    ...(citation !== undefined && { citation }),
    ...(origin !== undefined && { origin }),
  };
}

/** Linksets that do not follow from the class partitions: the publisher's own, and those to other endpoints. */
const isPublished = (linkset: Linkset): boolean => linkset.targetEndpoint !== undefined || linkset.status === "claimed";

/** What a publisher says of terms that a complete list lacks is out of date. */
function isPossible(base: FactBase, { property, subjectClass, status }: Linkset): boolean {
  if (status !== "claimed") return true;
  const hasClass = subjectClass === undefined || base.classes.has(subjectClass);
  return (base.properties.has(property) || !base.propertiesComplete) && (hasClass || !base.classesComplete);
}

const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Descending, unknown last. */
const byCount = (one: Count | undefined, other: Count | undefined): number => (other?.value ?? -1) - (one?.value ?? -1);

function classPartition(iri: string, fact: ClassFact): ClassPartition {
  return {
    class: iri,
    status: fact.status,
    record: fact.record,
    ...(fact.entities && { entities: fact.entities }),
    ...(fact.triples && { triples: fact.triples }),
    properties: propertyPartitions(fact.properties),
    propertiesComplete: fact.propertiesComplete,
  };
}

function propertyPartitions(properties: ReadonlyMap<string, PropertyFact>): readonly PropertyPartition[] {
  return Array.from(properties, ([property, fact]) => propertyPartition(property, fact)).toSorted(
    (one, other) => byCount(one.triples, other.triples) || compareText(one.property, other.property),
  );
}

function propertyPartition(property: string, fact: PropertyFact): PropertyPartition {
  return {
    property,
    status: fact.status,
    record: fact.record,
    ...(fact.triples && { triples: fact.triples }),
    ...(fact.distinctSubjects && { distinctSubjects: fact.distinctSubjects }),
    ...(fact.distinctObjects && { distinctObjects: fact.distinctObjects }),
    objectClasses: objectPartitions(fact.objectClasses),
    datatypes: objectPartitions(fact.datatypes),
    objectsComplete: fact.classesOfObjectsComplete && fact.datatypesComplete,
  };
}

function objectPartitions(objects: ReadonlyMap<string, ObjectFact>): readonly ObjectPartition[] {
  return Array.from(objects, ([iri, fact]) => objectPartition(iri, fact)).toSorted(
    (one, other) => byCount(one.triples, other.triples) || compareText(one.iri, other.iri),
  );
}

const objectPartition = (iri: string, { status, record, triples }: ObjectFact): ObjectPartition => ({
  iri,
  status,
  record,
  ...(triples && { triples }),
});

/** Links between classes inside the dataset (T4): each property of a class whose objects have a class. */
function linksetsWithin(partitions: readonly ClassPartition[]): readonly Linkset[] {
  const linksets: Linkset[] = [];
  for (const partition of partitions) {
    for (const { property, objectClasses } of partition.properties) {
      for (const { iri, status, record, triples } of objectClasses) {
        // The publisher's own linksets stand beside these.
        if (status === "claimed") continue;
        if (linksets.length >= mostLinksets) return linksets;
        const ends = { property, subjectClass: partition.class, objectClass: iri };
        linksets.push({ ...ends, status, record, ...(triples && { triples }) });
      }
    }
  }
  return linksets;
}
