import type { AnswerKind } from "./model.ts";

/** A result format that Fedway writes and, mostly, reads. */
export interface ResultFormat {
  /** Short name, as in the `format` parameter. */
  readonly name:
    | "json"
    | "xml"
    | "csv"
    | "tsv"
    | "turtle"
    | "ntriples"
    | "jsonld"
    | "rdfxml"
    | "n3"
    | "trig"
    | "nquads"
    | "boolean";
  readonly mediaType: string;
  /** Value of the Content-Type header. */
  readonly contentType: string;
  readonly kinds: readonly AnswerKind[];
}

const tuples: readonly AnswerKind[] = ["bindings", "boolean"];
const graphs: readonly AnswerKind[] = ["quads"];

/** All formats, the most wanted first within a kind. */
export const resultFormats: readonly ResultFormat[] = [
  {
    name: "json",
    mediaType: "application/sparql-results+json",
    contentType: "application/sparql-results+json",
    kinds: tuples,
  },
  {
    name: "xml",
    mediaType: "application/sparql-results+xml",
    contentType: "application/sparql-results+xml",
    kinds: tuples,
  },
  { name: "csv", mediaType: "text/csv", contentType: "text/csv; charset=utf-8", kinds: ["bindings"] },
  {
    name: "tsv",
    mediaType: "text/tab-separated-values",
    contentType: "text/tab-separated-values; charset=utf-8",
    kinds: ["bindings"],
  },
  {
    name: "turtle",
    mediaType: "text/turtle",
    contentType: "text/turtle; charset=utf-8",
    kinds: graphs,
  },
  {
    name: "ntriples",
    mediaType: "application/n-triples",
    contentType: "application/n-triples",
    kinds: graphs,
  },
  {
    name: "jsonld",
    mediaType: "application/ld+json",
    contentType: "application/ld+json",
    kinds: graphs,
  },
  {
    name: "rdfxml",
    mediaType: "application/rdf+xml",
    contentType: "application/rdf+xml",
    kinds: graphs,
  },
  { name: "n3", mediaType: "text/n3", contentType: "text/n3; charset=utf-8", kinds: graphs },
  {
    name: "trig",
    mediaType: "application/trig",
    contentType: "application/trig",
    kinds: graphs,
  },
  {
    name: "nquads",
    mediaType: "application/n-quads",
    contentType: "application/n-quads",
    kinds: graphs,
  },
];
