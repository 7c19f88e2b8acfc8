import {
  classPartitions as classesOf,
  countNames,
  type Counts,
  Fact,
  FactList,
  type Known,
  listed,
  type PartName,
  partNames,
  propertyPartitions,
} from "../facts.ts";
import type { FactStatus, ClassPartition, Count, Linkset, TermText, VoidDescription } from "../void-description.ts";
import { compareText } from "../../../rdf/canonical.ts";

/** Reduces a finding to the existence of the things it names. */
export const existing = ({ status, record }: Known): Known => ({
  status: status === "exact" || status === "lowerBound" ? "exists" : status,
  record,
});

const totalNames = ["triples", "classes", "properties", "distinctSubjects", "distinctObjects"] as const;

/** Counts of the whole dataset. */
export type DatasetCount = (typeof totalNames)[number];

/** Everything found out so far, open to change; or everything that the publisher claims, which stays apart from it. */
export type FactBase = ReturnType<typeof emptyFacts>;

/** An empty base. */
export const emptyFacts = () => ({
  totals: {} as { [Name in DatasetCount]?: Count | undefined },
  classes: new FactList(),
  properties: new FactList(),
  languages: new Set<string>(),
  namespaces: new Set<string>(),
  /** Named graphs that are described instead of the default graph, which holds more. */
  graphs: new Set<string>(),
  /** Named graphs: beside the default graph that is described or, where that is empty, those whose union is described. */
  namedGraphs: new FactList(),
  graphsBeside: false,
  /** Labels and descriptions of classes and properties by IRI. */
  terms: new Map<string, TermText>(),
});

/**
 * Two counts of the same thing made one: exact beats anything, of lower bounds the higher one stays, a claim stays until
 * something exact comes or a bound contradicts it. Two different exact counts leave a lower bound, the smaller.
 */
export function mergedCount(known: Count | undefined, found: Count | undefined): Count | undefined {
  if (known === undefined || found === undefined) return known ?? found;
  const [least, most] = found.value > known.value ? [known, found] : [found, known];
  if (known.status !== "exact") return found.status === "exact" ? found : most;
  if (found.status === "exact") return least.value === most.value ? known : { ...least, status: "lowerBound" };
  // More than an exact count: the count cannot have been exact.
  return most === known ? known : { ...found, status: "lowerBound" };
}

/** Any partition of a description. */
interface Partition extends Readonly<Known>, Readonly<Counts> {
  readonly class?: string;
  readonly property?: string;
  readonly iri?: string;
  readonly graph?: string;
  readonly properties?: readonly Partition[];
  readonly propertiesComplete?: boolean;
  readonly objectClasses?: readonly Partition[];
  readonly datatypes?: readonly Partition[];
  readonly objectsComplete?: boolean;
}

type IsWanted = (fact: { readonly status: FactStatus }) => boolean;

/** True of a description that has its publisher's claims in it. */
export const hasClaims = (known: VoidDescription | undefined): known is VoidDescription =>
  known !== undefined && known.source !== "computed";

/** The facts of a description, a retrieved one or a checkpoint: measured ones, or its publisher's claims. */
export function restoredFacts(known: VoidDescription | undefined, kind: "measured" | "claimed"): FactBase {
  const base = emptyFacts();
  if (known === undefined) return base;
  const isWanted: IsWanted = ({ status }) => (status === "claimed") === (kind === "claimed");
  for (const name of totalNames) base.totals[name] = wanted(known[name], isWanted);
  for (const term of known.terms ?? []) if (isWanted(term)) base.terms.set(term.iri, term);
  restore(base.properties, known.propertyPartitions, isWanted);
  base.properties.complete = known.propertiesComplete;
  restore(base.classes, known.classPartitions, isWanted);
  base.classes.complete = known.classesComplete;
  if (kind === "claimed") return base;
  const graphs = known.namedGraphs ?? known.graphsBeside;
  restore(base.namedGraphs, graphs?.list ?? [], isWanted);
  base.namedGraphs.complete = graphs?.complete === true;
  const { languages, namespaces } = known;
  const beside = { graphs: new Set(known.graphs), graphsBeside: known.graphsBeside !== undefined };
  return { ...base, ...beside, languages: new Set(languages), namespaces: new Set(namespaces) };
}

const wanted = (count: Count | undefined, isWanted: IsWanted): Count | undefined =>
  count && isWanted(count) ? count : undefined;

/** A fact stays also for the sake of one count or part. */
function restore(facts: FactList, partitions: readonly Partition[], isWanted: IsWanted): void {
  for (const partition of partitions) {
    const fact = restored(partition, isWanted);
    const iri = partition.class ?? partition.property ?? partition.iri ?? partition.graph ?? "";
    const hasFacts = countNames.some((name) => fact[name]) || partNames.some((name) => fact.parts[name]?.size);
    if (hasFacts || isWanted(partition)) facts.set(iri, fact);
  }
}

function restored(partition: Partition, isWanted: IsWanted): Fact {
  const { propertiesComplete, objectsComplete } = partition;
  const fact = new Fact(partition);
  for (const name of countNames) fact[name] = wanted(partition[name], isWanted);
  for (const name of partNames) if (partition[name]?.length) restore(fact[name], partition[name], isWanted);
  if (propertiesComplete) fact.properties.complete = true;
  if (objectsComplete) fact.objectClasses.complete = fact.datatypes.complete = true;
  return fact;
}

/**
 * Lays the publisher's claims under the measured facts. A claim fills a gap and never changes a fact: a term that a
 * complete list lacks is left out and reported.
 */
export function withClaims(measured: FactBase, claims: FactBase) {
  const { classes, properties } = measured;
  const wholes: { readonly [Name in PartName]?: FactList } = { properties, objectClasses: classes };
  /** Claims under the facts of a list; `whole` is the list of the dataset that all of them are in. */
  const layered = (facts: FactList | undefined, claimed: FactList | undefined, whole?: FactList): FactList => {
    const all = new FactList(facts);
    all.complete = (facts ?? claimed)?.complete === true;
    for (const [iri, claim] of claimed ?? []) {
      const fact = facts?.get(iri);
      if (fact !== undefined || mayHave(facts, iri, whole)) all.set(iri, joined(fact, claim));
    }
    return all;
  };
  const joined = (fact: Fact | undefined, claim: Fact): Fact => {
    const both = new Fact(fact ?? claim);
    for (const name of countNames) both[name] = mergedCount(claim[name], fact?.[name]);
    for (const name of partNames) {
      const [facts, claimed] = [fact?.parts[name], claim.parts[name]];
      if (facts || claimed) both.parts[name] = layered(facts, claimed, wholes[name]);
    }
    return both;
  };
  const totals = { ...measured.totals };
  for (const name of totalNames) totals[name] = mergedCount(claims.totals[name], totals[name]);
  return {
    /** Facts and claims to show of the dataset; a claim only where there is no fact. */
    shown: {
      ...measured,
      totals,
      terms: new Map([...claims.terms, ...measured.terms]),
      classes: layered(classes, claims.classes, classes),
      properties: layered(properties, claims.properties, properties),
    },
    /** Terms that the publisher names and the data lack, with the request that the description came by. */
    lacking: [
      ...lackingIn("class", classes, claims.classes),
      ...lackingIn("property", properties, claims.properties),
    ].slice(0, mostLacking),
  };
}

const mostLacking = 200;

const lackingIn = (kind: string, facts: FactList, claimed: FactList) =>
  [...claimed]
    .filter(([iri]) => facts.complete && !facts.has(iri))
    .map(([iri, { record }]) => ({ what: `${kind} <${iri}> of the publisher's description`, record }));

/** True if a list may have an item that it lacks; `whole` lists every possible item. */
const mayHave = (facts: FactList | undefined, iri: string, whole: FactList | undefined): boolean =>
  facts?.complete !== true && (whole === undefined || !whole.complete || whole.has(iri));

const mostLinksets = 20_000;

/**
 * Statements of a description about the data, by a fact base and the description that it goes on from. Values are snapshots:
 * later changes of the base do not show.
 */
export function describedFacts(base: FactBase, known: VoidDescription | undefined) {
  const {
    retrievedFrom,
    title,
    description,
    license,
    citation,
    origin,
    entities,
    dumps,
    vocabularies,
  }: Partial<VoidDescription> = known ?? {};
  const { classes, properties, languages, namespaces, graphs, terms } = base;
  const classPartitions = classesOf(classes);
  const published = known?.linksets.filter((linkset) => isPublished(linkset) && isPossible(base, linkset)) ?? [];
  return {
    source: hasClaims(known) ? ("mixed" as const) : ("computed" as const),
    retrievedFrom,
    title,
    description,
    license,
    citation,
    origin,
    entities,
    dumps,
    vocabularies,
    ...base.totals,
    classPartitions,
    classesComplete: classes.complete,
    propertyPartitions: propertyPartitions(properties),
    propertiesComplete: properties.complete,
    languages: [...languages].toSorted(compareText),
    namespaces: [...namespaces].toSorted(compareText),
    graphs: graphs.size > 0 ? [...graphs].toSorted(compareText) : undefined,
    ...namedGraphsOf(base),
    linksets: [...published, ...linksetsWithin(classPartitions)].slice(0, mostLinksets),
    terms: terms.size > 0 ? [...terms.values()].toSorted((one, other) => compareText(one.iri, other.iri)) : undefined,
  };
}

const graphPartition = ({ status, record, triples }: Fact, graph: string) => ({ graph, status, record, triples });

function namedGraphsOf({ namedGraphs, graphsBeside }: FactBase) {
  if (namedGraphs.size === 0) return {};
  const graphs = { list: listed(namedGraphs, "triples", graphPartition), complete: namedGraphs.complete };
  return graphsBeside ? { graphsBeside: graphs } : { namedGraphs: graphs };
}

/** Linksets that do not follow from the class partitions: the publisher's own, and those to other endpoints. */
const isPublished = (linkset: Linkset): boolean => linkset.targetEndpoint !== undefined || linkset.status === "claimed";

/** False for published terms that a complete list lacks: the publisher's claim is out of date. */
function isPossible(base: FactBase, { property, subjectClass, status }: Linkset): boolean {
  if (status !== "claimed") return true;
  const hasClass = subjectClass === undefined || base.classes.has(subjectClass);
  return (base.properties.has(property) || !base.properties.complete) && (hasClass || !base.classes.complete);
}

/** Links between classes inside the dataset (T4): each property of a class whose objects have a class. */
function linksetsWithin(partitions: readonly ClassPartition[]): readonly Linkset[] {
  const linksets: Linkset[] = [];
  for (const partition of partitions) {
    for (const { property, objectClasses } of partition.properties) {
      for (const { iri, status, record, triples } of objectClasses) {
        // The publisher's own linksets stand beside these.
        if (status === "claimed") continue;
        if (linksets.length >= mostLinksets) return linksets;
        const ends = { property, subjectClass: partition.class, objectClass: iri };
        linksets.push({ ...ends, status, record, triples });
      }
    }
  }
  return linksets;
}
