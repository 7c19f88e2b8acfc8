import type { Triple } from "./described-data.ts";

/** What is true of one property, in the whole graph or among the instances of a class. */
export interface PropertyTruth {
  triples: number;
  distinctSubjects: number;
  distinctObjects: number;
  /** Class and datatype IRIs of the objects, with the triples that lead there. */
  readonly objectClasses: ReadonlyMap<string, number>;
  readonly datatypes: ReadonlyMap<string, number>;
}

/** What is true of one class. */
export interface ClassTruth {
  entities: number;
  /** Triples whose subject is an instance. */
  triples: number;
  readonly properties: ReadonlyMap<string, PropertyTruth>;
}

/** What a description of a graph must say, counted from its triples without SPARQL. */
export interface DataTruth {
  readonly triples: number;
  readonly distinctSubjects: number;
  readonly distinctObjects: number;
  /** Those with an IRI: others cannot be named in a description. */
  readonly classes: number;
  readonly properties: number;
  readonly classPartitions: ReadonlyMap<string, ClassTruth>;
  readonly propertyPartitions: ReadonlyMap<string, PropertyTruth>;
  /** Language tags in lower case. */
  readonly languages: ReadonlySet<string>;
}

const rdfType = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const langString = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
const xsdString = "http://www.w3.org/2001/XMLSchema#string";
const suffix = /"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?$/u;

/** Counts a graph; a triple that comes twice counts once. */
export function truthOf(triples: Iterable<Triple>): DataTruth {
  const bySubject = groupBySubject(triples);
  const types = new Map<string, readonly string[]>();
  for (const [subject, statements] of bySubject) {
    const classes = statements.filter(([predicate]) => predicate === rdfType).map(([, object]) => object);
    if (classes.length > 0) types.set(subject, classes);
  }
  const count = createCount();
  for (const statements of bySubject.values()) count.subject(statements, types);
  return count.truth(bySubject.size);
}

type Statement = readonly [predicate: string, object: string];

function groupBySubject(triples: Iterable<Triple>): ReadonlyMap<string, readonly Statement[]> {
  const groups = new Map<string, Map<string, Statement>>();
  // One string object per distinct term: a million triples fit into memory, and equal objects are compared by reference.
  const terms = new Map<string, string>();
  const known = (term: string): string => {
    const earlier = terms.get(term);
    if (earlier !== undefined) return earlier;
    terms.set(term, term);
    return term;
  };
  for (const [subject, predicate, object] of triples) {
    const key = known(subject);
    const group = groups.get(key) ?? new Map<string, Statement>();
    groups.set(key, group.set(`${predicate} ${object}`, [known(predicate), known(object)]));
  }
  return new Map([...groups].map(([subject, group]) => [subject, [...group.values()]]));
}

const iriOf = (term: string): string => term.slice(1, -1);
const isIri = (term: string): boolean => term.startsWith("<");

/** Counts up; `objects` is what distinct objects are told by. */
class PropertyCount implements PropertyTruth {
  triples = 0;
  distinctSubjects = 0;
  readonly objects = new Set<string>();
  readonly objectClasses = new Map<string, number>();
  readonly datatypes = new Map<string, number>();

  get distinctObjects(): number {
    return this.objects.size;
  }

  add(objects: readonly string[], types: ReadonlyMap<string, readonly string[]>): void {
    this.distinctSubjects++;
    for (const object of objects) {
      this.triples++;
      this.objects.add(object);
      if (object.startsWith('"')) increase(this.datatypes, datatypeOf(object));
      for (const type of types.get(object) ?? []) if (isIri(type)) increase(this.objectClasses, iriOf(type));
    }
  }
}

class ClassCount implements ClassTruth {
  entities = 0;
  triples = 0;
  readonly properties = new Map<string, PropertyCount>();
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function datatypeOf(literal: string): string {
  const [, language, datatype] = suffix.exec(literal) ?? [];
  return language === undefined ? (datatype ?? xsdString) : langString;
}

function createCount() {
  const classes = new Map<string, ClassCount>();
  const properties = new Map<string, PropertyCount>();
  const objects = new Set<string>();
  const languages = new Set<string>();
  let triples = 0;

  function subject(statements: readonly Statement[], types: ReadonlyMap<string, readonly string[]>): void {
    triples += statements.length;
    const byPredicate = Map.groupBy(statements, ([predicate]) => predicate);
    const own = byPredicate.get(rdfType)?.map(([, object]) => object) ?? [];
    for (const [, object] of statements) {
      objects.add(object);
      const language = object.startsWith('"') ? suffix.exec(object)?.[1] : undefined;
      if (language !== undefined) languages.add(language.toLowerCase());
    }
    const partitions = own.filter(isIri).map((type) => take(classes, iriOf(type), () => new ClassCount()));
    for (const partition of partitions) {
      partition.entities++;
      partition.triples += statements.length;
    }
    for (const [predicate, group] of byPredicate) {
      const values = group.map(([, object]) => object);
      for (const counts of [properties, ...partitions.map((partition) => partition.properties)])
        take(counts, iriOf(predicate), () => new PropertyCount()).add(values, types);
    }
  }

  return {
    subject,
    truth: (distinctSubjects: number): DataTruth => ({
      triples,
      distinctSubjects,
      distinctObjects: objects.size,
      classes: classes.size,
      properties: properties.size,
      classPartitions: classes,
      propertyPartitions: properties,
      languages,
    }),
  };
}

function take<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const value = map.get(key) ?? create();
  map.set(key, value);
  return value;
}
