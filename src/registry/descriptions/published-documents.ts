import type * as RDF from "@rdfjs/types";
import { dcterms, foaf, rdfs, voidVocabulary as v, sd } from "../../rdf/vocabularies.ts";
import { dataFactory } from "../../rdf/triple-index.ts";
import { parseTurtle } from "../../rdf/turtle.ts";
import { schemaView } from "../schema/schema-view.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { isWritable } from "./values.ts";
import { QuadWriter } from "./quad-writer.ts";
import type { VoidDescription } from "./void-description.ts";

/** Content of `/.well-known/void`. */
interface CatalogVoidOptions {
  /** Own origin. */
  readonly publicUrl: string;
  readonly title: string;
  readonly entries: readonly CatalogEntry[];
  /** The stored description of an endpoint, where it is at hand; only its exact counts are stated. */
  readonly described: (id: string) => VoidDescription | undefined;
}

/** URL of the description that Fedway has of an endpoint. */
export const descriptionUrl = (publicUrl: string, id: string): string => `${publicUrl}/api/endpoints/${id}/void`;

/** A `void:DatasetDescription` of all endpoints (VoID, section 7.2): what each is about, where it is, where to read more. */
export function* catalogVoid({ publicUrl, title, entries, described }: CatalogVoidOptions): Generator<RDF.Quad> {
  const writer = new QuadWriter();
  const document = `${publicUrl}/.well-known/void`;
  writer.type(document, v.DatasetDescription);
  writer.text(document, dcterms.title, title);
  for (const entry of entries) {
    const dataset = `${publicUrl}/endpoints/${entry.id}#dataset`;
    writer.link(document, `${foaf.namespace}topic`, dataset);
    writeEntry(writer, dataset, entry);
    writer.link(dataset, rdfs.seeAlso, descriptionUrl(publicUrl, entry.id));
    writeSize(writer, dataset, described(entry.id));
    yield* writer.take();
  }
  yield* writer.take();
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
    /** Only its exact counts are stated. */
    readonly description?: VoidDescription;
  };
}

function writeSize(writer: QuadWriter, node: string, description: VoidDescription | undefined): void {
  for (const name of ["triples", "classes", "properties"] as const) {
    const count = description?.[name];
    if (count?.status === "exact") writer.number(node, v[name], count.value);
  }
}

/** The SPARQL 1.1 Service Description of a virtual endpoint. */
export function serviceDescription(service: DescribedService): readonly RDF.Quad[] {
  const writer = new QuadWriter();
  const node = `${service.url}#service`;
  writer.type(node, sd.Service);
  writer.link(node, sd.endpoint, service.url);
  writer.link(node, sd.supportedLanguage, sd.SPARQL11Query);
  for (const feature of service.features) writer.link(node, sd.feature, feature);
  for (const format of service.formats) writer.link(node, sd.resultFormat, format);
  const { dataset } = service;
  if (dataset === undefined) return writer.take();
  const graph = `${service.url}#default-graph`;
  writer.link(node, sd.defaultDataset, dataset.iri);
  writer.type(dataset.iri, sd.Dataset);
  writer.link(dataset.iri, sd.defaultGraph, graph);
  writer.type(graph, sd.Graph);
  if (dataset.describedAt !== undefined) {
    writer.link(dataset.describedAt, foaf.primaryTopic, dataset.iri);
    writer.type(dataset.describedAt, v.DatasetDescription);
  }
  writeSize(writer, graph, dataset.description);
  return dataset.description === undefined ? writer.take() : [...writer.take(), ...looseClasses(dataset.description)];
}

const mostTokens = 2_000;
const looseByDescription = new WeakMap<VoidDescription, readonly RDF.Quad[]>();

/**
 * The classes of a dataset with their properties for its service description, where agents look for them. They are not linked as
 * partitions: query planners take a list of partitions for all there are, and would never ask for what a budget left out.
 */
function looseClasses(description: VoidDescription): readonly RDF.Quad[] {
  const known = looseByDescription.get(description);
  if (known !== undefined) return known;
  const { dataset } = description;
  const quads = voidQuads(schemaView(description, { detail: "void", maxTokens: mostTokens }).text);
  const nodes = quads.filter(
    ({ subject, predicate }) => subject.value === dataset && predicate.value === v.classPartition,
  );
  const part = dataFactory.namedNode(`${dcterms.namespace}isPartOf`);
  const whole = dataFactory.namedNode(dataset);
  const loose = [
    ...nodes.flatMap(({ object }) => (object.termType === "BlankNode" ? dataFactory.quad(object, part, whole) : [])),
    ...quads.filter(({ subject }) => subject.termType === "BlankNode"),
  ];
  looseByDescription.set(description, loose);
  return loose;
}

/** The triples of a schema view of detail "void". */
export const voidQuads = (turtle: string): readonly RDF.Quad[] =>
  parseTurtle(turtle, { baseIri: "urn:x-fedway:view", maxBytes: Number.MAX_SAFE_INTEGER, maxQuads: 1_000_000 });
