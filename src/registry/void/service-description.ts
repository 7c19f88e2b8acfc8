import type * as RDF from "@rdfjs/types";
import { foaf, sd, voidVocabulary as v } from "../../rdf/vocabularies.ts";
import { createQuadWriter } from "./quad-writer.ts";
import type { Count, VoidDescription } from "./void-description.ts";

/** A virtual endpoint of this service. */
export interface DescribedService {
  /** Absolute URL of the route. */
  readonly url: string;
  /** IRIs of `sd:feature`, e.g. `sd:BasicFederatedQuery`. */
  readonly features: readonly string[];
  /** IRIs of `sd:resultFormat`. */
  readonly formats: readonly string[];
  /** The dataset behind it; absent where queries name their endpoints themselves. */
  readonly dataset?: {
    readonly iri: string;
    /** URL of its VoID. */
    readonly describedAt?: string;
    /** Only exact counts of it are told. */
    readonly description?: VoidDescription;
  };
}

const exact = (count: Count | undefined): number | undefined => (count?.status === "exact" ? count.value : undefined);

/** The SPARQL 1.1 Service Description of a virtual endpoint. */
export function serviceDescription(service: DescribedService): readonly RDF.Quad[] {
  const writer = createQuadWriter();
  const node = `${service.url}#service`;
  writer.type(node, sd.Service);
  writer.link(node, sd.endpoint, service.url);
  writer.link(node, sd.supportedLanguage, sd.SPARQL11Query);
  for (const feature of service.features) writer.link(node, sd.feature, feature);
  for (const format of service.formats) writer.link(node, sd.resultFormat, format);
  const { dataset } = service;
  if (dataset === undefined) return writer.quads;
  const graph = `${service.url}#default-graph`;
  writer.link(node, sd.defaultDataset, dataset.iri);
  writer.type(dataset.iri, sd.Dataset);
  writer.link(dataset.iri, sd.defaultGraph, graph);
  writer.type(graph, sd.Graph);
  if (dataset.describedAt !== undefined) {
    writer.link(dataset.describedAt, foaf.primaryTopic, dataset.iri);
    writer.type(dataset.describedAt, v.DatasetDescription);
  }
  writer.number(graph, v.triples, exact(dataset.description?.triples));
  writer.number(graph, v.classes, exact(dataset.description?.classes));
  writer.number(graph, v.properties, exact(dataset.description?.properties));
  return writer.quads;
}
