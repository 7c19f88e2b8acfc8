import {
  classFact,
  type FactBase,
  countedFact,
  type CountedFact,
  type Known,
  mergedCount,
  type PropertyFact,
  propertyFact,
} from "./fact-base.ts";
import { type FactKindName, objectKinds } from "./fact-kinds.ts";
import type { Group, Groups } from "./observation.ts";
import type { Count } from "../void/void-description.ts";

/** One group of a key, and how it is known. */
interface GroupFinding extends Known {
  readonly key: string;
  readonly group: Group;
}

/** Where the facts of one kind lie in the fact base. */
interface KindFacts {
  /** Puts a group into the facts: that it exists, and its counts. */
  readonly record: (base: FactBase, found: GroupFinding) => void;
  /** Marks the lists that the kind makes for a key as complete. */
  readonly complete: (base: FactBase, key: string) => void;
  /** Whether a key needs no query: it is proven. */
  readonly isKnown: (base: FactBase, key: string) => boolean;
  /** How many facts of a key there are. */
  readonly size: (base: FactBase, key: string) => number;
  /** The groups that facts stand for; undefined where they are not all counted, or do not stand for all groups. */
  readonly groups: (base: FactBase, key: string) => Groups | undefined;
}

type Objects = "objectClasses" | "datatypes";
type ObjectsComplete = "classesOfObjectsComplete" | "datatypesComplete";

const nothing = (): void => undefined;

/** Where the facts of each kind lie. */
export const kindFacts: Readonly<Record<FactKindName, KindFacts>> = {
  graphs: {
    record(base, found) {
      recordTriples(countedFact(base.namedGraphs, found.key, found), found);
    },
    complete: nothing,
    isKnown: (base, key) => base.namedGraphs.get(key)?.triples?.status === "exact",
    size: (base, key) => (base.namedGraphs.get(key)?.triples ? 1 : 0),
    groups: () => undefined,
  },
  classes: {
    record(base, found) {
      const fact = classFact(base.classes, found.key, found);
      fact.entities = mergedCount(fact.entities, counted(found.group.ds ?? found.group.n, found));
    },
    complete: nothing,
    isKnown: (base, key) => base.classes.get(key)?.entities?.status === "exact",
    size: (base, key) => (base.classes.get(key)?.entities ? 1 : 0),
    groups: (base, key) => groupsOf([[[], { n: base.classes.get(key)?.entities }]]),
  },
  properties: {
    record: (base, found) => recordCounts(propertyFact(base.properties, found.key, found), found),
    complete: nothing,
    isKnown(base, key) {
      const { triples, distinctSubjects } = base.properties.get(key) ?? {};
      return triples?.status === "exact" && distinctSubjects?.status === "exact";
    },
    size: (base, key) => (base.properties.get(key)?.triples ? 1 : 0),
    groups: (base, key) => groupsOf([[[], countsOf(base.properties.get(key))]]),
  },
  classProperties: {
    record(base, found) {
      const [property] = found.group.detail;
      if (property === undefined) return;
      recordCounts(
        propertyFact(classFact(base.classes, found.key, existing(found)).properties, property, found),
        found,
      );
    },
    complete(base, key) {
      const fact = base.classes.get(key);
      if (fact) fact.propertiesComplete = true;
    },
    isKnown(base, key) {
      const fact = base.classes.get(key);
      return fact?.propertiesComplete === true;
    },
    size: (base, key) => base.classes.get(key)?.properties.size ?? 0,
    groups: (base, key) =>
      groupsOf([...(base.classes.get(key)?.properties ?? [])].map(([iri, fact]) => [[iri], countsOf(fact)])),
  },
  classObjectClasses: objectsOfClass("objectClasses", "classesOfObjectsComplete"),
  classDatatypes: objectsOfClass("datatypes", "datatypesComplete"),
  propertyObjectClasses: objectsOfProperty("objectClasses", "classesOfObjectsComplete"),
  propertyDatatypes: objectsOfProperty("datatypes", "datatypesComplete"),
};

const propertiesOf = (base: FactBase, key: string): readonly PropertyFact[] => [
  ...(base.classes.get(key)?.properties.values() ?? []),
];

function objectsOfClass(objects: Objects, complete: ObjectsComplete): KindFacts {
  return {
    record(base, found) {
      const [property, object] = found.group.detail;
      if (property === undefined || object === undefined) return;
      const { properties } = classFact(base.classes, found.key, existing(found));
      recordObject(propertyFact(properties, property, existing(found))[objects], object, found);
    },
    complete(base, key) {
      for (const fact of propertiesOf(base, key)) fact[complete] = true;
    },
    isKnown(base, key) {
      const facts = propertiesOf(base, key);
      return facts.length > 0 && facts.every((fact) => fact[complete]);
    },
    size: (base, key) => propertiesOf(base, key).reduce((sum, fact) => sum + fact[objects].size, 0),
    groups: (base, key) =>
      objects === "datatypes"
        ? undefined
        : groupsOf([...(base.classes.get(key)?.properties ?? [])].flatMap(([iri, fact]) => objectGroups(fact, [iri]))),
  };
}

function objectsOfProperty(objects: Objects, complete: ObjectsComplete): KindFacts {
  return {
    record(base, found) {
      const [object] = found.group.detail;
      if (object === undefined) return;
      recordObject(propertyFact(base.properties, found.key, existing(found))[objects], object, found);
    },
    complete(base, key) {
      const fact = base.properties.get(key);
      if (fact) fact[complete] = true;
    },
    isKnown(base, key) {
      const fact = base.properties.get(key);
      return fact?.[complete] === true;
    },
    size: (base, key) => base.properties.get(key)?.[objects].size ?? 0,
    groups: (base, key) => (objects === "datatypes" ? undefined : groupsOf(objectGroups(base.properties.get(key), []))),
  };
}

/** What a finding about its parts says of a key itself: no more than that it exists. */
const existing = ({ status, record }: Known): Known => ({
  status: status === "sampled" ? "sampled" : "exists",
  record,
});

interface GroupCounts {
  readonly n: Count | undefined;
  readonly ds?: Count | undefined;
  readonly do?: Count | undefined;
}

type FoundGroup = readonly [detail: readonly string[], counts: GroupCounts];

const countsOf = (fact: PropertyFact | undefined): GroupCounts => ({
  n: fact?.triples,
  ds: fact?.distinctSubjects,
  do: fact?.distinctObjects,
});

const objectGroups = (fact: PropertyFact | undefined, detail: readonly string[]): readonly FoundGroup[] =>
  [...(fact?.objectClasses ?? [])].map(([iri, { triples }]) => [[...detail, iri], { n: triples }]);

function groupsOf(found: readonly FoundGroup[]): Groups | undefined {
  const groups = new Map<string, Group>();
  for (const [detail, { n, ds, do: objects }] of found) {
    if (n === undefined) return undefined;
    groups.set(detail.join(" "), { detail, n: n.value, ds: ds?.value, do: objects?.value });
  }
  return groups;
}

function recordTriples(fact: CountedFact, found: GroupFinding): void {
  fact.triples = mergedCount(fact.triples, counted(found.group.n, found));
}

function recordCounts(fact: PropertyFact, found: GroupFinding): void {
  recordTriples(fact, found);
  fact.distinctSubjects = mergedCount(fact.distinctSubjects, counted(found.group.ds, found));
  fact.distinctObjects = mergedCount(fact.distinctObjects, counted(found.group.do, found));
}

function recordObject(objects: Map<string, CountedFact>, iri: string, found: GroupFinding): void {
  if (iri !== objectKinds.iri && iri !== objectKinds.blank) recordTriples(countedFact(objects, iri, found), found);
}

function counted(value: number | undefined, { status, record }: Known): Count | undefined {
  if (value === undefined || (status !== "exact" && status !== "lowerBound")) return undefined;
  return { value, status, record };
}
