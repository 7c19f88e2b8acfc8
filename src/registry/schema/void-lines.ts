import { stringText } from "../../rdf/term-text.ts";
import { rdf } from "../../rdf/vocabularies.ts";
import { isWritable } from "../descriptions/values.ts";
import type { ClassPartition, Count, PropertyPartition, VoidDescription } from "../descriptions/void-description.ts";
import {
  byFrequency,
  classJson,
  isComplete,
  longestName,
  looseProperties,
  propertyJson,
  rangesOf,
  tellingLabel,
} from "./class-lines.ts";
import type { ViewContent, ViewLine, ViewLines } from "./compose-view.ts";
import { type Part, shownParts } from "./part-lines.ts";
import { bracketedIri, plainText } from "../../rdf/display-text.ts";

const longestTitle = 120;
const longestDescription = 300;
const mostRanges = 8;

/**
 * Detail "void": VoID in Turtle, the dataset first, then one statement a class with its properties, which answers the query that
 * agents run (registry method, section 6). How facts are known is left out: counts that are neither exact nor the publisher's
 * own are left out, and no list is called complete. Comments hold our own words and numbers only.
 */
export function voidLines(content: ViewContent): ViewLines {
  const { description, chosen } = content;
  const loose = chosen.all ? looseProperties(content).filter(isTold) : [];
  const dataset = datasetIri(description);
  const parts = shownParts(content);
  return {
    head: [
      "# Classes are in the order of their size. Counts are exact or the publisher's own; others are left out.",
      `BASE ${bracketedIri(withoutFragment(description.dataset))}`,
    ],
    body: function* body(mostProperties) {
      yield datasetLine(content, dataset);
      for (const part of parts) yield partLine(content, part, dataset);
      for (const partition of chosen.partitions) yield classLine(content, partition, { dataset, mostProperties });
      for (const property of loose) yield looseLine(content, property, dataset);
    },
    total: 1 + parts.length + chosen.partitions.length + loose.length,
    unit: "statements",
    more: "raise maxTokens; variant=extended has all facts, and how each is known",
    notice: (omitted) => `${dataset} <https://w3id.org/fedway/ns#omittedPartitions> ${omitted} . # `,
    complete: description.classesComplete && chosen.partitions.every(isComplete),
  };
}

const withoutFragment = (iri: string): string => iri.split("#", 1)[0] ?? iri;

/** Relative to the base, which is the same without fragment. */
const datasetIri = ({ dataset }: VoidDescription): string =>
  bracketedIri(dataset.slice(withoutFragment(dataset).length));

const isTold = ({ property }: PropertyPartition): boolean => property !== rdf.type;
const isNameable = (iri: string): boolean => iri.length <= longestName && isWritable(iri);

/** A count that may be taken at its word. */
const sure = (count: Count | undefined): number | undefined =>
  count?.status === "exact" || count?.status === "claimed" ? count.value : undefined;

const counted = (name: string, count: Count | undefined): readonly string[] => {
  const value = sure(count);
  return value === undefined || !Number.isSafeInteger(value) ? [] : [`${name} ${value}`];
};

const said = (name: string, text: string | undefined, longest: number): readonly string[] =>
  text === undefined ? [] : [`${name} ${stringText(plainText(text, longest))}`];

const linked = (name: string, iri: string | undefined): readonly string[] =>
  iri === undefined || !isWritable(iri) ? [] : [`${name} ${bracketedIri(iri)}`];

function datasetLine({ description, document }: ViewContent, dataset: string): ViewLine {
  const { title, license, citation, origin, id, namedGraphs } = description;
  const described = document ?? withoutFragment(description.dataset);
  const parts = [
    `${dataset} a void:Dataset`,
    ...linked("void:sparqlEndpoint", description.endpoint),
    ...said("dcterms:identifier", id, longestTitle),
    ...said("dcterms:title", title, longestTitle),
    ...said("dcterms:description", description.description, longestDescription),
    ...linked("dcterms:license", license),
    ...said("dcterms:bibliographicCitation", citation, longestDescription),
    ...linked("dcterms:source", origin),
    ...counted("void:triples", description.triples),
    ...counted("void:classes", description.classes),
    ...counted("void:properties", description.properties),
    ...counted("void:distinctSubjects", description.distinctSubjects),
    ...counted("void:distinctObjects", description.distinctObjects),
    ...(namedGraphs ? ['rdfs:comment "The default graph is empty: write GRAPH ?g { ... }"'] : []),
  ];
  return {
    text: `${bracketedIri(described)} a void:DatasetDescription ; foaf:primaryTopic ${dataset} .\n${parts.join(" ; ")} .`,
    prefixes: ["void", "foaf", "dcterms", ...(namedGraphs ? ["rdfs"] : [])],
  };
}

function classLine(
  content: ViewContent,
  partition: ClassPartition,
  { dataset, mostProperties }: { readonly dataset: string; readonly mostProperties: number },
): ViewLine | undefined {
  if (!isNameable(partition.class)) return undefined;
  const name = content.table.short(partition.class);
  const label = tellingLabel(content, partition.class);
  const all = byFrequency(partition.properties.filter((property) => isTold(property) && isNameable(property.property)));
  const shown = all.slice(0, mostProperties).map((property) => propertyText(content, property));
  const omitted = partition.properties.filter(isTold).length - shown.length;
  const parts = [
    `void:class ${name.text}`,
    ...labelled(label),
    ...counted("void:entities", partition.entities),
    ...(omitted > 0 ? [`fedway:omittedProperties ${omitted}`] : []),
    ...(shown.length > 0 ? [`void:propertyPartition\n  ${shown.map(({ text }) => text).join(" ,\n  ")}`] : []),
  ];
  return {
    text: `${dataset} void:classPartition [ ${parts.join(" ; ")} ] .`,
    prefixes: [
      "void",
      ...name.prefixes,
      ...shown.flatMap(({ prefixes }) => prefixes),
      ...(label === undefined ? [] : ["rdfs"]),
      ...(omitted > 0 ? ["fedway"] : []),
    ],
    class: classJson(
      partition,
      label,
      shown.map(({ json }) => json),
    ),
    properties: omitted,
    values: shown.reduce((sum, { values }) => sum + values, 0),
  };
}

const labelled = (label: string | undefined): readonly string[] =>
  label === undefined ? [] : [`rdfs:label ${stringText(label)}`];

function looseLine(content: ViewContent, property: PropertyPartition, dataset: string): ViewLine | undefined {
  if (!isNameable(property.property)) return undefined;
  const { text, prefixes, json, values } = propertyText(content, property);
  return {
    text: `${dataset} void:propertyPartition ${text} .`,
    prefixes: ["void", ...prefixes],
    property: json,
    values,
  };
}

function propertyText(content: ViewContent, property: PropertyPartition) {
  const { table } = content;
  const name = table.short(property.property);
  const label = tellingLabel(content, property.property);
  const classes = new Set(property.objectClasses.map(({ iri }) => iri));
  const all = rangesOf(property);
  const ranges = all
    .filter(({ iri }) => isNameable(iri))
    .slice(0, mostRanges)
    .map(({ iri }) => {
      const { text, prefixes } = table.short(iri);
      return classes.has(iri)
        ? { text: `void:classPartition [ void:class ${text} ]`, prefixes, iri }
        : {
            text: `void-ext:datatypePartition [ void-ext:datatype ${text} ]`,
            prefixes: ["void-ext", ...prefixes],
            iri,
          };
    });
  const told = content.built.get(property.property);
  const built = [
    builtEnds(content, "fedway:subjectClass", told?.subjectClasses),
    builtEnds(content, "fedway:objectClass", told?.objectClasses),
  ].flat();
  const parts = [
    `void:property ${name.text}`,
    ...labelled(label),
    ...counted("void:triples", property.triples),
    ...ranges.map(({ text }) => text),
    ...built.map(({ text }) => text),
  ];
  return {
    text: `[ ${parts.join(" ; ")} ]`,
    prefixes: [
      ...[name, ...ranges, ...built].flatMap(({ prefixes }) => prefixes),
      ...(label === undefined ? [] : ["rdfs"]),
    ],
    json: propertyJson(property, label, new Set(ranges.map(({ iri }) => iri))),
    values: all.length - ranges.length,
  };
}

/** Classes at an end of a property, as the builder of a shard states them, in a term of its own. */
function builtEnds({ table }: ViewContent, term: string, classes: readonly string[] = []) {
  const names = classes
    .filter(isNameable)
    .slice(0, mostRanges)
    .map((iri) => table.short(iri));
  if (names.length === 0) return [];
  const prefixes = ["fedway", ...names.flatMap((name) => name.prefixes)];
  return [{ text: `${term} ${names.map(({ text }) => text).join(", ")}`, prefixes }];
}

function partLine({ table }: ViewContent, part: Part, dataset: string): ViewLine | undefined {
  if (!isNameable(part.class)) return undefined;
  const name = table.short(part.class);
  const siblings = part.siblings
    .slice(0, mostRanges)
    .map(({ endpoint }) => `[ dcterms:identifier ${stringText(endpoint)} ]`);
  return {
    text: `${dataset} fedway:part [ void:class ${name.text} ; fedway:source "${part.source}" ; fedway:parts ${part.parts} ; fedway:sibling ${siblings.join(", ")} ] .`,
    prefixes: ["fedway", "void", "dcterms", ...name.prefixes],
    part,
    values: part.siblings.length - siblings.length,
  };
}
