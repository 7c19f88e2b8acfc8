import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { CatalogWrite } from "./catalog.ts";
import { maxDocumentBytes } from "./catalog-files.ts";
import { reasonOf } from "./catalog-problem.ts";
import type { UrlKey } from "./create-catalog.ts";
import { type Described, describeDocument } from "./describe-document.ts";
import { maxDocumentQuads, parseDocument, writeDocument } from "./parse-document.ts";
import type { ShapeCheck } from "./shapes.ts";
import { EntryProblem, quote } from "./statements.ts";

/** What a document has to pass before it is written. */
export interface DocumentRules {
  readonly baseUrl: string;
  readonly keyOf: UrlKey;
  readonly shapes?: ShapeCheck;
  /** Why requests to a URL would be refused (a private address); undefined for no reason. */
  readonly refuseUrl?: (url: string) => string | undefined;
}

/** A document that may be written. */
export interface CheckedDocument {
  readonly described: Described;
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
  if (quads.length > maxDocumentQuads) throw invalid([`The document has more than ${maxDocumentQuads} triples.`]);
  const reasons: string[] = [];
  const [described, turtle] = [
    attempt(() => describe(change, rules), reasons),
    attempt(() => toTurtle(quads, rules), reasons),
  ];
  for (const finding of (await rules.shapes?.(quads)) ?? []) {
    if (finding.severity === "violation") reasons.push(finding.reason);
  }
  if (described === undefined || turtle === undefined || reasons.length > 0) throw invalid(reasons);
  return { described, turtle };
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

function describe({ kind, id, quads }: CatalogWrite, rules: DocumentRules): Described {
  const described = describeDocument(quads);
  const what = kind === "endpoint" ? "a dcat:DataService" : "a fedway:Federation";
  if (described.kind !== kind) throw new EntryProblem(`The document does not describe ${what}.`);
  if (described.id !== id) {
    throw new EntryProblem(`dcterms:identifier is "${described.id}", but the document is written to "${id}".`);
  }
  const refusal = described.kind === "endpoint" ? refuseAddress(described.value.url, rules) : undefined;
  if (refusal !== undefined) throw new EntryProblem(refusal);
  return described;
}

/** This service's own endpoints are reached in-process, whatever its address is. */
export function refuseAddress(url: string, { keyOf, refuseUrl }: DocumentRules): string | undefined {
  if (keyOf(url)?.startsWith("own:") === true) return undefined;
  const reason = refuseUrl?.(url);
  return reason === undefined ? undefined : `The URL may not be registered: ${reason}`;
}

/** The text to store, which has to come back as the same triples. */
function toTurtle(quads: readonly RDF.Quad[], { baseUrl }: DocumentRules): string {
  for (const { subject, predicate, object } of quads) {
    for (const term of [subject, predicate, object]) refuseUnwritable(term);
  }
  const turtle = writeDocument(quads.filter(inDefaultGraph), baseUrl);
  if (Buffer.byteLength(turtle) > maxDocumentBytes) throw new EntryProblem("The document is larger than 1 MB.");
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
  if (term.termType !== "BlankNode" && !absoluteIri.test(iri)) {
    throw new EntryProblem(`${quote(iri)} is not an absolute IRI.`);
  }
}

const absoluteIri = /^[a-z][a-z0-9+.-]{0,100}:[^ <>"{}|^`\\]*$/i;

const inDefaultGraph = ({ graph }: RDF.Quad): boolean => graph.termType === "DefaultGraph";

function invalid(reasons: readonly string[]): FedwayError {
  const distinct = [...new Set(reasons)];
  const more = distinct.length > shownReasons ? ` (and ${distinct.length - shownReasons} more)` : "";
  return new FedwayError("ENTRY_INVALID", `${distinct.slice(0, shownReasons).join(" ")}${more}`, {
    next: "See catalog/README.md for what an entry looks like.",
  });
}
