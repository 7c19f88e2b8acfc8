import { stringText } from "../../rdf/term-text.ts";
import { rdf } from "../../rdf/vocabularies.ts";
import {
  byCount,
  type ClassPartition,
  type ObjectPartition,
  type PropertyPartition,
} from "../descriptions/void-description.ts";
import {
  type BuiltEnds,
  type ViewContent,
  type ViewLine,
  type ViewLines,
  claimedLegend,
  countValue,
  countWriter,
  marksLegend,
  notFoundText,
  viewTitle,
} from "./compose-view.ts";
import type { SchemaClass, SchemaProperty } from "./schema-view.ts";
import { escapedText, plainText, shortened } from "../../rdf/display-text.ts";

/** A longer IRI cannot be shown, and a part of it would be a different name. */
export const longestName = 500;
const mostRanges = 4;

/** Detail "classes": names with numbers of instances. */
export function classNames(content: ViewContent): ViewLines {
  const { description, chosen } = content;
  const complete = description.classesComplete;
  return {
    head: [
      viewTitle(description),
      `Classes (instances)${complete ? "" : ", perhaps not all"}; ${marksLegend}${claimedLegend(description)}`,
      ...notFoundText(chosen.notFound),
    ],
    body: () => mapped(chosen.partitions, (partition) => classLine(content, partition, undefined)),
    total: chosen.partitions.length,
    unit: "classes",
    more: "raise maxTokens, or name classes=...",
    complete,
  };
}

/** Detail "lines": one line a class; then the properties that no class is known to have. */
export function classLines(content: ViewContent): ViewLines {
  const { description, chosen } = content;
  const loose = chosen.all ? looseProperties(content) : [];
  return {
    head: [
      viewTitle(description),
      `Class (instances): property -> range|range (triples); ... ${marksLegend} or perhaps more, +n left out (paths shows them)${claimedLegend(description)}`,
      ...(description.classesComplete || !chosen.all ? [] : ["There may be other classes."]),
      ...notFoundText(chosen.notFound),
    ],
    body: function* body(mostProperties) {
      yield* mapped(chosen.partitions, (partition) => classLine(content, partition, mostProperties));
      yield* mapped(loose, (property) => looseLine(content, property));
    },
    spare: valueLines(content),
    total: chosen.partitions.length + loose.length,
    unit: loose.length > 0 ? "classes and properties" : "classes",
    more: "raise maxTokens, or name classes=...",
    complete: (description.classesComplete || !chosen.all) && chosen.partitions.every(isComplete),
  };
}

/** No property of a class, and no kind of their values, can be missing. */
export const isComplete = (partition: ClassPartition): boolean =>
  partition.propertiesComplete && partition.properties.every((property) => property.objectsComplete);

function* mapped<Item, Line>(items: readonly Item[], line: (item: Item) => Line): Generator<Line> {
  for (const item of items) yield line(item);
}

/** Properties of the dataset that none of its classes is known to have. */
export function looseProperties({ description }: ViewContent): readonly PropertyPartition[] {
  const placed = new Set<string>();
  for (const { properties } of description.classPartitions) for (const { property } of properties) placed.add(property);
  return byFrequency(description.propertyPartitions.filter(({ property }) => !placed.has(property)));
}

function classLine(content: ViewContent, partition: ClassPartition, most: number | undefined): ViewLine | undefined {
  if (partition.class.length > longestName) return undefined;
  const name = content.table.short(partition.class);
  const label = tellingLabel(content, partition.class);
  const count = countWriter(content.description)(partition.entities, partition.status);
  const shown = most === undefined ? undefined : shownProperties(content, partition, most);
  return {
    text: `${name.text}${labelText(label)} (${count})${shown === undefined ? "" : `: ${shown.text}`}`,
    prefixes: [...name.prefixes, ...(shown?.prefixes ?? [])],
    class: classJson(partition, label, shown?.properties),
    properties: shown?.omitted,
    values: shown?.values,
  };
}

const longestLabel = 40;

/** The label of a class or property, where it says more than the name; cut. */
export function tellingLabel({ labels }: ViewContent, iri: string): string | undefined {
  const label = plainText(labels.get(iri) ?? "", longestLabel);
  return label === "" ? undefined : label;
}

const labelText = (label: string | undefined): string => (label === undefined ? "" : ` ${stringText(label)}`);

export const classJson = (
  partition: ClassPartition,
  label: string | undefined,
  properties: readonly SchemaProperty[] | undefined,
): SchemaClass => ({
  iri: partition.class,
  ...(label !== undefined && { label }),
  status: partition.status,
  entities: countValue(partition.entities),
  ...(properties !== undefined && { properties, propertiesComplete: partition.propertiesComplete }),
});

function shownProperties(content: ViewContent, partition: ClassPartition, most: number) {
  const showable = byFrequency(partition.properties.filter(({ property }) => property.length <= longestName));
  const shown = showable.slice(0, most).map((property) => propertyText(content, property));
  const omitted = partition.properties.length - shown.length;
  const parts = [
    ...shown.map((property) => property.text),
    ...(omitted > 0 ? [`+${omitted}`] : []),
    ...(partition.propertiesComplete ? [] : ["?"]),
  ];
  return {
    text: parts.length === 0 ? "no properties" : parts.join("; "),
    prefixes: shown.flatMap((property) => property.prefixes),
    properties: shown.map((property) => property.json),
    omitted,
    values: shown.reduce((total, property) => total + property.values, 0),
  };
}

function looseLine(content: ViewContent, property: PropertyPartition): ViewLine | undefined {
  if (property.property.length > longestName) return undefined;
  const { text, prefixes, json, values } = propertyText(content, property);
  const { text: subject, prefixes: more } = builtNames(content, content.built.get(property.property)?.subjectClasses);
  return {
    text: `${subject === "" ? "any subject" : subject}: ${text}`,
    prefixes: [...more, ...prefixes],
    property: json,
    values,
  };
}

const longestValue = 40;

/** `class property: "value", "value"` for each property of the chosen classes whose values are known. */
function* valueLines({ chosen, table, examples }: ViewContent): Generator<ViewLine> {
  let isFirst = true;
  for (const { class: of, property, values } of examples) {
    if (of === undefined ? !chosen.all : !chosen.iris.has(of)) continue;
    if (property.length > longestName || (of !== undefined && of.length > longestName)) continue;
    if (isFirst) yield { text: "All values of some properties, as they stand in the data:" };
    isFirst = false;
    const names = [...(of === undefined ? [] : [of]), property].map((iri) => table.short(iri));
    const shown = values.map((value) => shortened(value, longestValue));
    yield {
      text: `${names.map(({ text }) => text).join(" ")}: ${shown.map((value) => escapedText(stringText(value))).join(", ")}`,
      prefixes: names.flatMap(({ prefixes }) => prefixes),
      examples: { class: of, property, values: shown },
    };
  }
}

/** `ex:Person^|ex:Dog^`: names of classes that the builder of a shard states. */
function builtNames({ table }: ViewContent, classes: readonly string[] = []) {
  const names = classes
    .filter((iri) => iri.length <= longestName)
    .slice(0, mostRanges)
    .map((iri) => table.short(iri));
  return {
    text: names.map(({ text }) => `${text}^`).join("|"),
    prefixes: names.flatMap(({ prefixes }) => prefixes),
  };
}

/** `property -> range|range (triples)`. */
function propertyText(content: ViewContent, property: PropertyPartition) {
  const name = content.table.short(property.property);
  const label = tellingLabel(content, property.property);
  const all = rangesOf(property);
  const shown = all.filter(({ iri }) => iri.length <= longestName).slice(0, mostRanges);
  const names = shown.map(({ iri }) => content.table.short(iri));
  const omitted = all.length - shown.length;
  const seen = new Set(all.map(({ iri }) => iri));
  const told = content.built.get(property.property);
  const built = builtNames(
    content,
    told?.objectClasses.filter((iri) => !seen.has(iri)),
  );
  const ranges = [
    ...names.map(({ text }) => text),
    ...(built.text === "" ? [] : [built.text]),
    ...(omitted > 0 ? [`+${omitted}`] : []),
    ...(property.objectsComplete ? [] : ["?"]),
  ];
  const count = countWriter(content.description)(property.triples, property.status);
  const isShown = new Set(shown.map(({ iri }) => iri));
  return {
    text: `${name.text}${labelText(label)} -> ${ranges.join("|") || "untyped"} (${count})`,
    prefixes: [name, built, ...names].flatMap(({ prefixes }) => prefixes),
    json: { ...propertyJson(property, label, isShown), ...(told && { built: endsOf(told) }) },
    values: omitted,
  };
}

const endsOf = ({ subjectClasses, objectClasses }: BuiltEnds): BuiltEnds => ({ subjectClasses, objectClasses });

export const propertyJson = (
  property: PropertyPartition,
  label: string | undefined,
  shown: ReadonlySet<string>,
): SchemaProperty => ({
  iri: property.property,
  ...(label !== undefined && { label }),
  status: property.status,
  triples: countValue(property.triples),
  objectClasses: property.objectClasses.map(({ iri }) => iri).filter((iri) => shown.has(iri)),
  datatypes: property.datatypes.map(({ iri }) => iri).filter((iri) => shown.has(iri)),
  objectsComplete: property.objectsComplete,
});

/** Classes and datatypes of the values, most frequent first. */
export function rangesOf({ objectClasses, datatypes }: PropertyPartition): readonly ObjectPartition[] {
  return [...objectClasses, ...datatypes].toSorted(
    (left, right) => byCount(left.triples, right.triples) || (left.iri < right.iri ? -1 : 1),
  );
}

const isType = (property: PropertyPartition): number => (property.property === rdf.type ? 1 : 0);

/** Most frequent first, unknown last; `rdf:type`, which every class has, at the very end. */
export function byFrequency(properties: readonly PropertyPartition[]): readonly PropertyPartition[] {
  return properties.toSorted(
    (left, right) =>
      isType(left) - isType(right) || byCount(left.triples, right.triples) || (left.property < right.property ? -1 : 1),
  );
}
