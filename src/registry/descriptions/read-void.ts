import type * as RDF from "@rdfjs/types";
import { dcterms, rdfs, sd, voidExt, voidLinks, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import {
  classPartitions as classesOf,
  countNames,
  FactList,
  type PartName,
  propertyPartitions as propertiesOf,
} from "./facts.ts";
import { dataFactory } from "../../rdf/triple-index.ts";
import {
  agreedNumber,
  bestTexts,
  indexNodes,
  iriOf,
  iriTextOf,
  isWritable,
  languageOf,
  type NodeIndex,
  onlyIri,
  textOf,
  titleOf,
} from "./values.ts";
import { termKey } from "../../results/terms.ts";
import type { Count, Linkset, TermText, VoidDescription } from "./void-description.ts";

/** The facts of a description, without the story of how they were found. */
export type VoidFacts = Omit<
  VoidDescription,
  | ("endpoint" | "id" | "dataset" | "source" | "retrievedFrom" | "startedAt" | "finishedAt" | "unfinished")
  | ("graphs" | "namedGraphs" | "unknown" | "records" | "cost")
>;

/** Languages and namespaces that are taken in. */
const mostNames = 1000;

/**
 * Everything that VoID (and its extension for object classes and datatypes) says of a dataset. Never throws.
 * @param lists the partitions, where they were not read with the document
 */
export function readVoid(source: VoidSource, lists: PublishedLists = readPartitions(source)): VoidFacts {
  const classPartitions = classesOf(lists.classes);
  const propertyPartitions = propertiesOf(lists.properties);
  const terms = readTerms(source, termIris(classPartitions, propertyPartitions));
  return {
    ...readTexts(source),
    ...readTotals(source),
    classPartitions,
    classesComplete: false,
    propertyPartitions,
    propertiesComplete: false,
    languages: readLanguages(source),
    namespaces: namesOf(objectsOf(source, v.uriSpace).map(iriTextOf)),
    ...readAddresses(source),
    linksets: readLinksets(source),
    ...(terms && { terms }),
  };
}

/** The same of a dataset that these quads describe. */
export const readDataset = (quads: readonly RDF.Quad[], dataset: string): VoidFacts =>
  readVoid({ index: indexNodes(quads), nodes: [dataFactory.namedNode(dataset)], record: 0 });

function objectsOf({ index, nodes }: VoidSource, ...predicates: readonly string[]): readonly RDF.Term[] {
  return predicates.flatMap((predicate) => nodes.flatMap((node) => index.objects(node, predicate)));
}

function readTexts(source: VoidSource) {
  const firstIri = (predicate: string): string | undefined =>
    objectsOf(source, predicate)
      .map(iriOf)
      .find((iri) => iri !== undefined);
  return {
    title: titleOf(objectsOf(source, dcterms.title, rdfs.label)),
    description: textOf(objectsOf(source, dcterms.description, rdfs.comment)),
    license: firstIri(dcterms.license),
    citation: textOf(objectsOf(source, dcterms.bibliographicCitation)),
    origin: firstIri(dcterms.source),
  };
}

/** Addresses of data dumps, and vocabularies. */
function readAddresses(source: VoidSource) {
  const dumps = namesOf(objectsOf(source, v.dataDump).map(iriOf));
  const vocabularies = namesOf(objectsOf(source, v.vocabulary).map(iriOf));
  return { ...(dumps.length > 0 && { dumps }), ...(vocabularies.length > 0 && { vocabularies }) };
}

const totals = ["triples", "entities", "classes", "properties", "distinctSubjects", "distinctObjects"] as const;

/**
 * Totals are those of the dataset or its default graph. Named graphs and subsets have totals of their own, which are those of
 * the whole only where there is one such part.
 */
function readTotals(source: VoidSource): { readonly [Name in (typeof totals)[number]]?: Count } {
  const { index, nodes } = source;
  const [dataset, ...parts] = nodes;
  const own = dataset === undefined ? [] : [dataset, ...index.objects(dataset, sd.defaultGraph)];
  const counts = totals.map((name) => {
    const has = (node: RDF.Term): boolean => index.has(node, v[name]);
    const holders = own.some(has) ? own.filter(has).slice(0, 1) : parts.length === 1 ? parts : [];
    return [name, readCount(source, holders, v[name])] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count !== undefined));
}

/** IRIs of the classes and properties of a description, each once: classes first, most frequent first. */
function termIris(
  classPartitions: VoidDescription["classPartitions"],
  propertyPartitions: VoidDescription["propertyPartitions"],
): ReadonlySet<string> {
  const properties = [...propertyPartitions, ...classPartitions.flatMap((partition) => partition.properties)];
  const iris = [...classPartitions.map((partition) => partition.class), ...properties.map(({ property }) => property)];
  return new Set(iris.filter(isWritable));
}

/** Texts of a document about the classes and properties of a dataset that it describes; undefined when there are none. */
function readTerms(source: VoidSource, iris: Iterable<string>): readonly TermText[] | undefined {
  const terms: TermText[] = [];
  for (const iri of iris) {
    const node = dataFactory.namedNode(iri);
    const texts = bestTexts((property) => source.index.objects(node, property));
    if (texts) terms.push({ iri, ...texts, ...claimed(source.record) });
  }
  return terms.length === 0 ? undefined : terms.toSorted((one, other) => (one.iri < other.iri ? -1 : 1));
}

function readLanguages(source: VoidSource): readonly string[] {
  const { index } = source;
  const partitions = objectsOf(source, voidExt.languagePartition);
  const tags = partitions.flatMap((partition) => index.objects(partition, voidExt.language));
  return namesOf([...tags, ...objectsOf(source, `${dcterms.namespace}language`)].map(languageOf));
}

function namesOf(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== undefined))].slice(0, mostNames).toSorted();
}

const mostLinksets = 50_000;

/**
 * The linksets of a dataset: its subsets, by VoID or VoIDext, and those that name it as the side of their subjects (VoID,
 * section 4).
 */
function readLinksets(source: VoidSource): readonly Linkset[] {
  const { index, nodes } = source;
  const datasets = new Set(nodes.map(termKey));
  const subsets = new Set(nodes.flatMap((node) => index.objects(node, v.subset).map(termKey)));
  const linksets: Linkset[] = [];
  for (const node of index.subjects) {
    if (linksets.length >= mostLinksets) break;
    if (!index.has(node, v.linkPredicate)) continue;
    const from = index.objects(node, v.subjectsTarget);
    const holders = [...from, ...index.objects(node, voidLinks.isSubsetOf)];
    if (!subsets.has(termKey(node)) && !holders.some((target) => datasets.has(termKey(target)))) continue;
    const linkset = readLinkset(source, node);
    if (linkset !== undefined) linksets.push(linkset);
  }
  return linksets;
}

function readLinkset(source: VoidSource, node: RDF.Term): Linkset | undefined {
  const { index } = source;
  const property = onlyIri(index.objects(node, v.linkPredicate));
  if (property === undefined) return undefined;
  const classOf = (predicate: string, joined: string): string | undefined =>
    onlyIri(index.objects(node, predicate).flatMap((target) => index.objects(target, v.class))) ??
    onlyIri(index.objects(node, joined));
  const [target] = index.objects(node, v.objectsTarget);
  const isElsewhere =
    target !== undefined &&
    !index.has(target, v.class) &&
    !source.nodes.some((own) => termKey(own) === termKey(target));
  const targetDataset = isElsewhere ? iriOf(target) : undefined;
  return {
    property,
    ...claimed(source.record),
    ...(targetDataset !== undefined && { targetDataset }),
    subjectClass: classOf(v.subjectsTarget, voidLinks.linkPredicateDomain),
    objectClass: classOf(v.objectsTarget, voidLinks.linkPredicateRange),
    triples: readCount(source, [node], v.triples),
  };
}

/** Partition nodes that are looked at in one document, of all kinds together: shared nodes could multiply without end. */
const mostVisits = 100_000;

/** The partitions of one kind: those below `through`, named by the IRI under `key`, and what each of them is divided by. */
interface Kind {
  readonly through: readonly string[];
  readonly key: string;
  readonly parts: readonly PartName[];
}

const kinds: Readonly<Record<"classes" | PartName, Kind>> = {
  classes: { through: [v.classPartition], key: v.class, parts: ["properties"] },
  properties: { through: [v.propertyPartition], key: v.property, parts: ["objectClasses", "datatypes"] },
  objectClasses: { through: [v.classPartition, voidExt.objectClassPartition], key: v.class, parts: [] },
  datatypes: { through: [voidExt.datatypePartition], key: voidExt.datatype, parts: [] },
};

/** The lists that a publisher gives of its dataset. */
export type PublishedLists = Readonly<Record<"classes" | "properties", FactList>>;

/**
 * Reads the partitions of one document; what lies beyond its cap is left out. Depth is fixed (class, property, object), so
 * that cycles end.
 */
function readPartitions(source: VoidSource): PublishedLists {
  const { index } = source;
  let visitsLeft = mostVisits;
  /** Shared nodes are visited again and again. */
  const iris = new Map<string, string | undefined>();
  const keyOf = (node: RDF.Term, key: string): string | undefined => {
    const name = `${key} ${termKey(node)}`;
    if (!iris.has(name)) iris.set(name, onlyIri(index.objects(node, key)));
    return iris.get(name);
  };
  function* nodesBelow(parents: readonly RDF.Term[], { through }: Kind): Generator<RDF.Term> {
    for (const parent of parents)
      for (const node of through.flatMap((predicate) => index.objects(parent, predicate)))
        if (visitsLeft-- > 0) yield node;
        else return;
  }
  const read = (parents: readonly RDF.Term[], kind: Kind, facts = new FactList()): FactList => {
    // Several nodes may describe the same class or property.
    for (const [iri, nodes] of Map.groupBy(nodesBelow(parents, kind), (node) => keyOf(node, kind.key))) {
      if (iri === undefined) continue;
      const fact = facts.known(iri, claimed(source.record));
      for (const name of countNames) fact[name] = readCount(source, nodes, v[name]);
      if (kind === kinds.classes) fact.entities ??= fact.distinctSubjects;
      for (const part of kind.parts) read(nodes, kinds[part], fact[part]);
    }
    return facts;
  };
  return { classes: read(source.nodes, kinds.classes), properties: read(source.nodes, kinds.properties) };
}

/** Where the description of one dataset stands. */
export interface VoidSource {
  readonly index: NodeIndex;
  /** Nodes that describe the dataset together, e.g. a `sd:Dataset` and its default graph. */
  readonly nodes: readonly RDF.Term[];
  /** Position of the request that the document came by. */
  readonly record: number;
}

/** How a publisher's statements are known: all of them are claims, and no list is called complete. */
export const claimed = (record: number) => ({ status: "claimed", record }) as const;

/** A count that some nodes have. */
const readCount = (source: VoidSource, nodes: readonly RDF.Term[], predicate: string): Count | undefined =>
  claimedCount(
    source.record,
    nodes.flatMap((node) => source.index.objects(node, predicate)),
  );

/**
 * The count that some values are. Values that contradict each other are no knowledge, nor is a publisher's zero, which
 * many generators write for "not counted".
 */
export function claimedCount(record: number, values: readonly RDF.Term[]): Count | undefined {
  const value = agreedNumber(values);
  return value === undefined || value === 0 ? undefined : { value, ...claimed(record) };
}
