import type { QueryTree } from "./parse-query.ts";
import { queryPatterns } from "./query-patterns.ts";

/** What the IRIs of predicates begin with that engines match by code or by an index: no triple has them. */
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

/** Whether engines may match a predicate that no triple has, so that a complete list of properties proves nothing of it. */
export const isEnginePredicate = (iri: string): boolean => prefixes.some((prefix) => iri.startsWith(prefix));

/** Whether a query has such a predicate anywhere but in a SERVICE: arguments that stand beside it need be no triples either. */
export const usesEnginePredicate = (query: QueryTree): boolean =>
  queryPatterns(query).some(({ predicate }) => predicate.kind === "iri" && isEnginePredicate(predicate.iri));
