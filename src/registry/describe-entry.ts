import type { Quad, Term } from "@rdfjs/types";
import { dcat, dcterms, fedway, foaf, rdf, xsd } from "../rdf/vocabularies.ts";
import type { CatalogEntry } from "./catalog.ts";
import { splitUrl } from "./endpoint-url.ts";

/** Why a description is refused; `about` is the text in the file that the reason is about. */
export class EntryProblem extends Error {
  override readonly name = "EntryProblem";
  readonly about: string | undefined;

  constructor(reason: string, about?: string) {
    super(reason);
    this.about = about;
  }
}

const idPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const requestMethods = ["post-form", "post-direct", "get"] as const;
const maxTextLength = 2_000;

/** Statements about the one service of a file, by predicate. */
type Statements = ReadonlyMap<string, readonly Term[]>;

/**
 * The catalogue entry that a file's triples describe.
 * @throws EntryProblem with the reason, in words for the operator
 */
export function describeEntry(quads: readonly Quad[]): CatalogEntry {
  const statements = aboutTheService(quads);
  refuseUnknownTerms(statements);
  const description = text(statements, dcterms.description, "dcterms:description");
  const license = link(statements, dcterms.license, "dcterms:license");
  const homepage =
    link(statements, foaf.homepage, "foaf:homepage") ?? link(statements, dcat.landingPage, "dcat:landingPage");
  const method = requestMethod(statements);
  return Object.freeze({
    id: identifier(statements),
    title: title(statements),
    url: endpointUrl(statements),
    keywords: Object.freeze(values(statements, dcat.keyword).map((term) => term.value)),
    pseudoServices: Object.freeze(pseudoServices(statements)),
    rawQueries: flag(statements),
    ...(description !== undefined && { description }),
    ...(homepage !== undefined && { homepage }),
    ...(license !== undefined && { license }),
    ...(method !== undefined && { method }),
  });
}

const isService = (quad: Quad): boolean => quad.predicate.value === rdf.type && quad.object.value === dcat.DataService;

function aboutTheService(quads: readonly Quad[]): Statements {
  const services = [...new Set(quads.filter(isService).map((quad) => quad.subject.value))];
  const [service, second] = services;
  if (service === undefined) throw new EntryProblem("The file describes no dcat:DataService.");
  if (second !== undefined) {
    throw new EntryProblem(`The file describes ${services.length} services; one file is one endpoint.`);
  }
  const statements = new Map<string, Term[]>();
  for (const { subject, predicate, object } of quads) {
    if (subject.value !== service) continue;
    const known = statements.get(predicate.value);
    if (known === undefined) statements.set(predicate.value, [object]);
    else known.push(object);
  }
  return statements;
}

const ownTerms: ReadonlySet<string> = new Set([fedway.pseudoService, fedway.rawQueries, fedway.requestMethod]);

/** A misspelt Fedway term would otherwise be a setting that silently does nothing. */
function refuseUnknownTerms(statements: Statements): void {
  for (const predicate of statements.keys()) {
    if (!predicate.startsWith(fedway.namespace) || ownTerms.has(predicate)) continue;
    const name = predicate.slice(fedway.namespace.length);
    throw new EntryProblem(`fedway:${name} is not a term of the Fedway vocabulary.`, name);
  }
}

function identifier(statements: Statements): string {
  const [id, second] = values(statements, dcterms.identifier);
  if (id === undefined) throw new EntryProblem("dcterms:identifier is missing.");
  if (second !== undefined) throw new EntryProblem("dcterms:identifier is given more than once.", second.value);
  if (id.termType !== "Literal") throw new EntryProblem("dcterms:identifier is not a literal.");
  if (!idPattern.test(id.value)) {
    throw new EntryProblem(
      `dcterms:identifier ${quote(id.value)} is not a lower-case name of at most 64 letters, digits, ".", "_" and "-" that starts with a letter or digit.`,
      id.value,
    );
  }
  return id.value;
}

function title(statements: Statements): string {
  const found = text(statements, dcterms.title, "dcterms:title");
  if (found === undefined) throw new EntryProblem("dcterms:title is missing.");
  return found;
}

function endpointUrl(statements: Statements): string {
  const [url, second] = values(statements, dcat.endpointURL);
  if (url === undefined) throw new EntryProblem("dcat:endpointURL is missing.");
  if (second !== undefined) throw new EntryProblem("dcat:endpointURL is given more than once.", second.value);
  if (url.termType !== "NamedNode") throw new EntryProblem("dcat:endpointURL is not an IRI.", url.value);
  const scheme = /^[^:]{0,30}/.exec(url.value)?.[0]?.toLowerCase();
  if (scheme !== "http" && scheme !== "https") {
    throw new EntryProblem(`dcat:endpointURL ${quote(url.value)} is not an http or https URL.`, url.value);
  }
  if (/^[^/]*\/\/[^/?#\\]*@/.test(url.value)) {
    // The value holds a password, so it is not repeated.
    throw new EntryProblem("dcat:endpointURL has a user name or password in it.", "dcat:endpointURL");
  }
  if (url.value.includes("#")) throw new EntryProblem("dcat:endpointURL has a fragment.", url.value);
  if (splitUrl(url.value) === undefined) {
    throw new EntryProblem(`dcat:endpointURL ${quote(url.value)} is not a valid URL.`, url.value);
  }
  return url.value;
}

function pseudoServices(statements: Statements): string[] {
  return values(statements, fedway.pseudoService).map((term) => {
    if (term.termType === "NamedNode") return term.value;
    throw new EntryProblem("fedway:pseudoService is not an IRI.", term.value);
  });
}

function flag(statements: Statements): boolean {
  const [term, second] = values(statements, fedway.rawQueries);
  if (term === undefined) return false;
  const isBoolean = term.termType === "Literal" && term.datatype.value === xsd.boolean;
  if (second !== undefined || !isBoolean || !/^(true|false|0|1)$/.test(term.value)) {
    throw new EntryProblem("fedway:rawQueries is not one of true and false.", "rawQueries");
  }
  return term.value === "true" || term.value === "1";
}

function requestMethod(statements: Statements): CatalogEntry["method"] {
  const terms = values(statements, fedway.requestMethod);
  if (terms.length === 0) return undefined;
  const method = requestMethods.find((name) => name === terms[0]?.value);
  if (method === undefined || terms.length > 1) {
    throw new EntryProblem(
      `fedway:requestMethod is not one of ${requestMethods.map(quote).join(", ")}.`,
      "requestMethod",
    );
  }
  return method;
}

/** The text of a property; of several languages English, else the first. */
function text(statements: Statements, predicate: string, name: string): string | undefined {
  const terms = values(statements, predicate);
  const languages = terms.map((term) => (term.termType === "Literal" ? term.language.toLowerCase() : undefined));
  if (languages.includes(undefined)) throw new EntryProblem(`${name} is not a literal.`);
  if (new Set(languages).size < languages.length) throw new EntryProblem(`${name} is given more than once.`);
  const english = languages.findIndex((language) => language === "" || language === "en");
  const chosen = terms[Math.max(english, 0)]?.value.trim();
  if (chosen === "") throw new EntryProblem(`${name} is empty.`);
  if (chosen !== undefined && chosen.length > maxTextLength) {
    throw new EntryProblem(`${name} is longer than ${maxTextLength} characters.`);
  }
  return chosen;
}

/** A link that pages may show: nothing but http and https gets there. */
function link(statements: Statements, predicate: string, name: string): string | undefined {
  const [term] = values(statements, predicate);
  if (term === undefined || (term.termType === "NamedNode" && /^https?:\/\//i.test(term.value))) return term?.value;
  throw new EntryProblem(`${name} is not an http or https IRI.`, term.value);
}

function values(statements: Statements, predicate: string): readonly Term[] {
  return statements.get(predicate) ?? [];
}

const quote = (value: string): string => JSON.stringify(value.slice(0, 100));
