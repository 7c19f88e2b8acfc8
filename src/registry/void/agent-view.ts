import type * as RDF from "@rdfjs/types";
import { dcterms, foaf, prov, rdfs, sd, voidExt, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import { writeBuilt } from "./built-view.ts";
import { measured, QuadWriter, StatusNotes } from "./quad-writer.ts";
import type {
  ClassPartition,
  Count,
  Linkset,
  MeasurementRecord,
  ObjectPartition,
  PropertyPartition,
  TermText,
  VoidDescription,
} from "./void-description.ts";

/** How a description is written down. */
export interface ViewOptions {
  /** "extended": with linksets to other catalogue endpoints and what only extensions of VoID can say. */
  readonly variant: "standard" | "extended";
  /** URL of the document that holds the view; its parts are named below it. Default: the dataset's, without fragment. */
  readonly url?: string;
}

/** The URL below which the parts of a view are named. */
export const documentUrl = ({ dataset }: VoidDescription, { url }: ViewOptions): string =>
  (url ?? dataset).split("#", 1)[0] ?? dataset;

/** The state of one view being written. */
interface View {
  readonly writer: QuadWriter;
  readonly notes: StatusNotes;
  readonly base: string;
  readonly extended: boolean;
}

/** Counts of a node, each under its VoID property. */
export type Counts = readonly (readonly [predicate: string, count: Count | undefined])[];

/** Counts of the whole dataset. */
export const countsOfDataset = (description: VoidDescription): Counts => [
  [v.triples, description.triples],
  [v.classes, description.classes],
  [v.properties, description.properties],
  [v.distinctSubjects, description.distinctSubjects],
  [v.distinctObjects, description.distinctObjects],
];

export const countsOfClass = ({ entities, triples }: ClassPartition): Counts => [
  [v.entities, entities],
  [v.distinctSubjects, entities],
  [v.triples, triples],
];

export const countsOfProperty = (partition: PropertyPartition): Counts => [
  [v.triples, partition.triples],
  [v.distinctSubjects, partition.distinctSubjects],
  [v.distinctObjects, partition.distinctObjects],
];

/**
 * Everything that is known of a dataset as VoID, each statement with how it is known: a `dqv:QualityMeasurement` says
 * the status of the statements of one property (`rdf:predicate`) on the nodes it was computed on, and by which request
 * (`prov:Activity`) they were found. Answers the query that agents run (registry method, section 6).
 */
export const agentView = (description: VoidDescription, options: ViewOptions): readonly RDF.Quad[] => [
  ...agentQuads(description, options),
];

/** The same, quad by quad: with many classes they are millions. */
export function* agentQuads(description: VoidDescription, options: ViewOptions): Generator<RDF.Quad> {
  const base = documentUrl(description, options);
  const writer = new QuadWriter();
  const notes = new StatusNotes(base);
  const view: View = { writer, notes, base, extended: options.variant === "extended" };
  writeDocument(view, description);
  writeDataset(view, description);
  writeNamedGraphs(view, description);
  for (const [at, partition] of description.classPartitions.entries()) {
    yield* writeClass(view, description.dataset, { partition, name: `class-${at + 1}` });
  }
  yield* writeProperties(view, { parent: description.dataset, prefix: "", partitions: description.propertyPartitions });
  writeBuilt(writer, base, description);
  yield* writer.take();
  for (const term of description.terms ?? []) {
    writeTerm(view, term);
    yield* writer.take();
  }
  for (const [at, linkset] of description.linksets.entries()) {
    if (view.extended || linkset.targetEndpoint === undefined) writeLinkset(view, description, { linkset, at });
  }
  yield* notes.write(writer);
  for (const [at, record] of description.records.entries()) writeRecord(view, description, { record, at });
  yield* writer.take();
}

function writeDocument({ writer, base }: View, description: VoidDescription): void {
  const { startedAt, finishedAt, cost } = description;
  const run = `${base}#run`;
  writer.type(base, v.DatasetDescription);
  writer.link(base, foaf.primaryTopic, description.dataset);
  writer.text(base, measured.source, description.source);
  writer.flag(base, measured.unfinished, description.unfinished);
  writer.link(base, prov.wasDerivedFrom, description.retrievedFrom);
  writer.link(base, prov.wasGeneratedBy, run);
  writer.type(run, prov.Activity);
  writer.time(run, prov.startedAtTime, startedAt);
  writer.time(run, prov.endedAtTime, finishedAt);
  writer.number(run, measured.requests, cost.requests);
  writer.number(run, measured.bytes, cost.bytes);
  writer.number(run, measured.durationMs, cost.ms);
}

function writeDataset(view: View, description: VoidDescription): void {
  const { writer, extended } = view;
  const { dataset } = description;
  writer.type(dataset, v.Dataset);
  writer.link(dataset, v.sparqlEndpoint, description.endpoint);
  writer.text(dataset, dcterms.identifier, description.id);
  writer.text(dataset, dcterms.title, description.title);
  writer.text(dataset, dcterms.description, description.description);
  writer.link(dataset, dcterms.license, description.license);
  writer.text(dataset, dcterms.bibliographicCitation, description.citation);
  writer.link(dataset, dcterms.source, description.origin);
  for (const dump of description.dumps ?? []) writer.link(dataset, v.dataDump, dump);
  for (const vocabulary of description.vocabularies ?? []) writer.link(dataset, v.vocabulary, vocabulary);
  writeCounts(view, dataset, [...countsOfDataset(description), [v.entities, description.entities]]);
  writer.flag(dataset, measured.classesComplete, description.classesComplete);
  writer.flag(dataset, measured.propertiesComplete, description.propertiesComplete);
  for (const graph of description.graphs ?? []) writer.link(dataset, measured.describedGraph, graph);
  for (const language of description.languages) writer.text(dataset, `${dcterms.namespace}language`, language);
  if (extended) for (const namespace of description.namespaces) writer.text(dataset, v.uriSpace, namespace);
  for (const { what, why, record } of description.unknown) {
    const node = writer.blank();
    writer.link(dataset, measured.unknown, node);
    writer.text(node, measured.what, what);
    writer.text(node, measured.why, why);
    if (record !== undefined) writer.link(node, prov.wasGeneratedBy, view.notes.requestIri(record));
  }
}

/**
 * Named graphs (SPARQL 1.1 Service Description, section 3.2.3): those whose union everything else is said of, with an empty
 * default graph, or those beside the default graph.
 */
function writeNamedGraphs(view: View, { dataset, namedGraphs, graphsBeside }: VoidDescription): void {
  const graphs = namedGraphs ?? graphsBeside;
  if (graphs === undefined) return;
  const { writer, notes, base } = view;
  writer.type(dataset, sd.Dataset);
  if (namedGraphs) {
    const empty = `${base}#default-graph`;
    writer.link(dataset, sd.defaultGraph, empty);
    writer.type(empty, sd.Graph);
    writer.number(empty, v.triples, 0);
  }
  writer.flag(dataset, measured.graphsComplete, graphs.complete);
  for (const [at, fact] of graphs.list.entries()) {
    const node = `${base}#graph-${at + 1}`;
    const data = `${node}-data`;
    writer.link(dataset, sd.namedGraph, node);
    writer.type(node, sd.NamedGraph);
    writer.link(node, sd.name, fact.graph);
    notes.add(node, sd.name, fact);
    writer.link(node, sd.graph, data);
    writer.type(data, sd.Graph);
    if (namedGraphs) writer.link(dataset, v.subset, data);
    writeCounts(view, data, [[v.triples, fact.triples]]);
  }
}

function writeCounts({ writer, notes }: View, node: string, counts: Counts): void {
  for (const [predicate, count] of counts) {
    if (count === undefined) continue;
    writer.number(node, predicate, count.value);
    notes.add(node, predicate, count);
  }
}

function* writeClass(
  view: View,
  dataset: string,
  { partition, name }: { readonly partition: ClassPartition; readonly name: string },
): Generator<RDF.Quad> {
  const { writer, notes } = view;
  const node = `${view.base}#${name}`;
  writer.link(dataset, v.classPartition, node);
  writer.link(node, v.class, partition.class);
  notes.add(node, v.class, partition);
  writeCounts(view, node, countsOfClass(partition));
  writer.flag(node, measured.propertiesComplete, partition.propertiesComplete);
  yield* writeProperties(view, { parent: node, prefix: `${name}-`, partitions: partition.properties });
}

/** Properties of a dataset or class, whose nodes are named by a prefix and a number. */
export interface PropertyList {
  readonly parent: string;
  readonly prefix: string;
  readonly partitions: readonly PropertyPartition[];
}

function* writeProperties(view: View, { parent, prefix, partitions }: PropertyList): Generator<RDF.Quad> {
  const { writer, notes } = view;
  for (const [at, partition] of partitions.entries()) {
    const node = `${view.base}#${prefix}property-${at + 1}`;
    writer.link(parent, v.propertyPartition, node);
    writer.link(node, v.property, partition.property);
    notes.add(node, v.property, partition);
    writeCounts(view, node, countsOfProperty(partition));
    writer.flag(node, measured.objectsComplete, partition.objectsComplete);
    writeObjects(view, node, { kind: objectClasses, partitions: partition.objectClasses });
    writeObjects(view, node, { kind: datatypes, partitions: partition.datatypes });
    yield* writer.take();
  }
}

/** How one kind of object partitions is written. */
interface ObjectKind {
  readonly name: string;
  readonly through: readonly string[];
  readonly key: string;
}

const objectClasses: ObjectKind = {
  name: "class",
  through: [v.classPartition, voidExt.objectClassPartition],
  key: v.class,
};
const datatypes: ObjectKind = { name: "datatype", through: [voidExt.datatypePartition], key: voidExt.datatype };

function writeObjects(
  view: View,
  property: string,
  { kind, partitions }: { readonly kind: ObjectKind; readonly partitions: readonly ObjectPartition[] },
): void {
  for (const [at, partition] of partitions.entries()) {
    const node = `${property}-${kind.name}-${at + 1}`;
    for (const predicate of kind.through) view.writer.link(property, predicate, node);
    view.writer.link(node, kind.key, partition.iri);
    view.notes.add(node, kind.key, partition);
    writeCounts(view, node, [[v.triples, partition.triples]]);
  }
}

function writeTerm({ writer, notes }: View, term: TermText): void {
  writer.text(term.iri, rdfs.label, term.label);
  writer.text(term.iri, rdfs.comment, term.description);
  notes.add(term.iri, rdfs.label, term);
}

/** Each side is the dataset's part with that class (VoID, section 4.4), or a whole dataset. */
function writeLinkset(
  view: View,
  { dataset }: VoidDescription,
  { linkset, at }: { readonly linkset: Linkset; readonly at: number },
): void {
  const { writer, notes } = view;
  const node = `${view.base}#linkset-${at + 1}`;
  const { subjectClass, objectClass, targetEndpoint, targetDataset = dataset } = linkset;
  writer.type(node, v.Linkset);
  writer.link(dataset, v.subset, node);
  writer.link(node, v.linkPredicate, linkset.property);
  notes.add(node, v.linkPredicate, linkset);
  writeCounts(view, node, [[v.triples, linkset.triples]]);
  const from = subjectClass === undefined ? dataset : `${node}-subjects`;
  writer.link(node, v.subjectsTarget, from);
  if (subjectClass !== undefined) writer.link(from, v.class, subjectClass);
  if (objectClass === undefined && targetEndpoint === undefined) return;
  const isWhole = objectClass === undefined && targetDataset !== dataset;
  const to = isWhole ? targetDataset : `${node}-objects`;
  writer.link(node, v.objectsTarget, to);
  writer.link(to, v.class, objectClass);
  writer.text(to, dcterms.identifier, targetEndpoint);
}

function writeRecord(
  { writer, notes }: View,
  { endpoint }: VoidDescription,
  { record, at }: { readonly record: MeasurementRecord; readonly at: number },
): void {
  const node = notes.requestIri(at);
  writer.type(node, prov.Activity);
  writer.number(node, measured.position, at);
  writer.link(node, prov.used, endpoint);
  writer.time(node, prov.startedAtTime, record.at);
  writer.number(node, measured.rung, record.rung);
  writer.text(node, measured.query, record.query);
  writer.number(node, measured.httpStatus, record.httpStatus);
  writer.number(node, measured.durationMs, record.durationMs);
  writer.text(node, measured.outcome, record.outcome);
}
