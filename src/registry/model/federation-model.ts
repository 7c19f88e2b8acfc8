import type { Federation } from "../catalog/catalog.ts";
import type { ClassPartition, Count, PropertyPartition, VoidDescription } from "../descriptions/void-description.ts";
import { DescribedSchema } from "./described-schema.ts";
import type { EndpointModel, EndpointModels } from "./endpoint-models.ts";
import type { KnownCount, KnownProperty, TermKind } from "./schema.ts";
import { TextPool } from "./text-pool.ts";
import { itemAt } from "../../values.ts";

/** A class or property, and which members have it. */
export interface SplitTerm {
  readonly iri: string;
  /** "builder": the builder of its shards says so; "derived": the members are described with it. */
  readonly source: "builder" | "derived";
  /** Counts are each member's own: members may hold the same triples, so there is no sum. */
  readonly at: readonly { readonly id: string; readonly count?: KnownCount | undefined }[];
}

/** The combined data of a federation's members, as if it were one endpoint. */
export interface FederationModel extends EndpointModel {
  readonly federation: Federation;
  readonly members: readonly string[];
  /** Members of which something is known; of the others nothing is said. */
  readonly known: readonly string[];
  /** The same as `described`. */
  readonly description: VoidDescription;
}

/** Members that one is made of. */
const mostMembers = 300;

/** The merged model: each class with the properties that any member has of it, references with the classes that they lead to. */
export function federationModel(
  models: EndpointModels,
  federation: Federation,
  members: readonly string[],
): FederationModel | undefined {
  const all = members.slice(0, mostMembers).flatMap((id) => models.get(id)?.described ?? []);
  if (all.length === 0) return undefined;
  const known = members.filter((id) => models.get(id)?.described !== undefined);
  const isWhole = all.length === members.length;
  const together = isWhole && areOneBuild(all) ? sumOf : atLeast;
  const { id, title } = federation;
  const labels = new Map(
    all
      .flatMap((each) => Array.from(each.terms(), ({ iri, label }) => [iri, label] as const))
      .filter(([, label]) => label),
  );
  const description: VoidDescription = {
    endpoint: id,
    id,
    title,
    dataset: id,
    source: "computed",
    startedAt: itemAt(all.map((each) => each.startedAt).toSorted(), 0),
    finishedAt: itemAt(all.map((each) => each.finishedAt).toSorted(), all.length - 1),
    unfinished: false,
    classPartitions: mergedClasses(all, together),
    classesComplete: isWhole && all.every((each) => each.classesComplete),
    propertyPartitions: mergedProperties(
      { counted: all.flatMap((each) => each.propertyPartitions), ends: all.flatMap(knownEnds) },
      together,
    ),
    propertiesComplete: isWhole && all.every((each) => each.propertiesComplete),
    languages: [...new Set(all.flatMap(({ languages }) => languages))],
    namespaces: [...new Set(all.flatMap(({ namespaces }) => namespaces))],
    linksets: [],
    terms: Array.from(labels, ([iri, label]) => ({ iri, label, ...seen })),
    unknown: [],
    records: [],
    cost: { requests: 0, bytes: 0, ms: 0 },
  };
  const described = new DescribedSchema(description, new TextPool(), () => true);
  return { id, federation, members, known, description, described };
}

const seen = { status: "exact", record: 0 } as const;

/** How the members' counts of a class or property become that of the federation; an unknown one is undefined. */
type Together = (counts: readonly (KnownCount | undefined)[]) => Count | undefined;

/** Knowledge of the members about a property. */
interface PropertyDraft {
  /** Once a member, with its count. */
  readonly counted: KnownProperty[];
  /** With the classes at its ends; the counts are those of other partitions. */
  readonly ends: KnownProperty[];
}

function mergedClasses(all: readonly DescribedSchema[], together: Together): readonly ClassPartition[] {
  const found = new Map<string, PropertyDraft & { readonly entities: (KnownCount | undefined)[] }>();
  const draftOf = (iri: string) => {
    const draft = found.get(iri) ?? { entities: [], counted: [], ends: [] };
    found.set(iri, draft);
    return draft;
  };
  for (const described of all) {
    const own = new Set<string>();
    for (const { class: iri, entities, properties } of described.classPartitions) {
      const draft = draftOf(iri);
      draft.entities.push(entities);
      draft.counted.push(...properties);
      for (const { property } of properties) own.add(`${iri} ${property}`);
    }
    for (const { subjectClasses, ...property } of knownEnds(described)) {
      for (const iri of subjectClasses) {
        draftOf(iri).ends.push(property);
        // All of a property that has one class is of that class.
        if (subjectClasses.length === 1 && !own.has(`${iri} ${property.property}`)) draftOf(iri).counted.push(property);
      }
    }
  }
  return Array.from(found, ([iri, { entities, counted, ends }]) => ({
    class: iri,
    ...seen,
    entities: together(entities),
    properties: mergedProperties({ counted, ends }, together).filter(({ property }) => property !== rdfType),
    propertiesComplete: false,
  })).toSorted(
    (one, other) => (other.entities?.value ?? -1) - (one.entities?.value ?? -1) || order(one.class, other.class),
  );
}

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

const order = (one: string, other: string): number => (one < other ? -1 : 1);

/**
 * Properties with classes at their ends that lie at other members: as links were counted, and as the builder of a shard states,
 * which has no classes of its own where it has a property alone.
 */
function knownEnds(
  described: DescribedSchema,
): readonly (KnownProperty & { readonly subjectClasses: readonly string[] })[] {
  const own = new Map(described.propertyPartitions.map((each) => [each.property, each]));
  const built = described.built?.properties ?? [];
  const links = described.linksets.map(({ property, subjectClass, objectClass }) => ({
    property,
    subjectClasses: subjectClass === undefined ? [] : [subjectClass],
    objectClasses: objectClass === undefined ? [] : [objectClass],
  }));
  return [...built, ...links].flatMap(({ property, subjectClasses, objectClasses }) => {
    const partition = own.get(property) ?? { property, objectClasses: [], datatypes: [], objectsComplete: false };
    const ends = [...partition.objectClasses, ...objectClasses.map((iri) => ({ iri }))];
    return Object.assign({}, partition, { subjectClasses, objectClasses: ends });
  });
}

function mergedProperties({ counted, ends }: PropertyDraft, together: Together): readonly PropertyPartition[] {
  const counts = Map.groupBy(counted, ({ property }) => property);
  const merged = Array.from(
    Map.groupBy([...counted, ...ends], ({ property }) => property),
    ([property, parts]): PropertyPartition => ({
      property,
      ...seen,
      triples: together((counts.get(property) ?? []).map(({ triples }) => triples)),
      objectClasses: distinct(parts.flatMap(({ objectClasses }) => objectClasses)),
      datatypes: distinct(parts.flatMap(({ datatypes }) => datatypes)),
      objectsComplete: parts.every(({ objectsComplete }) => objectsComplete),
    }),
  );
  return merged.toSorted(
    (one, other) => (other.triples?.value ?? -1) - (one.triples?.value ?? -1) || order(one.property, other.property),
  );
}

const distinct = (ends: readonly { readonly iri: string }[]) =>
  [...new Set(ends.map(({ iri }) => iri))].map((iri) => Object.assign({ iri }, seen));

/**
 * The members are all shards of one build, which has each triple once: a class that several have is at as many as their builder says.
 */
function areOneBuild(all: readonly DescribedSchema[]): boolean {
  if (all.some(({ built }) => built === undefined)) return false;
  const parts = all.flatMap(({ built }, member) =>
    (built?.parts ?? []).map((part) => ({ class: part.class, parts: part.parts, member })),
  );
  const stated = Map.groupBy(parts, (part) => part.class);
  const having = Map.groupBy(
    all.flatMap(({ classPartitions }, member) => classPartitions.map((each) => ({ class: each.class, member }))),
    (each) => each.class,
  );
  const isStated = (iri: string, members: readonly { readonly member: number }[]): boolean => {
    const own = stated.get(iri) ?? [];
    const isAtEach = members.every(({ member }) => own.some((part) => part.member === member));
    return own.every((part) => part.parts === own.length) && (isAtEach || (members.length === 1 && own.length === 0));
  };
  return having.size > 0 && [...having].every(([iri, members]) => isStated(iri, members));
}

/** The sum of exact counts. */
function sumOf(counts: readonly (KnownCount | undefined)[]): Count | undefined {
  if (counts.length === 0 || counts.some((count) => count?.status !== "exact")) return atLeast(counts);
  return { value: counts.reduce((sum, count) => sum + (count?.value ?? 0), 0), status: "exact", record: 0 };
}

/** The largest of the members' counts: they may hold the same triples, so there is no sum. */
function atLeast(counts: readonly (KnownCount | undefined)[]): Count | undefined {
  const [largest, ...others] = counts.flatMap((count) => count ?? []).toSorted((one, other) => other.value - one.value);
  if (largest === undefined) return undefined;
  const isAll = others.length === 0 && counts.length === 1;
  const status = isAll || largest.status !== "exact" ? largest.status : "lowerBound";
  return { value: largest.value, status, record: 0 };
}

/** The classes or properties of these endpoints: those that most have first, then by the largest count, then by IRI. */
export function splitTerms(models: EndpointModels, ids: readonly string[], kind: TermKind): readonly SplitTerm[] {
  const here = new Set(ids);
  const found = new Map<string, { source: SplitTerm["source"]; readonly at: Map<string, KnownCount | undefined> }>();
  const termOf = (iri: string, source: SplitTerm["source"]) => {
    const term = found.get(iri) ?? { source, at: new Map<string, KnownCount | undefined>() };
    if (source === "builder") term.source = source;
    found.set(iri, term);
    return term;
  };
  for (const id of ids) {
    const { described } = models.get(id) ?? {};
    for (const { iri, count } of described?.terms(kind) ?? []) termOf(iri, "derived").at.set(id, count);
    // A shard of a property alone is not described with the class that it has a part of.
    for (const { class: iri, siblings } of (kind === "class" && described?.built?.parts) || []) {
      const { at } = termOf(iri, "builder");
      const parts = [id, ...siblings.map(({ endpoint }) => endpoint)].filter((each) => here.has(each));
      for (const part of parts) at.set(part, at.get(part));
    }
  }
  const largest = ({ at }: SplitTerm): number => Math.max(...at.map(({ count }) => count?.value ?? -1));
  return [...found]
    .map(([iri, { source, at }]): SplitTerm => ({ iri, source, at: Array.from(at, ([id, count]) => ({ id, count })) }))
    .toSorted(
      (one, other) =>
        other.at.length - one.at.length || largest(other) - largest(one) || (one.iri < other.iri ? -1 : 1),
    );
}
