import { describe, expect, it } from "vitest";
import { parseQuery } from "../../../src/sparql/query.ts";

/** `place/place target[=values] [silent] [depth] [in GRAPH]` of each SERVICE, in text order. */
function services(text: string): readonly string[] {
  return parseQuery(text).services.map(({ place, target, silent, depth, inGraph }) => {
    const values = target.kind === "variable" ? target.values?.map((value) => value.iri ?? value.text).join(",") : "";
    const name = target.kind === "iri" ? target.iri : `?${target.name}=${values ?? "unknown"}`;
    const marks = [
      silent ? "silent" : "",
      depth > 0 ? `depth ${depth}` : "",
      inGraph === "none" ? "" : `graph ${inGraph}`,
    ];
    return [place.join("/"), name, ...marks].filter((mark) => mark !== "").join(" ");
  });
}

function shouldFind(text: string, ...expected: readonly string[]): void {
  it(text, () => expect(services(text)).toEqual(expected));
}

describe("SERVICE clauses wherever they stand", () => {
  shouldFind("ASK { SERVICE <urn:a> {} }", "urn:a");
  shouldFind("ASK { { SERVICE <urn:a> {} } }", "group urn:a");
  shouldFind("ASK { OPTIONAL { SERVICE SILENT <urn:a> {} } }", "optional urn:a silent");
  shouldFind("ASK { { SERVICE <urn:a> {} } UNION { SERVICE <urn:b> {} } }", "union urn:a", "union urn:b");
  shouldFind("ASK { MINUS { SERVICE <urn:a> {} } }", "minus urn:a");
  shouldFind("ASK { FILTER(1 = 1 && NOT EXISTS { SERVICE <urn:a> {} }) }", "exists urn:a");
  shouldFind("ASK { BIND(EXISTS { SERVICE <urn:a> {} } AS ?x) }", "exists urn:a");
  shouldFind("SELECT (EXISTS { SERVICE <urn:a> {} } AS ?x) {}", "exists urn:a");
  shouldFind("SELECT ?x { ?x ?y ?z } GROUP BY ?x HAVING(EXISTS { SERVICE <urn:a> {} })", "exists urn:a");
  shouldFind("SELECT * {} ORDER BY (EXISTS { SERVICE <urn:a> {} })", "exists urn:a");
  shouldFind("ASK { { SELECT ?x { SERVICE <urn:a> { ?x ?y ?z } } } }", "subquery urn:a");
  shouldFind("ASK { GRAPH <urn:g> { SERVICE <urn:a> {} } }", "graph urn:a graph constant");
  shouldFind("ASK { GRAPH ?g { { SERVICE <urn:a> {} } } }", "graph/group urn:a graph variable");
  shouldFind("ASK { SERVICE <urn:a> { OPTIONAL { SERVICE <urn:b> {} } } }", "urn:a", "service/optional urn:b depth 1");
  shouldFind(
    "ASK { GRAPH <urn:g> { SERVICE <urn:a> { SERVICE <urn:b> {} } } }",
    "graph urn:a graph constant",
    "graph/service urn:b depth 1",
  );
  shouldFind("CONSTRUCT { ?s ?p ?o } FROM <urn:g> WHERE { SERVICE <urn:a> { ?s ?p ?o } }", "urn:a");
  shouldFind("DESCRIBE ?s FROM <urn:g> { SERVICE <urn:a> { ?s ?p ?o } }", "urn:a");
  shouldFind("ASK { ?s ?p 'SERVICE <urn:b> {}' # SERVICE <urn:c> {}\n }");
  shouldFind("PREFIX service: <urn:> ASK { ?service service:SERVICE service:a . sErViCe service:b\\-c {} }", "urn:b-c");
});

describe("targets are resolved as RFC 3986 says", () => {
  shouldFind("BASE <http://h/a/b> ASK { SERVICE <../c?d> {} SERVICE <//i/x> {} }", "http://h/c?d", "http://i/x");
  shouldFind("BASE <http://h/a/> BASE <b/> PREFIX p: <c#> ASK { SERVICE p:d {} }", "http://h/a/b/c#d");
});

describe("values of SERVICE variables", () => {
  shouldFind("ASK { SERVICE ?g {} }", "?g=unknown");
  shouldFind("ASK { VALUES ?g { <urn:a> <urn:b> <urn:a> } SERVICE ?g {} }", "?g=urn:a,urn:b");
  shouldFind(
    "PREFIX p: <urn:> ASK { SERVICE $g {} VALUES (?x ?g) { (1 p:a) ('<urn:x>'@en <urn:b>) (-1 p:c) ('1'^^p:t p:d) } }",
    "?g=urn:a,urn:b,urn:c,urn:d",
  );
  shouldFind("ASK { VALUES ?g { UNDEF } SERVICE ?g {} }", "?g=unknown");
  shouldFind("ASK { VALUES ?g { 1 'x' } SERVICE ?g {} }", "?g=1,x");
  shouldFind("SELECT * { SERVICE ?g {} } VALUES ?g { <urn:a> }", "?g=urn:a");
  shouldFind("ASK { BIND(<urn:a> AS ?g) SERVICE ?g {} }", "?g=urn:a");
  shouldFind("ASK { BIND(IRI('urn:a') AS ?g) SERVICE ?g {} }", "?g=unknown");
  shouldFind("ASK { VALUES ?g { <urn:a> } { { SERVICE ?g {} } UNION {} } }", "group/union ?g=urn:a");
  shouldFind("ASK { VALUES ?g { <urn:a> } OPTIONAL { SERVICE ?g {} } }", "optional ?g=urn:a");
  shouldFind("ASK { OPTIONAL { SERVICE ?g {} } VALUES ?g { <urn:a> } }", "optional ?g=unknown");
  shouldFind("ASK { VALUES ?g { <urn:a> } { ?s ?p ?o OPTIONAL { SERVICE ?g {} } } }", "group/optional ?g=unknown");
  shouldFind("ASK { FILTER EXISTS { SERVICE ?g {} } VALUES ?g { <urn:a> } }", "exists ?g=urn:a");
  shouldFind("ASK { VALUES ?g { <urn:a> } { SELECT * { SERVICE ?g {} } } }", "subquery ?g=unknown");
  shouldFind("ASK { VALUES ?g { <urn:a> } SERVICE <urn:b> { SERVICE ?g {} } }", "urn:b", "service ?g=unknown depth 1");
});

/** The tokens of each pattern outside of every SERVICE. */
const outside = (text: string): readonly string[] => {
  const query = parseQuery(text);
  return query.outside.map(({ from, to }) =>
    query.tokens
      .slice(from, to)
      .map((token) => token.text)
      .join(" "),
  );
};

describe("patterns outside of every SERVICE", () => {
  it.each([
    ["ASK { SERVICE <urn:a> { ?s ?p ?o } }", []],
    ["ASK { SERVICE <urn:a> { ?s ?p ?o } ?a <urn:p>* ?b . }", ["?a <urn:p> * ?b ."]],
    ["ASK { OPTIONAL { ?a ?b ?c } MINUS { ?d ?e ?f } }", ["?a ?b ?c", "?d ?e ?f"]],
    ["ASK { FILTER NOT EXISTS { ?a ?b ?c } }", ["?a ?b ?c"]],
    ["ASK { GRAPH ?g { ?a ?b ?c } }", ["GRAPH ?g { ?a ?b ?c }"]],
    ["ASK { GRAPH ?g { ?a ?b ?c SERVICE <urn:a> {} } }", ["?a ?b ?c"]],
    ["ASK { { SELECT * { [] a (1 [ ?x 'y' ]) ; ?p true } } }", ["[ ] A ( 1 [ ?x 'y' ] ) ; ?p TRUE"]],
    ["CONSTRUCT WHERE { ?a ?b ?c }", ["?a ?b ?c"]],
    ["CONSTRUCT { ?a ?b ?c } WHERE {}", []],
  ])("%s", (text, expected) => expect(outside(text)).toEqual(expected));
});

it("finds the dataset clauses", () => {
  const { datasets } = parseQuery("BASE <urn:x:> PREFIX p: <urn:> ASK FROM p:a FROM NAMED <urn:b> {}");
  expect(datasets).toEqual([
    { iri: "urn:a", named: false },
    { iri: "urn:b", named: true },
  ]);
});

it("gives the variables and the place of a clause", () => {
  const query = parseQuery(
    "ASK {\n  SERVICE <urn:a> { ?s ?p 1 MINUS { ?m ?n 2 } FILTER(?f) { SELECT ?q { ?q ?h 3 } } } }",
  );
  const [clause] = query.services;
  expect(clause?.where).toEqual({ line: 2, column: 3 });
  expect([...query.visibleIn(clause!.element)]).toEqual(["s", "p", "q"]);
});
