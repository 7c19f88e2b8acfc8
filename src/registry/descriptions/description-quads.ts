import type * as RDF from "@rdfjs/types";
import { dcterms, fedway, foaf, prov, rdfs, sd, voidExt, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import { QuadWriter, StatusNotes } from "./quad-writer.ts";
import type { Count, Linkset, ObjectPartition, PropertyPartition, VoidDescription } from "./void-description.ts";

/** How a description is written down. */
export interface DescriptionForm {
  /**
   * "agent": everything that is known, each statement with how it is known: a `dqv:QualityMeasurement` says the status of the
   * statements of one property (`rdf:predicate`) on the nodes it was computed on, and by which request (`prov:Activity`)
   * they were found. Answers the query that agents run (registry method, section 6). "planner": what a query planner may
   * rely on.
   */
  readonly view: "agent" | "planner";
  /** "extended": with linksets to other catalogue endpoints and what only extensions of VoID can say. */
  readonly variant: "standard" | "extended";
  /** URL of the document; its parts are named below it. Default: the dataset's, without fragment. */
  readonly url?: string;
}

/** The state of one document being written. */
interface View {
  readonly writer: QuadWriter;
  /** Absent for planners, who get exact counts only. */
  readonly notes: StatusNotes | undefined;
  readonly base: string;
  readonly extended: boolean;
}

/**
 * A description as VoID, quad by quad: with many classes they are millions. Planners take what a list does not have for
 * absent (a missing property, or one without a count, is estimated 0 and its source is never asked). So they get exact counts
 * and whole lists only: one that is incomplete or has an inexact count is left out; so are `void:uriSpace`,
 * `void:vocabulary` and `void:entities` of the dataset, which they turn into filters. They ask the endpoint's default graph;
 * a description of other graphs states the endpoint only.
 */
export function* descriptionQuads(description: VoidDescription, form: DescriptionForm): Generator<RDF.Quad> {
  const { dataset, endpoint, propertyPartitions, propertiesComplete } = description;
  const base = (form.url ?? dataset).split("#", 1)[0] ?? dataset;
  const writer = new QuadWriter();
  const extended = form.variant === "extended";
  const notes = form.view === "agent" ? new StatusNotes(base) : undefined;
  const view: View = { writer, notes, base, extended };
  writer.type(base, v.DatasetDescription);
  writer.link(base, foaf.primaryTopic, dataset);
  writer.type(dataset, v.Dataset);
  writer.link(dataset, v.sparqlEndpoint, endpoint);
  const isOfDefaultGraph = description.graphs === undefined && description.namedGraphs === undefined;
  if (notes !== undefined) writeDataset({ ...view, notes }, description);
  if (notes !== undefined || isOfDefaultGraph) {
    writeCounts(view, dataset, notes === undefined ? { ...description, entities: undefined } : description);
    yield* writeClasses(view, description);
    const list = { partitions: propertyPartitions, complete: propertiesComplete };
    yield* writeProperties(view, { parent: dataset, prefix: `${base}#`, ...list });
  }
  yield* writer.take();
  if (notes !== undefined) yield* writeRest({ ...view, notes }, description);
}

function* writeClasses(
  view: View,
  { dataset, classPartitions, classesComplete }: VoidDescription,
): Generator<RDF.Quad> {
  const { writer, notes, base, extended } = view;
  if (notes === undefined && !(classesComplete && classPartitions.every(({ entities }) => isExact(entities)))) return;
  for (const [at, partition] of classPartitions.entries()) {
    const { class: iri, entities, triples } = partition;
    const node = `${base}#class-${at + 1}`;
    writer.link(dataset, v.classPartition, node);
    writer.link(node, v.class, iri);
    notes?.add(node, v.class, partition);
    writeCounts(view, node, { entities, distinctSubjects: entities, triples });
    if (notes !== undefined) writer.flag(node, fedway.propertiesComplete, partition.propertiesComplete);
    const list = { partitions: partition.properties, complete: extended && partition.propertiesComplete };
    yield* writeProperties(view, { parent: node, prefix: `${node}-`, ...list });
  }
}

type Counts = { readonly [Name in CountName]?: Count | undefined };
type CountName = (typeof countNames)[number];
const countNames = ["triples", "entities", "classes", "properties", "distinctSubjects", "distinctObjects"] as const;

/** Counts of a node, each under its VoID property. */
function writeCounts({ writer, notes }: View, node: string, counts: Counts): void {
  for (const name of countNames) {
    const count = counts[name];
    if (count === undefined || (notes === undefined && !isExact(count))) continue;
    writer.number(node, v[name], count.value);
    notes?.add(node, v[name], count);
  }
}

const isExact = (count: Count | undefined): boolean => count?.status === "exact";

/** Properties of a dataset or class, whose nodes are named by a prefix and a number. */
interface PropertyList {
  readonly parent: string;
  readonly prefix: string;
  readonly partitions: readonly PropertyPartition[];
  readonly complete: boolean;
}

function* writeProperties(view: View, { parent, prefix, partitions, complete }: PropertyList): Generator<RDF.Quad> {
  const { writer, notes } = view;
  if (notes === undefined && !(complete && partitions.every(({ triples }) => isExact(triples)))) return;
  for (const [at, partition] of partitions.entries()) {
    const node = `${prefix}property-${at + 1}`;
    writer.link(parent, v.propertyPartition, node);
    writer.link(node, v.property, partition.property);
    notes?.add(node, v.property, partition);
    writeCounts(view, node, partition);
    if (notes !== undefined) {
      writer.flag(node, fedway.objectsComplete, partition.objectsComplete);
      writeObjects(view, { node, partitions: partition.objectClasses }, objectClassKind);
      writeObjects(view, { node, partitions: partition.datatypes }, datatypeKind);
    }
    yield* writer.take();
  }
}

/** How one kind of object partitions is written. */
interface ObjectKind {
  readonly name: string;
  readonly through: readonly string[];
  readonly key: string;
}

const objectClassKind: ObjectKind = {
  name: "class",
  through: [v.classPartition, voidExt.objectClassPartition],
  key: v.class,
};
const datatypeKind: ObjectKind = { name: "datatype", through: [voidExt.datatypePartition], key: voidExt.datatype };

function writeObjects(
  view: View,
  { node: property, partitions }: { readonly node: string; readonly partitions: readonly ObjectPartition[] },
  { name, through, key }: ObjectKind,
): void {
  for (const [at, partition] of partitions.entries()) {
    const node = `${property}-${name}-${at + 1}`;
    for (const predicate of through) view.writer.link(property, predicate, node);
    view.writer.link(node, key, partition.iri);
    view.notes?.add(node, key, partition);
    writeCounts(view, node, partition);
  }
}

type NotedView = View & { readonly notes: StatusNotes };

/** Writes the dataset's parts for agents beside its partitions, and the run that found them. */
function writeDataset(view: NotedView, description: VoidDescription): void {
  const { writer, extended, base } = view;
  const { dataset, cost } = description;
  const run = `${base}#run`;
  writer.text(base, fedway.source, description.source);
  writer.flag(base, fedway.unfinished, description.unfinished);
  writer.link(base, prov.wasDerivedFrom, description.retrievedFrom);
  writer.link(base, prov.wasGeneratedBy, run);
  writer.type(run, prov.Activity);
  writer.time(run, prov.startedAtTime, description.startedAt);
  writer.time(run, prov.endedAtTime, description.finishedAt);
  writer.number(run, fedway.requests, cost.requests);
  writer.number(run, fedway.bytes, cost.bytes);
  writer.number(run, fedway.durationMs, cost.ms);
  writer.text(dataset, dcterms.identifier, description.id);
  writer.text(dataset, dcterms.title, description.title);
  writer.text(dataset, dcterms.description, description.description);
  writer.link(dataset, dcterms.license, description.license);
  writer.text(dataset, dcterms.bibliographicCitation, description.citation);
  writer.link(dataset, dcterms.source, description.origin);
  for (const dump of description.dumps ?? []) writer.link(dataset, v.dataDump, dump);
  for (const vocabulary of description.vocabularies ?? []) writer.link(dataset, v.vocabulary, vocabulary);
  writer.flag(dataset, fedway.classesComplete, description.classesComplete);
  writer.flag(dataset, fedway.propertiesComplete, description.propertiesComplete);
  for (const graph of description.graphs ?? []) writer.link(dataset, fedway.describedGraph, graph);
  for (const language of description.languages) writer.text(dataset, `${dcterms.namespace}language`, language);
  if (extended) for (const namespace of description.namespaces) writer.text(dataset, v.uriSpace, namespace);
  for (const { what, why, record } of description.unknown) {
    const node = writer.blank();
    writer.link(dataset, fedway.unknown, node);
    writer.text(node, fedway.what, what);
    writer.text(node, fedway.why, why);
    if (record !== undefined) writer.link(node, prov.wasGeneratedBy, view.notes.requestIri(record));
  }
  writeNamedGraphs(view, description);
}

/**
 * Named graphs (SPARQL 1.1 Service Description, section 3.2.3): those whose union everything else is said of, with an empty
 * default graph, or those beside the default graph.
 */
function writeNamedGraphs(view: NotedView, { dataset, namedGraphs, graphsBeside }: VoidDescription): void {
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
  writer.flag(dataset, fedway.graphsComplete, graphs.complete);
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
    writeCounts(view, data, { triples: fact.triples });
  }
}

/** Writes the parts after the partitions: the builder's statements, names of terms, links, provenance, and the requests. */
function* writeRest(view: NotedView, description: VoidDescription): Generator<RDF.Quad> {
  const { writer, notes, extended } = view;
  writeBuilt(view, description);
  for (const term of description.terms ?? []) {
    writer.text(term.iri, rdfs.label, term.label);
    writer.text(term.iri, rdfs.comment, term.description);
    notes.add(term.iri, rdfs.label, term);
    yield* writer.take();
  }
  for (const [at, linkset] of description.linksets.entries())
    if (extended || linkset.targetEndpoint === undefined) writeLinkset(view, description, { linkset, at });
  yield* notes.write(writer);
  for (const [at, record] of description.records.entries()) {
    const node = notes.requestIri(at);
    writer.type(node, prov.Activity);
    writer.number(node, fedway.position, at);
    writer.link(node, prov.used, description.endpoint);
    writer.time(node, prov.startedAtTime, record.at);
    writer.number(node, fedway.rung, record.rung);
    writer.text(node, fedway.query, record.query);
    writer.number(node, fedway.httpStatus, record.httpStatus);
    writer.number(node, fedway.durationMs, record.durationMs);
    writer.text(node, fedway.outcome, record.outcome);
  }
  yield* writer.take();
}

/** Writes the builder's statements about a shard, in Fedway's own terms, beside facts found by asking. */
function writeBuilt({ writer, base }: View, description: VoidDescription): void {
  const { dataset, built, propertyPartitions } = description;
  const positions = new Map(propertyPartitions.map(({ property }, at) => [property, at + 1]));
  for (const { property, subjectClasses, objectClasses } of built?.properties ?? []) {
    const at = positions.get(property);
    if (at === undefined) continue;
    const node = `${base}#property-${at}`;
    for (const iri of subjectClasses) writer.link(node, fedway.subjectClass, iri);
    for (const iri of objectClasses) writer.link(node, fedway.objectClass, iri);
  }
  for (const [at, part] of (built?.parts ?? []).entries()) {
    const node = `${base}#part-${at + 1}`;
    writer.link(dataset, fedway.part, node);
    writer.link(node, v.class, part.class);
    writer.text(node, fedway.source, "builder");
    writer.number(node, fedway.parts, part.parts);
    for (const { endpoint } of part.siblings) {
      const sibling = writer.blank();
      writer.link(node, fedway.sibling, sibling);
      writer.text(sibling, dcterms.identifier, endpoint);
    }
  }
}

/** Each side is the dataset's part with that class (VoID, section 4.4), or a whole dataset. */
function writeLinkset(
  view: NotedView,
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
  writeCounts(view, node, { triples: linkset.triples });
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
