import type * as RDF from "@rdfjs/types";
import { dcterms, foaf, rdfs, voidVocabulary as v, sd } from "../../rdf/vocabularies.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { isWritable } from "./values.ts";
import { createQuadWriter, type QuadWriter } from "./quad-writer.ts";
import type { VoidDescription, Count } from "./void-description.ts";

/** What stands at `/.well-known/void`. */
interface CatalogVoidOptions {
  /** Own origin. */
  readonly publicUrl: string;
  readonly title: string;
  readonly entries: readonly CatalogEntry[];
  /** The stored description of an endpoint, where it is at hand; only exact counts of it are told. */
  readonly described: (id: string) => VoidDescription | undefined;
}

/** URL of the description that Fedway has of an endpoint. */
export const descriptionUrl = (publicUrl: string, id: string): string => `${publicUrl}/api/endpoints/${id}/void`;

/** A `void:DatasetDescription` of all endpoints (VoID, section 7.2): what each is about, where it is, where to read more. */
export function catalogVoid({ publicUrl, title, entries, described }: CatalogVoidOptions): readonly RDF.Quad[] {
  const writer = createQuadWriter();
  const document = `${publicUrl}/.well-known/void`;
  writer.type(document, v.DatasetDescription);
  writer.text(document, dcterms.title, title);
  for (const entry of entries) {
    const dataset = `${publicUrl}/endpoints/${entry.id}#dataset`;
    writer.link(document, `${foaf.namespace}topic`, dataset);
    writeEntry(writer, dataset, entry);
    writer.link(dataset, rdfs.seeAlso, descriptionUrl(publicUrl, entry.id));
    const description = described(entry.id);
    if (description?.triples?.status === "exact") writer.number(dataset, v.triples, description.triples.value);
    if (description?.classes?.status === "exact") writer.number(dataset, v.classes, description.classes.value);
    if (description?.properties?.status === "exact") writer.number(dataset, v.properties, description.properties.value);
  }
  return writer.quads;
}

const iri = (text: string | undefined): string | undefined =>
  text !== undefined && isWritable(text) ? text : undefined;

function writeEntry(writer: QuadWriter, dataset: string, entry: CatalogEntry): void {
  const { url, title, description, homepage, license } = entry;
  writer.type(dataset, v.Dataset);
  writer.text(dataset, dcterms.identifier, entry.id);
  writer.text(dataset, dcterms.title, title);
  writer.text(dataset, dcterms.description, description);
  writer.link(dataset, foaf.homepage, iri(homepage));
  writer.link(dataset, dcterms.license, iri(license));
  if (entry.interface === "sparql") writer.link(dataset, v.sparqlEndpoint, iri(url));
  if (entry.interface === "file") writer.link(dataset, v.dataDump, iri(url));
  if (entry.interface === "tpf") writer.link(dataset, v.uriLookupEndpoint, iri(url));
}

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
