import type {
  ClassPartition,
  Count,
  FactStatus,
  Linkset,
  PropertyPartition,
} from "../descriptions/void-description.ts";
import { byFrequency, isComplete, longestName, looseProperties, rangesOf } from "./class-lines.ts";
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
import { bracketedIri } from "../../rdf/display-text.ts";

const mostBuilt = 4;

/** A step from one class to another class or a datatype; absent ends are unknown. */
interface Path {
  readonly subject?: string | undefined;
  readonly property: string;
  readonly object?: string | undefined;
  readonly triples: Count | undefined;
  readonly status: FactStatus;
  readonly endpoint?: string | undefined;
  readonly dataset?: string | undefined;
  readonly builtSubject?: true;
  readonly builtObject?: true;
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
      for (const path of pathsOf(content, property, partition.class)) if (isChosen(content, path)) yield path;
    }
  }
  for (const property of looseProperties(content)) {
    for (const path of pathsOf(content, property, undefined)) if (isChosen(content, path)) yield path;
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
  const isShown = ({ subjectClass = "", property, objectClass, targetEndpoint, targetDataset }: Linkset): boolean =>
    targetEndpoint === undefined &&
    targetDataset === undefined &&
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

/** Ends that are not seen here are those that the builder of a shard states, each with each; of more than four the rest is left out. */
function* pathsOf({ built }: ViewContent, property: PropertyPartition, subject: string | undefined): Generator<Path> {
  const { subjectClasses = [], objectClasses = [] }: Partial<BuiltEnds> = built.get(property.property) ?? {};
  const builtSubjects = subject === undefined ? subjectClasses.slice(0, mostBuilt) : [];
  const starts: readonly { readonly subject: string | undefined; readonly builtSubject?: true }[] =
    builtSubjects.length === 0 ? [{ subject }] : builtSubjects.map((iri) => ({ subject: iri, builtSubject: true }));
  const ends = endsOf(property, objectClasses);
  for (const start of starts) {
    for (const { triples, ...end } of ends) {
      // Of several classes each count is unknown: a subject may have one of them or all.
      yield { ...start, property: property.property, ...end, triples: starts.length === 1 ? triples : undefined };
    }
  }
}

function endsOf(property: PropertyPartition, told: readonly string[]): readonly Omit<Path, "property">[] {
  const ranges = rangesOf(property);
  if (ranges.length > 0) return ranges.map(({ iri, triples, status }) => ({ object: iri, triples, status }));
  const { triples, status } = property;
  const ends = told.slice(0, mostBuilt);
  if (ends.length > 0) {
    const known = ends.length === 1 ? triples : undefined;
    return ends.map((iri) => ({ object: iri, builtObject: true, triples: known, status }));
  }
  // Without this line a property whose values are of no known kind would not be seen at all.
  return [{ triples, status }];
}

const linkPath = ({ subjectClass, objectClass, targetEndpoint, targetDataset, triples, ...link }: Linkset): Path => ({
  ...link,
  triples,
  subject: subjectClass,
  object: objectClass,
  endpoint: targetEndpoint,
  dataset: targetEndpoint === undefined ? targetDataset : undefined,
});

function pathLine({ description, table }: ViewContent, path: Path): ViewLine | undefined {
  const { subject, property, object, triples, status, endpoint, dataset, builtSubject, builtObject } = path;
  if ([subject, property, object, dataset].some((iri) => iri !== undefined && iri.length > longestName))
    return undefined;
  const name = (iri: string | undefined) => (iri === undefined ? { text: "?", prefixes: [] } : table.short(iri));
  const [from, by, to] = [name(subject), name(property), name(object)];
  const elsewhere = endpoint ? ` at ${endpoint}` : dataset ? ` in ${bracketedIri(dataset)}` : "";
  return {
    text: `${from.text}${mark(builtSubject)} --${by.text}--> ${to.text}${mark(builtObject)}${elsewhere} (${countWriter(description)(triples, status)})`,
    prefixes: [...from.prefixes, ...by.prefixes, ...to.prefixes],
    path: {
      subject: subject ?? null,
      property,
      object: object ?? null,
      triples: countValue(triples),
      endpoint,
      dataset,
      ...(builtSubject && { builtSubject }),
      ...(builtObject && { builtObject }),
    },
  };
}

const mark = (isBuilt: true | undefined): string => (isBuilt ? "^" : "");
