import type * as RDF from "@rdfjs/types";
import { dataFactory } from "../rdf/triple-index.ts";
import { dcat, dcterms, fedway, rdf, rdfs, sd, voidVocabulary as v } from "../rdf/vocabularies.ts";
import type { Capabilities } from "../registry/capabilities.ts";
import type { CatalogDocument, PublishedFacts } from "../registry/catalog.ts";
import { descriptionQuads, descriptionUrl, QuadWriter, type VoidDescription } from "../registry/descriptions.ts";

/** Names of the registry's resources. */
export interface Naming {
  /** Without a trailing slash. */
  readonly publicUrl: string;
}

/** The IRI of an endpoint or federation, which is also its page. */
export const iriOf = ({ publicUrl }: Naming, kind: CatalogDocument["kind"], id: string): string =>
  `${publicUrl}/${kind}s/${id}`;

const types = { endpoint: dcat.DataService, federation: fedway.Federation } as const;

/** A document of the catalogue, whose subject gets the IRI of its page in the place of a name of its own. */
export function documentQuads({ kind, id, quads }: CatalogDocument, naming: Naming): readonly RDF.Quad[] {
  const type = quads.find(({ predicate, object }) => predicate.value === rdf.type && object.value === types[kind]);
  const named = dataFactory.namedNode(iriOf(naming, kind, id));
  const renamed = <Term extends RDF.Term>(term: Term): Term | RDF.NamedNode =>
    type !== undefined && term.equals(type.subject) ? named : term;
  return quads.map(({ subject, predicate, object }) => dataFactory.quad(renamed(subject), predicate, renamed(object)));
}

const mediaTypes = "https://www.iana.org/assignments/media-types/";

/** Probed capabilities of an endpoint, in terms of SPARQL 1.1 Service Description; unknown ones are absent. */
export function capabilityQuads(found: Capabilities, service: string): readonly RDF.Quad[] {
  const writer = new QuadWriter();
  writer.type(service, sd.Service);
  writer.link(service, sd.endpoint, found.endpoint);
  writer.time(service, fedway.probedAt, found.probedAt);
  for (const [name, outcome] of Object.entries(found.constructs)) {
    const term = `${fedway.namespace}${name}`;
    if (outcome.verdict === "right") writer.link(service, sd.feature, term);
    else if (outcome.verdict !== "failed") writer.link(service, fedway.lacksFeature, term);
  }
  if (found.textSearch !== undefined) writer.link(service, sd.feature, fedway.textSearch);
  if (found.reachable) writer.link(service, sd.supportedLanguage, sd.SPARQL11Query);
  for (const format of found.formats) writer.link(service, sd.resultFormat, mediaTypes + format);
  writer.number(service, fedway.observedRowCap, found.rowCap);
  writer.number(service, fedway.wholeRows, found.wholeRows);
  writer.number(service, fedway.maxValuesRows, found.maxValuesRows);
  writer.number(service, fedway.maxUrlBytes, found.maxUrlBytes);
  return writer.take();
}

/**
 * A description as the API gives it (`view=agent`, `variant=extended`), with at most `room` triples: a longer one is
 * aggregated, and says what it lacks and where the whole is.
 */
export function voidQuads(description: VoidDescription, room: number, naming: Naming): readonly RDF.Quad[] {
  const { id = "", dataset } = description;
  const url = descriptionUrl(naming.publicUrl, id);
  const written = (shown: VoidDescription): readonly RDF.Quad[] | undefined =>
    atMost(descriptionQuads(shown, { view: "agent", variant: "extended", url }), room - linkTriples);
  const writer = new QuadWriter();
  writer.link(iriOf(naming, "endpoint", id), dcat.servesDataset, dataset);
  const whole = written(description);
  if (whole !== undefined) return [...writer.take(), ...whole];
  const most = Math.floor(room / partitionTriples);
  const part = written(aggregated(description, most));
  const lacks = `properties of classes, objects of properties, names of terms, requests, and what is not among the ${most} largest classes and properties and the first ${Math.floor(most / 8)} linksets and namespaces`;
  writer.text(dataset, fedway.leftOut, part === undefined ? "the description" : lacks);
  writer.link(dataset, rdfs.seeAlso, `${url}?variant=extended`);
  return [...writer.take(), ...(part ?? [])];
}

const linkTriples = 3;
/** Triples of a class and a property of the whole dataset with how they are known, and a share of all else. */
const partitionTriples = 22;

/** The largest classes and properties with their counts. */
function aggregated(description: VoidDescription, most: number): VoidDescription {
  const { classPartitions: classes, propertyPartitions: properties, classesComplete, propertiesComplete } = description;
  return {
    ...description,
    classPartitions: classes.slice(0, most).map(withoutProperties),
    propertyPartitions: properties.slice(0, most).map(withoutObjects),
    classesComplete: classesComplete && classes.length <= most,
    propertiesComplete: propertiesComplete && properties.length <= most,
    linksets: description.linksets.slice(0, most / 8),
    namespaces: description.namespaces.slice(0, most / 8),
    terms: [],
    records: [],
    unknown: [],
    built: undefined,
    namedGraphs: undefined,
    graphsBeside: undefined,
  };
}

type ClassPartition = VoidDescription["classPartitions"][number];
type PropertyPartition = VoidDescription["propertyPartitions"][number];

const withoutProperties = (partition: ClassPartition): ClassPartition => ({
  ...partition,
  properties: [],
  propertiesComplete: false,
});

const withoutObjects = (partition: PropertyPartition): PropertyPartition => ({
  ...partition,
  objectClasses: [],
  datatypes: [],
  objectsComplete: false,
});

/** The quads, if they are no more than that. */
function atMost(quads: Iterable<RDF.Quad>, most: number): readonly RDF.Quad[] | undefined {
  const taken: RDF.Quad[] = [];
  for (const quad of quads) if (taken.push(quad) > most) return undefined;
  return taken;
}

/** Published facts about an endpoint: a dataset of its own, never mixed with facts from the endpoint itself. */
export function publishedQuads(facts: PublishedFacts, room: number, service: string): readonly RDF.Quad[] {
  const writer = new QuadWriter();
  const dataset = `${service}#published`;
  writer.link(service, fedway.publishedFacts, dataset);
  writer.type(dataset, v.Dataset);
  writer.text(dataset, fedway.source, "published");
  writer.text(dataset, dcterms.description, facts.provenance);
  const shown = [...facts.terms.values()].slice(0, Math.floor((room - linkTriples * 2) / 3));
  if (shown.length < facts.terms.size) writer.text(dataset, fedway.leftOut, `${facts.terms.size - shown.length} terms`);
  for (const [at, { kind, iri, count }] of shown.entries()) {
    const node = `${dataset}-${at + 1}`;
    writer.link(dataset, kind === "class" ? v.classPartition : v.propertyPartition, node);
    writer.link(node, kind === "class" ? v.class : v.property, iri);
    writer.number(node, kind === "class" ? v.entities : v.triples, count);
  }
  return writer.take();
}
