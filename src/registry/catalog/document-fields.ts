import type * as RDF from "@rdfjs/types";
import { dataFactory } from "../../rdf/triple-index.ts";
import { dcat, dcterms, fedway, foaf, interfaces, rdf, skos, voidVocabulary, xsd } from "../../rdf/vocabularies.ts";
import { splitGraphs } from "../../sparql/default-graphs.ts";
import type { CatalogDocument, CatalogEntry, EndpointInterface, Federation } from "./catalog.ts";

/** A field that is left as it is when absent, and removed when null (RFC 7396). */
type Merge<Fields> = { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> | null };

/** Fields of an endpoint or a federation, for those who do not want to write RDF. */
export type DocumentFields = Merge<Omit<CatalogEntry, "keyAdapters">> & Merge<Federation>;

/** A field of one or several values: the properties it is read from, the first being the one it is written to. */
interface Field {
  readonly name: keyof DocumentFields;
  readonly properties: readonly [string, ...string[]];
  readonly term: (value: string) => RDF.Quad_Object;
  /** A text in several languages, of which the shown one is meant. */
  readonly isText?: boolean;
}

const plain = (value: string): RDF.Literal => dataFactory.literal(value);
const iri = (value: string): RDF.NamedNode => dataFactory.namedNode(value);
const typed =
  (datatype: string) =>
  (value: string): RDF.Literal =>
    dataFactory.literal(value, dataFactory.namedNode(datatype));

const fields: readonly Field[] = [
  { name: "id", properties: [dcterms.identifier], term: plain },
  { name: "title", properties: [dcterms.title], term: plain, isText: true },
  { name: "description", properties: [dcterms.description], term: plain, isText: true },
  { name: "homepage", properties: [foaf.homepage, dcat.landingPage], term: iri },
  { name: "license", properties: [dcterms.license], term: iri },
  { name: "keywords", properties: [dcat.keyword], term: plain },
  { name: "notes", properties: [skos.note], term: plain },
  { name: "engine", properties: [fedway.engine], term: plain },
  { name: "rowCap", properties: [fedway.rowCap], term: typed(xsd.integer) },
  { name: "blocksService", properties: [fedway.blocksService], term: typed(xsd.boolean) },
  { name: "needsUserAgent", properties: [fedway.needsUserAgent], term: typed(xsd.boolean) },
  { name: "defaultGraphs", properties: [fedway.defaultGraph], term: iri },
  { name: "pseudoServices", properties: [fedway.pseudoService], term: iri },
  { name: "rawQueries", properties: [fedway.rawQueries], term: typed(xsd.boolean) },
  { name: "subjectPartition", properties: [fedway.subjectPartition], term: iri },
  { name: "mirrorOf", properties: [fedway.mirrorOf], term: plain },
  { name: "neverKept", properties: [fedway.neverKept], term: typed(xsd.boolean) },
  { name: "method", properties: [fedway.requestMethod], term: plain },
  { name: "members", properties: [fedway.member], term: plain },
  { name: "memberKeywords", properties: [fedway.memberKeyword], term: plain },
  { name: "memberQuery", properties: [fedway.memberQuery], term: plain, isText: true },
];

const types = { endpoint: dcat.DataService, federation: fedway.Federation } as const;

/** The triples of a new document with these fields; whether they are right is checked when it is written. */
export function documentOf(kind: CatalogDocument["kind"], wanted: DocumentFields): readonly RDF.Quad[] {
  const subject = dataFactory.blankNode();
  const start = dataFactory.quad(subject, iri(rdf.type), iri(types[kind]));
  return withFields(kind, [start], wanted);
}

/**
 * A document with these fields changed. What no field names stays: other properties, other languages of a text, the
 * language of a keyword that is kept.
 */
export function withFields(
  kind: CatalogDocument["kind"],
  quads: readonly RDF.Quad[],
  wanted: DocumentFields,
): readonly RDF.Quad[] {
  const subject = quads.find(
    ({ predicate, object }) => predicate.value === rdf.type && object.value === types[kind],
  )?.subject;
  if (subject === undefined) return quads;
  const document = new Editing(subject, quads);
  for (const field of fields) {
    const value = wanted[field.name];
    if (value !== undefined) setField(document, field, textsOf(value));
  }
  const places = [wanted.url, wanted.interface, wanted.defaultGraphs];
  if (places.some((value) => value !== undefined)) setLocation(document, wanted);
  return document.quads;
}

/** Triples of a document while they are changed. */
class Editing {
  readonly #subject: RDF.Quad_Subject;
  #quads: readonly RDF.Quad[];

  constructor(subject: RDF.Quad_Subject, quads: readonly RDF.Quad[]) {
    this.#subject = subject;
    this.#quads = quads;
  }

  get quads(): readonly RDF.Quad[] {
    return this.#quads;
  }

  objects(property: string): readonly RDF.Quad_Object[] {
    return this.#quads.filter((quad) => this.#isAbout(quad, property)).map(({ object }) => object);
  }

  /** Replaces all values of a property. */
  set(property: string, objects: readonly RDF.Quad_Object[]): void {
    const others = this.#quads.filter((quad) => !this.#isAbout(quad, property));
    this.#quads = [...others, ...objects.map((object) => dataFactory.quad(this.#subject, iri(property), object))];
  }

  #isAbout({ subject, predicate }: RDF.Quad, property: string): boolean {
    return predicate.value === property && subject.equals(this.#subject);
  }
}

/** Values as they are written; false is what holds when nothing is said. */
function textsOf(value: string | number | boolean | readonly string[] | null): readonly string[] {
  if (value === null || value === false) return [];
  return typeof value === "object" ? [...new Set(value)] : [String(value)];
}

function setField(document: Editing, { properties, term, isText = false }: Field, values: readonly string[]): void {
  const [property, ...others] = properties;
  const before = document.objects(property);
  for (const other of others) document.set(other, []);
  // Without a value, a text in another language would be shown instead.
  const kept = isText && values.length > 0 ? before.filter((object) => !isShownLanguage(object)) : [];
  const known = isText ? before.filter(isShownLanguage) : before;
  const written = values.map((value) => known.find((each) => each.value.trim() === value) ?? term(value));
  document.set(property, [...kept, ...written]);
}

/** English and untagged texts are shown before others. */
const isShownLanguage = (object: RDF.Term): boolean =>
  object.termType === "Literal" && (object.language === "" || object.language.toLowerCase() === "en");

/** URL and interface depend on each other: a file has its URL in another property. */
function setLocation(document: Editing, changed: DocumentFields): void {
  const { interface: wanted } = changed;
  const [endpointUrl] = document.objects(dcat.endpointURL);
  const [dataDump] = document.objects(voidVocabulary.dataDump);
  const wasFile = endpointUrl === undefined && dataDump !== undefined;
  const isFile = wanted === undefined ? wasFile : wanted === "file";
  const written = locationIn(changed, endpointUrl ?? dataDump);
  if (isFile || wasFile) document.set(voidVocabulary.dataDump, isFile ? written : []);
  document.set(dcat.endpointURL, isFile ? [] : written);
  if (wanted !== undefined) setInterface(document, wanted);
}

/** The field of default graphs names them all, also where the URL is one that was read, with those of before. */
function locationIn({ url, defaultGraphs }: DocumentFields, kept: RDF.Term | undefined): readonly RDF.NamedNode[] {
  const given = url === undefined ? kept?.value : url;
  if (typeof given !== "string") return [];
  return [iri(defaultGraphs === undefined ? given : splitGraphs(given).bare)];
}

/** Other standards may stand beside the interface. */
function setInterface(document: Editing, wanted: EndpointInterface | null): void {
  const others = document.objects(dcterms.conformsTo).filter(({ value }) => !isInterface(value));
  document.set(dcterms.conformsTo, wanted === "tpf" ? [...others, iri(interfaces.tpf)] : others);
}

const bare = (text: string): string => text.replace(/^http:/, "https:").replace(/\/$/, "");
const isInterface = (text: string): boolean => Object.values(interfaces).some((each) => bare(each) === bare(text));
