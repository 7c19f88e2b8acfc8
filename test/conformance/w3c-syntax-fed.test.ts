import { describe, expect, it } from "vitest";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { parseQuery } from "../../src/sparql/query.ts";
import { planFor } from "../unit/plan/plan-cases.ts";

/** What the three cases of the W3C suite `sparql11/syntax-fed` test, in our own words: SERVICE parses, and where. */
const syntaxFed: readonly {
  readonly name: string;
  readonly text: string;
  readonly silent: boolean;
  readonly outside: number;
}[] = [
  { name: "service-01", text: "BASE <http://h/> SELECT * { SERVICE <e> { ?a ?b ?c } }", silent: false, outside: 0 },
  {
    name: "service-02",
    text: "BASE <http://h/> SELECT * { ?a ?b ?c SERVICE <e> { ?a ?b ?c } ?d ?e ?f }",
    silent: false,
    outside: 2,
  },
  {
    name: "service-03",
    text: "BASE <http://h/> SELECT * { ?a ?b ?c SERVICE SILENT <e> { ?a ?b ?c } ?d ?e ?f }",
    silent: true,
    outside: 2,
  },
];

describe("sparql11/syntax-fed", () => {
  it("has 3 cases", () => expect(syntaxFed).toHaveLength(3));
  it.each(syntaxFed)("$name", ({ text, silent, outside }) => {
    const query = parseQuery(text);
    expect(query.services).toHaveLength(1);
    expect(query.services[0]).toMatchObject({ silent, target: { kind: "iri", iri: "http://h/e" } });
    expect(query.outside).toHaveLength(outside);
  });
});

/** Bodies of valid SPARQL 1.1 queries; prefix `:` and BASE are declared. */
const bodies: readonly string[] = [
  "?s ?p ?o",
  "?s ?p ?o .",
  "?s ?p ?o ; ?q ?r , ?t ; .",
  "[] :p [ :q ?x ; :r ( 1 2.5 -3e0 ) ] .",
  "( ?x _:b () ) :p true",
  "?s a :C ; :p\\-q :with\\,comma , :a.b , :%41 , : .",
  `?s :p "a\\"b\\n", 'c'@en-GB, """long "quoted" text""", '''it's''', "x"^^:t, "1"^^<http://t>`,
  "?s :p+ ?o . ?s :p*/:q? ?x . ?s ^:p|(:q/^:r)+ ?y",
  "?s !:p ?o . ?s !(:p|^:q|a|^a) ?x . ?s !() ?z",
  "?s <rel/path#f> ?o ; <> <?q=1>",
  "$s ?p $o FILTER($o > ?p)",
  "FILTER(?x IN (1, 2) && ?y NOT IN (:a, 'b') || !(?z = -1))",
  "FILTER regex(?x, '^a\\\\.b', 'i') FILTER(:f(?x, 1)) FILTER BOUND(?x)",
  "?s ?p ?o FILTER(1 + 2 * -3 - 4 / +5 <= 6 || 1 != 2 && 3 >= 2)",
  "FILTER EXISTS { ?s ?p ?o } FILTER NOT EXISTS { ?s ?q ?o FILTER(EXISTS { ?o ?x ?y }) }",
  "BIND(IF(?x < 1, COALESCE(?y, 2), CONCAT('a', 'b')) AS ?z)",
  "BIND(STRLANG('a', 'en') AS ?a) BIND(STRDT('1', :t) AS ?b) BIND(IRI('x') AS ?c) BIND(BNODE('y') AS ?d)",
  "BIND(SUBSTR(?x, 2, 3) AS ?a) BIND(REPLACE(?x, 'a', '$1', 'i') AS ?b) BIND(SHA256(?x) AS ?c)",
  "VALUES ?x { 1 'a'@en :b <c> UNDEF true }",
  "VALUES (?x ?y) { (1 UNDEF) (UNDEF UNDEF) ('a'^^:t -2) }",
  "VALUES () { () () } ?s ?p ?o",
  "VALUES (?x ?y) { }",
  "OPTIONAL { ?s ?p ?o OPTIONAL { ?o ?q ?r FILTER(?r > ?s) } }",
  "{ ?s ?p ?o } UNION { ?s ?q ?o } UNION { }",
  "{ { ?s ?p ?o } UNION { { } } } MINUS { ?s :no ?x }",
  "GRAPH ?g { ?s ?p ?o } GRAPH :g { } GRAPH <g> { [] ?p 1 }",
  "?s ?p ?o . { SELECT DISTINCT ?s (COUNT(DISTINCT ?x) AS ?n) { ?s :p ?x } GROUP BY ?s HAVING(COUNT(?x) > 1) (SUM(?x) < 9) }",
  "{ SELECT REDUCED ?s { ?s ?p ?o } ORDER BY DESC(?s) ASC(STR(?o)) ?p LIMIT 2 OFFSET 1 VALUES ?s { :a } }",
  "{ SELECT (GROUP_CONCAT(DISTINCT ?x; SEPARATOR=', ') AS ?l) (SAMPLE(?x) AS ?m) (AVG(?x) + MIN(?x) AS ?n) { ?s :p ?x } }",
  "{ SELECT ?k (SUM(?x * 2) AS ?t) { ?s :p ?x } GROUP BY (STR(?s) AS ?k) (?x) }",
  "{ SELECT * { { SELECT ?s { ?s ?p ?o } LIMIT 1 } ?s ?q ?r } OFFSET 1 LIMIT 2 }",
  "?s ?p ?o . # a comment with } and SERVICE <urn:x> {\n ?o ?q ?r",
  "?s ?p '# no comment { SERVICE <urn:x> {' ; :q '''}\n{''' ",
  "?s :SERVICE :service . ?SERVICE ?graph ?optional . :select :where :filter",
  "_:x ?p ?o . FILTER(?o > 1) _:x ?q ?r",
  "?été :p ?\u4E2D . :é :ñ '\u{1F600}\\u00e9\\U0001F600'",
  "?s ?p ?o FILTER (?o = 'x'@EN) FILTER (lang(?o) = '' && datatype(?o) = :t && isIRI(?s))",
  "?s ?p 1, 1.0, 1e6, .5, -1, +1.0, 001, '1' ",
  "FILTER(NOW() > '2020-01-01T00:00:00Z'^^:t && RAND() < 1 && UUID() != ?x && STRUUID() != '')",
  "FILTER(?a<?b&&?c=?d)",
  "OPTIONAL{?s?p?o}{?s?p?o}UNION{?s?q?o}",
  "BIND((?a && EXISTS { ?s ?p ?o }) AS ?e) ?x ?y ?z",
  "?s ?p ?o.?o ?q ?r.FILTER(?r=1)OPTIONAL{?r ?a ?b}MINUS{?r ?c ?d}",
];
/** Bodies of which a federated plan writes IRIs out: with escapes, and relative to BASE. */
const writtenOut: ReadonlyMap<string, string> = new Map([
  [
    "?s a :C ; :p\\-q :with\\,comma , :a.b , :%41 , : .",
    "?s a :C ; <http://ns.example/#p-q> <http://ns.example/#with,comma> , :a.b , :%41 , : .",
  ],
  [
    "?s <rel/path#f> ?o ; <> <?q=1>",
    "?s <http://base.example/x/rel/path#f> ?o ; <http://base.example/x/> <http://base.example/x/?q=1>",
  ],
  ["VALUES ?x { 1 'a'@en :b <c> UNDEF true }", "VALUES ?x { 1 'a'@en :b <http://base.example/x/c> UNDEF true }"],
  [
    "GRAPH ?g { ?s ?p ?o } GRAPH :g { } GRAPH <g> { [] ?p 1 }",
    "GRAPH ?g { ?s ?p ?o } GRAPH :g { } GRAPH <http://base.example/x/g> { [] ?p 1 }",
  ],
]);
const prologue = "BASE <http://base.example/x/> PREFIX : <http://ns.example/#> ";
const compact = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

describe("valid queries survive the removal of their wrapper", () => {
  it("has at least 40 shapes", () => {
    expect(bodies.length).toBeGreaterThanOrEqual(40);
    for (const body of writtenOut.keys()) expect(bodies).toContain(body);
  });

  it.each(bodies)("SELECT * { SERVICE <a> { %s } }", (body) => {
    const plan = planFor(`${prologue}SELECT * { SERVICE <a> { ${body}\n } }`);
    expect(plan.kind).toBe("direct");
    if (plan.kind !== "direct") return;
    expect(compact(plan.query)).toBe(compact(`${prologue}SELECT * { ${body}\n }`));
    expect(parseQuery(plan.query).form).toBe("SELECT");
  });

  it.each(bodies)("ASK { SERVICE <a> { %s } SERVICE <b> { ?v1 ?v2 ?v3 } }", (body) => {
    const plan = planFor(`${prologue}ASK { SERVICE <a> { ${body}\n } SERVICE <b> { ?v1 ?v2 ?v3 } }`);
    expect(plan.kind).toBe("federated");
    if (plan.kind !== "federated") return;
    const sent = writtenOut.get(body) ?? body;
    expect(compact(plan.query)).toContain(compact(`SERVICE <http://a.example/sparql> { ${sent}\n }`));
    expect(parseQuery(plan.query).services).toHaveLength(2);
  });

  it.each(bodies)("/endpoints/a: { %s SERVICE <b> {} }", (body) => {
    const plan = planFor(`${prologue}ASK { ${body}\n SERVICE <b> { ?v1 ?v2 ?v3 } }`, { endpointId: "a" });
    expect(plan.kind).not.toBe("rejected");
    if (plan.kind === "rejected") return;
    const planned = parseQuery(plan.query);
    // A body that needs no data leaves everything to the other endpoint.
    if (plan.kind === "direct") expect([plan.endpoint.id, planned.services.length]).toEqual(["b", 0]);
    else expect([plan.members.length, planned.outside.length]).toEqual([2, 0]);
  });
});

/** Queries that are not SPARQL 1.1 because of their SERVICE. */
const invalid: readonly string[] = [
  "SELECT * { SERVICE { ?s ?p ?o } }",
  "SELECT * { SERVICE <urn:a> }",
  "SELECT * { SERVICE <urn:a> ?s ?p ?o }",
  "SELECT * { SERVICE SILENT { ?s ?p ?o } }",
  "SELECT * { SILENT SERVICE <urn:a> { ?s ?p ?o } }",
  "SELECT * { SERVICE 'urn:a' { ?s ?p ?o } }",
  "SELECT * { SERVICE <urn:a> <urn:b> { ?s ?p ?o } }",
  "SELECT * { SERVICE _:a { ?s ?p ?o } }",
  "SELECT * { SERVICE (<urn:a>) { ?s ?p ?o } }",
  "SELECT * { SERVICE <urn:a> { ?s ?p ?o } SILENT }",
  "SELECT * { SERVICE <urn:a> { ?s ?p ?o }",
  "SELECT * SERVICE <urn:a> { ?s ?p ?o }",
  "CONSTRUCT { SERVICE <urn:a> { ?s ?p ?o } } WHERE {}",
  "CONSTRUCT WHERE { SERVICE <urn:a> { ?s ?p ?o } }",
  "SELECT * { SERVICE p:a { ?s ?p ?o } }",
  "SELECT * { SERVICE <rel> { ?s ?p ?o } }",
  "SELECT * { SERVICE <urn:a> { _:b ?p ?o } SERVICE <urn:a> { _:b ?q ?r } }",
  "SELECT * { SERVICE <urn:a> { ?s ?p ?o } BIND(1 AS ?o) }",
];

describe("invalid queries with SERVICE have a line and a column", () => {
  it.each(invalid)("%s", (text) => {
    let thrown: unknown;
    try {
      parseQuery(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(FedwayError);
    expect(thrown).toMatchObject({ code: "QUERY_SYNTAX", details: { where: { line: 1, column: expect.any(Number) } } });
  });
});
