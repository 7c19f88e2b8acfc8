import { compareText } from "../../rdf/canonical.ts";
import {
  byCount,
  type ClassPartition,
  type Count,
  type FactStatus,
  type ObjectPartition,
  type PropertyPartition,
} from "./void-description.ts";

/** How a fact is known. */
export interface Known {
  status: FactStatus;
  record: number;
}

export const countNames = ["entities", "triples", "distinctSubjects", "distinctObjects"] as const;

/** Counted numbers of a class, a property and the like. */
export type CountName = (typeof countNames)[number];
export type Counts = { [Name in CountName]?: Count | undefined };

export const partNames = ["properties", "objectClasses", "datatypes"] as const;

/** Lists of the parts of a fact. */
export type PartName = (typeof partNames)[number];

/** A class, a property, a class or datatype of its objects, or a graph. */
export class Fact implements Known, Counts {
  status: FactStatus;
  record: number;
  entities: Count | undefined;
  /** Of a class those of a retrieved description, else the sum over its properties. */
  triples: Count | undefined;
  distinctSubjects: Count | undefined;
  distinctObjects: Count | undefined;
  /** The lists that it has so far. */
  readonly parts: { [Name in PartName]?: FactList } = {};

  constructor({ status, record }: Known) {
    this.status = status;
    this.record = record;
  }

  get properties(): FactList {
    return (this.parts.properties ??= new FactList());
  }

  get objectClasses(): FactList {
    return (this.parts.objectClasses ??= new FactList());
  }

  get datatypes(): FactList {
    return (this.parts.datatypes ??= new FactList());
  }
}

/** Facts of one kind by IRI: the classes of a dataset, the properties of a class, and so on. */
export class FactList extends Map<string, Fact> {
  /** Two independent ways agree that none is missing. */
  complete = false;

  /** The fact about an IRI, made when it is new; in either case known at least this well. */
  known(iri: string, { status, record }: Known): Fact {
    const fact = this.get(iri) ?? new Fact({ status, record });
    this.set(iri, fact);
    if (ranks[status] < ranks[fact.status]) {
      fact.status = status;
      fact.record = record;
    }
    return fact;
  }
}

/** How good a status is, best first. */
const ranks: Readonly<Record<FactStatus, number>> = { exact: 0, lowerBound: 1, exists: 2, sampled: 3, claimed: 4 };

/** The facts of a list as partitions, those with most first. */
export function listed<T extends Counts>(
  facts: FactList,
  order: CountName,
  partitionOf: (fact: Fact, iri: string) => T,
): readonly T[] {
  return [...facts]
    .toSorted(([iri, one], [other, two]) => byCount(one[order], two[order]) || compareText(iri, other))
    .map(([iri, fact]) => partitionOf(fact, iri));
}

/** Classes as a description lists them. */
export const classPartitions = (facts: FactList): readonly ClassPartition[] =>
  listed(facts, "entities", classPartition);

const classPartition = ({ status, record, entities, triples, properties }: Fact, iri: string): ClassPartition => ({
  class: iri,
  status,
  record,
  entities,
  triples,
  properties: propertyPartitions(properties),
  propertiesComplete: properties.complete,
});

/** Properties as a description lists them. */
export const propertyPartitions = (facts: FactList): readonly PropertyPartition[] =>
  listed(facts, "triples", ({ objectClasses, datatypes, ...fact }, property) => ({
    property,
    status: fact.status,
    record: fact.record,
    triples: fact.triples,
    distinctSubjects: fact.distinctSubjects,
    distinctObjects: fact.distinctObjects,
    objectClasses: listed(objectClasses, "triples", objectPartition),
    datatypes: listed(datatypes, "triples", objectPartition),
    objectsComplete: objectClasses.complete && datatypes.complete,
  }));

const objectPartition = ({ status, record, triples }: Fact, iri: string): ObjectPartition => ({
  iri,
  status,
  record,
  triples,
});
