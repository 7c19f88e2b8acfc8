import { LRUCache } from "lru-cache";
import { createPrefixTable, descriptionIris, type PrefixTable } from "../../registry/schema/prefixes.ts";
import type { DescribedSchema } from "../../registry/model/described-schema.ts";
import type { KnownProperty } from "../../registry/model/schema.ts";

/** What one or several descriptions say of a property. */
export interface PropertyFacts {
  /** Of all endpoints together; absent when unknown. */
  readonly triples?: number;
  /** All of them were counted. */
  readonly isCounted: boolean;
  /** Classes whose instances have the property. */
  readonly subjects: ReadonlySet<string>;
  /** Classes of its objects. */
  readonly objects: ReadonlySet<string>;
  readonly datatypes: ReadonlySet<string>;
  /** Every endpoint's list of its object classes and datatypes is complete. */
  readonly objectsComplete: boolean;
}

/** The classes and properties of some endpoints, as their descriptions tell them. */
export interface Vocabulary {
  readonly classes: ReadonlyMap<string, { readonly entities?: number }>;
  readonly properties: ReadonlyMap<string, PropertyFacts>;
  readonly languages: ReadonlySet<string>;
  readonly prefixes: readonly PrefixTable[];
}

/** One is made for each query that is checked against many endpoints; a schema that is replaced is never asked for again. */
const known = new LRUCache<DescribedSchema, Vocabulary>({ max: 50 });

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
  readonly objects: Set<string>;
  readonly datatypes: Set<string>;
  objectsComplete: boolean;
}

const emptyFacts = (): OpenFacts => ({
  isCounted: true,
  subjects: new Set(),
  objects: new Set(),
  datatypes: new Set(),
  objectsComplete: true,
});

function vocabularyOfOne(description: DescribedSchema): Vocabulary {
  const classes = new Map<string, { entities?: number }>();
  const properties = new Map<string, OpenFacts>();
  const add = (partition: KnownProperty, ofClass: string | undefined): void => {
    const facts = properties.get(partition.property) ?? emptyFacts();
    properties.set(partition.property, facts);
    if (ofClass === undefined) addCounts(facts, partition);
    else facts.subjects.add(ofClass);
    for (const { iri } of partition.objectClasses) facts.objects.add(iri);
    for (const { iri } of partition.datatypes) facts.datatypes.add(iri);
    facts.objectsComplete &&= partition.objectsComplete;
  };
  for (const { class: iri, entities, properties: own } of description.classPartitions) {
    classes.set(iri, entities === undefined ? {} : { entities: entities.value });
    for (const partition of own) add(partition, iri);
  }
  for (const partition of description.propertyPartitions) add(partition, undefined);
  const prefixes = [createPrefixTable(descriptionIris(description))];
  return { classes, properties, languages: new Set(description.languages), prefixes };
}

function addCounts(facts: OpenFacts, { triples }: KnownProperty): void {
  if (triples !== undefined) facts.triples = (facts.triples ?? 0) + triples.value;
  facts.isCounted &&= triples?.status === "exact";
}

function merged(all: readonly Vocabulary[]): Vocabulary {
  const classes = new Map<string, { entities?: number }>();
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
  into.objectsComplete &&= facts.objectsComplete;
  return into;
}
