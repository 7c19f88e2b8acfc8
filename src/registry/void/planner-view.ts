import type * as RDF from "@rdfjs/types";
import { foaf, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import { documentUrl, type ViewOptions } from "./agent-view.ts";
import { createQuadWriter, type QuadWriter } from "./quad-writer.ts";
import type { ClassPartition, Count, PropertyPartition, VoidDescription } from "./void-description.ts";

/** How a planner's description is written down. */
export interface PlannerViewOptions extends ViewOptions {
  /** ISO 8601; of a description that was finished before, only the endpoint is told. */
  readonly notBefore?: string;
}

/**
 * What a query planner may rely on: counts that are exact and lists that are proven complete. Planners take what a list
 * does not have for absent (a missing property, or one without a count, is estimated 0 and its source is never asked),
 * so a list that is incomplete or has one inexact count is left out whole; so are `void:uriSpace`, `void:vocabulary` and
 * `void:entities` of the dataset, which planners turn into filters. Holds for the endpoint's default graph only; of a
 * description of other graphs nothing but the endpoint is told.
 */
export function plannerView(description: VoidDescription, options: PlannerViewOptions): readonly RDF.Quad[] {
  const writer = createQuadWriter();
  const base = documentUrl(description, options);
  const { dataset } = description;
  writer.type(base, v.DatasetDescription);
  writer.link(base, foaf.primaryTopic, dataset);
  writer.type(dataset, v.Dataset);
  writer.link(dataset, v.sparqlEndpoint, description.endpoint);
  const outdated =
    options.notBefore !== undefined && Date.parse(description.finishedAt) < Date.parse(options.notBefore);
  // Counts of named graphs say nothing of the default graph, which a planner asks.
  if (outdated || description.graphs !== undefined || description.namedGraphs !== undefined) return writer.quads;
  writeExact(writer, dataset, [
    [v.triples, description.triples],
    [v.classes, description.classes],
    [v.properties, description.properties],
    [v.distinctSubjects, description.distinctSubjects],
    [v.distinctObjects, description.distinctObjects],
  ]);
  if (description.classesComplete && description.classPartitions.every(({ entities }) => isExact(entities))) {
    const extended = options.variant === "extended";
    for (const [at, partition] of description.classPartitions.entries()) {
      writeClass(writer, { dataset, node: `${base}#class-${at + 1}`, partition, extended });
    }
  }
  if (description.propertiesComplete) {
    writeProperties(writer, { parent: dataset, prefix: `${base}#`, partitions: description.propertyPartitions });
  }
  return writer.quads;
}

const isExact = (count: Count | undefined): boolean => count?.status === "exact";

type Counts = readonly (readonly [predicate: string, count: Count | undefined])[];

function writeExact(writer: QuadWriter, node: string, counts: Counts): void {
  for (const [predicate, count] of counts) if (isExact(count)) writer.number(node, predicate, count?.value);
}

interface ClassEntry {
  readonly dataset: string;
  readonly node: string;
  readonly partition: ClassPartition;
  readonly extended: boolean;
}

function writeClass(writer: QuadWriter, { dataset, node, partition, extended }: ClassEntry): void {
  writer.link(dataset, v.classPartition, node);
  writer.link(node, v.class, partition.class);
  writeExact(writer, node, [
    [v.entities, partition.entities],
    [v.distinctSubjects, partition.entities],
    [v.triples, partition.triples],
  ]);
  if (extended && partition.propertiesComplete) {
    writeProperties(writer, { parent: node, prefix: `${node}-`, partitions: partition.properties });
  }
}

interface PropertyList {
  readonly parent: string;
  readonly prefix: string;
  readonly partitions: readonly PropertyPartition[];
}

function writeProperties(writer: QuadWriter, { parent, prefix, partitions }: PropertyList): void {
  if (!partitions.every(({ triples }) => isExact(triples))) return;
  for (const [at, partition] of partitions.entries()) {
    const node = `${prefix}property-${at + 1}`;
    writer.link(parent, v.propertyPartition, node);
    writer.link(node, v.property, partition.property);
    writeExact(writer, node, [
      [v.triples, partition.triples],
      [v.distinctSubjects, partition.distinctSubjects],
      [v.distinctObjects, partition.distinctObjects],
    ]);
  }
}
