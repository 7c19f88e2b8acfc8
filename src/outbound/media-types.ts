import type { AnswerKind } from "../results/model.ts";

const tupleTypes: Readonly<Record<string, string>> = {
  "application/sparql-results+json": "application/sparql-results+json",
  "application/json": "application/sparql-results+json",
  "text/json": "application/sparql-results+json",
  "application/sparql-results+xml": "application/sparql-results+xml",
  "application/xml": "application/sparql-results+xml",
  "text/xml": "application/sparql-results+xml",
};

const typesOf: Readonly<Record<AnswerKind, Readonly<Record<string, string>>>> = {
  bindings: {
    ...tupleTypes,
    "text/csv": "text/csv",
    "text/tab-separated-values": "text/tab-separated-values",
  },
  boolean: tupleTypes,
  quads: {
    "text/turtle": "text/turtle",
    "application/turtle": "text/turtle",
    "application/x-turtle": "text/turtle",
    "text/n3": "text/turtle",
    "text/rdf+n3": "text/turtle",
    "application/n-triples": "application/n-triples",
    "text/plain": "application/n-triples",
    "application/ld+json": "application/ld+json",
    "application/json": "application/ld+json",
    "application/rdf+xml": "application/rdf+xml",
    "application/xml": "application/rdf+xml",
    "text/xml": "application/rdf+xml",
  },
};

const broadAccepts: Readonly<Record<AnswerKind, string>> = {
  bindings:
    "application/sparql-results+json, application/sparql-results+xml;q=0.9, text/csv;q=0.5, text/tab-separated-values;q=0.5, application/json;q=0.4, */*;q=0.1",
  boolean: "application/sparql-results+json, application/sparql-results+xml;q=0.9, application/json;q=0.4, */*;q=0.1",
  quads:
    "text/turtle, application/n-triples;q=0.9, application/rdf+xml;q=0.8, application/ld+json;q=0.7, text/plain;q=0.3, */*;q=0.1",
};

/** The Accept header for the one retry after a 406: everything Fedway reads for this kind, then anything. */
export const broadAccept = (kind: AnswerKind): string => broadAccepts[kind];

/** Media type of a Content-Type value: lower case, without parameters; empty when there is none. */
export const bareMediaType = (contentType: string | undefined): string =>
  contentType === undefined ? "" : (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();

/**
 * The precise type of an answer of this kind; engines also label results `application/json`, `text/xml`, `text/plain`.
 * Undefined when the answer cannot be one of this kind.
 */
export function answerMediaType(contentType: string | undefined, kind: AnswerKind): string | undefined {
  const table = typesOf[kind];
  const bare = bareMediaType(contentType);
  return Object.hasOwn(table, bare) ? table[bare] : undefined;
}

/** The type is one of another kind of answer: the endpoint speaks SPARQL but answered something else. */
export const isOtherKind = (contentType: string | undefined, kind: AnswerKind): boolean =>
  answerMediaType(contentType, kind) === undefined &&
  bareMediaType(contentType) !== "text/plain" &&
  (answerMediaType(contentType, "bindings") !== undefined || answerMediaType(contentType, "quads") !== undefined);
