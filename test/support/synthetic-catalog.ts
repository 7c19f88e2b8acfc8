import type { ClassPartition, PropertyPartition } from "../../src/registry/descriptions/void-description.ts";
import type { CatalogEntry } from "../../src/registry/catalog.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

const subjects =
  "proteins genes coins museums rivers cities weather persons books laws diseases roads maps songs films trials taxa molecules stations budgets".split(
    " ",
  );
const adjectives = "ancient public marine national medical historical statistical linked digital regional".split(" ");
const things =
  "Protein Gene Coin Museum River City Station Person Book Act Disease Road Map Song Film Trial Taxon Molecule".split(
    " ",
  );
const verbs =
  "has part location name date author subject title member parent cites measures encodes derived label".split(" ");

const pick = (list: readonly string[], number: number): string => list[number % list.length] ?? "";

/** A catalogue of so many made-up entries with texts like those of real ones. */
export function syntheticEntries(count: number): readonly CatalogEntry[] {
  return Array.from({ length: count }, (_, number) => {
    const subject = pick(subjects, number * 7);
    const adjective = pick(adjectives, number * 3 + Math.floor(number / 10));
    return Object.freeze({
      id: `dataset-${number}`,
      title: `${adjective} ${subject} dataset ${number}`,
      description: `Describes ${adjective} ${subject} and the ${pick(subjects, number + 5)} of ${pick(adjectives, number)} collections, about ${number * 3} items.`,
      url: `https://endpoint${number}.example/sparql`,
      interface: "sparql" as const,
      keywords: [subject, adjective, ...(number % 9 === 0 ? ["geography"] : [])],
      notes: number % 4 === 0 ? ["Cuts answers after 10,000 rows."] : [],
      blocksService: false,
      needsUserAgent: false,
      pseudoServices: [],
      rawQueries: false,
    });
  });
}

const count = (value: number) => ({ value, status: "exact" as const, record: 0 });

/** A description with that many classes of up to ten properties each, in the vocabulary of this number. */
export function syntheticDescription(number: number, size: { classes: number; properties: number }): VoidDescription {
  const base = `http://vocab${number % 60}.example/core/`;
  const properties = Array.from({ length: size.properties }, (_, at) =>
    propertyPartition(`${base}${pick(verbs, at)}${pick(things, at * 5)}${at}`, {
      triples: 100_000 - at,
      range: `${base}${pick(things, at)}${at % size.classes}`,
    }),
  );
  const classPartitions = Array.from({ length: size.classes }, (_, at) =>
    classPartition(
      `${base}${pick(things, at)}${at}`,
      10_000 - at,
      properties.slice((at * 3) % 100, ((at * 3) % 100) + 10),
    ),
  );
  return descriptionOf({
    endpoint: `https://endpoint${number}.example/sparql`,
    classPartitions,
    propertyPartitions: properties,
  });
}

/** A property partition with one range class and exact counts. */
export function propertyPartition(property: string, known: { triples?: number; range?: string }): PropertyPartition {
  return {
    property,
    status: "exact",
    record: 0,
    ...(known.triples !== undefined && { triples: count(known.triples) }),
    objectClasses: known.range === undefined ? [] : [{ iri: known.range, status: "exact", record: 0 }],
    datatypes: [],
    objectsComplete: true,
  };
}

/** A class partition with an exact number of instances and a complete list of properties. */
export function classPartition(
  iri: string,
  entities?: number,
  properties: readonly PropertyPartition[] = [],
): ClassPartition {
  return {
    class: iri,
    status: "exact",
    record: 0,
    ...(entities !== undefined && { entities: count(entities) }),
    properties,
    propertiesComplete: true,
  };
}

/** A complete, computed description with these parts. */
export function descriptionOf(parts: Partial<VoidDescription>): VoidDescription {
  return {
    endpoint: "https://example.org/sparql",
    dataset: "https://fedway.example/endpoints/x#dataset",
    source: "computed",
    startedAt: "2026-01-01T00:00:00Z",
    finishedAt: "2026-01-01T00:00:00Z",
    unfinished: false,
    classPartitions: [],
    classesComplete: true,
    propertyPartitions: [],
    propertiesComplete: true,
    languages: [],
    namespaces: [],
    linksets: [],
    unknown: [],
    records: [],
    cost: { requests: 0, bytes: 0, ms: 0 },
    ...parts,
  };
}
