import type { ClassPartition, Count, FactStatus, Linkset, PropertyPartition } from "../void/void-description.ts";
import { byFrequency, isComplete, longestName, looseProperties, rangesOf } from "./class-lines.ts";
import {
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

/** A step from one class to another class or a datatype; absent ends are unknown. */
interface Path {
  readonly subject?: string | undefined;
  readonly property: string;
  readonly object?: string | undefined;
  readonly triples: Count | undefined;
  readonly status: FactStatus;
  readonly endpoint?: string | undefined;
}

/** Detail "paths": `SubjectClass --property--> ObjectClass`, from and to the chosen classes. */
export function pathLines(content: ViewContent): ViewLines {
  const { description, chosen } = content;
  const links = linkPaths(content);
  const complete = description.classesComplete && description.classPartitions.every(isComplete);
  return {
    head: [
      viewTitle(description),
      `Subject --property--> object (triples); ${marksLegend}${complete ? "" : "; there may be other paths"}${claimedLegend(description)}`,
      ...notFoundText(chosen.notFound),
    ],
    body: function* body() {
      for (const path of allPaths(content, { links, order: byFrequency })) yield pathLine(content, path);
    },
    total: allPaths(content, { links, order: (properties) => properties }).reduce((total) => total + 1, 0),
    unit: "paths",
    more: "raise maxTokens, or name fewer classes=...",
    complete,
  };
}

interface PathOrder {
  readonly links: readonly Path[];
  readonly order: (properties: readonly PropertyPartition[]) => readonly PropertyPartition[];
}

/** The chosen paths, each once, class by class; made one by one, since a budget rarely takes many of them. */
function* allPaths(content: ViewContent, { links, order }: PathOrder): Generator<Path> {
  for (const partition of chosenFirst(content)) {
    for (const property of order(partition.properties)) {
      for (const path of pathsOf(property, partition.class)) if (isChosen(content, path)) yield path;
    }
  }
  for (const property of looseProperties(content)) {
    for (const path of pathsOf(property, undefined)) if (isChosen(content, path)) yield path;
  }
  yield* links;
}

function isChosen({ chosen }: ViewContent, { subject, object }: Path): boolean {
  if (chosen.all) return true;
  return (subject !== undefined && chosen.iris.has(subject)) || (object !== undefined && chosen.iris.has(object));
}

/** Links between datasets, and those between classes that no property partition shows already. */
function linkPaths(content: ViewContent): readonly Path[] {
  const partitions = new Map(content.description.classPartitions.map((partition) => [partition.class, partition]));
  const isShown = ({ subjectClass = "", property, objectClass, targetEndpoint }: Linkset): boolean =>
    targetEndpoint === undefined &&
    (partitions.get(subjectClass)?.properties ?? []).some(
      (each) => each.property === property && each.objectClasses.some(({ iri }) => iri === objectClass),
    );
  return content.description.linksets
    .filter((linkset) => !isShown(linkset))
    .map(linkPath)
    .filter((path) => isChosen(content, path));
}

/** Paths from the chosen classes come before those that only lead to them. */
function chosenFirst({ description, chosen }: ViewContent): readonly ClassPartition[] {
  if (chosen.all) return description.classPartitions;
  return [...chosen.partitions, ...description.classPartitions.filter((each) => !chosen.iris.has(each.class))];
}

function* pathsOf(property: PropertyPartition, subject: string | undefined): Generator<Path> {
  const start = { property: property.property, subject };
  const ranges = rangesOf(property);
  for (const { iri, triples, status } of ranges) yield { ...start, object: iri, triples, status };
  // Without this line a property whose values are of no known kind would not be seen at all.
  if (ranges.length === 0) yield { ...start, triples: property.triples, status: property.status };
}

const linkPath = ({ subjectClass, property, objectClass, targetEndpoint, triples, status }: Linkset): Path => ({
  subject: subjectClass,
  property,
  object: objectClass,
  endpoint: targetEndpoint,
  triples,
  status,
});

function pathLine({ description, table }: ViewContent, path: Path): ViewLine | undefined {
  const { subject, property, object, triples, status, endpoint } = path;
  if ([subject, property, object].some((iri) => iri !== undefined && iri.length > longestName)) return undefined;
  const name = (iri: string | undefined) => (iri === undefined ? { text: "?", prefixes: [] } : table.short(iri));
  const [from, by, to] = [name(subject), name(property), name(object)];
  const elsewhere = endpoint === undefined ? "" : ` at ${endpoint}`;
  return {
    text: `${from.text} --${by.text}--> ${to.text}${elsewhere} (${countWriter(description)(triples, status)})`,
    prefixes: [...from.prefixes, ...by.prefixes, ...to.prefixes],
    path: { subject: subject ?? null, property, object: object ?? null, triples: countValue(triples), endpoint },
  };
}
