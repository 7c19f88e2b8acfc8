import { LRUCache } from "lru-cache";
import { rdf } from "../../rdf/vocabularies.ts";
import { createPrefixTable, descriptionIris, type PrefixTable } from "../../registry/schema/prefixes.ts";
import type { DescribedSchema } from "../../registry/model/described-schema.ts";
import type { KnownProperty } from "../../registry/model/schema.ts";
import type { PlacedPattern } from "../../sparql/query-patterns.ts";

/** What one or several descriptions say of a property. */
export interface PropertyFacts {
  /** Of all endpoints together; absent when unknown. */
  readonly triples?: number;
  /** All of them were counted. */
  readonly isCounted: boolean;
  /** Classes whose instances have the property. */
  readonly subjects: ReadonlySet<string>;
  /** Those of which every subject of the property is an instance. */
  readonly allSubjects: ReadonlySet<string>;
  /** Classes of its objects. */
  readonly objects: ReadonlySet<string>;
  readonly datatypes: ReadonlySet<string>;
  /** All of its values are literals of one datatype. */
  readonly isLiteral: boolean;
  /** Every endpoint's list of its object classes and datatypes is complete. */
  readonly objectsComplete: boolean;
}

interface ClassFacts {
  readonly entities?: number;
  /** Of its instances, all there are; absent where some may be missing, and of several endpoints together. */
  readonly properties?: ReadonlySet<string>;
}

/** The classes and properties of some endpoints, as their descriptions tell them. */
export interface Vocabulary {
  readonly classes: ReadonlyMap<string, ClassFacts>;
  readonly properties: ReadonlyMap<string, PropertyFacts>;
  readonly languages: ReadonlySet<string>;
  readonly prefixes: readonly PrefixTable[];
}

/** One is made for each query that is checked against many endpoints; a schema that is replaced is never asked for again. */
const known = new LRUCache<DescribedSchema, Vocabulary>({ max: 300 });

/** The vocabulary of these descriptions together; that of one is kept as long as the description. */
export function vocabularyOf(descriptions: readonly DescribedSchema[]): Vocabulary {
  const each = descriptions.map((description) => {
    const kept = known.get(description) ?? vocabularyOfOne(description);
    known.set(description, kept);
    return kept;
  });
  const [only, ...others] = each;
  return only !== undefined && others.length === 0 ? only : merged(each);
}

interface OpenFacts {
  triples?: number;
  isCounted: boolean;
  readonly subjects: Set<string>;
  readonly allSubjects: Set<string>;
  readonly objects: Set<string>;
  readonly datatypes: Set<string>;
  isLiteral: boolean;
  objectsComplete: boolean;
}

const emptyFacts = (): OpenFacts => ({
  isCounted: true,
  subjects: new Set(),
  allSubjects: new Set(),
  objects: new Set(),
  datatypes: new Set(),
  isLiteral: true,
  objectsComplete: true,
});

function vocabularyOfOne(description: DescribedSchema): Vocabulary {
  const classes = new Map<string, ClassFacts>();
  const properties = new Map<string, OpenFacts>();
  const add = (partition: KnownProperty): OpenFacts => {
    const facts = properties.get(partition.property) ?? {
      ...emptyFacts(),
      isLiteral: false,
      objectsComplete: false,
    };
    properties.set(partition.property, facts);
    for (const { iri } of partition.objectClasses) facts.objects.add(iri);
    for (const { iri } of partition.datatypes) facts.datatypes.add(iri);
    return facts;
  };
  for (const partition of description.propertyPartitions) {
    const facts = add(partition);
    addCounts(facts, partition);
    facts.isLiteral = description.countsOf(partition.property)?.datatype !== undefined;
    facts.objectsComplete = partition.objectsComplete;
  }
  for (const { class: iri, entities, properties: own, propertiesComplete } of description.classPartitions) {
    const all = propertiesComplete && { properties: new Set(own.map(({ property }) => property)) };
    classes.set(iri, { ...(entities && { entities: entities.value }), ...all });
    for (const partition of own) {
      const facts = add(partition);
      facts.subjects.add(iri);
      const { triples } = partition;
      if (facts.isCounted && triples?.status === "exact" && triples.value === facts.triples) facts.allSubjects.add(iri);
    }
  }
  const prefixes = [createPrefixTable(descriptionIris(description))];
  return { classes, properties, languages: new Set(description.languages), prefixes };
}

function addCounts(facts: OpenFacts, { triples }: KnownProperty): void {
  if (triples !== undefined) facts.triples = (facts.triples ?? 0) + triples.value;
  facts.isCounted &&= triples?.status === "exact";
}

function merged(all: readonly Vocabulary[]): Vocabulary {
  const classes = new Map<string, ClassFacts>();
  const properties = new Map<string, OpenFacts>();
  for (const each of all) {
    for (const [iri, { entities = 0 }] of each.classes) {
      classes.set(iri, { entities: (classes.get(iri)?.entities ?? 0) + entities });
    }
    for (const [iri, facts] of each.properties)
      properties.set(iri, together(properties.get(iri) ?? emptyFacts(), facts));
  }
  const languages = new Set(all.flatMap((each) => [...each.languages]));
  return { classes, properties, languages, prefixes: all.flatMap(({ prefixes }) => prefixes) };
}

function together(into: OpenFacts, facts: PropertyFacts): OpenFacts {
  for (const name of ["subjects", "objects", "datatypes"] as const) {
    for (const value of facts[name]) into[name].add(value);
  }
  if (facts.triples !== undefined) into.triples = (into.triples ?? 0) + facts.triples;
  into.isCounted &&= facts.isCounted;
  into.isLiteral &&= facts.isLiteral;
  into.objectsComplete &&= facts.objectsComplete;
  return into;
}

/** What is known of the property of a pattern. */
export function factsOf({ predicate }: PlacedPattern, { properties }: Vocabulary): PropertyFacts | undefined {
  return predicate.kind === "iri" && predicate.iri !== rdf.type ? properties.get(predicate.iri) : undefined;
}

/** Classes that the subject of a pattern may have; empty: any. */
export function classesOfSubject(pattern: PlacedPattern, vocabulary: Vocabulary): ReadonlySet<string> {
  const { predicate, object } = pattern;
  const isType = predicate.kind === "iri" && predicate.iri === rdf.type;
  if (isType) return object.kind === "iri" ? new Set([object.iri]) : new Set();
  return factsOf(pattern, vocabulary)?.subjects ?? new Set();
}
