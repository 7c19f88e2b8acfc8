import type * as RDF from "@rdfjs/types";
import { dcat, fedway, rdf, dcterms, foaf, interfaces, skos, voidVocabulary } from "../../rdf/vocabularies.ts";
import type { CatalogEntry, Federation, EndpointInterface } from "./catalog.ts";
import {
  EntryProblem,
  statementsAbout,
  choice,
  localName,
  count,
  flag,
  identifier,
  iris,
  link,
  quote,
  refuseUnknownTerms,
  shortName,
  requiredText,
  single,
  type Statements,
  text,
  texts,
  values,
  isCatalogId,
} from "./statements.ts";
import { describedFederation } from "./described-federation.ts";
import { splitUrl } from "./index-catalog.ts";
import { splitGraphs, withGraphs } from "../../sparql/default-graphs.ts";
import { keyAdapters } from "./key-adapters.ts";

/** The endpoint or federation that a catalogue document describes. */
export type CatalogItem =
  | { readonly kind: "endpoint"; readonly id: string; readonly value: CatalogEntry }
  | { readonly kind: "federation"; readonly id: string; readonly value: Federation };

/**
 * The one endpoint or federation that a document describes.
 * @throws EntryProblem with the reason, in words for the operator
 */
export function readItem(quads: readonly RDF.Quad[]): CatalogItem {
  const { class: type, subject } = theOneThing(quads);
  const statements = statementsAbout(subject, quads);
  refuseWhatIsNotKept(quads);
  if (type === dcat.DataService) {
    const value = parseEntry(statements, quads);
    return { kind: "endpoint", id: value.id, value };
  }
  const value = parseFederation(statements);
  return { kind: "federation", id: value.id, value };
}

interface TypedSubject {
  readonly class: string;
  readonly subject: RDF.Term;
}

function theOneThing(quads: readonly RDF.Quad[]): TypedSubject {
  const found = new Map<string, TypedSubject>();
  for (const { subject, predicate, object } of quads) {
    if (predicate.value !== rdf.type || (object.value !== dcat.DataService && object.value !== fedway.Federation))
      continue;
    found.set(`${object.value} ${subject.termType} ${subject.value}`, { class: object.value, subject });
  }
  const [only] = found.values();
  if (only === undefined) {
    throw new EntryProblem("The document describes no dcat:DataService and no fedway:Federation.");
  }
  if (found.size > 1) {
    throw new EntryProblem(
      `The document describes ${found.size} services or federations; one document is one endpoint or federation.`,
    );
  }
  return only;
}

/** RDF 1.2 has terms that JSON-LD 1.1 and RDF 1.1 readers lose; named graphs have no place in Turtle. */
function refuseWhatIsNotKept(quads: readonly RDF.Quad[]): void {
  for (const { subject, object, graph } of quads) {
    if (graph.termType !== "DefaultGraph") throw new EntryProblem("The document has a named graph.");
    const isTriple = subject.termType === "Quad" || object.termType === "Quad";
    if (isTriple) throw new EntryProblem("The document has a triple term (RDF 1.2), which could not be kept.");
    if (
      object.termType === "Literal" &&
      object.direction !== undefined &&
      object.direction !== null &&
      object.direction !== ""
    ) {
      throw new EntryProblem("The document has a text with a base direction (RDF 1.2), which could not be kept.");
    }
  }
}

const requestMethods = ["post-form", "post-direct", "get"] as const;
/** Engines by the names that the catalogue uses. */
const engines = [
  "virtuoso",
  "blazegraph",
  "qlever",
  "fuseki",
  "graphdb",
  "oxigraph",
  "rdf4j",
  "stardog",
  "allegrograph",
  "neptune",
  "marklogic",
  "rdfox",
  "anzograph",
  "other",
] as const;

/** Identifier, title and description: what entries and federations have in common. */
const parseNamed = (statements: Statements) => ({
  id: identifier(statements, dcterms.identifier),
  title: requiredText(statements, dcterms.title),
  description: text(statements, dcterms.description),
});

/**
 * The catalogue entry that the statements about a `dcat:DataService` describe.
 * @throws EntryProblem with the reason, in words for the operator
 */
function parseEntry(statements: Statements, quads: readonly RDF.Quad[]): CatalogEntry {
  refuseUnknownTerms(statements, entryTerms);
  return Object.freeze({
    ...parseNamed(statements),
    ...location(statements),
    homepage: link(statements, foaf.homepage) ?? link(statements, dcat.landingPage),
    license: link(statements, dcterms.license),
    engine: choice(statements, fedway.engine, engines),
    rowCap: count(statements, fedway.rowCap),
    method: choice(statements, fedway.requestMethod, requestMethods),
    keywords: texts(statements, dcat.keyword),
    notes: texts(statements, skos.note),
    blocksService: flag(statements, fedway.blocksService),
    needsUserAgent: flag(statements, fedway.needsUserAgent),
    pseudoServices: iris(statements, fedway.pseudoService),
    rawQueries: flag(statements, fedway.rawQueries),
    subjectPartition: link(statements, fedway.subjectPartition),
    mirrorOf: mirrored(statements),
    neverKept: flag(statements, fedway.neverKept) || undefined,
    keyAdapters: keyAdapters(statements, quads),
  });
}

function mirrored(statements: Statements): string | undefined {
  const [id, second] = texts(statements, fedway.mirrorOf);
  if (id === undefined) return undefined;
  if (second === undefined && isCatalogId(id)) return id;
  throw new EntryProblem(`fedway:mirrorOf ${quote(id)} is not one identifier.`, id);
}

const entryTerms: ReadonlySet<string> = new Set([
  fedway.blocksService,
  fedway.defaultGraph,
  fedway.engine,
  fedway.keyAdapter,
  fedway.mirrorOf,
  fedway.neverKept,
  fedway.needsUserAgent,
  fedway.pseudoService,
  fedway.rawQueries,
  fedway.requestMethod,
  fedway.rowCap,
  fedway.subjectPartition,
]);

/** Where the data is and how it is reached. */
function location(statements: Statements) {
  const said = saidInterface(statements);
  const hasUrl = values(statements, dcat.endpointURL).length > 0;
  const property =
    hasUrl || values(statements, voidVocabulary.dataDump).length === 0 ? dcat.endpointURL : voidVocabulary.dataDump;
  if (property === voidVocabulary.dataDump && said !== undefined) {
    throw new EntryProblem(`dcat:endpointURL is missing: dcterms:conformsTo promises more than a file.`);
  }
  const reached = property === voidVocabulary.dataDump ? "file" : (said ?? "sparql");
  return { ...withDefaultGraphs(url(statements, property), reached, statements), interface: reached };
}

const mostDefaultGraphs = 20;
const longestWithGraphs = 4_096;

/**
 * The default graphs of an endpoint are a part of its URL, so that each request has them, and nothing that is known of it
 * is mixed up with what is known of the endpoint without them.
 */
function withDefaultGraphs(written: string, reached: EndpointInterface, statements: Statements) {
  const given = iris(statements, fedway.defaultGraph);
  if (given.length > 0 && reached !== "sparql")
    throw new EntryProblem("fedway:defaultGraph needs a SPARQL endpoint.", localName(fedway.defaultGraph));
  const relative = given.find((graph) => !/^[a-z][a-z0-9+.-]{0,30}:[^\s<>"{}|\\^`]+$/iu.test(graph));
  if (relative !== undefined)
    throw new EntryProblem(`fedway:defaultGraph ${quote(relative)} is not an absolute IRI.`, relative);
  const whole = withGraphs(written, given);
  if (given.length > mostDefaultGraphs || (given.length > 0 && whole.length > longestWithGraphs))
    throw new EntryProblem(
      `fedway:defaultGraph has more than ${mostDefaultGraphs} graphs, or makes the URL longer than ${longestWithGraphs} bytes.`,
      localName(fedway.defaultGraph),
    );
  const { defaultGraphs } = splitGraphs(whole);
  const isAsked = reached === "sparql" && defaultGraphs.length > 0;
  return { url: whole, ...(isAsked && { defaultGraphs: Object.freeze(defaultGraphs) }) };
}

/** `dcterms:conformsTo`; other standards than these may stand there too. */
function saidInterface(statements: Statements): EndpointInterface | undefined {
  const said = new Set(
    values(statements, dcterms.conformsTo).flatMap((term) => interfaceOf.get(bareIri(term.value)) ?? []),
  );
  if (said.size > 1) throw new EntryProblem("dcterms:conformsTo names two interfaces; one entry is one interface.");
  const [only] = said;
  return only;
}

const bareIri = (iri: string): string => iri.replace(/^http:/, "https:").replace(/\/$/, "");
const interfaceOf: ReadonlyMap<string, EndpointInterface> = new Map([
  [bareIri(interfaces.sparql), "sparql"],
  [bareIri(interfaces.tpf), "tpf"],
]);

function url(statements: Statements, property: string): string {
  const name = shortName(property);
  const term = single(statements, property);
  if (term === undefined) throw new EntryProblem(`${name} is missing.`);
  if (term.termType !== "NamedNode") throw new EntryProblem(`${name} is not an IRI.`, term.value);
  const iri = term.value;
  if (/^[^/]*\/\/[^/?#\\]*@/.test(iri)) {
    // The value may hold a password, so it is not repeated.
    throw new EntryProblem(`${name} has a user name or password in it.`, name);
  }
  const scheme = /^[^:]{0,30}/.exec(iri)?.[0]?.toLowerCase();
  if (scheme !== "http" && scheme !== "https") {
    throw new EntryProblem(`${name}${shown(iri)} is not an http or https URL.`, iri);
  }
  if (iri.includes("#")) throw new EntryProblem(`${name} has a fragment.`, iri);
  if (splitUrl(iri) === undefined) throw new EntryProblem(`${name}${shown(iri)} is not a valid URL.`, iri);
  return iri;
}

/** Omits an IRI that may contain a password. */
const shown = (iri: string): string => (iri.includes("@") ? "" : ` ${quote(iri)}`);

const federationTerms: ReadonlySet<string> = new Set([fedway.member, fedway.memberKeyword, fedway.memberQuery]);

/**
 * The federation that the statements about a `fedway:Federation` describe.
 * @throws EntryProblem with the reason, in words for the operator
 */
function parseFederation(statements: Statements): Federation {
  refuseUnknownTerms(statements, federationTerms);
  const named = parseNamed(statements);
  if (named.id === describedFederation.id) {
    throw new EntryProblem(`"${named.id}" is the federation of all described endpoints; choose another id.`, named.id);
  }
  const members = texts(statements, fedway.member);
  const notId = members.find((member) => !isCatalogId(member));
  if (notId !== undefined) throw new EntryProblem(`fedway:member ${quote(notId)} is not an identifier.`, notId);
  const memberKeywords = texts(statements, fedway.memberKeyword);
  const memberQuery = text(statements, fedway.memberQuery);
  if (members.length === 0 && memberKeywords.length === 0 && memberQuery === undefined) {
    throw new EntryProblem("None of fedway:member, fedway:memberKeyword and fedway:memberQuery is given.");
  }
  return Object.freeze({
    ...named,
    members: Object.freeze([...new Set(members)]),
    memberKeywords,
    memberQuery,
  });
}
