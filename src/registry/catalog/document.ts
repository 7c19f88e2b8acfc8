import type * as RDF from "@rdfjs/types";
import { hash } from "node:crypto";
import { canonicalNTriples } from "../../rdf/canonical.ts";
import { parseTurtle } from "../../rdf/turtle.ts";
import { writeTurtle } from "../../rdf/write-turtle.ts";
import { dcat, dcterms, foaf } from "../../rdf/vocabularies.ts";
import type { CatalogDocument, CatalogProblem, DocumentName } from "./catalog.ts";
import type { UrlKey } from "./index-catalog.ts";
import { type CatalogItem, readItem } from "./parse-entry.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { EntryProblem } from "./statements.ts";
import { parseAnswer } from "../../results/parse.ts";

/** Bytes and triples of one catalogue document, as a file or stored. */
export const documentBounds = { maxBytes: 1_000_000, maxQuads: 10_000 } as const;

/** The triples of a catalogue document in Turtle. @throws FedwayError `CATALOG_INVALID` */
export function parseDocument(turtle: string, baseUrl: string): RDF.Quad[] {
  return parseTurtle(turtle, { baseIri: `${baseUrl}/`, ...documentBounds });
}

/**
 * The triples of a document that was sent; relative IRIs are this service's own.
 * @throws FedwayError `ENTRY_INVALID`, for syntax errors in Turtle with `where.line`
 */
export async function readDocument(
  { mediaType, text }: { readonly mediaType: "text/turtle" | "application/ld+json"; readonly text: string },
  baseUrl: string,
): Promise<readonly RDF.Quad[]> {
  try {
    return mediaType === "text/turtle" ? parseDocument(text, baseUrl) : await jsonLdQuads(text, `${baseUrl}/`);
  } catch (error) {
    if (!(error instanceof FedwayError)) throw error;
    // The reader of answers thinks that an endpoint sent the document.
    const reason = reasonOf(error).replace(/^.*The endpoint's JSON-LD answer/, "The JSON-LD document");
    throw new FedwayError("ENTRY_INVALID", reason, { where: error.details.where });
  }
}

async function jsonLdQuads(text: string, baseIri: string): Promise<readonly RDF.Quad[]> {
  const quads: RDF.Quad[] = [];
  const options = { mediaType: "application/ld+json", kind: "quads", baseIri, check: parseDeadline() } as const;
  const result = await parseAnswer(oneChunk(text), options);
  for await (const quad of result.kind === "quads" ? result.quads : []) {
    quads.push(quad);
    // One more than allowed is enough to be refused for it.
    if (quads.length > documentBounds.maxQuads) break;
  }
  return quads;
}

/** A megabyte of real JSON-LD takes two seconds at most. */
const longestParseMs = 10_000;

function parseDeadline(): () => void {
  const endsMs = performance.now() + longestParseMs;
  return () => {
    if (performance.now() > endsMs) throw new FedwayError("ENTRY_INVALID", "The document takes too long to read.");
  };
}

async function* oneChunk(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
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

/** Comparison key of an endpoint's URL. */
export function keyOfItem(item: CatalogItem, keyOf: UrlKey): string | undefined {
  return item.kind === "endpoint" ? (keyOf(item.value.url) ?? item.value.url) : undefined;
}

/**
 * Kind and id of a document, for requests that do not name them.
 * @throws FedwayError `ENTRY_INVALID` when it cannot be a catalogue document
 */
export function identifyDocument(quads: readonly RDF.Quad[]): DocumentName {
  try {
    const { kind, id } = readItem(quads);
    return { kind, id };
  } catch (problem) {
    if (!(problem instanceof EntryProblem) && !(problem instanceof FedwayError)) throw problem;
    throw new FedwayError("ENTRY_INVALID", reasonOf(problem));
  }
}

/** Problem of a file, with its line where possible. */
export function toProblem(file: string, problem: unknown, text = ""): CatalogProblem {
  const line = lineOf(problem, text);
  return Object.freeze({ file, reason: reasonOf(problem), line });
}

/** The reason in words for the operator, without passwords and without what the program only knows for itself. */
export function reasonOf(problem: unknown): string {
  if (problem instanceof EntryProblem || problem instanceof FedwayError) return withoutPasswords(problem.message);
  const code = problem instanceof Error && "code" in problem ? ` (${String(problem.code)})` : "";
  return `The file cannot be read${code}.`;
}

/** Parsers quote what they stumble over, which may be a URL with a password. */
const withoutPasswords = (message: string): string => message.replaceAll(/\/\/[^\s/"<>]{1,300}@/g, "//...@");

/** Turtle syntax errors know their line; for the others, the last line that has the text they are about. */
function lineOf(problem: unknown, text: string): number | undefined {
  if (problem instanceof FedwayError) return problem.details.where?.line;
  return problem instanceof EntryProblem ? lineWith(problem.about, text) : undefined;
}

/** The last line that has some text, 1-based. */
export function lineWith(part: string | undefined, text: string): number | undefined {
  const at = part === undefined ? -1 : text.lastIndexOf(part);
  return at === -1 ? undefined : text.slice(0, at).split("\n").length;
}
