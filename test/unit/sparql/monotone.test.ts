import { describe, expect, it } from "vitest";
import { nonMonotoneParts } from "../../../src/sparql/patterns.ts";
import { parseQuery } from "../../../src/sparql/query.ts";

const prefixes = "PREFIX : <urn:x:> ";

/** The names of the clauses that the query is not monotone in; "patterns" for those outside of every SERVICE. */
function nonMonotone(query: string): readonly string[] {
  const { services, patterns } = nonMonotoneParts(parseQuery(prefixes + query).ast);
  return [
    ...[...services].map(({ name }) => name.value.replace("urn:x:", "")),
    ...(patterns ? ["patterns"] : []),
  ].toSorted();
}

/** @param expected names of clauses and "patterns", separated by blanks */
const shouldNotBeMonotone = (query: string, expected: string): void => {
  it(`${query}: ${expected || "monotone"}`, () => {
    expect(nonMonotone(query).join(" ")).toBe(expected);
  });
};

const a = "SERVICE :a { ?s :p ?o }";
const b = "SERVICE :b { ?s :q ?r }";
const c = "SERVICE :c { ?s :r ?t }";

describe("parts that a query is not monotone in", () => {
  shouldNotBeMonotone(`SELECT * { ${a} ${b} }`, "");
  shouldNotBeMonotone(`SELECT * { { ${a} } UNION { ${b} } }`, "");
  shouldNotBeMonotone(`SELECT DISTINCT ?s { ${a} ${b} } ORDER BY ?s`, "");
  shouldNotBeMonotone(`SELECT * { ${a} FILTER(?o > 3) BIND(?o + 1 AS ?n) VALUES ?s { :x } }`, "");
  shouldNotBeMonotone(`SELECT * { ${a} OPTIONAL { ${b} } }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} OPTIONAL { ${b} OPTIONAL { ${c} } } }`, "b c");
  shouldNotBeMonotone(`SELECT * { OPTIONAL { ${a} } ${b} }`, "a");
  shouldNotBeMonotone(`SELECT * { ${a} MINUS { ${b} } ${c} }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} MINUS { ${b} MINUS { ${c} } } }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} MINUS { ${b} OPTIONAL { ${c} } } }`, "b c");
  shouldNotBeMonotone(`SELECT * { { ${a} } UNION { ?s :p ?o MINUS { ${b} } } }`, "b");
});

describe("EXISTS", () => {
  shouldNotBeMonotone(`SELECT * { ${a} FILTER EXISTS { ${b} } }`, "");
  shouldNotBeMonotone(`SELECT * { ${a} FILTER NOT EXISTS { ${b} } }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} FILTER(!EXISTS { ${b} }) }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} FILTER(!(NOT EXISTS { ${b} })) }`, "");
  shouldNotBeMonotone(`SELECT * { ${a} FILTER(?o > 3 || (EXISTS { ${b} } && NOT EXISTS { ${c} })) }`, "c");
  shouldNotBeMonotone(`SELECT * { ${a} FILTER NOT EXISTS { ${b} MINUS { ${c} } } }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} FILTER NOT EXISTS { ${b} FILTER NOT EXISTS { ${c} } } }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} FILTER(EXISTS { ${b} } = true) }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} FILTER(IF(EXISTS { ${b} }, true, true)) }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} FILTER(true IN (false, EXISTS { ${b} })) }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} BIND(EXISTS { ${b} } AS ?x) }`, "b");
  shouldNotBeMonotone(`SELECT (EXISTS { ${b} } AS ?x) { ${a} }`, "b");
});

describe("aggregates, order and forms", () => {
  shouldNotBeMonotone(`SELECT (COUNT(*) AS ?n) { ${a} }`, "a");
  shouldNotBeMonotone(`SELECT ?s (1 + MAX(?o) AS ?n) { ${a} } GROUP BY ?s`, "a");
  shouldNotBeMonotone(`SELECT ?s { ${a} } GROUP BY ?s`, "");
  shouldNotBeMonotone(`SELECT ?s { ${a} } GROUP BY ?s HAVING(COUNT(*) > 1)`, "a");
  shouldNotBeMonotone(`SELECT ?s { ${a} } GROUP BY ?s ORDER BY COUNT(?o)`, "a");
  shouldNotBeMonotone(`SELECT * { ${a} { SELECT ?s (SUM(?r) AS ?n) { ${b} } GROUP BY ?s } }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} } LIMIT 3`, "");
  shouldNotBeMonotone(`SELECT * { ${a} } OFFSET 3`, "");
  shouldNotBeMonotone(`SELECT * { ${a} } ORDER BY ?s OFFSET 3`, "");
  shouldNotBeMonotone(`SELECT * { ${a} } ORDER BY ?s LIMIT 3`, "a");
  shouldNotBeMonotone(`SELECT * { ${a} { SELECT ?s { ${b} } ORDER BY ?r LIMIT 1 } }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} MINUS { SELECT ?s { ${b} } LIMIT 1 } }`, "b");
  shouldNotBeMonotone(`ASK { ${a} }`, "a");
  shouldNotBeMonotone(`CONSTRUCT { ?s :p ?o } { ${a} }`, "");
  shouldNotBeMonotone(`CONSTRUCT { ?s :p ?o } { ${a} MINUS { ${b} } }`, "b");
  shouldNotBeMonotone(`CONSTRUCT { ?s :p ?o } { ${a} } ORDER BY ?s LIMIT 1`, "a");
  shouldNotBeMonotone(`CONSTRUCT { ?s a :x } { ${a} } GROUP BY ?s`, "");
  shouldNotBeMonotone(`CONSTRUCT { ?s a :x } { ${a} } GROUP BY ?s HAVING(COUNT(*) < 2)`, "a");
  shouldNotBeMonotone(`CONSTRUCT { ?s a :x } { ${a} } GROUP BY ?s HAVING(NOT EXISTS { ${b} })`, "b");
});

describe("patterns outside of every SERVICE", () => {
  shouldNotBeMonotone("SELECT * { ?s :p ?o ; :q+/^:r ?r . ?r !(:p|^:q) ?x }", "");
  shouldNotBeMonotone("SELECT * { ?s :p ?o OPTIONAL { ?s :q ?r } }", "patterns");
  shouldNotBeMonotone(`SELECT * { ?s :p ?o MINUS { ${b} } }`, "b");
  shouldNotBeMonotone(`SELECT * { ${a} FILTER NOT EXISTS { ?s :q ?r } }`, "patterns");
  shouldNotBeMonotone("SELECT (COUNT(?s) AS ?n) { ?s :p ?o }", "patterns");
});

const shouldBeMonotone = (query: string, expected: boolean): void => {
  it(`${query} is ${expected ? "" : "not "}monotone`, () => {
    expect(nonMonotoneParts(parseQuery(prefixes + query).ast, "into services").patterns).toBe(!expected);
  });
};

describe("whole queries, bodies of SERVICE included", () => {
  shouldBeMonotone(`SELECT * { ${a} }`, true);
  shouldBeMonotone("SELECT * { SERVICE :a { ?s :p ?o MINUS { ?s :q ?r } } }", false);
  shouldBeMonotone("SELECT (COUNT(*) AS ?n) { SERVICE :a { ?s :p ?o } }", false);
  shouldBeMonotone("DESCRIBE ?s { ?s :p ?o }", true);
});
