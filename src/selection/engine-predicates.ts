import type { QueryTree } from "../sparql/query.ts";

/** Prefixes of predicates that engines match by code or by an index: no triple has them. */
const prefixes = [
  // Virtuoso
  "bif:",
  "http://www.openlinksw.com/schemas/bif#",
  // Jena
  "http://jena.apache.org/text#",
  "http://jena.apache.org/ARQ/",
  "http://jena.apache.org/spatial#",
  "http://jena.hpl.hp.com/ARQ/",
  "http://www.w3.org/2000/01/rdf-schema#member",
  "java:",
  // Blazegraph
  "http://www.bigdata.com/rdf/",
  "http://www.bigdata.com/queryHints#",
  // GraphDB
  "http://www.ontotext.com/",
  // RDF4J
  "http://www.openrdf.org/contrib/lucenesail#",
  // QLever
  "http://qlever.cs.uni-freiburg.de/builtin-functions/",
  // Stardog
  "tag:stardog:api:",
  // GeoSPARQL's query rewriting
  "http://www.opengis.net/ont/geosparql#sf",
  "http://www.opengis.net/ont/geosparql#eh",
  "http://www.opengis.net/ont/geosparql#rcc8",
];

/**
 * True if engines may match a predicate that no triple has, so that a complete list of properties proves nothing about it.
 */
export const isEnginePredicate = (iri: string): boolean => prefixes.some((prefix) => iri.startsWith(prefix));

/** True if a query has such a predicate outside of SERVICE: arguments beside it need be no triples either. */
export const usesEnginePredicate = (query: QueryTree): boolean =>
  query.patterns.some(({ predicate }) => predicate.kind === "iri" && isEnginePredicate(predicate.iri));
