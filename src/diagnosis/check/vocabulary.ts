import { LRUCache } from "lru-cache";
import { rdf } from "../../rdf/vocabularies.ts";
import { PrefixTable } from "../../registry/schema.ts";
import type { EndpointModel, KnownSchema } from "../../registry/model.ts";
import type { PlacedPattern } from "../../sparql/patterns.ts";

type KnownProperty = KnownSchema["propertyPartitions"][number];

type DescribedSchema = NonNullable<EndpointModel["described"]>;

/** A property in a description. */
export interface PropertyFacts {
  /** Absent when unknown. */
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
  /** The list of its object classes and datatypes is complete. */
  readonly objectsComplete: boolean;
}

interface ClassFacts {
  readonly entities?: number;
  /** Of its instances, all there are; absent where some may be missing. */
  readonly properties?: ReadonlySet<string>;
}

/** The classes and properties of an endpoint by its description. */
export interface Vocabulary {
  readonly classes: ReadonlyMap<string, ClassFacts>;
  readonly properties: ReadonlyMap<string, PropertyFacts>;
  readonly languages: ReadonlySet<string>;
  readonly prefixes: PrefixTable;
}

/** A schema that is replaced is never asked for again. */
const known = new LRUCache<DescribedSchema, Vocabulary>({ max: 300 });

/** The vocabulary of a description, kept as long as that. */
export function vocabularyOf(description: DescribedSchema): Vocabulary {
  const kept = known.get(description) ?? read(description);
  known.set(description, kept);
  return kept;
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

function read(description: DescribedSchema): Vocabulary {
  const classes = new Map<string, ClassFacts>();
  const properties = new Map<string, OpenFacts>();
  const add = (partition: KnownProperty): OpenFacts => {
    const facts = properties.get(partition.property) ?? {
      isCounted: true,
      subjects: new Set(),
      allSubjects: new Set(),
      objects: new Set(),
      datatypes: new Set(),
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
  const prefixes = PrefixTable.of(description);
  return { classes, properties, languages: new Set(description.languages), prefixes };
}

function addCounts(facts: OpenFacts, { triples }: KnownProperty): void {
  if (triples !== undefined) facts.triples = (facts.triples ?? 0) + triples.value;
  facts.isCounted &&= triples?.status === "exact";
}

/** Classes that the subject of a pattern may have; empty: any. */
export function classesOfSubject(
  { predicate, object }: PlacedPattern,
  vocabularies: readonly Vocabulary[],
): readonly string[] {
  if (predicate.kind !== "iri") return [];
  if (predicate.iri === rdf.type) return object.kind === "iri" ? [object.iri] : [];
  return vocabularies.flatMap(({ properties }) => Array.from(properties.get(predicate.iri)?.subjects ?? []));
}
