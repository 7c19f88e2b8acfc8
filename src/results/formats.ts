import type { AnswerKind } from "./model.ts";

/** A result format that Fedway can read and write. */
export interface ResultFormat {
  /** Short name, as in the `format` parameter. */
  readonly name: "json" | "xml" | "csv" | "tsv" | "turtle" | "ntriples" | "jsonld" | "rdfxml";
  readonly mediaType: string;
  /** Value of the Content-Type header. */
  readonly contentType: string;
  readonly kinds: readonly AnswerKind[];
  /** False for formats that are only read (RDF/XML). */
  readonly writable: boolean;
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
    writable: true,
  },
  {
    name: "xml",
    mediaType: "application/sparql-results+xml",
    contentType: "application/sparql-results+xml",
    kinds: tuples,
    writable: true,
  },
  { name: "csv", mediaType: "text/csv", contentType: "text/csv; charset=utf-8", kinds: ["bindings"], writable: true },
  {
    name: "tsv",
    mediaType: "text/tab-separated-values",
    contentType: "text/tab-separated-values; charset=utf-8",
    kinds: ["bindings"],
    writable: true,
  },
  {
    name: "turtle",
    mediaType: "text/turtle",
    contentType: "text/turtle; charset=utf-8",
    kinds: graphs,
    writable: true,
  },
  {
    name: "ntriples",
    mediaType: "application/n-triples",
    contentType: "application/n-triples",
    kinds: graphs,
    writable: true,
  },
  {
    name: "jsonld",
    mediaType: "application/ld+json",
    contentType: "application/ld+json",
    kinds: graphs,
    writable: true,
  },
  {
    name: "rdfxml",
    mediaType: "application/rdf+xml",
    contentType: "application/rdf+xml",
    kinds: graphs,
    writable: false,
  },
];
