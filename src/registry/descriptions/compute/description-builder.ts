import { compareText } from "../../../rdf/canonical.ts";
import { classPartitions as classesOf, type Fact, listed, propertyPartitions } from "../facts.ts";
import type { ClassPartition, Linkset, VoidDescription } from "../void-description.ts";
import type { FactBase } from "./fact-base.ts";

/** Fields of a description other than its facts. */
type Frame = Pick<
  VoidDescription,
  "endpoint" | "id" | "dataset" | "startedAt" | "finishedAt" | "unfinished" | "unknown" | "records" | "cost"
> & { readonly known: VoidDescription | undefined };

const mostLinksets = 20_000;

/** The description of a fact base. Values are snapshots: later changes of the base do not show. */
export function buildDescription(base: FactBase, { known, ...frame }: Frame): VoidDescription {
  const {
    retrievedFrom,
    title,
    description,
    license,
    citation,
    origin,
    entities,
    dumps,
    vocabularies,
  }: Partial<VoidDescription> = known ?? {};
  const { classes, properties, languages, namespaces, graphs, terms } = base;
  const classPartitions = classesOf(classes);
  const published = known?.linksets.filter((linkset) => isPublished(linkset) && isPossible(base, linkset)) ?? [];
  return {
    ...frame,
    source: known === undefined || known.source === "computed" ? "computed" : "mixed",
    retrievedFrom,
    title,
    description,
    license,
    citation,
    origin,
    entities,
    dumps,
    vocabularies,
    ...base.totals,
    classPartitions,
    classesComplete: classes.complete,
    propertyPartitions: propertyPartitions(properties),
    propertiesComplete: properties.complete,
    languages: [...languages].toSorted(compareText),
    namespaces: [...namespaces].toSorted(compareText),
    graphs: graphs.size > 0 ? [...graphs].toSorted(compareText) : undefined,
    ...namedGraphsOf(base),
    linksets: [...published, ...linksetsWithin(classPartitions)].slice(0, mostLinksets),
    terms: terms.size > 0 ? [...terms.values()].toSorted((one, other) => compareText(one.iri, other.iri)) : undefined,
    records: [...frame.records],
  };
}

const graphPartition = ({ status, record, triples }: Fact, graph: string) => ({ graph, status, record, triples });

function namedGraphsOf({ namedGraphs, graphsBeside }: FactBase): Pick<VoidDescription, "namedGraphs" | "graphsBeside"> {
  if (namedGraphs.size === 0) return {};
  const graphs = { list: listed(namedGraphs, "triples", graphPartition), complete: namedGraphs.complete };
  return graphsBeside ? { graphsBeside: graphs } : { namedGraphs: graphs };
}

/** Linksets that do not follow from the class partitions: the publisher's own, and those to other endpoints. */
const isPublished = (linkset: Linkset): boolean => linkset.targetEndpoint !== undefined || linkset.status === "claimed";

/** False for published terms that a complete list lacks: the publisher's claim is out of date. */
function isPossible(base: FactBase, { property, subjectClass, status }: Linkset): boolean {
  if (status !== "claimed") return true;
  const hasClass = subjectClass === undefined || base.classes.has(subjectClass);
  return (base.properties.has(property) || !base.properties.complete) && (hasClass || !base.classes.complete);
}

/** Links between classes inside the dataset (T4): each property of a class whose objects have a class. */
function linksetsWithin(partitions: readonly ClassPartition[]): readonly Linkset[] {
  const linksets: Linkset[] = [];
  for (const partition of partitions) {
    for (const { property, objectClasses } of partition.properties) {
      for (const { iri, status, record, triples } of objectClasses) {
        // The publisher's own linksets stand beside these.
        if (status === "claimed") continue;
        if (linksets.length >= mostLinksets) return linksets;
        const ends = { property, subjectClass: partition.class, objectClass: iri };
        linksets.push({ ...ends, status, record, triples });
      }
    }
  }
  return linksets;
}
