import { describe, expect, it } from "vitest";
import { closedSubselects, solutionsQuery, withSolutions } from "../../../../shards/src/verify/closed-subselects.ts";
import { parseQuery } from "../../../../src/sparql/query.ts";

const prologue =
  "PREFIX : <urn:x/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX f: <http://www.w3.org/2001/XMLSchem> ";

/** The subselects that are found in a query, as they are written. */
function found(text: string): readonly string[] {
  const query = parseQuery(prologue + text);
  return closedSubselects(query).map(({ group }) => query.cutRange(group, []));
}

const shouldFind = (text: string, ...subselects: readonly string[]): void =>
  it(text, () => expect(found(text)).toEqual(subselects));
/** A subselect in the place of `EXISTS { }` that is not closed. */
const shouldLeave = (why: string, subselect: string): void =>
  it(why, () => expect(found(`SELECT ?a { ?a :p ?b FILTER EXISTS { ${subselect} FILTER(?b = ?x) } }`)).toEqual([]));

const closed = "{ SELECT ?x { ?y :q ?x } }";

describe("closed subselects are found", () => {
  shouldFind(`SELECT * { ?a :p ?b FILTER EXISTS { ${closed} FILTER(?b IN (?x)) } }`, closed);
  shouldFind(`SELECT * { ?a :p ?b FILTER NOT EXISTS ${closed} }`, closed);
  shouldFind(`SELECT * { ?a :p ?b FILTER(?b > 1 && !EXISTS { { ${closed} } }) }`, closed);
  shouldFind(`ASK { ?a :p ?b BIND(EXISTS { ?a :p ?x ${closed} } AS ?is) }`, closed);
  shouldFind(`SELECT (EXISTS ${closed} AS ?is) { ?a :p ?b }`, closed);
  shouldFind(`SELECT ?a { ?a :p ?b } GROUP BY ?a HAVING (EXISTS ${closed})`, closed);
  shouldFind(`SELECT ?a { ?a :p ?b } ORDER BY (EXISTS ${closed})`, closed);
  shouldFind(`SELECT * { { SELECT ?a { ?a :p ?b FILTER EXISTS ${closed} } } }`, closed);
  shouldFind(`SELECT * { ?a :p ?b OPTIONAL { ?a :r ?c FILTER EXISTS ${closed} } }`, closed);
  shouldFind(`SELECT * { ?a :p ?b FILTER EXISTS { ?a :p ?c OPTIONAL ${closed} MINUS { :s :p ?x } } }`, closed);
  shouldFind(`SELECT * { ?a :p ?b FILTER EXISTS { { ?a :p ?x } UNION ${closed} } }`, closed);
  shouldFind(`SELECT * { ?a :p ?b FILTER EXISTS { ?a :r ?c FILTER NOT EXISTS { ${closed} ?c :p ?x } } }`, closed);
  shouldFind(
    "SELECT * { ?a :p ?b FILTER EXISTS { { SELECT ?x { ?x :p 1 } } { SELECT (MAX(?n) AS ?y) { ?m :q ?n } } } }",
    "{ SELECT ?x { ?x :p 1 } }",
    "{ SELECT (MAX(?n) AS ?y) { ?m :q ?n } }",
  );
  shouldFind(
    "SELECT * { ?a :p ?b FILTER EXISTS { { SELECT * { GRAPH ?g { ?x :p ?y FILTER(xsd:integer(?y) > 1) } } } } }",
    "{ SELECT * { GRAPH ?g { ?x :p ?y FILTER(xsd:integer(?y) > 1) } } }",
  );
  // The inner one is part of what is asked for the outer one.
  shouldFind(
    "ASK { ?a :p ?b FILTER EXISTS { SELECT ?x { ?y :q ?x FILTER NOT EXISTS { SELECT ?z { ?z :q 1 } } } } }",
    "{ SELECT ?x { ?y :q ?x FILTER NOT EXISTS { SELECT ?z { ?z :q 1 } } } }",
  );
  // What is in one that is reached may be closed itself.
  shouldFind(
    `ASK { ?a :p ?b FILTER EXISTS { SELECT ?y { ?a :q ?y FILTER NOT EXISTS ${closed.replace("?y", "?z")} } } }`,
    "{ SELECT ?x { ?z :q ?x } }",
  );
});

describe("others are left as they are", () => {
  shouldFind(`SELECT * { ?a :p ?b ${closed} }`);
  shouldFind(`SELECT * { ?a :p ?b OPTIONAL ${closed} MINUS ${closed} }`);
  shouldFind(`SELECT ?x { ?a :p ?b FILTER EXISTS ${closed} }`);
  shouldFind(`CONSTRUCT { ?a :p ?y } WHERE { ?a :p ?b FILTER EXISTS ${closed} }`);
  shouldFind(`SELECT * { ?a :p ?b FILTER EXISTS ${closed} } VALUES ?y { 1 }`);
  shouldFind(`SELECT * { GRAPH ?g { ?a :p ?b FILTER EXISTS ${closed} } }`);
  shouldFind(`SELECT * { ?a :p ?b FILTER EXISTS { GRAPH :g ${closed} } }`);
  shouldFind(`SELECT * { SERVICE :s { ?a :p ?b FILTER EXISTS ${closed} } }`);
  shouldFind(`SELECT * { ?a :p ?b FILTER EXISTS { SELECT (COUNT(*) AS ?n) { ?a :p ?c ${closed} } } }`);
  shouldLeave("a variable of outside that is projected", "{ SELECT ?x ?a { ?a :q ?x } }");
  shouldLeave("a variable of outside that is not projected", "{ SELECT ?x { ?a :q ?x } }");
  shouldLeave("a variable of outside, written in another way", "{ SELECT ?x { $b :q ?x } }");
  shouldLeave("a variable of outside in an expression only", "{ SELECT ?x { ?y :q ?x FILTER(?x != ?b) } }");
  shouldLeave("rows that the store chooses", "{ SELECT ?x { ?y :q ?x } LIMIT 1 }");
  shouldLeave("rows behind those that the store chooses", "{ SELECT ?x { ?y :q ?x } OFFSET 1 }");
  shouldLeave("chosen rows inside", "{ SELECT ?x { { SELECT ?x { ?y :q ?x } LIMIT 1 } } }");
  shouldLeave("repetitions that the store chooses", "{ SELECT REDUCED ?x { ?y :q ?x } }");
  shouldLeave("a value that the store chooses", "{ SELECT (SAMPLE(?y) AS ?x) { ?y :q ?z } }");
  shouldLeave("an order that the store chooses", "{ SELECT (GROUP_CONCAT(?y) AS ?x) { ?y :q ?z } }");
  shouldLeave("chance", "{ SELECT ?x { ?y :q ?x FILTER(RAND() < 0.5) } }");
  shouldLeave("a new blank node", "{ SELECT ?x { BIND(BNODE() AS ?x) } }");
  shouldLeave("the time", "{ SELECT ?x { BIND(NOW() AS ?x) } }");
  shouldLeave("a function that is not the standard's", "{ SELECT ?x { ?y :q ?z BIND(f:a(?z) AS ?x) } }");
  shouldLeave("another service", "{ SELECT ?x { SERVICE :s { ?y :q ?x } } }");
  shouldLeave("data behind it", "{ SELECT ?x { ?y :q ?x } VALUES ?x { 1 } }");
  shouldLeave("no variable", "{ SELECT * { :s :p 1 } } ?x :q ?y");
});

describe("rewriting", () => {
  const text =
    "BASE <http://base/> # one\nPREFIX : <urn:x/>\nSELECT ?a FROM <g> FROM NAMED :h { ?a :p ?b # two\n" +
    "FILTER NOT EXISTS { { SELECT (?y AS ?x) ?y { ?y :q\\#r _:l } # three\n } FILTER(?b = ?x) } } # four";
  const query = parseQuery(text);
  const [subselect] = closedSubselects(query);

  it("asks for the solutions on the same dataset", () => {
    const asked = solutionsQuery(query, subselect!, 7);
    expect(asked).toBe(
      "BASE <http://base/> # one\nPREFIX : <urn:x/>\nSELECT DISTINCT ?x ?y\nFROM <g>\nFROM NAMED :h\n" +
        "WHERE { { SELECT (?y AS ?x) ?y { ?y :q\\#r _:l } # three\n } } LIMIT 7",
    );
    expect(parseQuery(asked).form).toBe("SELECT");
  });

  it("puts them in as inline data", () => {
    const rows = [
      ["<urn:x/1>", "UNDEF"],
      ['"}"@en', "2"],
    ];
    const known = withSolutions(query, [{ subselect: subselect!, rows }]);
    expect(known).toBe(
      "BASE <http://base/> # one\nPREFIX : <urn:x/>\nSELECT ?a FROM <g> FROM NAMED :h { ?a :p ?b # two\n" +
        'FILTER NOT EXISTS { { VALUES (?x ?y) { (<urn:x/1> UNDEF) ("}"@en 2) } } FILTER(?b = ?x) } } # four',
    );
    expect(parseQuery(known).form).toBe("SELECT");
  });
});
