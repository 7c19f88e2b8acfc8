import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { parseQuery } from "../../../src/sparql/query.ts";

function errorOf(text: string): FedwayError {
  try {
    parseQuery(text);
  } catch (thrown) {
    if (thrown instanceof FedwayError) return thrown;
    throw thrown;
  }
  throw new Error(`accepted: ${text}`);
}

/** One case: `QUERY_SYNTAX` at `line:column` with a message and, unless it speaks for itself, advice. */
function shouldFail(text: string, at: string, told: RegExp): void {
  it(JSON.stringify(text), () => {
    const { code, message, details } = errorOf(text);
    expect(code).toBe("QUERY_SYNTAX");
    expect(`${details.where?.line}:${details.where?.column}`).toBe(at);
    expect(`${message} ${details.next ?? ""}`).toMatch(told);
    expect(message.length).toBeLessThan(300);
  });
}

function shouldParse(text: string, kind: string, form: string): void {
  it(JSON.stringify(text), () => expect(parseQuery(text)).toMatchObject({ text, kind, form, ast: { type: "query" } }));
}

describe("query forms", () => {
  shouldParse("SELECT * {}", "bindings", "SELECT");
  shouldParse("ask {}", "boolean", "ASK");
  shouldParse("CONSTRUCT {} WHERE {}", "quads", "CONSTRUCT");
  shouldParse("DESCRIBE <urn:x>", "quads", "DESCRIBE");
  shouldParse("# SELECT\nBASE <http://a/> PREFIX p: <b#> ASK { p:x ?p 'SELECT' }", "boolean", "ASK");
});

it("reads white space that SPARQL has not, between tokens, as blanks, which endpoints can read", () => {
  const odd = "\uFEFFSELECT\u00A0?s\f{\u2003?s\v?p 'a\u00A0b' # \u00A0\n}";
  expect(parseQuery(odd).text).toBe(" SELECT ?s { ?s ?p 'a\u00A0b' #  \n}");
  expect(errorOf("\uFEFFSELECT *\u00A0{ ?s ?p }").details.where).toEqual({ line: 1, column: 19 });
});

it("gives each of several queries that differ in their constants its own terms", () => {
  const query = (name: string) =>
    `PREFIX p: <urn:p#> SELECT ?s { ?s p:${name} "${name}", 'x'@en, <urn:${name}> . ?s (<urn:a>|p:${name})+ ${name.length} }`;
  const other = parseQuery(query("other"));
  const long = parseQuery(query("a-longer-name"));
  expect(JSON.stringify(other.ast.where).replaceAll("other", "a-longer-name").replace('"5"', '"13"')).toBe(
    JSON.stringify(long.ast.where),
  );
  const again = parseQuery(query("other"));
  expect(again.ast).toEqual(other.ast);
  for (const [part, { from, to }] of again.places) {
    if ("termType" in part && part.termType === "Literal") expect(again.textOf({ from, to })).toContain(part.value);
  }
});

describe("errors of the grammar have the place of the offending token", () => {
  shouldFail("SELECT * { ?s ?p }", "1:18", /Unexpected "}".*Expected/s);
  shouldFail("SELECT * {\n  ?s ?p ?o\n", "3:1", /ends too early/);
  shouldFail("SELECT *\r\n{ ?s ?p\r\n } ", "3:2", /Unexpected "}"/);
  shouldFail("SELECT * # { ?s ?p\n{ ?s ?p '''{\n''' ?x }", "3:5", /Unexpected "\?x"/);
  shouldFail("FOO", "1:1", /Unexpected "FOO"/);
  shouldFail("  }", "1:3", /Unexpected "}"/);
  shouldFail("PREFIX a: <urn:>", "1:17", /prologue/);
  shouldFail("SELECT * { ?s ?p 'a }", "1:18", /not closed/);
  shouldFail('SELECT * { ?s ?p "a\n" }', "1:18", /not closed/);
  shouldFail("SELECT * { ?s ?p `a` }", "1:18", /Unexpected character/);
  shouldFail("SELECT * { ?s ?p <a b> }", "1:18", /Unexpected/);
  shouldFail("SELECT ?x WHERE { BIND(1 ?x) }", "1:26", /Unexpected "\?x"/);
  shouldFail("define sql:x 'y' SELECT * {}", "1:8", /prefix "sql:" is not declared/);
  shouldFail(
    "ASK { ?s rdf:type foaf:Person ; my:p 1 }",
    "1:10",
    /PREFIX rdf: <.*rdf-syntax-ns#> PREFIX foaf: <.*foaf\/0.1\/> PREFIX my: <\.\.\.>/,
  );
});

describe("texts that are more than a query", () => {
  shouldFail("```sparql\nASK { ?s ?p ?o }\n```", "1:1", /Markdown code fence.*between the ```/);
  shouldFail("Here it is:\n~~~\nASK {}\n~~~", "2:1", /Markdown code fence/);
  shouldFail("Here is the query:\n\nASK { ?s ?p ?o }", "1:1", /words before the query.*line 3/);
  shouldFail("Sure!\nPREFIX a: <urn:a>\nASK { ?s a:b ?o }", "1:1", /words before the query.*line 2/);
  shouldFail("SELECT\n?x\nWHERE { SELECT ?y { ?x ?y } }", "3:27", /Unexpected "}"/);
  shouldFail("ASK {} ASK {}", "1:8", /two queries.*one by one/);
  shouldFail("ASK {} ;\nPREFIX a: <urn:a>\nSELECT * { ?s ?p ?o }", "3:1", /two queries/);
  shouldFail("SELECT * { { SELECT * { ?s ?p ?o } } ) SELECT * { ?s ?p ?o }", "1:38", /Unexpected "\)"/);
});

describe("what is legal although a parser below refuses it, and what is not although one accepts it", () => {
  shouldParse("SELECT ?o { <urn:s> !() ?o }", "bindings", "SELECT");
  shouldParse("SELECT * { FILTERsameTerm(?a, ?b) }", "bindings", "SELECT");
  shouldParse("SELECT (SUM(IF(EXISTS { SELECT (COUNT(*) AS ?c) {} }, 1, 0)) AS ?n) {}", "bindings", "SELECT");
  shouldParse("SELECT * { ?s ?p ?o FILTER(<urn:f>(DISTINCT ?o)) }", "bindings", "SELECT");
  shouldParse("SELECT * { ?s ?p 'a'@en--ltr FILTER(HASLANG(?o) && ?o NOT IN ()) }", "bindings", "SELECT");
  shouldParse("SELECT * { ?s ?p .5, 1.e3, -1, +2.5 FILTER(?o -1 = ?o - 1) }", "bindings", "SELECT");
  shouldParse("VERSION '1.2' SELECT * { VALUES (?x ?y) { ('a'^^<urn:t> -1) ('b'@en UNDEF) } }", "bindings", "SELECT");
  shouldFail("VERSION '''1.2''' SELECT * {}", "1:9", /Unexpected "'''1/);
  shouldFail("SELECT * { VALUES (?x) { (1 2) } }", "1:12", /Inconsistent VALUES.*UNDEF/s);
  shouldFail("SELECT * { FILTER(!!?x) }", "1:20", /Unexpected "!"/);
  shouldFail("SELECT * { ?s ?p ( # none\n ) }", "2:2", /Unexpected "\)"/);
  shouldFail(String.raw`SELECT * { ?s ?p 'a\q' }`, "1:18", /Unexpected/);
  shouldFail("PREFIX p: <urn:> SELECT * { ?s p:a\u2192b ?o }", "1:32", /Unexpected "p:a\u2192b"/);
  shouldFail("SELECT * { FILTER(NOT ?x) }", "1:19", /Unexpected "NOT"/);
  shouldFail("SELECT * { FILTER(?x INSERT 1) }", "1:22", /Unexpected "INSERT"/);
});

it("signs are operators of their own", () => {
  const { ast } = parseQuery("SELECT * { FILTER(-?x = +?y) }");
  expect(ast.where).toMatchObject([{ expression: { args: [{ operator: "UMINUS" }, { operator: "UPLUS" }] } }]);
});

describe("errors say what would fit, whatever rule the parser is in", () => {
  shouldFail("SELECT * { ?s ?p ?o ?x }", "1:21", /Expected here: '\{', '\}', 'VALUES', 'GRAPH', 'OPTIONAL', 'MINUS'/);
  shouldFail("SELECT * { ?s ?p }", "1:18", /Expected here: an IRI, a prefixed name, '\(', a number, a variable/);
  shouldFail("ASK { } LIMIT ?x", "1:15", /Expected here: a number\./);
  shouldFail("SELECT * { FILTER(HASLANG(?a) + ) }", "1:33", /Expected here: an IRI, a prefixed name, '\('/);
});

describe("terms have the tokens where they stand, without brackets around them, and paths with theirs", () => {
  it.each([
    ["SELECT * { ?s (<urn:a>/<urn:b>)+ ?o }", "path", ["(<urn:a>/<urn:b>)", "(<urn:a>/<urn:b>)+"]],
    [
      "SELECT * { ?s ^(<urn:a>|!(<urn:b>)) ?o }",
      "path",
      ["!(<urn:b>)", "(<urn:a>|!(<urn:b>))", "^(<urn:a>|!(<urn:b>))"],
    ],
    ["SELECT * { ?s ((<urn:a>)*)+ ?o }", "path", ["((<urn:a>)*)", "((<urn:a>)*)+"]],
    ["SELECT * { ?s (<urn:a>)/((<urn:b>)) ?o }", "path", ["(<urn:a>)/((<urn:b>))"]],
    ["SELECT * { FILTER((?x) = ((-1))) }", "Literal", ["-1"]],
    ["SELECT * { ?s ?p 'a'@en, 'b'^^<urn:t>, true, +1 }", "Literal", ["'a'@en", "'b'^^<urn:t>", "true", "+1"]],
    ["SELECT ((COUNT(DISTINCT (?x)) + 1) AS ?n) {}", "aggregate", ["COUNT(DISTINCT (?x))"]],
    ["SELECT * { _:a a ( ) ; ?p [ ] }", "BlankNode", ["_:a", "[ ]"]],
  ])("%s", (text, kind, expected) => {
    const query = parseQuery(text);
    const kindOf = (node: object): unknown => ("termType" in node ? node.termType : "type" in node ? node.type : "");
    const found = [...query.places].filter(([node]) => kindOf(node) === kind);
    expect(found.map(([, range]) => query.textOf(range))).toEqual(expected);
  });
});

describe("templates of CONSTRUCT may hold nodes without properties of their own", () => {
  shouldParse("CONSTRUCT { [ <x:p> ?o ] . } {}", "quads", "CONSTRUCT");
  shouldParse("CONSTRUCT { ?s ?p ?o . (1 ?o) . [ <x:p> [ <x:q> ?o ] ] } {}", "quads", "CONSTRUCT");
  shouldParse("CONSTRUCT WHERE { [ <x:p> ?o ] . }", "quads", "CONSTRUCT");
  shouldFail("CONSTRUCT { ?s } {}", "1:16", /Unexpected "}"/);
});

describe("aggregates outside of SELECT, HAVING and ORDER BY", () => {
  shouldFail("SELECT * { ?s ?p ?o FILTER(COUNT(?s) > 1) }", "1:28", /COUNT stands outside/);
  shouldFail("SELECT * { BIND(1 + MAX(?s) AS ?n) }", "1:21", /MAX stands outside/);
  shouldFail("ASK { FILTER EXISTS { FILTER(SUM(?x) = 1) } }", "1:30", /SUM stands outside/);
  shouldFail("SELECT (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY (MIN(?o) AS ?m)", "1:48", /MIN stands outside/);
  shouldParse("ASK { ?s ?p ?o } GROUP BY ?s HAVING(COUNT(*) > 1) ORDER BY SUM(?o)", "boolean", "ASK");
  shouldParse("SELECT * { FILTER EXISTS { SELECT (MAX(?o) AS ?m) { ?s ?p ?o } } }", "bindings", "SELECT");
});

describe("errors that the parser gives without a place", () => {
  shouldFail("SELECT * { VALUES VALUES ?x { 1 } }", "1:19", /Unexpected "VALUES"/);
  shouldFail("SELECT * {\n # foo:x 'foo:x'\n ?s 'foo:x'@en ?o }", "3:5", /Unexpected/);
  shouldFail("SELECT * {\n # foo:x\n ?s ?p 'foo:x', foo:x }", "3:17", /"foo:" is not declared.*PREFIX foo:/s);
  shouldFail("PREFIX foo: <urn:> ASK { ?s foo:a :b }", "1:35", /":" is not declared/);
  shouldFail("ASK { ?s constructor:a ?o }", "1:10", /"constructor:" is not declared/);
  shouldFail("ASK { ?s toString:a ?o }", "1:10", /"toString:" is not declared/);
  shouldFail("ASK { # <x>\n ?s '<x>', <x> ?o }", "2:5", /Unexpected/);
  shouldFail("ASK { # <x>\n ?s ?p '<x>', <x> }", "2:15", /relative IRI x.*BASE/s);
  shouldFail("PREFIX p: <rel#> ASK { ?s p:a ?o }", "1:11", /relative IRI/);
  shouldFail("BASE <rel/> ASK {}", "1:6", /relative IRI/);
  shouldFail("SELECT * { ?s ?p ?o BIND(1 AS ?o) }", "1:31", /already|in scope/);
  shouldFail("SELECT * { OPTIONAL { ?s ?p ?o } BIND(1 AS ?o) }", "1:44", /in scope/);
  shouldFail("SELECT * { SERVICE <urn:a> { ?s ?p ?o } BIND(1 AS ?o) }", "1:51", /in scope/);
  shouldFail("SELECT (1 AS ?o) { ?s ?p ?o }", "1:14", /in scope/);
  shouldFail("SELECT (1 AS ?x) (2 AS ?x) {}", "1:24", /same name/);
  shouldFail("SELECT * { VALUES (?a ?b) { (1) } }", "1:12", /Inconsistent VALUES/);
  shouldFail("ASK { << ?a ?b ?c >> ?p ?o }", "1:7", /Unexpected "<<"/);
});

describe("what the parser accepts although it is not legal", () => {
  shouldFail("SELECT (COUNT(*) AS ?c) ?s { ?s ?p ?o }", "1:25", /ungrouped variable \(\?s\)/);
  shouldFail("SELECT ?s { ?s ?p ?o } GROUP BY ?o", "1:8", /ungrouped/);
  shouldFail("SELECT * { ?s ?p ?o } GROUP BY ?s", "1:8", /SELECT \*/);
  shouldFail("SELECT * { ?s ?p ?o } HAVING (COUNT(*) > 1)", "1:8", /SELECT \*/);
  shouldFail("SELECT * { ?s ?p ?o } ORDER BY (COUNT(?s))", "1:8", /SELECT \*/);
  shouldFail("SELECT (COUNT(?o) + ?s AS ?c) { ?s ?p ?o }", "1:21", /ungrouped/);
  shouldFail("SELECT (STR(?o) AS ?t) { ?s ?p ?o } GROUP BY ?s", "1:13", /ungrouped/);
  shouldFail("ASK { { SELECT ?s (SUM(?o) AS ?t) { ?s ?p ?o } } }", "1:16", /ungrouped/);
  shouldFail("ASK { _:a ?p ?o SERVICE <urn:a> { _:a ?q ?r } }", "1:35", /_:a is used in two/);
  shouldFail("ASK { _:a ?p ?o OPTIONAL { _:a ?q ?r } }", "1:28", /_:a is used in two/);
  shouldFail("ASK { _:a ?p ?o . BIND(1 AS ?x) _:a ?q ?r }", "1:33", /_:a is used in two/);
  shouldFail("ASK { { _:a ?p ?o } UNION { _:a ?q ?r } }", "1:29", /_:a is used in two/);
});

describe("a column that is named again is one column", () => {
  it.each([
    ["SELECT ?l $l ?m { ?s ?p ?l ; ?q ?m }", "SELECT ?l    ?m { ?s ?p ?l ; ?q ?m }"],
    [
      "SELECT ?l (1 AS ?n) ?l { { SELECT ?l ?l { ?s ?p ?l } } }",
      "SELECT ?l (1 AS ?n)    { { SELECT ?l    { ?s ?p ?l } } }",
    ],
  ])("%s", (text, sent) => expect(parseQuery(text).text).toBe(sent));
  shouldFail("SELECT ?l (STR(?l) AS ?l) { ?s ?p ?l }", "1:23", /same name|in scope/);
});

describe("keywords that follow each other without a blank", () => {
  it.each([
    "SELECTDISTINCT ?s WHERE{?s ?p ?o FILTERsameTerm(?s, ?o)FILTERNOTEXISTS{?a ?b ?c}}ORDERBYDESC(?s)LIMIT10OFFSET5",
    "SELECT (COUNT(*)AS?n) {?s ?p ?o FILTER(?o NOTIN(1))FILTERbound(?s)}GROUPBY?s HAVING(COUNT(*)>1)",
    "ASKWHERE{SERVICESILENT<urn:x>{?s ?p trueOPTIONAL{?s ?q ?r}}}",
  ])("%s", (text) => expect(parseQuery(text).text).toBe(text));
});

describe("legal queries that look like those", () => {
  shouldParse("ASK { _:a ?p ?o FILTER(?o > 1) _:a ?q ?r }", "boolean", "ASK");
  shouldParse("CONSTRUCT { _:a ?p ?o } WHERE { _:a ?p ?o }", "quads", "CONSTRUCT");
  shouldParse("SELECT ?s (COUNT(*) AS ?c) (?c + 1 AS ?d) { ?s ?p ?o } GROUP BY ?s", "bindings", "SELECT");
  shouldParse("SELECT (STR(?o) AS ?t) { ?s ?p ?o } GROUP BY STR(?o)", "bindings", "SELECT");
  shouldFail("SELECT (?s + ?o AS ?t) { ?s ?p ?o } GROUP BY (?s + ?o)", "1:9", /ungrouped/);
  shouldParse("SELECT (GROUP_CONCAT(STR(?o); SEPARATOR=')') AS ?t) { ?s ?p ?o }", "bindings", "SELECT");
  shouldParse("SELECT (MAX(?o + (?s)) * 2 AS ?t) (SUM(?p) AS ?u) { ?s ?p ?o }", "bindings", "SELECT");
  shouldParse("SELECT ?k (SAMPLE(?s) AS ?x) { ?s ?p ?o } GROUP BY (STR(?o) AS ?k)", "bindings", "SELECT");
  shouldParse("SELECT ?s { ?s ?p ?o } GROUP BY (?s)", "bindings", "SELECT");
  shouldParse("SELECT (COUNT(?o) AS ?c) { ?s ?p ?o }", "bindings", "SELECT");
  shouldParse("SELECT * { ?s ?p ?o { BIND(1 AS ?o) } }", "bindings", "SELECT");
  shouldParse("SELECT * { BIND(1 AS ?o) ?s ?p ?o }", "bindings", "SELECT");
  shouldParse("PREFIX constructor: <urn:x:> ASK { ?s constructor:a ?o }", "boolean", "ASK");
  shouldParse("PREFIX a: <urn:x:> ASK { ?s a:b%20c\\-d ?o . ?s a a:x.y }", "boolean", "ASK");
});

describe("what is no query", () => {
  it.each(["", "  \n", "# only a comment", "\uFEFF"])("%j is missing", (text) => {
    expect(errorOf(text)).toMatchObject({
      code: "QUERY_MISSING",
      details: { next: expect.stringContaining("SELECT") },
    });
  });
  it.each([
    "INSERT DATA { <urn:a> <urn:b> 1 }",
    "PREFIX a: <urn:> delete where { ?s ?p ?o }",
    "LOAD <urn:x>",
    "CLEAR ALL",
    "WITH <urn:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
    "define get:soft 'soft' SELECT * {}",
    "define input:inference <urn:x> ASK {}",
  ])("%s is refused", (text) => expect(errorOf(text).code).toBe("UPDATE_REFUSED"));
});

describe("hostile texts end soon and without a crash", () => {
  const hostile: readonly (readonly [string, string, string])[] = [
    ["nested groups", `ASK ${"{".repeat(50_000)}${"}".repeat(50_000)}`, "QUERY_SYNTAX"],
    ["nested brackets", `ASK { FILTER${"(".repeat(50_000)}1${")".repeat(50_000)} }`, "QUERY_SYNTAX"],
    ["open brackets only", `ASK { ?s ?p ${"[".repeat(100_000)}`, "QUERY_SYNTAX"],
    ["a long chain of operators", `ASK { FILTER(${"?a || ".repeat(2_500)}1) }`, "QUERY_SYNTAX"],
    ["many triples", `ASK { ${"?a ?b ?c . ".repeat(60_000)} }`, "QUERY_TOO_LARGE"],
    ["an endless string", `ASK { ?s ?p "${"a".repeat(900_000)}`, "QUERY_SYNTAX"],
    ["an endless long string", `ASK { ?s ?p """${'"a'.repeat(400_000)}`, "QUERY_TOO_LARGE"],
    ["many quotes", `ASK { ${"'".repeat(100_001)}`, "QUERY_TOO_LARGE"],
    ["dots", `PREFIX a: <urn:> ASK { a:${".".repeat(200_000)} }`, "QUERY_TOO_LARGE"],
    ["dotted names", `ASK { ${"a.".repeat(300_000)} }`, "QUERY_TOO_LARGE"],
    ["one long name", `ASK { ${"a".repeat(900_000)} }`, "QUERY_SYNTAX"],
    ["less-than signs", `ASK { FILTER(${"<".repeat(10_000)}) }`, "QUERY_SYNTAX"],
    ["comments", "# x\n".repeat(200_000), "QUERY_MISSING"],
    ["line breaks", `${"\r\n".repeat(300_000)}FOO`, "QUERY_SYNTAX"],
  ];
  it.each(hostile)("%s", (_, text, code) => {
    expect(errorOf(text).code).toBe(code);
  });
  it("a large VALUES block is legal", () => {
    expect(parseQuery(`ASK { VALUES ?x { ${"<urn:a> 'b'@en ".repeat(16_000)} } }`).kind).toBe("boolean");
  });
  it("prefixes named like members of Object.prototype change nothing", () => {
    parseQuery(
      "PREFIX hasOwnProperty: <urn:x:> PREFIX constructor: <urn:y:> ASK { ?s hasOwnProperty:a constructor:b }",
    );
    expect(Object.hasOwn({}, "a")).toBe(false);
    expect({}.constructor).toBe(Object);
    expect(errorOf("PREFIX __proto__: <urn:x:> ASK {}").code).toBe("QUERY_SYNTAX");
  });
});
