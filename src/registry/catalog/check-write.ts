import { unknownId } from "../../errors/unknown-id.ts";
import type * as RDF from "@rdfjs/types";
import { isWritableIri } from "../../rdf/term-text.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { CatalogWrite, Catalog, CatalogDocument, CatalogEntry } from "./catalog.ts";
import { documentBounds, reasonOf, parseDocument, writeDocument } from "./document.ts";
import { type UrlKey, looseKey } from "./index-catalog.ts";
import { type CatalogItem, readItem } from "./parse-entry.ts";
import type { ShapeCheck } from "./check-catalog.ts";
import { EntryProblem, quote } from "./statements.ts";

/** Rules that a document must meet before it is written. */
export interface DocumentRules {
  readonly baseUrl: string;
  readonly keyOf: UrlKey;
  readonly shapes?: ShapeCheck | undefined;
  /** Why requests to a URL would be refused (a private address); undefined for no reason. */
  readonly refuseUrl?: ((url: string, isOperators: boolean) => string | undefined) | undefined;
  /** The operator himself wrote the URL. Default: never. */
  readonly isOperators?: ((url: string) => boolean) | undefined;
}

/** A document that may be written. */
interface CheckedDocument {
  readonly item: CatalogItem;
  /** As it is stored. */
  readonly turtle: string;
}

const shownReasons = 10;

/**
 * Checks a document as a file would be, by its SHACL shape and its URL's address, and that it can be stored without loss.
 * @throws FedwayError `ENTRY_INVALID` with everything that was found
 */
export async function checkDocument(change: CatalogWrite, rules: DocumentRules): Promise<CheckedDocument> {
  const { quads } = change;
  if (quads.length > documentBounds.maxQuads)
    throw invalid([`The document has more than ${documentBounds.maxQuads} triples.`]);
  const reasons: string[] = [];
  const [item, turtle] = [
    attempt(() => checkItem(change, rules), reasons),
    attempt(() => toTurtle(quads, rules), reasons),
  ];
  for (const finding of (await rules.shapes?.(quads)) ?? []) {
    if (finding.severity === "violation") reasons.push(finding.reason);
  }
  if (item === undefined || turtle === undefined || reasons.length > 0) throw invalid(reasons);
  return { item, turtle };
}

/** The result, or its failure among the reasons. */
function attempt<Result>(step: () => Result, reasons: string[]): Result | undefined {
  try {
    return step();
  } catch (problem) {
    if (!(problem instanceof EntryProblem) && !(problem instanceof FedwayError)) throw problem;
    reasons.push(reasonOf(problem));
    return undefined;
  }
}

function checkItem({ kind, id, quads }: CatalogWrite, rules: DocumentRules): CatalogItem {
  const item = readItem(quads);
  const what = kind === "endpoint" ? "a dcat:DataService" : "a fedway:Federation";
  if (item.kind !== kind) throw new EntryProblem(`The document does not describe ${what}.`);
  if (item.id !== id) {
    throw new EntryProblem(`dcterms:identifier is "${item.id}", but the document is written to "${id}".`);
  }
  const refusal = item.kind === "endpoint" ? refuseAddress(item.value.url, rules) : undefined;
  if (refusal !== undefined) throw new EntryProblem(refusal);
  return item;
}

/** This service's own endpoints are reached in-process, whatever its address is; through its federating routes it would call itself. */
export function refuseAddress(
  url: string,
  { keyOf, refuseUrl, isOperators, baseUrl }: DocumentRules,
): string | undefined {
  const key = keyOf(url);
  if (key?.startsWith("own:") === true) {
    const path = key.slice(keyOf(baseUrl)?.replace(/\/$/, "").length);
    return federatingRoute.test(path)
      ? "The URL is a route by which this service would call itself; SERVICE takes the id of a federation."
      : undefined;
  }
  const reason = refuseUrl?.(url, isOperators?.(url) ?? false);
  return reason === undefined ? undefined : `The URL may not be registered: ${reason}`;
}

const federatingRoute = /^\/(?:(?:endpoints|federations)\/[^/]+\/)?sparql\/?$/;

/** The text to store, which has to come back as the same triples. */
function toTurtle(quads: readonly RDF.Quad[], { baseUrl }: DocumentRules): string {
  for (const { subject, predicate, object } of quads) {
    for (const term of [subject, predicate, object]) refuseUnwritable(term);
  }
  const turtle = writeDocument(quads.filter(inDefaultGraph), baseUrl);
  if (Buffer.byteLength(turtle) > documentBounds.maxBytes) throw new EntryProblem("The document is larger than 1 MB.");
  parseDocument(turtle, baseUrl);
  return turtle;
}

/** Terms that Turtle cannot hold, or would give back as others. */
function refuseUnwritable(term: RDF.Term): void {
  if (term.termType === "Quad") {
    throw new EntryProblem("The document has a triple term (RDF 1.2), which could not be kept.");
  }
  if (!term.value.isWellFormed()) {
    throw new EntryProblem("A text or IRI is no Unicode text: it has half of a surrogate pair.");
  }
  const iri = term.termType === "Literal" ? term.datatype.value : term.value;
  if (term.termType !== "BlankNode" && !isWritableIri(iri)) {
    throw new EntryProblem(`${quote(iri)} is not an absolute IRI as RFC 3987 has them.`);
  }
}

const inDefaultGraph = ({ graph }: RDF.Quad): boolean => graph.termType === "DefaultGraph";

function invalid(reasons: readonly string[]): FedwayError {
  const distinct = [...new Set(reasons)];
  const more = distinct.length > shownReasons ? ` (and ${distinct.length - shownReasons} more)` : "";
  return new FedwayError("ENTRY_INVALID", `${distinct.slice(0, shownReasons).join(" ")}${more}`, {
    next: "See /help/catalogue-entries for the fields of an entry.",
  });
}

/** @throws FedwayError `PRECONDITION_FAILED` unless the document has the etag; "*" stands for any */
export function checkMatch(ifMatch: string | undefined, existing: CatalogDocument | undefined): void {
  if (ifMatch === undefined || (existing !== undefined && (ifMatch === "*" || ifMatch === existing.etag))) return;
  throw new FedwayError("PRECONDITION_FAILED", "The document is not the one that was read before.", {
    next: "Read it again, then repeat the change.",
  });
}

/**
 * Checks the condition of a write (`If-Match`, `If-None-Match`) against the existing document.
 * @throws FedwayError `ENTRY_CONFLICT`, `ENDPOINT_UNKNOWN`, `FEDERATION_UNKNOWN`, `PRECONDITION_FAILED`
 */
export function checkCondition(change: CatalogWrite, existing: CatalogDocument | undefined, catalog: Catalog): void {
  const { kind, id, mode } = change;
  if (mode === "create" && existing !== undefined) {
    throw new FedwayError("ENTRY_CONFLICT", `The catalogue already has the ${kind} "${id}".`, {
      next: "Replace it, or choose another identifier.",
    });
  }
  if (mode === "replace" && existing === undefined) throw unknownId(kind, id, catalog);
  checkMatch(change.ifMatch, existing);
}

/** Which entries have which URLs. */
interface UrlOwners {
  readonly keyOf: UrlKey;
  /** The entries whose URLs have this loose key. */
  readonly alike: (loose: string) => Promise<readonly CatalogEntry[]>;
}

/**
 * One URL is one endpoint. For a URL that is new to the catalogue, another scheme or a slash at the end makes no
 * difference: it is very likely the same endpoint. Files may hold both all the same.
 * @throws FedwayError `ENTRY_CONFLICT`
 */
export async function refuseTakenUrl(item: CatalogItem, catalog: Catalog, { keyOf, alike }: UrlOwners): Promise<void> {
  if (item.kind !== "endpoint") return;
  const { id, url } = item.value;
  const key = keyOf(url) ?? url;
  const before = catalog.byId(id);
  const isKept = before !== undefined && keyOf(before.url) === key;
  const candidates = [catalog.byUrl(url), ...(isKept ? [] : await alike(looseKey(key)))];
  const other = candidates.find((entry) => entry !== undefined && entry.id !== id);
  if (other === undefined) return;
  throw new FedwayError("ENTRY_CONFLICT", `The endpoint "${other.id}" has this URL already: ${other.url}`, {
    endpoints: [other.id],
  });
}
