import type * as RDF from "@rdfjs/types";
import type { Triple } from "../../rdf/triple-index.ts";
import { relabelled } from "../../results/terms.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { SourceDocument } from "./pattern-source.ts";
import type { TriplePattern } from "./triple-pattern.ts";

const RDF_NS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const HYDRA = "http://www.w3.org/ns/hydra/core#";
const VOID = "http://rdfs.org/ns/void#";

/** One page of a Triple Pattern Fragment: the three parts of its specification, kept apart. */
export interface TpfPage {
  /** Triples that belong to the data. */
  readonly triples: readonly Triple[];
  /** `void:triples` or `hydra:totalItems`: about how many triples match. */
  readonly total: number | undefined;
  /** URL of the page after this one. */
  readonly next: string | undefined;
  readonly form: SearchForm | undefined;
}

/** A page as it was fetched. */
type FetchedPage = Pick<SourceDocument, "url" | "mediaType" | "quads">;

/**
 * Takes a page apart (Triple Pattern Fragments, sections 3 to 5). Servers that speak TriG or N-Quads put metadata and
 * controls into a named graph; from others everything that describes the fragment and its controls is metadata.
 * @throws FedwayError `ENDPOINT_MALFORMED` for a page or a form on another origin
 */
export function readTpfPage({ quads, url, mediaType }: FetchedPage, origin: URL): TpfPage {
  const named = quads.filter(({ graph }) => graph.termType !== "DefaultGraph");
  const controls = named.length > 0 ? named : quads;
  const about = controlNodes(controls, url);
  const isData =
    named.length > 0
      ? ({ graph }: RDF.Quad) => graph.termType === "DefaultGraph"
      : ({ subject }: RDF.Quad) => !about.has(nodeKey(subject));
  const nexts = controls.filter(({ predicate: { value } }) => isNext(value));
  // A page may call itself by another spelling of its URL; to overlook its link would be to lose the rest.
  const next = nexts.find(({ subject }) => about.has(nodeKey(subject))) ?? nexts[0];
  return {
    triples: quads.filter(isData).map((quad) => withServerLabels(quad, mediaType)),
    total: totalOf(controls, about),
    next: next && sameOrigin(next.object.value, url, origin),
    form: formOf(controls, { about, url, origin }),
  };
}

const nodeKey = ({ termType, value }: RDF.Term): string => (termType === "BlankNode" ? `_:${value}` : value);

const isNext = (predicate: string): boolean => predicate === `${HYDRA}next` || predicate === `${HYDRA}nextPage`;

const LINKS_TO_CONTROLS = new Set(["search", "mapping", "view", "first", "firstPage"].map((name) => HYDRA + name));
const LINKS_FROM_DATASET = new Set([`${VOID}subset`, `${HYDRA}member`]);

/** The page, the fragment, the dataset, the form and its mappings: subjects of metadata. */
function controlNodes(quads: readonly RDF.Quad[], url: string): ReadonlySet<string> {
  const about = new Set([url]);
  // Links go from the dataset to its fragment and from there to the page and the form: a few rounds reach them all.
  for (let round = 0; round < 4; round++) {
    const before = about.size;
    for (const { subject, predicate, object } of quads) {
      if (LINKS_TO_CONTROLS.has(predicate.value) && object.termType !== "Literal") {
        about.add(nodeKey(object));
        about.add(nodeKey(subject));
      }
      if (LINKS_FROM_DATASET.has(predicate.value) && about.has(nodeKey(object))) about.add(nodeKey(subject));
      const isPage = predicate.value === `${VOID}inDataset` || predicate.value === "http://purl.org/dc/terms/source";
      if (isPage && about.has(nodeKey(subject))) about.add(nodeKey(object));
      if (predicate.value === `${HYDRA}totalItems`) about.add(nodeKey(subject));
    }
    if (about.size === before) break;
  }
  return about;
}

function totalOf(quads: readonly RDF.Quad[], about: ReadonlySet<string>): number | undefined {
  for (const name of [`${HYDRA}totalItems`, `${VOID}triples`]) {
    for (const { subject, predicate, object } of quads) {
      const total = predicate.value === name && about.has(nodeKey(subject)) ? Number(object.value) : Number.NaN;
      if (Number.isSafeInteger(total) && total >= 0) return total;
    }
  }
  return undefined;
}

interface Site {
  readonly about: ReadonlySet<string>;
  readonly url: string;
  readonly origin: URL;
}

/** The form whose mappings stand for subject, predicate and object. */
function formOf(quads: readonly RDF.Quad[], { about, url, origin }: Site): SearchForm | undefined {
  const templates = quads.filter(
    (quad) => quad.predicate.value === `${HYDRA}template` && about.has(nodeKey(quad.subject)),
  );
  // A page has one form; what calls itself one a thousand times is none.
  for (const { subject, object } of templates.slice(0, 16)) {
    const variables = mappingsOf(quads, nodeKey(subject));
    if (!variables) continue;
    const form = { template: object.value, base: url, variables };
    sameOrigin(expandTemplate(form, new Map()), url, origin);
    return form;
  }
  return undefined;
}

function mappingsOf(quads: readonly RDF.Quad[], form: string): SearchForm["variables"] | undefined {
  const mappings = quads.filter((quad) => quad.predicate.value === `${HYDRA}mapping` && nodeKey(quad.subject) === form);
  const names = new Map<string, string>();
  for (const mapping of mappings.slice(0, 16)) {
    const key = nodeKey(mapping.object);
    const value = (name: string) =>
      quads.find(({ subject, predicate }) => predicate.value === HYDRA + name && nodeKey(subject) === key)?.object
        .value;
    const property = value("property");
    const variable = value("variable");
    if (property && variable) names.set(property, variable);
  }
  const [subject, predicate, object] = ["subject", "predicate", "object"].map((part) => names.get(RDF_NS + part));
  return subject && predicate && object ? { subject, predicate, object } : undefined;
}

// The parser of these formats puts a name of its own before a document's labels.
const PARSER_PREFIX = /^b\d+_/;
const PREFIXED = new Set(["text/turtle", "application/n-triples", "application/trig", "application/n-quads"]);

/** A triple with blank nodes as the server labels them: the pages of a server share their labels. */
function withServerLabels({ subject, predicate, object }: RDF.Quad, mediaType: string): Triple {
  const label = (term: RDF.Term): RDF.Term =>
    PREFIXED.has(mediaType) ? relabelled(term, (own) => own.replace(PARSER_PREFIX, "")) : term;
  return { subject: label(subject), predicate, object: label(object) };
}

/** A link of a page, made absolute. Another host would be a request that was never allowed; http may become https. */
function sameOrigin(link: string, base: string, origin: URL): string {
  const url = URL.parse(link, base);
  const isUpgrade = url?.protocol === "https:" && url.hostname === origin.hostname && origin.protocol === "http:";
  if (url && (url.origin === origin.origin || isUpgrade)) return url.href;
  throw new FedwayError("ENDPOINT_MALFORMED", "The endpoint's fragment links to a page on another origin.", {
    fault: "malformed",
    where: { endpoint: base.slice(0, 200) },
  });
}

/** The search form of a fragments server (`hydra:search`). */
export interface SearchForm {
  /** `hydra:template`: a URI template (RFC 6570). */
  readonly template: string;
  /** Base of a relative template. */
  readonly base: string;
  /** The template's variable for each part of a triple pattern. */
  readonly variables: { readonly subject: string; readonly predicate: string; readonly object: string };
}

/** URL of the first page of the fragment for a pattern. @throws FedwayError `ENDPOINT_MALFORMED` */
export function fragmentUrl(form: SearchForm, pattern: TriplePattern): string {
  const values = new Map<string, string>();
  for (const place of ["subject", "predicate", "object"] as const) {
    const text = explicitText(pattern[place]);
    if (text !== undefined) values.set(form.variables[place], text);
  }
  return new URL(expandTemplate(form, values), form.base).href;
}

/** `hydra:ExplicitRepresentation`; undefined for what the form cannot say: the place stays open. */
function explicitText(term: RDF.Term): string | undefined {
  if (term.termType === "NamedNode") return term.value;
  if (term.termType !== "Literal") return undefined;
  if (term.direction) return undefined;
  if (term.language !== "") return `"${term.value}"@${term.language}`;
  const datatype = term.datatype.value;
  const plain = datatype === "http://www.w3.org/2001/XMLSchema#string";
  return plain ? `"${term.value}"` : `"${term.value}"^^${datatype}`;
}

const longestTemplate = 4_000;

/**
 * Expands the expressions that fragment servers use: `{x}`, `{?x,y}` and `{&x,y}` (RFC 6570, sections 3.2.2, 3.2.8, 3.2.9).
 * @throws FedwayError `ENDPOINT_MALFORMED` for any other expression
 */
export function expandTemplate({ template }: SearchForm, values: ReadonlyMap<string, string>): string {
  if (template.length > longestTemplate) throw unreadable(template);
  return template.replaceAll(/\{([^{}]*)\}/g, (_, expression: string) => {
    const operator = /^[?&]/.exec(expression)?.[0];
    const names = expression.slice(operator ? 1 : 0).split(",");
    if (!names.every((name) => /^[\w.%-]+$/.test(name))) throw unreadable(template);
    const given = names.flatMap((name) => {
      const value = values.get(name);
      return value === undefined ? [] : [{ name, value: encodeValue(value) }];
    });
    if (!operator) return given.map(({ value }) => value).join(",");
    return given.map(({ name, value }, index) => `${index === 0 ? operator : "&"}${name}=${value}`).join("");
  });
}

/** Percent-encoding; a lone surrogate, which has no UTF-8 form, becomes U+FFFD. */
const encodeValue = (value: string): string => encodeURIComponent(value.toWellFormed());

function unreadable(template: string): FedwayError {
  const message = `The endpoint's search form "${template.slice(0, 200)}" is not one that Fedway can fill in.`;
  return new FedwayError("ENDPOINT_MALFORMED", message, { fault: "malformed" });
}
