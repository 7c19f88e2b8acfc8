import { hash } from "node:crypto";
import type * as RDF from "@rdfjs/types";
import { canonicalNTriples } from "../../rdf/canonical.ts";
import { parseTurtle } from "../../rdf/turtle.ts";
import { writeTurtle } from "../../rdf/write-turtle.ts";
import { dcat, dcterms, foaf } from "../../rdf/vocabularies.ts";
import type { CatalogDocument } from "./catalog.ts";
import { maxDocumentBytes } from "./catalog-files.ts";
import type { UrlKey } from "./create-catalog.ts";
import type { Described } from "./describe-document.ts";

/** Triples of one catalogue document. */
export const maxDocumentQuads = 10_000;

/** The triples of a catalogue document in Turtle. @throws FedwayError `ENDPOINT_MALFORMED` */
export function parseDocument(turtle: string, baseUrl: string): RDF.Quad[] {
  return parseTurtle(turtle, { baseIri: `${baseUrl}/`, maxBytes: maxDocumentBytes, maxQuads: maxDocumentQuads });
}

/** A catalogue document in Turtle, as one would write its file; this service's own IRIs are relative. */
export function writeDocument(quads: readonly RDF.Quad[], baseUrl: string): string {
  return writeTurtle(quads, undefined, { baseIri: `${baseUrl}/`, predicateOrder: usualOrder });
}

const usualOrder = [
  dcterms.identifier,
  dcterms.title,
  dcterms.description,
  dcat.endpointURL,
  foaf.homepage,
  dcterms.license,
  dcat.keyword,
];

/** Changes with the triples, not with their order, labels or syntax. */
export function etagOf(quads: readonly RDF.Quad[]): string {
  return hash("sha256", canonicalNTriples(quads).join("\n"), "base64url").slice(0, 22);
}

/** Names a document among all of the catalogue. */
export const documentKey = (kind: CatalogDocument["kind"], id: string): string => `${kind}/${id}`;

/** Comparison key of a described endpoint's URL. */
export function keyOfDescribed(described: Described, keyOf: UrlKey): string | undefined {
  return described.kind === "endpoint" ? (keyOf(described.value.url) ?? described.value.url) : undefined;
}
