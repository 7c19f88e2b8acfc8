import type * as RDF from "@rdfjs/types";
import { dataFactory } from "../../rdf/triple-index.ts";
import { dcterms, rdfs, skos } from "../../rdf/vocabularies.ts";
import { iriParts } from "../../rdf/display-text.ts";
import { nameText } from "../find/words/words.ts";
import { claimed, type VoidSource } from "./read-partitions.ts";
import { isWritable, textOf, titleOf } from "./values.ts";
import type { ClassPartition, PropertyPartition, TermText, VoidDescription } from "./void-description.ts";

const longestDescription = 1_000;

/** Properties under which vocabularies keep the names and the descriptions of their terms, most usual first. */
const labelProperties = [
  rdfs.label,
  `${skos.namespace}prefLabel`,
  "http://schema.org/name",
  "https://schema.org/name",
] as const;
const descriptionProperties = [
  rdfs.comment,
  `${skos.namespace}definition`,
  `${dcterms.namespace}description`,
  "http://schema.org/description",
  "https://schema.org/description",
] as const;

/** All of them. */
export const textProperties: readonly string[] = [...labelProperties, ...descriptionProperties];

/** The best label and description among the values of these properties; undefined when there is neither. */
export function bestTexts(
  valuesOf: (property: string) => readonly RDF.Term[],
): Pick<TermText, "label" | "description"> | undefined {
  const first = (properties: readonly string[], read: typeof titleOf): string | undefined => {
    for (const property of properties) {
      const text = read(valuesOf(property));
      if (text !== undefined) return text;
    }
    return undefined;
  };
  const label = first(labelProperties, titleOf);
  const description = first(descriptionProperties, textOf)?.slice(0, longestDescription).toWellFormed();
  return label === undefined && description === undefined ? undefined : { label, description };
}

/** IRIs of the classes and properties of a description, each once: classes first, most frequent first. */
export function termIris(
  description: Pick<VoidDescription, "classPartitions" | "propertyPartitions">,
): ReadonlySet<string> {
  const { classPartitions, propertyPartitions } = description;
  const properties: readonly PropertyPartition[] = [
    ...propertyPartitions,
    ...classPartitions.flatMap((partition: ClassPartition) => partition.properties),
  ];
  const iris = [...classPartitions.map((partition) => partition.class), ...properties.map(({ property }) => property)];
  return new Set(iris.filter(isWritable));
}

/** Texts of a document about the classes and properties of a dataset that it describes; undefined when there are none. */
export function readTerms(
  source: Pick<VoidSource, "index" | "record">,
  iris: Iterable<string>,
): readonly TermText[] | undefined {
  const terms: TermText[] = [];
  for (const iri of iris) {
    const node = dataFactory.namedNode(iri);
    const texts = bestTexts((property) => source.index.objects(node, property));
    if (texts) terms.push({ iri, ...texts, ...claimed(source) });
  }
  return terms.length === 0 ? undefined : terms.toSorted((one, other) => (one.iri < other.iri ? -1 : 1));
}

/** The labels that say more than the name in the IRI does, for readers of that name. */
export const tellingLabels = (description: VoidDescription): ReadonlyMap<string, string> =>
  new Map([...labelsOf(description)].filter(([iri, label]) => nameText(label) !== nameText(iriParts(iri).local)));

/** Labels of the classes and properties of a description by IRI. */
const labelsOf = ({ terms = [] }: VoidDescription): ReadonlyMap<string, string> =>
  new Map(terms.flatMap(({ iri, label }) => (label === undefined ? [] : [[iri, label] as const])));
