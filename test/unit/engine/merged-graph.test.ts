import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { answerDifference, toAnswer } from "../../support/canonical-answer.ts";
import {
  createMergedFederation,
  mergedAnswer,
  type MemberKind,
  type MergedFederation,
} from "../../support/merged-federation.ts";
import { toBounds, toFederatedPlan } from "../../support/engine-answer.ts";

const prologue = "PREFIX : <http://ex.org/>\n";
const triples = (lines: string) => lines.trim().replaceAll(/(^|\s):(\w+)/g, "$1<http://ex.org/$2>");

// The same blank node labels, and one triple, at both members.
const data = [
  triples(`:ada :name "Ada" .
:ada :knows :bela .
:ada :address _:a .
_:a :city "Graz" .
_:a :inside _:b .
_:b :city "Styria" .
:both :name "Both" .
:list :first _:l .
_:l :rest _:m .
_:m :rest :nil .`),
  triples(
    `:bela :name "Bela" .
:bela :knows :cleo .
:bela :address _:a .
:bela :address _:b .
_:a :city "Linz" .
_:b :city "Wien" .
:cleo :knows :ada .
:cleo :name "Cleo"@en .
:cleo :name 1 .
:both :name "Both" .
:bela :address "Graz" .`.replace("1 .", '"1"^^<http://www.w3.org/2001/XMLSchema#integer> .'),
  ),
];

const federations: Readonly<Record<string, MergedFederation>> = Object.fromEntries(
  (["sparql", "tpf", "file", "tpf sparql"] as const).map((kinds) => [
    kinds,
    createMergedFederation(data, kinds.split(" ") as MemberKind[], { pageSize: 2 }),
  ]),
);

describe.each(Object.keys(federations))("over members %s", (kinds) => {
  it.each([
    ["a triple that two members have counts once", "SELECT * { :both :name ?n }"],
    ["a join over members", "SELECT * { :ada :knows ?x . ?x :name ?n }"],
    ["joins on blank nodes", "SELECT ?x ?c { ?x :address ?a . ?a :city ?c }"],
    ["blank nodes with the same label at two members differ", "SELECT ?x ?y { ?x :address ?a . ?y :address ?a }"],
    ["OPTIONAL on blank nodes", "SELECT ?x ?c ?d { ?x :address ?a OPTIONAL { ?a :city ?c . ?a :inside/:city ?d } }"],
    ["MINUS on blank nodes", 'SELECT ?x { ?x :address ?a MINUS { ?a :city "Linz" } }'],
    ["EXISTS on blank nodes", 'SELECT ?x { ?x :address ?a FILTER EXISTS { ?a :city "Linz" } }'],
    ["EXISTS within a disjunction", 'SELECT ?x { ?x :address ?a FILTER (EXISTS { ?a :city "Linz" } || ?x = :ada) }'],
    ["NOT EXISTS over two patterns", "SELECT ?x { ?x :knows ?y FILTER NOT EXISTS { ?y :knows ?z . ?z :address ?a } }"],
    ["blank nodes are counted once", "SELECT (COUNT(DISTINCT ?a) AS ?n) { ?x :address ?a . ?a ?p ?o }"],
    ["blank nodes are grouped", "SELECT (COUNT(?p) AS ?n) { ?a ?p ?o FILTER isBlank(?a) } GROUP BY ?a"],
    ["DISTINCT blank nodes", "SELECT DISTINCT ?a { ?x :address ?a . ?a ?p ?o }"],
    ["COUNT(DISTINCT *) counts solutions", "SELECT (COUNT(DISTINCT *) AS ?n) { ?x :address [ :city ?c ] }"],
    ["paths over blank nodes", "SELECT ?x ?c { ?x :address/:inside*/:city ?c }"],
    ["paths back to the start", "SELECT ?x ?y { ?x :knows+ ?y }"],
    ["paths with a constant end", "SELECT ?x { ?x :knows+ :cleo }"],
    ["paths with constant ends", "ASK { :ada :knows+ :cleo }"],
    ["paths without a solution", "ASK { :ada :rest+ :cleo }"],
    ["a path from a variable to itself", "SELECT ?x { ?x :knows+ ?x }"],
    ["zero-length paths from nodes of the graph", "SELECT * { ?x :name ?n . ?x :knows? ?y }"],
    ["zero-length paths between any nodes", "SELECT (COUNT(*) AS ?n) { ?x :knows* ?y }"],
    [
      "two sequences of paths with a subselect between",
      "SELECT * { ?x :knows/:name ?n { SELECT ?x { ?x :knows ?z } } ?y :address/:city ?c }",
    ],
    [
      "variables with the names of Comunica's own",
      "SELECT ?var0 (COUNT(?var1) AS ?var2) { ?x :knows/:name ?var0 . ?x :knows/:name ?var1 } GROUP BY ?var0",
    ],
    [
      "variables with the names of the engine's own",
      "SELECT ?fedway_0 ?fedway_fresh0 { ?x :knows/:name ?fedway_0 . ?x :knows+/:name ?fedway_fresh0 }",
    ],
    [
      "a subselect with OFFSET whose size is estimated too small",
      "SELECT * { ?x :knows ?y { SELECT ?x ?n { ?x :name ?n VALUES ?n { UNDEF } } ORDER BY ?x ?n OFFSET 2 } }",
    ],
    ["two paths beside VALUES", "SELECT * { VALUES ?v { 1 2 } { ?x :knows+ ?y } { ?y :knows* ?z } }"],
    ["a nested path", "SELECT ?x ?y { ?x (:knows/^:knows)+ ?y }"],
    ["a nested path with alternatives", "SELECT ?x ?y { ?x :name ?n . ?x (:knows|:address/:city)* ?y }"],
    ["a string that FILTER demands", 'SELECT ?x ?n { ?x :name ?n . ?x :knows ?y FILTER(?n = "Ada") }'],
    ["a string that only a language has", 'SELECT ?x { ?x :name ?n FILTER(?n IN ("Cleo")) }'],
    ["an IRI that FILTER demands", "SELECT ?x ?y { ?x :knows ?y . ?y :name ?n FILTER(?y = :cleo) }"],
    ["two strings that FILTER demands", 'SELECT ?x { ?x :name ?n FILTER(?n = "Ada" && ?n = "Bela") }'],
    ["a string in place of a subject", 'SELECT ?x { ?y :name ?x . ?x :name ?n FILTER(?x = "Ada") }'],
    ["a path's end that FILTER demands", "SELECT ?x { ?x :name ?n . ?x :knows* ?y FILTER(?y = :bela) }"],
    ["a path's end that is no node", "SELECT * { ?x :knows* ?y FILTER(?y = :nowhere) }"],
    [
      "an IRI that FILTER demands in EXISTS",
      "SELECT ?x { ?x :name ?n FILTER EXISTS { ?x :knows ?y FILTER(?y = :cleo) } }",
    ],
    ["one pattern written twice", "SELECT ?x ?n { ?x :name ?n . ?x :name ?n . ?x :knows ?y }"],
    ["parts that are equal in one value", "SELECT ?x ?y { ?x :name ?n . ?y :name ?m . ?y :knows ?z FILTER(?n = ?m) }"],
    ["a list", "SELECT ?x { :list :first/:rest* ?x }"],
    ["negated property sets", "SELECT ?x ?y { ?x !(:name|:city) ?y FILTER isIRI(?x) }"],
    ["inverse negated property sets", "SELECT ?x ?y { ?x !(:name|^:knows) ?y FILTER isIRI(?x) }"],
    ["a path of negated property sets", "SELECT ?y { :ada (!:name)+ ?y FILTER isIRI(?y) }"],
    ["a variable predicate", "SELECT ?p ?o { :cleo ?p ?o }"],
    ["a variable twice in a pattern", "SELECT ?x { ?x ?x ?y }"],
    ["a literal as subject", "SELECT * { ?x :name ?n . ?n ?p ?o }"],
    ["UNION before a join", "SELECT * { { ?x :name ?n } UNION { ?x :address ?a } ?x :knows ?y }"],
    ["UNION whose branches lack a variable", "SELECT * { ?x :knows ?y { ?x :name ?n } UNION { ?z :name ?n } }"],
    ["UNION in OPTIONAL", "SELECT * { ?x :knows ?y OPTIONAL { { ?y :name ?n } UNION { ?y :address ?n } } }"],
    ["VALUES with UNDEF", "SELECT * { VALUES (?x ?n) { (:ada UNDEF) (UNDEF 1) (:none 1) } ?x :name ?n }"],
    ["a subquery", "SELECT * { { SELECT ?x (COUNT(*) AS ?c) { ?x :name ?n } GROUP BY ?x } ?x :knows ?y }"],
    ["BIND", "SELECT * { BIND (:ada AS ?x) ?x :knows ?y BIND (STR(?y) AS ?s) }"],
    ["GRAPH finds nothing", "SELECT * { GRAPH ?g { ?s ?p ?o } }"],
    ["a triple", "ASK { :both :name 'Both' }"],
    ["no triple", "ASK { :both :name 'both' }"],
    ["CONSTRUCT", "CONSTRUCT { ?x :in ?c } WHERE { ?x :address [ :city ?c ] }"],
    ["DESCRIBE", "DESCRIBE :cleo"],
    ["DESCRIBE and its blank nodes", "DESCRIBE :ada"],
    ["DESCRIBE of a chain of blank nodes", "DESCRIBE :list ?x { ?x :knows :cleo }"],
    ["DESCRIBE of a blank node", "DESCRIBE ?a { :ada :address ?a }"],
    ["DESCRIBE of a variable that is unbound", "DESCRIBE ?y { :ada :name ?n OPTIONAL { :ada :nope ?y } }"],
    ["DESCRIBE of a variable that nothing binds", "DESCRIBE ?z { :ada :name ?n }"],
    [
      "DESCRIBE of what only some solutions bind",
      "DESCRIBE ?y { { :ada :name ?x } UNION { :bela :knows ?y } FILTER NOT EXISTS { ?x :knows ?x } }",
    ],
    ["DESCRIBE of two variables of which one has no triples", "DESCRIBE ?x ?n { ?x :name ?n }"],
    ["DESCRIBE *", "DESCRIBE * { ?x :knows ?y . ?y :address ?a }"],
    [
      "DESCRIBE of literals and of what is in no graph",
      'DESCRIBE ?x { VALUES ?x { "Ada" 1 UNDEF :nowhere :both :both } }',
    ],
    ["DESCRIBE of as many solutions as LIMIT says", "DESCRIBE ?x { ?x :name ?n } ORDER BY STR(?n) LIMIT 2"],
    ["CONSTRUCT of one solution", "CONSTRUCT { ?x :a ?n ; :b ?n } WHERE { ?x :name ?n } ORDER BY STR(?n) LIMIT 1"],
    ["CONSTRUCT without one solution", "CONSTRUCT { ?x :a ?n ; :b ?n } WHERE { ?x :knows ?n } ORDER BY ?x OFFSET 1"],
    ["ASK of no solution", "ASK { ?x :name ?n } LIMIT 0"],
    ["ASK behind the last solution", "ASK { ?x :knows ?y } OFFSET 3"],
    [
      "MIN and MAX",
      "SELECT (MIN(?n) AS ?a) (MAX(STR(?n)) AS ?b) { ?x :name ?n FILTER isLiteral(?n) FILTER(LANG(?n) = '') }",
    ],
  ])("%s", async (_, query) => {
    const text = prologue + query;
    expect(
      answerDifference(mergedAnswer(data, text), await (federations[kinds] as MergedFederation).answer(text)),
    ).toBe(undefined);
  });
});

// Oxigraph, the oracle above, compares the nodes that blank nodes and stops of paths stand for (findings/oxigraph-count-distinct-of-blank-nodes.sh).
it.each(["?s :address [ :city ?c ]", "?s ?p []", "?s :knows/:name ?n", "?var0 ?fedway_x []"])(
  "COUNT(DISTINCT *) counts the rows of SELECT DISTINCT *: %s",
  async (pattern) => {
    const federation = createMergedFederation(data);
    const counted = await federation.answer(`${prologue}SELECT (COUNT(DISTINCT *) AS ?n) { ${pattern} }`);
    const listed = await federation.answer(`${prologue}SELECT (COUNT(*) AS ?n) { SELECT DISTINCT * { ${pattern} } }`);
    expect(counted).toEqual(listed);
  },
);

describe("DESCRIBE beside SERVICE clauses", () => {
  const federation = createMergedFederation(data);
  const url = federation.members[0]?.url ?? "";
  it.each([
    ["?y", `DESCRIBE ?y { SERVICE <${url}> { :ada :knows ?y } }`],
    ["*", `DESCRIBE * { SERVICE <${url}> { :ada :knows ?y } }`],
    ["* with a pattern", `DESCRIBE * { :ada :knows ?y SERVICE <${url}> { ?x :knows ?y } FILTER(?x = :nobody) }`],
  ])("%s", async (_, query) => {
    const { skeleton, clauses } = toFederatedPlan(prologue + query);
    const plan = { ...federation.plan(query), skeleton, clauses };
    const expected = query.includes("nobody") ? "DESCRIBE ?y {}" : "DESCRIBE :bela";
    const answer = await toAnswer(await federation.execute(plan));
    expect(answerDifference(mergedAnswer(data, prologue + expected), answer)).toBe(undefined);
  });
});

describe("zero-length paths (SPARQL 1.1 Query, section 9.3)", () => {
  const federation = createMergedFederation(data);
  it.each([
    ["hold for a constant that is not in the graph", "SELECT ?y { :none :knows* ?y }", ["?y=<http://ex.org/none>"]],
    ["do not hold for a variable bound elsewhere", "SELECT ?y { VALUES ?x { :none } ?x :knows* ?y }", []],
    ["hold for a node", "SELECT ?y { VALUES ?x { :nil } ?x :knows* ?y }", ["?y=<http://ex.org/nil>"]],
  ])("%s", async (_, query, rows) => {
    expect(await federation.answer(prologue + query)).toEqual({ kind: "bindings", rows });
  });
});

describe("requests", () => {
  const people = (count: number) =>
    Array.from({ length: count }, (_, n) => triples(`:p${n} :name "N${n}" .\n:p${n} :next :p${n + 1} .`)).join("\n");
  const asked = async (query: string, texts: readonly string[], kinds: readonly MemberKind[] = ["sparql"]) => {
    const federation = createMergedFederation(texts, kinds, { pageSize: 10 });
    const answer = await federation.answer(prologue + query);
    expect(answer.kind === "bindings" && answer.rows.length).toBeGreaterThan(0);
    return federation.client.requests.length + federation.documents.requests.length;
  };

  it("carry blocks of keys, not one row each", async () => {
    // 200 keys in a few blocks that grow from 16 keys, each at two members, and the first pattern at both.
    expect(await asked("SELECT * { ?x :next ?y . ?y :name ?n }", [people(200), people(200)])).toBeLessThanOrEqual(20);
  });

  it("are one a member and pattern for two patterns of an OPTIONAL with few keys", async () => {
    const query = "SELECT * { VALUES ?x { :p1 :p2 :p3 } ?x :name ?n OPTIONAL { ?x :next ?y . ?y :name ?m } }";
    expect(await asked(query, [people(20), people(20)])).toBe(6);
  });

  it("are one a distance for a path, not one a node", async () => {
    const wide = Array.from({ length: 40 }, (_, n) => triples(`:root :has :c${n} .\n:c${n} :has :d${n} .`)).join("\n");
    expect(await asked("SELECT ?x { :root :has+ ?x }", [wide])).toBeLessThanOrEqual(9);
  });

  it("to fragments take the whole fragment where that is fewer", async () => {
    const other = Array.from({ length: 50 }, (_, n) => triples(`:p${n} :kind :k .`)).join("\n");
    const query = "SELECT * { ?x :name ?n . ?x :kind :k }";
    expect(await asked(query, [`${people(50)}\n${other}`], ["tpf"])).toBeLessThanOrEqual(40);
  });

  it("to fragments take the whole fragment for a join, not for each of its blocks of keys", async () => {
    const kinds = Array.from({ length: 200 }, (_, n) => triples(`:p${n} :kind :k .`)).join("\n");
    const query = "SELECT * { ?x :name ?n . ?x :kind :k }";
    // The form, 20 pages and 60 pages.
    expect(await asked(query, [`${people(600)}\n${kinds}`], ["tpf"])).toBeLessThanOrEqual(81);
  });

  it("end with the last row of a LIMIT", async () => {
    expect(await asked("SELECT * { ?x :name ?n } LIMIT 5", [people(2_000)], ["tpf"])).toBeLessThanOrEqual(12);
  });
});

describe("a member that fails", () => {
  const unreachable = new FedwayError("ENDPOINT_UNREACHABLE", "Nothing listens there.", { fault: "connect" });
  const failing = (kind: MemberKind) => {
    const federation = createMergedFederation(data, ["sparql", kind]);
    const url = federation.members[1]?.url ?? "";
    if (kind === "sparql") federation.client.fail(url, unreachable);
    else federation.documents.fail(url, unreachable);
    return federation;
  };
  const query = `${prologue}SELECT ?n { ?x :name ?n }`;

  it.each<MemberKind>(["sparql", "tpf", "file"])("is an error, interface %s", async (kind) => {
    const bounds = toBounds();
    await expect(
      failing(kind)
        .result(query, bounds)
        .then((result) => toAnswer(result)),
    ).rejects.toMatchObject({
      code: "ENDPOINT_UNREACHABLE",
    });
    expect(bounds.sources.get("m1")).toMatchObject({ status: "failed", reason: "ENDPOINT_UNREACHABLE" });
  });

  it.each<MemberKind>(["sparql", "tpf", "file"])(
    "is left out and reported with partial, interface %s",
    async (kind) => {
      const bounds = toBounds(true);
      const answer = await toAnswer(await failing(kind).result(query, bounds));
      expect(answer).toEqual({ kind: "bindings", rows: ['?n="Ada"', '?n="Both"'] });
      expect(bounds.sources.get("m1")).toMatchObject({ status: "failed", reason: "ENDPOINT_UNREACHABLE" });
      expect(bounds.sources.get("m0")).toMatchObject({ status: "ok", rows: 2 });
    },
  );

  it("is not asked again with partial", async () => {
    const federation = failing("sparql");
    await toAnswer(await federation.result(`${prologue}SELECT * { ?x :knows ?y . ?y :knows ?z }`, toBounds(true)));
    expect(federation.client.requests.filter(({ endpoint }) => endpoint.id === "m1")).toHaveLength(1);
  });
});

describe("bounds", () => {
  it.each<MemberKind>(["sparql", "tpf", "file"])("too many triples are an error, interface %s", async (kind) => {
    const federation = createMergedFederation(data, [kind], { maxSolutions: 3 });
    await expect(federation.answer("SELECT * { ?s ?p ?o }")).rejects.toMatchObject({ code: "ANSWER_TOO_LARGE" });
  });
});
