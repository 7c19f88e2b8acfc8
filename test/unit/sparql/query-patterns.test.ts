import { describe, expect, it } from "vitest";
import { type PatternTerm, type PlacedPattern } from "../../../src/sparql/patterns.ts";
import { parseQuery } from "../../../src/sparql/query.ts";

const prologue = "PREFIX : <urn:x/> ";

/** IRIs without `urn:x/`, literals in quotes, variables with their sign; fresh ones and blank nodes are `_`. */
function shown(term: PatternTerm): string {
  if (term.kind === "iri") return term.iri.replace("urn:x/", ":").replace(/^.*#type$/, "a");
  if (term.kind === "literal") return `"${term.literal.value}"`;
  return term.name.startsWith("_:") ? "_" : `?${term.name}`;
}

function line({ subject, predicate, object, exceptPredicates, inExists, graph }: PlacedPattern): string {
  const except = exceptPredicates ? ` except ${exceptPredicates.join(" ")}` : "";
  const where =
    graph === undefined ? "" : ` in ${typeof graph === "string" ? graph : graph.iri.replace("urn:x/", ":")}`;
  return `${shown(subject)} ${shown(predicate)} ${shown(object)}${except}${where}${inExists ? " exists" : ""}`;
}

const shouldFind = (query: string, ...patterns: readonly string[]): void => {
  it(`${query} asks for ${patterns.join(", ") || "nothing"}`, () => {
    expect(parseQuery(prologue + query).patterns.map(line)).toEqual(patterns);
  });
};

describe("places of a pattern", () => {
  shouldFind("SELECT * { ?s :p ?o }", "?s :p ?o");
  shouldFind("SELECT * { ?s :p ?o ; :q 5 , 'x' }", "?s :p ?o", '?s :q "5"', '?s :q "x"');
  shouldFind("ASK { { { ?s :p ?o } } }", "?s :p ?o");
  shouldFind("SELECT * { ?s :p ?o OPTIONAL { ?s :q ?r } }", "?s :p ?o", "?s :q ?r");
  shouldFind("SELECT * { { ?s :p ?o } UNION { ?s :q ?o } UNION { ?s :r ?o } }", "?s :p ?o", "?s :q ?o", "?s :r ?o");
  shouldFind("SELECT * { ?s :p ?o MINUS { ?s :q ?r } }", "?s :p ?o", "?s :q ?r");
  shouldFind("SELECT * { ?s :p ?o { SELECT ?s { ?s :q ?r } LIMIT 1 } }", "?s :p ?o", "?s :q ?r");
  shouldFind("SELECT * { { SELECT ?s { { SELECT ?s { ?s :q ?r } } } } }", "?s :q ?r");
  shouldFind("CONSTRUCT { ?s :made ?o } WHERE { ?s :p ?o }", "?s :p ?o");
  shouldFind("CONSTRUCT WHERE { ?s :p ?o }", "?s :p ?o");
  shouldFind("DESCRIBE ?s { ?s :p ?o }", "?s :p ?o");
  shouldFind("DESCRIBE :s");
  shouldFind("SELECT * { VALUES ?s { :s } BIND(:p AS ?p) }");
  shouldFind("SELECT * { ?s :p ?o SERVICE <urn:e> { ?s :q ?r } }", "?s :p ?o");
});

describe("graphs of a pattern", () => {
  shouldFind("SELECT * { GRAPH ?g { ?s :p ?o } GRAPH :g { ?s :q ?o } }", "?s :p ?o in named", "?s :q ?o in :g");
  shouldFind(
    "SELECT * { ?s :p ?o GRAPH :g { ?s :q ?o { ?s :r ?o } } }",
    "?s :p ?o",
    "?s :q ?o in :g",
    "?s :r ?o in :g",
  );
  shouldFind("ASK { GRAPH :g { ?s :p ?o GRAPH ?h { ?s :q ?o } } }", "?s :p ?o in :g", "?s :q ?o in named");
  shouldFind("ASK { GRAPH ?h { GRAPH :g { ?s :q ?o } } }", "?s :q ?o in :g");
  shouldFind(
    "ASK { GRAPH :g { ?s :p ?o FILTER EXISTS { ?s :q ?o } { SELECT ?s { ?s :r ?o } } } }",
    "?s :p ?o in :g",
    "?s :q ?o in :g exists",
    "?s :r ?o in :g",
  );
  shouldFind("SELECT * FROM :g { ?s :p ?o GRAPH :h { ?s :q ?o } }", "?s :p ?o in :g", "?s :q ?o in none");
  shouldFind("SELECT * FROM :g FROM :h { ?s :p ?o }", "?s :p ?o in :g", "?s :p ?o in :h");
  shouldFind("SELECT * FROM NAMED :g { ?s :p ?o GRAPH ?g { ?s :q ?o } }", "?s :p ?o in none", "?s :q ?o in :g");
  shouldFind(
    "SELECT * FROM NAMED :g FROM NAMED :h { GRAPH ?g { ?s :q ?o } GRAPH :h { ?s :r ?o } }",
    "?s :q ?o in :g",
    "?s :q ?o in :h",
    "?s :r ?o in :h",
  );
});

describe("patterns inside EXISTS", () => {
  shouldFind("SELECT * { ?s :p ?o FILTER EXISTS { ?s :q ?r } }", "?s :p ?o", "?s :q ?r exists");
  shouldFind("SELECT * { FILTER NOT EXISTS { ?s :q ?r } ?s :p ?o }", "?s :q ?r exists", "?s :p ?o");
  shouldFind("SELECT * { FILTER(?x > 1 && !(EXISTS { ?s :q ?r })) }", "?s :q ?r exists");
  shouldFind("SELECT * { BIND(EXISTS { ?s :q ?r } AS ?b) ?s :p ?o }", "?s :q ?r exists", "?s :p ?o");
  shouldFind("SELECT (EXISTS { ?s :q ?r } AS ?b) { ?s :p ?o }", "?s :q ?r exists", "?s :p ?o");
  shouldFind("SELECT ?s { ?s :p ?o } ORDER BY (EXISTS { ?s :q ?r })", "?s :p ?o", "?s :q ?r exists");
  shouldFind(
    "SELECT * { FILTER NOT EXISTS { { SELECT ?s { ?s :q ?r } } MINUS { ?s :p ?r } } }",
    "?s :q ?r exists",
    "?s :p ?r exists",
  );
});

describe("terms", () => {
  shouldFind("SELECT * { ?s a :C ; <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> :D }", "?s a :C", "?s a :D");
  shouldFind("SELECT * { ?s ?p :o }", "?s ?p :o");
  shouldFind("SELECT * { [] :p _:b . _:b :q ?x }", "_ :p _", "_ :q ?x");
  shouldFind("SELECT * { ?s :dogs\\#name ?o . ?s :a\\,b\\-c :x\\.y }", "?s :dogs#name ?o", "?s :a,b-c :x.y");
  shouldFind("SELECT * { FILTER(?x<:a) ?s :p%20q ?x }", "?s :p%20q ?x");
  shouldFind("SELECT * { ?s :p 'a\\\\#b' }", '?s :p "a\\#b"');

  it("escaped local names mean the same with a BASE", () => {
    const text = "BASE <http://e.org/> PREFIX : <x#> ASK { FILTER(?x<:a) ?s :p\\#q/!:r\\,s ?x }";
    expect(parseQuery(text).patterns.map(line)).toEqual([
      "?s http://e.org/x#p#q _",
      "_ _ ?x except http://e.org/x#r,s",
    ]);
  });

  it("relative IRIs are resolved, dot segments too", () => {
    const text = "BASE <http://e.org/a/b/> PREFIX p: <../c/> SELECT * { <x> p:y <../../z> }";
    expect(parseQuery(text).patterns.map(line)).toEqual(["http://e.org/a/b/x http://e.org/a/c/y http://e.org/z"]);
  });

  it("prefixes are no patterns, whatever their names", () => {
    const names = ["subject", "predicate", "object", "type", "group", "values"];
    const text = `${names.map((name) => `PREFIX ${name}: <urn:${name}:>`).join(" ")} ASK { ?s subject:a ?o }`;
    const query = parseQuery(text);
    expect(query.patterns.map(line)).toEqual(["?s urn:subject:a ?o"]);
    expect([query.isSummary, [...query.constructs.constructs]]).toEqual([false, []]);
  });

  it("one blank node is one variable", () => {
    const [first, second] = parseQuery("ASK { _:b <urn:p> ?x . ?y <urn:q> _:b , [] }").patterns;
    expect(first?.subject).toEqual(second?.object);
    expect(first?.subject.kind).toBe("variable");
  });
});

describe("property paths", () => {
  shouldFind("SELECT * { ?s :p/:q ?o }", "?s :p _", "_ :q ?o");
  shouldFind("SELECT * { ?s :p/a :C }", "?s :p _", "_ a :C");
  shouldFind("SELECT * { ?s :p|:q ?o }", "?s :p ?o", "?s :q ?o");
  shouldFind("SELECT * { ?s ^:p ?o }", "?o :p ?s");
  shouldFind("SELECT * { :C ^a ?o }", "?o a :C");
  shouldFind("SELECT * { ?s ^(:p/:q) ?o }", "?o :p _", "_ :q ?s");
  shouldFind("SELECT * { :s :p+ ?o }", "_ :p _");
  shouldFind("SELECT * { :s :p* ?o }", "_ :p _");
  shouldFind("SELECT * { :s :p? ?o }", ":s :p ?o");
  shouldFind("SELECT * { ?s :p* ?o }", "_ :p _", "_ _ _");
  shouldFind("SELECT * { ?s (:p|:q?) ?o }", "?s :p ?o", "?s :q ?o", "_ _ _");
  shouldFind("SELECT * { ?s :p*/:q? ?o }", "_ :p _", "_ :q ?o", "_ _ _");
  shouldFind("SELECT * { ?s :p*/:q ?o }", "_ :p _", "_ :q ?o");
  shouldFind("SELECT * { ?s (:p/:q)+ ?o }", "_ :p _", "_ :q _");
  shouldFind("SELECT * { ?s !:p ?o }", "?s _ ?o except urn:x/p");
  shouldFind("SELECT * { ?s !^:p ?o }", "?o _ ?s except urn:x/p");
  shouldFind(
    "SELECT * { ?s !(:p|^:q|:r|^a) ?o }",
    "?s _ ?o except urn:x/p urn:x/r",
    `?o _ ?s except urn:x/q ${rdfType()}`,
  );

  shouldFind("SELECT * { ?s !:p\\#q ?o }", "?s _ ?o except urn:x/p#q");

  it("the steps of a sequence meet, and no two paths share their ways", () => {
    const steps = parseQuery("ASK { ?s <urn:p>/<urn:q> ?o . ?s <urn:p>/<urn:q> ?o }").patterns;
    expect(steps[0]?.object).toEqual(steps[1]?.subject);
    expect(steps[2]?.object).toEqual(steps[3]?.subject);
    expect(steps[0]?.object).not.toEqual(steps[2]?.object);
  });
});

function rdfType(): string {
  return "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
}
