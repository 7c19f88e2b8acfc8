import { compareText } from "../../rdf/canonical.ts";
import {
  byCount,
  type ClassPartition,
  type Linkset,
  type ObjectPartition,
  type PropertyPartition,
  type TermText,
  type UnknownFact,
  type VoidDescription,
} from "../void/void-description.ts";
import { type ClassFact, type FactBase, type CountedFact, type PropertyFact, mergedCount } from "./fact-base.ts";
import type { FactKind } from "./fact-kinds.ts";
import { kindFacts } from "./kind-facts.ts";
import { type KeyObservation, sameGroups } from "./observation.ts";

/** What a description says beside its facts. */
type Frame = Pick<
  VoidDescription,
  "endpoint" | "id" | "dataset" | "startedAt" | "finishedAt" | "unfinished" | "unknown" | "records" | "cost"
> & { readonly known: VoidDescription | undefined };

const mostLinksets = 20_000;

/** The description of what is in a fact base. Values are snapshots: later changes of the base do not show. */
export function buildDescription(base: FactBase, frame: Frame): VoidDescription {
  const { known, ...told } = frame;
  const publisher: Partial<VoidDescription> = known ?? {};
  const { retrievedFrom, title, description, license, citation, origin, linksets = [] } = publisher;
  const { entities, dumps, vocabularies } = publisher;
  const classPartitions = [...base.classes]
    .map(([iri, fact]) => classPartition(iri, fact))
    .toSorted((one, other) => byCount(one.entities, other.entities) || compareText(one.class, other.class));
  return {
    ...told,
    source: known === undefined || known.source === "computed" ? "computed" : "mixed",
    retrievedFrom,
    title,
    description,
    license,
    citation,
    origin,
    entities,
    dumps,
    vocabularies,
    ...Object.fromEntries(base.totals),
    classPartitions,
    classesComplete: base.classesComplete,
    propertyPartitions: propertyPartitions(base.properties),
    propertiesComplete: base.propertiesComplete,
    languages: [...base.languages].toSorted(compareText),
    namespaces: [...base.namespaces].toSorted(compareText),
    graphs: base.graphs.size > 0 ? [...base.graphs].toSorted(compareText) : undefined,
    ...namedGraphsOf(base),
    linksets: [
      ...linksets.filter((linkset) => isPublished(linkset) && isPossible(base, linkset)),
      ...linksetsWithin(classPartitions),
    ].slice(0, mostLinksets),
    terms: base.terms.size > 0 ? termsOf(base) : undefined,
    records: [...frame.records],
  };
}

const termsOf = ({ terms }: FactBase): readonly TermText[] =>
  [...terms.values()].toSorted((one, other) => compareText(one.iri, other.iri));

function namedGraphsOf(base: FactBase): Pick<VoidDescription, "namedGraphs" | "graphsBeside"> {
  const list = Array.from(base.namedGraphs, ([graph, fact]) => ({ graph, ...fact })).toSorted(
    (one, other) => byCount(one.triples, other.triples) || compareText(one.graph, other.graph),
  );
  if (list.length === 0) return {};
  return { [base.graphsBeside ? "graphsBeside" : "namedGraphs"]: { list, complete: base.graphsComplete } };
}

/** Linksets that do not follow from the class partitions: the publisher's own, and those to other endpoints. */
const isPublished = (linkset: Linkset): boolean => linkset.targetEndpoint !== undefined || linkset.status === "claimed";

/** What a publisher says of terms that a complete list lacks is out of date. */
function isPossible(base: FactBase, { property, subjectClass, status }: Linkset): boolean {
  if (status !== "claimed") return true;
  const hasClass = subjectClass === undefined || base.classes.has(subjectClass);
  return (base.properties.has(property) || !base.propertiesComplete) && (hasClass || !base.classesComplete);
}

const classPartition = (iri: string, fact: ClassFact): ClassPartition => ({
  ...fact,
  class: iri,
  properties: propertyPartitions(fact.properties),
});

function propertyPartitions(properties: ReadonlyMap<string, PropertyFact>): readonly PropertyPartition[] {
  return Array.from(properties, ([property, fact]) => propertyPartition(property, fact)).toSorted(
    (one, other) => byCount(one.triples, other.triples) || compareText(one.property, other.property),
  );
}

function propertyPartition(property: string, fact: PropertyFact): PropertyPartition {
  const { objectClasses, datatypes, classesOfObjectsComplete, datatypesComplete, ...counts } = fact;
  return {
    ...counts,
    property,
    objectClasses: objectPartitions(objectClasses),
    datatypes: objectPartitions(datatypes),
    objectsComplete: classesOfObjectsComplete && datatypesComplete,
  };
}

function objectPartitions(objects: ReadonlyMap<string, CountedFact>): readonly ObjectPartition[] {
  return Array.from(objects, ([iri, fact]) => ({ ...fact, iri })).toSorted(
    (one, other) => byCount(one.triples, other.triples) || compareText(one.iri, other.iri),
  );
}

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
        linksets.push({ ...ends, status, record, triples });
      }
    }
  }
  return linksets;
}

/** What is shown of a dataset: facts, and claims where there is no fact. */
interface ClaimedFacts {
  readonly shown: FactBase;
  /** Terms that the publisher names and the data lack. */
  readonly contradicted: readonly UnknownFact[];
}

const mostContradicted = 200;

/**
 * Lays the publisher's claims under the measured facts. A claim fills a gap and never changes a fact: a term that a
 * complete list lacks is left out and reported.
 */
export function withClaims(measured: FactBase, claims: FactBase): ClaimedFacts {
  const contradicted: UnknownFact[] = [];
  const lack = (kind: string, iri: string, { record }: { readonly record: number }): void => {
    if (contradicted.length >= mostContradicted) return;
    contradicted.push({ what: `${kind} <${iri}> of the publisher's description`, why: "contradicted", record });
  };
  const isClass = (iri: string): boolean => !measured.classesComplete || measured.classes.has(iri);
  const isProperty = (iri: string): boolean => !measured.propertiesComplete || measured.properties.has(iri);
  const joinProperty = (fact: PropertyFact | undefined, claim: PropertyFact): PropertyFact => ({
    ...(fact ?? claim),
    triples: mergedCount(claim.triples, fact?.triples),
    distinctSubjects: mergedCount(claim.distinctSubjects, fact?.distinctSubjects),
    distinctObjects: mergedCount(claim.distinctObjects, fact?.distinctObjects),
    objectClasses: layered(fact?.objectClasses, claim.objectClasses, {
      has: (iri) => isClass(iri) && fact?.classesOfObjectsComplete !== true,
      join: joinObject,
    }),
    datatypes: layered(fact?.datatypes, claim.datatypes, {
      has: () => fact?.datatypesComplete !== true,
      join: joinObject,
    }),
  });
  const joinClass = (fact: ClassFact | undefined, claim: ClassFact): ClassFact => ({
    ...(fact ?? claim),
    entities: mergedCount(claim.entities, fact?.entities),
    triples: mergedCount(claim.triples, fact?.triples),
    properties: layered(fact?.properties, claim.properties, {
      has: (iri) => isProperty(iri) && fact?.propertiesComplete !== true,
      join: joinProperty,
    }),
  });
  const totals = new Map(measured.totals);
  for (const [name, claim] of claims.totals) totals.set(name, mergedCount(claim, measured.totals.get(name)));
  const shown: FactBase = {
    ...measured,
    totals,
    terms: new Map([...claims.terms, ...measured.terms]),
    classes: layered(measured.classes, claims.classes, {
      has: isClass,
      join: joinClass,
      lack: (iri, claim) => lack("class", iri, claim),
    }),
    properties: layered(measured.properties, claims.properties, {
      has: isProperty,
      join: joinProperty,
      lack: (iri, claim) => lack("property", iri, claim),
    }),
  };
  return { shown, contradicted };
}

interface Layer<T> {
  /** Whether the data may have a term that was not measured. */
  readonly has: (iri: string) => boolean;
  readonly join: (fact: T | undefined, claim: T) => T;
  readonly lack?: (iri: string, claim: T) => void;
}

function layered<T>(
  facts: ReadonlyMap<string, T> | undefined,
  claims: ReadonlyMap<string, T> | undefined,
  { has, join, lack }: Layer<T>,
): Map<string, T> {
  const all = new Map(facts);
  for (const [iri, claim] of claims ?? []) {
    const fact = facts?.get(iri);
    if (fact !== undefined || has(iri)) all.set(iri, join(fact, claim));
    else lack?.(iri, claim);
  }
  return all;
}

const joinObject = (fact: CountedFact | undefined, claim: CountedFact): CountedFact => ({
  ...(fact ?? claim),
  triples: mergedCount(claim.triples, fact?.triples),
});

/**
 * Whether the publisher claims of a key exactly what an answer says, counts included: a second way to it, though one that
 * may have come from the same endpoint.
 */
export function isAsClaimed(claims: FactBase, kind: FactKind, { key, observation }: KeyObservation): boolean {
  const claimed = kindFacts[kind.name].groups(claims, key);
  return claimed !== undefined && sameGroups(claimed, observation.groups.get(key) ?? new Map());
}
