import { describe, expect, it } from "vitest";
import { parseQuery } from "../../../src/sparql/query.ts";

const shouldUse = (query: string, ...expected: readonly string[]): void => {
  it(`${query} uses ${expected.join(", ") || "nothing special"}`, () => {
    expect([...parseQuery(query).constructs.constructs].toSorted()).toEqual(expected.toSorted());
  });
};

describe("constructs", () => {
  shouldUse("SELECT * { ?s ?p ?o FILTER(?o > 3) } ORDER BY ?s LIMIT 3");
  shouldUse("ASK { { ?s ?p ?o } UNION { ?s <urn:p>/<urn:q>+ ?o } BIND(1 AS ?x) }");
  shouldUse("SELECT * { VALUES ?x { 1 } }", "values");
  shouldUse("SELECT * { ?x ?p ?o } VALUES ?x { 1 }", "values");
  shouldUse("SELECT * { VALUES (?x ?y) { (1 UNDEF) } }", "values", "valuesUndef");
  shouldUse("SELECT * { ?x ?p ?o } VALUES (?x ?y) { (1 2) (UNDEF 2) }", "values", "valuesUndef");
  shouldUse("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "aggregates", "aggregateTruth");
  shouldUse("SELECT (1 + MAX(?o) AS ?n) { ?s ?p ?o }", "aggregates", "aggregateTruth");
  shouldUse("SELECT ?s { ?s ?p ?o } GROUP BY ?s", "groupHaving", "aggregates", "aggregateTruth");
  shouldUse("SELECT (1 AS ?n) { ?s ?p ?o } ORDER BY COUNT(?o)", "aggregates", "aggregateTruth");
  shouldUse("SELECT * { ?s ?p ?o MINUS { ?s <urn:q> ?o } }", "minus");
  shouldUse("SELECT * { ?s ?p ?o OPTIONAL { ?s <urn:q> ?o } }", "optional");
  shouldUse("SELECT * { ?s ?p ?o { SELECT ?s { ?s ?p ?o } LIMIT 1 } }", "subquery");
  shouldUse("SELECT * { { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }", "subquery", "aggregates", "aggregateTruth");
  shouldUse("SELECT * { ?s ?p ?o FILTER NOT EXISTS { ?o ?q ?r } }", "notExists");
  shouldUse("SELECT * { ?s ?p ?o FILTER(?o = 1 || EXISTS { ?o ?q ?r MINUS { ?o <urn:q> 1 } }) }", "notExists", "minus");
  shouldUse("SELECT (BNODE() AS ?b) {}", "blankNodes");
  shouldUse("CONSTRUCT { ?s ?p [] } { ?s ?p ?o }", "construct");
  shouldUse("CONSTRUCT WHERE { ?s ?p ?o }", "construct");
  shouldUse("SELECT * { SERVICE <urn:a> { ?s ?p ?o MINUS { ?s <urn:q> ?o } } }", "minus");
});

describe("paths of length zero", () => {
  shouldUse("SELECT * { <urn:a> <urn:p>* ?x }", "zeroLengthPath");
  shouldUse("SELECT * { ?x <urn:p>? <urn:a> }", "zeroLengthPath");
  shouldUse("SELECT * { ?x (<urn:q>|<urn:p>*) 5 }", "zeroLengthPath");
  shouldUse("SELECT * { <urn:a> (<urn:q>?/^(<urn:p>*)) ?x }", "zeroLengthPath");
  shouldUse("SELECT * { <urn:a> <urn:p>/<urn:q>* ?x }");
  shouldUse("SELECT * { <urn:a> <urn:p>+ ?x . ?x !(<urn:p>|^<urn:q>) <urn:a> }");
  shouldUse("SELECT * { ?y <urn:p>* ?x }");
});

const shouldBePortable = (query: string, portable: boolean): void => {
  it(`${query} ${portable ? "means the same everywhere" : "is for its endpoint only"}`, () => {
    expect(parseQuery(query).constructs.portable).toBe(portable);
  });
};

describe("queries that can be evaluated elsewhere", () => {
  shouldBePortable(
    "SELECT (STRLEN(?o) AS ?n) { ?s ?p ?o FILTER(<http://www.w3.org/2001/XMLSchema#integer>(?o) > 1) }",
    true,
  );
  shouldBePortable("CONSTRUCT { ?s ?p <urn:x> } WHERE { ?s ?p ?o }", true);
  shouldBePortable("SELECT * { GRAPH ?g { ?s ?p ?o } }", false);
  shouldBePortable("SELECT * { ?s ?p ?o FILTER NOT EXISTS { GRAPH <urn:g> { ?s ?p ?o } } }", false);
  shouldBePortable("SELECT * { ?s ?p ?o SERVICE <http://wikiba.se/ontology#label> { ?s ?p ?o } }", false);
  shouldBePortable("SELECT * FROM <urn:g> { ?s ?p ?o }", false);
  shouldBePortable("DESCRIBE <urn:x>", false);
  shouldBePortable(
    "SELECT * { ?s ?p ?o FILTER(<http://www.opengis.net/def/function/geosparql/distance>(?o) < 1) }",
    false,
  );
});
