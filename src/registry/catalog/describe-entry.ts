import { dcat, dcterms, fedway, foaf, interfaces, skos, voidVocabulary } from "../../rdf/vocabularies.ts";
import type { CatalogEntry, EndpointInterface } from "./catalog.ts";
import { splitUrl } from "./endpoint-url.ts";
import {
  choice,
  count,
  EntryProblem,
  flag,
  identifier,
  iris,
  link,
  type Property,
  quote,
  requiredText,
  single,
  type Statements,
  text,
  texts,
  values,
} from "./statements.ts";

const identifierProperty: Property = { iri: dcterms.identifier, name: "dcterms:identifier" };
const titleProperty: Property = { iri: dcterms.title, name: "dcterms:title" };
const descriptionProperty: Property = { iri: dcterms.description, name: "dcterms:description" };
const endpointUrl: Property = { iri: dcat.endpointURL, name: "dcat:endpointURL" };
const dataDump: Property = { iri: voidVocabulary.dataDump, name: "void:dataDump" };

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
export function describeNamed(statements: Statements): Pick<CatalogEntry, "id" | "title" | "description"> {
  const description = text(statements, descriptionProperty);
  return {
    id: identifier(statements, identifierProperty),
    title: requiredText(statements, titleProperty),
    ...(description !== undefined && { description }),
  };
}

/**
 * The catalogue entry that the statements about a `dcat:DataService` describe.
 * @throws EntryProblem with the reason, in words for the operator
 */
export function describeEntry(statements: Statements): CatalogEntry {
  refuseUnknownTerms(statements, entryTerms);
  return Object.freeze({
    ...describeNamed(statements),
    ...location(statements),
    ...links(statements),
    ...dialect(statements),
    keywords: texts(statements, { iri: dcat.keyword, name: "dcat:keyword" }),
    notes: texts(statements, { iri: skos.note, name: "skos:note" }),
    blocksService: flag(statements, { iri: fedway.blocksService, name: "fedway:blocksService" }),
    needsUserAgent: flag(statements, { iri: fedway.needsUserAgent, name: "fedway:needsUserAgent" }),
    pseudoServices: iris(statements, { iri: fedway.pseudoService, name: "fedway:pseudoService" }),
    rawQueries: flag(statements, { iri: fedway.rawQueries, name: "fedway:rawQueries" }),
  });
}

function links(statements: Statements): Pick<CatalogEntry, "homepage" | "license"> {
  const landingPage = link(statements, { iri: dcat.landingPage, name: "dcat:landingPage" });
  const homepage = link(statements, { iri: foaf.homepage, name: "foaf:homepage" }) ?? landingPage;
  const license = link(statements, { iri: dcterms.license, name: "dcterms:license" });
  return { ...(homepage !== undefined && { homepage }), ...(license !== undefined && { license }) };
}

function dialect(statements: Statements): Pick<CatalogEntry, "engine" | "rowCap" | "method"> {
  const engine = choice(statements, { iri: fedway.engine, name: "fedway:engine" }, engines);
  const rowCap = count(statements, { iri: fedway.rowCap, name: "fedway:rowCap" });
  const method = choice(statements, { iri: fedway.requestMethod, name: "fedway:requestMethod" }, requestMethods);
  return {
    ...(engine !== undefined && { engine }),
    ...(rowCap !== undefined && { rowCap }),
    ...(method !== undefined && { method }),
  };
}

const entryTerms: ReadonlySet<string> = new Set([
  fedway.blocksService,
  fedway.engine,
  fedway.needsUserAgent,
  fedway.pseudoService,
  fedway.rawQueries,
  fedway.requestMethod,
  fedway.rowCap,
]);

/** A misspelt Fedway term would otherwise be a setting that silently does nothing. */
export function refuseUnknownTerms(statements: Statements, terms: ReadonlySet<string>): void {
  for (const predicate of statements.keys()) {
    if (!predicate.startsWith(fedway.namespace) || terms.has(predicate)) continue;
    const name = predicate.slice(fedway.namespace.length);
    throw new EntryProblem(`fedway:${name} is not a term of the Fedway vocabulary that belongs here.`, name);
  }
}

/** Where the data is and how it is reached. */
function location(statements: Statements): Pick<CatalogEntry, "url" | "interface"> {
  const said = saidInterface(statements);
  const hasUrl = values(statements, endpointUrl.iri).length > 0;
  const property = hasUrl || values(statements, dataDump.iri).length === 0 ? endpointUrl : dataDump;
  if (property === dataDump && said !== undefined) {
    throw new EntryProblem(`dcat:endpointURL is missing: dcterms:conformsTo promises more than a file.`);
  }
  return { url: url(statements, property), interface: property === dataDump ? "file" : (said ?? "sparql") };
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

function url(statements: Statements, property: Property): string {
  const { name } = property;
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

/** What might be a password is not repeated. */
const shown = (iri: string): string => (iri.includes("@") ? "" : ` ${quote(iri)}`);
