import type { Count, Linkset, VoidDescription } from "../descriptions/void-description.ts";
import { longestName } from "./class-lines.ts";
import {
  type ViewContent,
  type ViewLine,
  type ViewLines,
  claimedLegend,
  countValue,
  countWriter,
  marksLegend,
  viewTitle,
} from "./compose-view.ts";
import { plainText } from "../../rdf/display-text.ts";

const topClasses = 15;
const mostValues = 12;

/** Detail "summary": counts, unknown facts, the largest classes. */
export function summaryLines(content: ViewContent): ViewLines {
  const { description } = content;
  const facts = [...countLines(content), ...listLines(description), unknownLine(description)].flat();
  const classes = topClassLines(content);
  return {
    head: [viewTitle(description), `${marksLegend}${claimedLegend(description)}`],
    body: () => [...facts, ...classes],
    total: facts.length + classes.length,
    unit: "lines",
    more: "raise maxTokens",
    complete: description.classesComplete && description.propertiesComplete && !description.unfinished,
  };
}

const factLine = (text: string, fact: NonNullable<ViewLine["fact"]>): ViewLine => ({ text, fact });

function countLines({ description }: ViewContent): readonly ViewLine[] {
  const { triples, classes, properties, distinctSubjects, distinctObjects, namedGraphs } = description;
  const list = (name: string, count: Count | undefined, listed: { known: number; complete: boolean }): ViewLine => {
    const shown = count ?? (listed.complete ? exactly(listed.known) : undefined);
    const how = listed.complete ? "list complete" : `${listed.known} listed, perhaps more`;
    return factLine(`${name}: ${write(shown)} (${how})`, {
      fact: name,
      count: countValue(shown),
      complete: listed.complete,
    });
  };
  const plain = (name: string, count: Count | undefined): ViewLine =>
    factLine(`${name}: ${write(count)}`, { fact: name, count: countValue(count) });
  const write = countWriter(description);
  return [
    plain("triples", triples),
    list("classes", classes, { known: description.classPartitions.length, complete: description.classesComplete }),
    list("properties", properties, {
      known: description.propertyPartitions.length,
      complete: description.propertiesComplete,
    }),
    plain("distinct subjects", distinctSubjects),
    plain("distinct objects", distinctObjects),
    ...(namedGraphs === undefined
      ? []
      : [list("named graphs", undefined, { known: namedGraphs.list.length, complete: namedGraphs.complete })]),
  ];
}

/** A complete list has been counted by listing it. */
const exactly = (value: number): Count => ({ value, status: "exact", record: 0 });

function listLines(description: VoidDescription): readonly ViewLine[] {
  const links = new Set(description.linksets.flatMap((linkset: Linkset) => linkset.targetEndpoint ?? []));
  return [
    listLine("graphs", graphTexts(description, description.namedGraphs)),
    listLine("graphs beside the default graph, not counted here", graphTexts(description, description.graphsBeside)),
    listLine("links to", [...links].toSorted()),
    listLine("languages", description.languages),
    listLine("namespaces", description.namespaces),
    factLine(`source: ${description.source}, ${plainText(description.finishedAt, 40)}`, {
      fact: "source",
      values: [description.source, description.finishedAt],
    }),
  ].flat();
}

/** Each graph with its size where there are several: the counts are those of all graphs together. */
function graphTexts(description: VoidDescription, graphs: VoidDescription["namedGraphs"]): readonly string[] {
  const write = countWriter(description);
  return (graphs?.list ?? []).map(({ graph, triples, status }) => `${graph} (${write(triples, status)})`);
}

function listLine(name: string, values: readonly string[]): readonly ViewLine[] {
  if (values.length === 0) return [];
  const shown = values.slice(0, mostValues).map((value) => plainText(value, 100));
  const more = values.length > shown.length ? `, +${values.length - shown.length}` : "";
  return [
    {
      ...factLine(`${name}: ${shown.join(", ")}${more}`, { fact: name, values: shown }),
      values: values.length - shown.length,
    },
  ];
}

function unknownLine({ unknown }: VoidDescription): readonly ViewLine[] {
  return listLine(
    "not found out",
    unknown.map(({ what, why }) => `${plainText(what, 80)} (${why})`),
  );
}

function topClassLines({ description, table, chosen }: ViewContent): readonly ViewLine[] {
  const showable = chosen.partitions.filter((partition) => partition.class.length <= longestName);
  const lines: ViewLine[] = showable.slice(0, topClasses).map((partition) => {
    const name = table.short(partition.class);
    return {
      text: `class ${name.text} (${countWriter(description)(partition.entities, partition.status)})`,
      prefixes: name.prefixes,
      class: { iri: partition.class, status: partition.status, entities: countValue(partition.entities) },
    };
  });
  const others = chosen.partitions.length - lines.length;
  if (others === 0) return lines;
  return [...lines, { text: `+${others} classes: detail=classes`, values: others }];
}
