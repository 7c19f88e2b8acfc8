import type { Count, FactStatus, ObjectPartition, TermText, VoidDescription } from "../void/void-description.ts";
import type { FactKind } from "./fact-kinds.ts";

/** How a fact is known. */
export interface Known {
  status: FactStatus;
  record: number;
}

/** A named graph, or a class or datatype of a property's objects. */
export interface CountedFact extends Known {
  triples?: Count | undefined;
}

/** A property, in the dataset or in a class. */
export interface PropertyFact extends CountedFact {
  distinctSubjects?: Count | undefined;
  distinctObjects?: Count | undefined;
  readonly objectClasses: Map<string, CountedFact>;
  readonly datatypes: Map<string, CountedFact>;
  classesOfObjectsComplete: boolean;
  datatypesComplete: boolean;
}

/** A class; its triples are those of a retrieved description, else the sum over the properties. */
export interface ClassFact extends CountedFact {
  entities?: Count | undefined;
  readonly properties: Map<string, PropertyFact>;
  propertiesComplete: boolean;
}

/** Counts of the whole dataset. */
export type DatasetCount = "triples" | "classes" | "properties" | "distinctSubjects" | "distinctObjects";

/** Everything found out so far, open to change; or everything that the publisher claims, which stays apart from it. */
export interface FactBase {
  readonly totals: Map<DatasetCount, Count>;
  readonly classes: Map<string, ClassFact>;
  classesComplete: boolean;
  readonly properties: Map<string, PropertyFact>;
  propertiesComplete: boolean;
  readonly languages: Set<string>;
  readonly namespaces: Set<string>;
  /** Named graphs that are described instead of the default graph, which holds more. */
  readonly graphs: Set<string>;
  /** Named graphs: beside the default graph that is described or, where that is empty, those whose union is described. */
  readonly namedGraphs: Map<string, CountedFact>;
  graphsBeside: boolean;
  graphsComplete: boolean;
  /** Labels and descriptions of classes and properties by IRI. */
  readonly terms: Map<string, TermText>;
}

/** How good a status is, best first. */
const ranks: Readonly<Record<FactStatus, number>> = { exact: 0, lowerBound: 1, exists: 2, sampled: 3, claimed: 4 };

/**
 * Two counts of the same thing made one: exact beats anything, of lower bounds the higher one stays, a claim stays until
 * something exact comes or a bound contradicts it. Two different exact counts leave a lower bound, the smaller.
 */
export function mergedCount(known: Count, found: Count | undefined): Count;
export function mergedCount(known: Count | undefined, found: Count): Count;
export function mergedCount(known: Count | undefined, found: Count | undefined): Count | undefined;
export function mergedCount(known: Count | undefined, found: Count | undefined): Count | undefined {
  if (known === undefined || found === undefined) return known ?? found;
  const [least, most] = found.value > known.value ? [known, found] : [found, known];
  if (known.status !== "exact") return found.status === "exact" ? found : most;
  if (found.status === "exact") return least.value === most.value ? known : { ...least, status: "lowerBound" };
  // More than an exact count: the count cannot have been exact.
  return most === known ? known : { ...found, status: "lowerBound" };
}

/** The class of that name, or a new one; in either case known at least this well. */
export const classFact = (classes: Map<string, ClassFact>, iri: string, { status, record }: Known): ClassFact =>
  betterKnown(classes, iri, { status, record, properties: new Map(), propertiesComplete: false });

/** The same for a property of the dataset or of a class. */
export const propertyFact = (facts: Map<string, PropertyFact>, iri: string, { status, record }: Known): PropertyFact =>
  betterKnown(facts, iri, {
    status,
    record,
    objectClasses: new Map(),
    datatypes: new Map(),
    classesOfObjectsComplete: false,
    datatypesComplete: false,
  });

/** The same for a graph, an object class or a datatype. */
export const countedFact = (facts: Map<string, CountedFact>, iri: string, { status, record }: Known): CountedFact =>
  betterKnown(facts, iri, { status, record });

function betterKnown<Fact extends Known>(facts: Map<string, Fact>, iri: string, found: Fact): Fact {
  const fact = facts.get(iri);
  if (fact === undefined) {
    facts.set(iri, found);
    return found;
  }
  if (ranks[found.status] < ranks[fact.status]) {
    fact.status = found.status;
    fact.record = found.record;
  }
  return fact;
}

/** The keys of a kind that are known. */
export function keysOf(base: FactBase, { key }: Pick<FactKind, "key">): ReadonlyMap<string, Known> {
  return key === "c" ? base.classes : key === "p" ? base.properties : base.namedGraphs;
}

/** An empty base. */
export function emptyFacts(): FactBase {
  return {
    totals: new Map(),
    classes: new Map(),
    classesComplete: false,
    properties: new Map(),
    propertiesComplete: false,
    languages: new Set(),
    namespaces: new Set(),
    graphs: new Set(),
    namedGraphs: new Map(),
    graphsBeside: false,
    graphsComplete: false,
    terms: new Map(),
  };
}

/** The facts of a description, a retrieved one or a checkpoint: what was measured, or what its publisher claims. */
export function restoredFacts(known: VoidDescription | undefined, kind: "measured" | "claimed"): FactBase {
  if (known === undefined) return emptyFacts();
  const isWanted: IsWanted = ({ status }) => (status === "claimed") === (kind === "claimed");
  const base: FactBase = {
    ...emptyFacts(),
    classesComplete: known.classesComplete,
    propertiesComplete: known.propertiesComplete,
    languages: new Set(known.languages),
    namespaces: new Set(known.namespaces),
    graphs: new Set(known.graphs),
  };
  for (const name of ["triples", "classes", "properties", "distinctSubjects", "distinctObjects"] as const) {
    const count = wanted(known[name], isWanted);
    if (count) base.totals.set(name, count);
  }
  for (const term of known.terms ?? []) if (isWanted(term)) base.terms.set(term.iri, term);
  restoreProperties(base.properties, known.propertyPartitions, isWanted);
  restoreClasses(base.classes, known.classPartitions, isWanted);
  if (kind === "claimed") return base;
  restoreGraphs(base, known);
  return base;
}

function restoreGraphs(base: FactBase, { namedGraphs, graphsBeside }: VoidDescription): void {
  const graphs = namedGraphs ?? graphsBeside;
  for (const { graph, ...fact } of graphs?.list ?? []) base.namedGraphs.set(graph, fact);
  base.graphsComplete = graphs?.complete === true;
  base.graphsBeside = graphsBeside !== undefined;
}

type IsWanted = (fact: { readonly status: FactStatus }) => boolean;

const wanted = (count: Count | undefined, isWanted: IsWanted): Count | undefined =>
  count && isWanted(count) ? count : undefined;

function restoreClasses(
  classes: Map<string, ClassFact>,
  partitions: VoidDescription["classPartitions"],
  isWanted: IsWanted,
): void {
  for (const partition of partitions) {
    const { status, record, propertiesComplete } = partition;
    const entities = wanted(partition.entities, isWanted);
    const triples = wanted(partition.triples, isWanted);
    const properties = new Map<string, PropertyFact>();
    restoreProperties(properties, partition.properties, isWanted);
    if (isWanted(partition) || entities || properties.size > 0)
      classes.set(partition.class, { status, record, entities, triples, properties, propertiesComplete });
  }
}

function restoreProperties(
  properties: Map<string, PropertyFact>,
  partitions: VoidDescription["propertyPartitions"],
  isWanted: IsWanted,
): void {
  for (const partition of partitions) {
    const triples = wanted(partition.triples, isWanted);
    const objectClasses = restoredObjects(partition.objectClasses, isWanted);
    const datatypes = restoredObjects(partition.datatypes, isWanted);
    if (!isWanted(partition) && !triples && objectClasses.size + datatypes.size === 0) continue;
    properties.set(partition.property, {
      status: partition.status,
      record: partition.record,
      triples,
      distinctSubjects: wanted(partition.distinctSubjects, isWanted),
      distinctObjects: wanted(partition.distinctObjects, isWanted),
      objectClasses,
      datatypes,
      classesOfObjectsComplete: partition.objectsComplete,
      datatypesComplete: partition.objectsComplete,
    });
  }
}

function restoredObjects(partitions: readonly ObjectPartition[], isWanted: IsWanted): Map<string, CountedFact> {
  const objects = new Map<string, CountedFact>();
  for (const partition of partitions) {
    const { iri, status, record } = partition;
    const triples = wanted(partition.triples, isWanted);
    if (isWanted(partition) || triples) objects.set(iri, { status, record, triples });
  }
  return objects;
}
