import { languageTypes, rdfs, xsd } from "../../../rdf/vocabularies.ts";
import { iriParts } from "../../../rdf/display-text.ts";
import { isWritable } from "../../descriptions/values.ts";
import type { PropertyPartition, VoidDescription } from "../../descriptions/void-description.ts";

/** One property of the instances of a class, or of all subjects. */
export interface HarvestTask {
  /** "labels": the subjects with their names; "values": what different values there are. */
  readonly kind: "labels" | "values";
  readonly class?: string | undefined;
  readonly property: string;
  /** Triples and different values, where known. */
  readonly triples?: number | undefined;
  readonly distinct?: number | undefined;
}

/** Properties of well-known vocabularies whose values are names of their subjects. */
const labelProperties: ReadonlySet<string> = new Set([
  rdfs.label,
  "http://www.w3.org/2004/02/skos/core#prefLabel",
  "http://www.w3.org/2004/02/skos/core#altLabel",
  "http://schema.org/name",
  "https://schema.org/name",
  "http://schema.org/alternateName",
  "https://schema.org/alternateName",
  "http://xmlns.com/foaf/0.1/name",
  "http://purl.org/dc/terms/title",
  "http://purl.org/dc/elements/1.1/title",
]);
/** A local name that ends like this says that the values are names. */
const labelName = /(?:name|label|title)$/i;

/** True if a property holds names of its subjects, judged by its own name. */
export const isLabel = (property: string): boolean =>
  labelProperties.has(property) || labelName.test(iriParts(property).local);

const textTypes: ReadonlySet<string> = new Set([xsd.string, ...languageTypes]);
/** More different values are no choice; one of them is found by asking the endpoint. */
const mostDistinct = 10_000;
/** Numbers, dates and codes are worth knowing only when they are a handful. */
const mostDistinctOther = 30;
const mostTasks = 2_000;

/**
 * Values to read from an endpoint, most useful first: of text properties, then names of entities, then other
 * literals; the largest classes first.
 */
export function harvestTasks(description: VoidDescription): readonly HarvestTask[] {
  const placed = new Set<string>();
  const all: PlannedTask[] = [];
  for (const { class: iri, properties } of description.classPartitions) {
    for (const partition of properties) {
      placed.add(partition.property);
      all.push(...tasksOf(partition, iri));
    }
  }
  for (const partition of description.propertyPartitions) {
    if (!placed.has(partition.property)) all.push(...tasksOf(partition, undefined));
  }
  const texts = all.filter(({ kind, distinct = 0, other }) => kind === "values" && !other && distinct <= mostDistinct);
  const labels = all.filter(({ kind }) => kind === "labels");
  const others = all.filter(({ kind, other }) => kind === "values" && other).filter(isChoice);
  return [...texts, ...labels, ...others].slice(0, mostTasks);
}

/** A few values that come again and again: a choice, not measurements or numbers that identify. */
const isChoice = ({ triples = 0, distinct }: HarvestTask): boolean =>
  distinct !== undefined && distinct <= mostDistinctOther && triples >= 3 * distinct;

function tasksOf(partition: PropertyPartition, of: string | undefined): readonly PlannedTask[] {
  const { property, triples, distinctObjects } = partition;
  if (!isWritable(property) || (of !== undefined && !isWritable(of))) return [];
  const literals = literalsOf(partition);
  if (literals === "none") return [];
  const kind = literals === "text" && isLabel(property) ? "labels" : "values";
  const counts = { triples: triples?.value, distinct: distinctObjects?.value };
  return [{ kind, class: of, property, ...counts, other: literals === "other" }];
}

interface PlannedTask extends HarvestTask {
  readonly other: boolean;
}

/** Kinds of literals of a property; where nothing is known they may be texts. */
function literalsOf({ datatypes, objectClasses, objectsComplete }: PropertyPartition): "none" | "text" | "other" {
  if (datatypes.some(({ iri }) => textTypes.has(iri))) return "text";
  if (datatypes.length > 0) return "other";
  return objectsComplete || objectClasses.length > 0 ? "none" : "text";
}
