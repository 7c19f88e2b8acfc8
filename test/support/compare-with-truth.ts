import type {
  ClassPartition,
  Count,
  FactStatus,
  ObjectPartition,
  PropertyPartition,
} from "../../src/registry/descriptions/void-description.ts";
import type { ClassTruth, DataTruth, PropertyTruth } from "./void-truth.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

/** How a description compares with what is true. Lists name the statements, so that a failing test says which. */
export interface Comparison {
  /** Statements of the description by status; "unknown" are those it says it could not find out. */
  readonly statements: Readonly<Record<FactStatus | "unknown", number>>;
  /** Statements with status "exact" that are not true. */
  readonly wrongExact: readonly string[];
  /** Lower bounds that are above the truth. */
  readonly wrongBounds: readonly string[];
  /** Lists called complete from which something is missing. */
  readonly wrongComplete: readonly string[];
  /** Classes, properties and object types that the data has not. */
  readonly invented: readonly string[];
  readonly completeLists: number;
  readonly lists: number;
  /** Share of the true class-property and class-property-(class or datatype) facts that the description has. */
  readonly recall: number;
  /** Share of the description's facts of that kind that are true. */
  readonly precision: number;
  /** Share of "exact" among all statements, unknown ones included. */
  readonly exactShare: number;
}

interface Tally {
  readonly statements: Record<FactStatus | "unknown", number>;
  readonly wrongExact: string[];
  readonly wrongBounds: string[];
  readonly wrongComplete: string[];
  readonly invented: string[];
  completeLists: number;
  lists: number;
  found: number;
  claimed: number;
}

/** Compares every statement of a description with the data's truth. */
export function compareWithTruth(description: VoidDescription, truth: DataTruth): Comparison {
  const tally: Tally = {
    statements: {
      exact: 0,
      lowerBound: 0,
      exists: 0,
      sampled: 0,
      claimed: 0,
      unknown: description.unknown.length,
    },
    wrongExact: [],
    wrongBounds: [],
    wrongComplete: [],
    invented: [],
    completeLists: 0,
    lists: 0,
    found: 0,
    claimed: 0,
  };
  compareDataset(tally, description, truth);
  for (const partition of description.classPartitions)
    compareClass(tally, partition, truth.classPartitions.get(partition.class));
  for (const partition of description.propertyPartitions) {
    const what = `property <${partition.property}>`;
    compareProperty(tally, { what, partition, truth: truth.propertyPartitions.get(partition.property) });
  }
  return summary(tally, truth);
}

function summary(tally: Tally, truth: DataTruth): Comparison {
  const { found, claimed, ...rest } = tally;
  const { unknown, exact, ...others } = tally.statements;
  const all = unknown + exact + Object.values(others).reduce((sum, number) => sum + number, 0);
  return {
    ...rest,
    recall: found / factsOf(truth),
    precision: claimed === 0 ? 1 : found / claimed,
    exactShare: all === 0 ? 0 : exact / all,
  };
}

function factsOf({ classPartitions }: DataTruth): number {
  let facts = 0;
  for (const { properties } of classPartitions.values()) {
    for (const { objectClasses, datatypes } of properties.values()) facts += 1 + objectClasses.size + datatypes.size;
  }
  return facts;
}

function compareDataset(tally: Tally, description: VoidDescription, truth: DataTruth): void {
  const counts = ["triples", "classes", "properties", "distinctSubjects", "distinctObjects"] as const;
  for (const name of counts) compareCount(tally, { what: name, count: description[name], truth: truth[name] });
  compareList(tally, {
    what: "classes",
    complete: description.classesComplete,
    listed: description.classPartitions.map((partition) => partition.class),
    truth: truth.classPartitions,
  });
  compareList(tally, {
    what: "properties",
    complete: description.propertiesComplete,
    listed: description.propertyPartitions.map((partition) => partition.property),
    truth: truth.propertyPartitions,
  });
  for (const language of description.languages)
    if (!truth.languages.has(language.toLowerCase())) tally.invented.push(`language ${language}`);
}

function compareClass(tally: Tally, partition: ClassPartition, truth: ClassTruth | undefined): void {
  const what = `class <${partition.class}>`;
  compareExistence(tally, { what, status: partition.status, exists: truth !== undefined });
  compareCount(tally, { what: `entities of ${what}`, count: partition.entities, truth: truth?.entities ?? 0 });
  compareCount(tally, { what: `triples of ${what}`, count: partition.triples, truth: truth?.triples ?? 0 });
  compareList(tally, {
    what: `properties of ${what}`,
    complete: partition.propertiesComplete,
    listed: partition.properties.map(({ property }) => property),
    truth: truth?.properties ?? new Map(),
  });
  for (const one of partition.properties) {
    const known = truth?.properties.get(one.property);
    countFacts(tally, one, known);
    compareProperty(tally, { what: `property <${one.property}> of ${what}`, partition: one, truth: known });
  }
}

function countFacts(tally: Tally, partition: PropertyPartition, truth: PropertyTruth | undefined): void {
  countFact(tally, truth !== undefined);
  for (const { iri } of partition.objectClasses) countFact(tally, truth?.objectClasses.has(iri) === true);
  for (const { iri } of partition.datatypes) countFact(tally, truth?.datatypes.has(iri) === true);
}

function countFact(tally: Tally, isTrue: boolean): void {
  tally.claimed++;
  if (isTrue) tally.found++;
}

interface ComparedProperty {
  readonly what: string;
  readonly partition: PropertyPartition;
  readonly truth: PropertyTruth | undefined;
}

function compareProperty(tally: Tally, { what, partition, truth }: ComparedProperty): void {
  compareExistence(tally, { what, status: partition.status, exists: truth !== undefined });
  for (const name of ["triples", "distinctSubjects", "distinctObjects"] as const)
    compareCount(tally, { what: `${name} of ${what}`, count: partition[name], truth: truth?.[name] ?? 0 });
  const objects = [
    { kind: "object class", listed: partition.objectClasses, known: truth?.objectClasses ?? new Map<string, number>() },
    { kind: "datatype", listed: partition.datatypes, known: truth?.datatypes ?? new Map<string, number>() },
  ];
  for (const { kind, listed, known } of objects) {
    for (const object of listed) compareObject(tally, { what: `${kind} <${object.iri}> of ${what}`, object, known });
    compareList(tally, {
      what: `${kind} list of ${what}`,
      complete: partition.objectsComplete,
      listed: listed.map(({ iri }) => iri),
      truth: known,
    });
  }
}

interface ComparedObject {
  readonly what: string;
  readonly object: ObjectPartition;
  readonly known: ReadonlyMap<string, number>;
}

function compareObject(tally: Tally, { what, object, known }: ComparedObject): void {
  compareExistence(tally, { what, status: object.status, exists: known.has(object.iri) });
  compareCount(tally, { what: `triples of ${what}`, count: object.triples, truth: known.get(object.iri) ?? 0 });
}

interface ComparedExistence {
  readonly what: string;
  readonly status: FactStatus;
  readonly exists: boolean;
}

function compareExistence(tally: Tally, { what, status, exists }: ComparedExistence): void {
  tally.statements[status]++;
  if (exists) return;
  tally.invented.push(what);
  if (status === "exact") tally.wrongExact.push(`${what} does not exist`);
}

interface ComparedCount {
  readonly what: string;
  readonly count: Count | undefined;
  readonly truth: number;
}

function compareCount(tally: Tally, { what, count, truth }: ComparedCount): void {
  if (count === undefined) return;
  tally.statements[count.status]++;
  const said = `${what}: ${count.value}, in truth ${truth}`;
  if (count.status === "exact" && count.value !== truth) tally.wrongExact.push(said);
  // Whatever was counted or seen is there at least; only a publisher's claim may be too high.
  if (count.status !== "exact" && count.status !== "claimed" && count.value > truth) tally.wrongBounds.push(said);
}

interface ComparedList {
  readonly what: string;
  readonly complete: boolean;
  readonly listed: readonly string[];
  readonly truth: ReadonlyMap<string, unknown>;
}

function compareList(tally: Tally, { what, complete, listed, truth }: ComparedList): void {
  tally.lists++;
  const names = new Set(listed);
  if (names.size < listed.length) tally.invented.push(`${what}: listed twice`);
  if (!complete) return;
  tally.completeLists++;
  const missing = [...truth.keys()].filter((name) => !names.has(name));
  if (missing.length > 0)
    tally.wrongComplete.push(`${what}: ${missing.length} of ${truth.size} missing, e.g. <${missing[0]}>`);
}
