import type { Count, FactStatus, ObjectPartition, VoidDescription } from "../void/void-description.ts";
import type { FactKind } from "./fact-kinds.ts";

/** How a fact is known. */
export interface Known {
  status: FactStatus;
  record: number;
}

/** A class or datatype of a property's objects. */
export interface ObjectFact extends Known {
  triples?: Count;
}

/** A property, in the dataset or in a class. */
export interface PropertyFact extends Known {
  triples?: Count;
  distinctSubjects?: Count;
  distinctObjects?: Count;
  readonly objectClasses: Map<string, ObjectFact>;
  readonly datatypes: Map<string, ObjectFact>;
  classesOfObjectsComplete: boolean;
  datatypesComplete: boolean;
}

/** A class. */
export interface ClassFact extends Known {
  entities?: Count;
  /** Of a retrieved description; else the sum over the properties. */
  triples?: Count;
  readonly properties: Map<string, PropertyFact>;
  propertiesComplete: boolean;
}

/** A named graph. */
interface GraphFact extends Known {
  triples?: Count;
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
  /** Named graphs whose union is described, as the default graph is empty. */
  readonly namedGraphs: Map<string, GraphFact>;
  graphsComplete: boolean;
}

/** How good a status is, best first. */
const ranks: Readonly<Record<FactStatus, number>> = { exact: 0, lowerBound: 1, exists: 2, sampled: 3, claimed: 4 };

/** The better of two ways in which something is known to exist. */
function betterKnown(fact: Known, status: FactStatus, record: number): void {
  if (ranks[status] >= ranks[fact.status]) return;
  fact.status = status;
  fact.record = record;
}

/**
 * Two counts of the same thing made one: exact beats anything, of lower bounds the higher one stays, a claim stays until
 * something exact comes or a bound contradicts it. Two different exact counts leave a lower bound, the smaller.
 */
export function mergedCount(known: Count | undefined, found: Count): Count {
  if (known === undefined) return found;
  if (known.status === "exact" && found.status === "exact") {
    if (known.value === found.value) return known;
    return { ...(known.value < found.value ? known : found), status: "lowerBound" };
  }
  if (found.status === "exact") return found;
  // More than an exact count: the count cannot have been exact.
  if (known.status === "exact") return found.value > known.value ? { ...found, status: "lowerBound" } : known;
  if (known.status === "claimed" && found.value <= known.value) return known;
  return found.value > known.value ? found : known;
}

export const newProperty = (status: FactStatus, record: number): PropertyFact => ({
  status,
  record,
  objectClasses: new Map(),
  datatypes: new Map(),
  classesOfObjectsComplete: false,
  datatypesComplete: false,
});

const newClass = (status: FactStatus, record: number): ClassFact => ({
  status,
  record,
  properties: new Map(),
  propertiesComplete: false,
});

/** The fact of that name, made better known, or a new one. */
export function classFact(base: FactBase, iri: string, known: Known): ClassFact {
  return sought(base.classes, iri, { known, create: newClass });
}

/** As `classFact`, for a named graph. */
export function graphFact(base: FactBase, iri: string, known: Known): GraphFact {
  return sought(base.namedGraphs, iri, { known, create: (status, record) => ({ status, record }) });
}

/** As `classFact`, for a property of the dataset or of a class. */
export function propertyFact(properties: Map<string, PropertyFact>, iri: string, known: Known): PropertyFact {
  return sought(properties, iri, { known, create: newProperty });
}

/** As `classFact`, for an object class or datatype. */
export function objectFact(objects: Map<string, ObjectFact>, iri: string, known: Known): ObjectFact {
  return sought(objects, iri, { known, create: (status, record) => ({ status, record }) });
}

function sought<T extends Known>(
  facts: Map<string, T>,
  iri: string,
  options: { readonly known: Known; readonly create: (status: FactStatus, record: number) => T },
): T {
  const { status, record } = options.known;
  const fact = facts.get(iri) ?? options.create(status, record);
  betterKnown(fact, status, record);
  facts.set(iri, fact);
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
    graphsComplete: false,
  };
}

/** The facts of a description, a retrieved one or a checkpoint: what was measured, or what its publisher claims. */
export function restoredFacts(known: VoidDescription | undefined, kind: "measured" | "claimed"): FactBase {
  const base = emptyFacts();
  if (known === undefined) return base;
  restorePartitions(base, known, ({ status }) => (status === "claimed") === (kind === "claimed"));
  for (const language of known.languages) base.languages.add(language);
  for (const namespace of known.namespaces) base.namespaces.add(namespace);
  for (const graph of known.graphs ?? []) base.graphs.add(graph);
  if (kind === "claimed") return base;
  for (const { graph, ...fact } of known.namedGraphs?.list ?? []) base.namedGraphs.set(graph, fact);
  base.graphsComplete = known.namedGraphs?.complete === true;
  return base;
}

type IsWanted = (known: { readonly status: FactStatus }) => boolean;

function restorePartitions(base: FactBase, known: VoidDescription, isWanted: IsWanted): void {
  for (const name of ["triples", "classes", "properties", "distinctSubjects", "distinctObjects"] as const) {
    const count = known[name];
    if (count && isWanted(count)) base.totals.set(name, count);
  }
  base.classesComplete = known.classesComplete;
  base.propertiesComplete = known.propertiesComplete;
  restoreProperties(base.properties, known.propertyPartitions, isWanted);
  restoreClasses(base.classes, known.classPartitions, isWanted);
}

function restoreCounts<Name extends string>(
  fact: { [name in Name]?: Count },
  counts: { readonly [name in Name]?: Count },
  { names, isWanted }: { readonly names: readonly Name[]; readonly isWanted: IsWanted },
): void {
  for (const name of names) {
    const count = counts[name];
    if (count && isWanted(count)) fact[name] = count;
  }
}

function restoreClasses(
  classes: Map<string, ClassFact>,
  partitions: VoidDescription["classPartitions"],
  isWanted: IsWanted,
): void {
  for (const partition of partitions) {
    const fact = newClass(partition.status, partition.record);
    restoreCounts(fact, partition, { names: ["entities", "triples"], isWanted });
    fact.propertiesComplete = partition.propertiesComplete;
    restoreProperties(fact.properties, partition.properties, isWanted);
    if (isWanted(partition) || fact.entities || fact.properties.size > 0) classes.set(partition.class, fact);
  }
}

function restoreProperties(
  properties: Map<string, PropertyFact>,
  partitions: VoidDescription["propertyPartitions"],
  isWanted: IsWanted,
): void {
  for (const partition of partitions) {
    const fact: PropertyFact = {
      ...newProperty(partition.status, partition.record),
      objectClasses: restoredObjects(partition.objectClasses, isWanted),
      datatypes: restoredObjects(partition.datatypes, isWanted),
      classesOfObjectsComplete: partition.objectsComplete,
      datatypesComplete: partition.objectsComplete,
    };
    restoreCounts(fact, partition, { names: ["triples", "distinctSubjects", "distinctObjects"], isWanted });
    const { triples, objectClasses, datatypes } = fact;
    if (isWanted(partition) || triples || objectClasses.size + datatypes.size > 0)
      properties.set(partition.property, fact);
  }
}

function restoredObjects(partitions: readonly ObjectPartition[], isWanted: IsWanted): Map<string, ObjectFact> {
  const objects = new Map<string, ObjectFact>();
  for (const { iri, status, record, triples } of partitions) {
    const count: { triples?: Count } = triples && isWanted(triples) ? { triples } : {};
    if (isWanted({ status }) || count.triples) objects.set(iri, { status, record, ...count });
  }
  return objects;
}
