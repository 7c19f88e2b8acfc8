import { describe, expect, it } from "vitest";
import { toParserText } from "../../../src/engine/comunica/parser-text.ts";
import type { CanonicalAnswer } from "../../support/canonical-answer.ts";
import { createMergedFederation, type MergedFederation } from "../../support/merged-federation.ts";

// Two members have <x:g1>; their nodes _:b differ.
const one = `<x:a> <x:p> <x:b> <x:g1> .
<x:a> <x:q> <x:c> <x:g1> .
<x:d> <x:p> <x:d> .
<x:g1> <x:title> "one" .
_:b <x:r> <x:c> <x:g1> .
_:b <x:r> <x:e> <x:g2> .
`;
const other = `<x:b> <x:p> <x:c> <x:g1> .
<x:a> <x:p> <x:b> <x:g1> .
<x:b> <x:p> <x:c> <x:g2> .
<x:b> <x:q> <x:g2> <x:g2> .
<x:g2> <x:title> "two" .
_:b <x:s> <x:c> <x:g1> .
`;
const members = createMergedFederation([one, other]);
const withFile = createMergedFederation([one, "<x:f> <x:p> <x:f> .\n", other], ["sparql", "file", "sparql"]);
const many = createMergedFederation([
  Array.from({ length: 101 }, (_, number) => `<x:a> <x:p> <x:b> <x:g${number}> .\n`).join(""),
]);

function lines(answer: CanonicalAnswer): readonly string[] {
  if (answer.kind === "boolean") return [String(answer.value)];
  return answer.kind === "bindings" ? answer.rows : answer.triples;
}

/** Solutions as `a=<x:1> b=<x:2>`, without the brackets and prefix of IRIs. */
function shouldAnswer(query: string, expected: readonly string[], federation: MergedFederation = members): void {
  it(query, async () => {
    const found = lines(await federation.answer(query)).map((line) => line.replaceAll(/<x:([^>]*)>|[?]/g, "$1"));
    expect(found).toEqual(expected);
  });
}

describe("GRAPH with an IRI", () => {
  shouldAnswer("SELECT ?s ?z { GRAPH <x:g1> { ?s <x:p> ?o . ?o <x:p> ?z } }", ["s=a z=c"]);
  shouldAnswer("SELECT ?s { GRAPH <x:g1> { ?s <x:p> <x:b> } }", ["s=a"]);
  shouldAnswer("SELECT ?s { GRAPH <x:none> { ?s ?p ?o } }", []);
  shouldAnswer("ASK { GRAPH <x:g2> { <x:a> <x:p> ?o } }", ["false"]);
  shouldAnswer("ASK { GRAPH <x:g1> { <x:b> <x:p> ?o } }", ["true"]);
  shouldAnswer("SELECT (COUNT(*) AS ?n) { GRAPH <x:g1> { ?s <x:p> ?o } }", ["n=2^^integer"]);
  shouldAnswer("CONSTRUCT { ?s <x:made> ?o } { GRAPH <x:g2> { ?s <x:p> ?o } }", ["b made c"]);
  // A graph that does not exist has no solution, not even of an empty group or of an aggregate.
  shouldAnswer("SELECT * { GRAPH <x:g1> {} }", [""]);
  shouldAnswer("SELECT * { GRAPH <x:none> {} }", []);
  shouldAnswer("SELECT * { GRAPH <x:none> { VALUES ?x { <x:a> } } }", []);
  shouldAnswer("SELECT * { GRAPH <x:none> { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }", []);
  shouldAnswer("SELECT * { GRAPH <x:g2> { SELECT (COUNT(*) AS ?n) { ?s <x:p> ?o } } }", ["n=1^^integer"]);
  shouldAnswer("SELECT * { GRAPH <x:none> { <x:z> <x:p>* ?o } }", []);
  shouldAnswer("SELECT * { GRAPH <x:g1> { <x:z> <x:p>* ?o } }", ["o=z"]);
  shouldAnswer("SELECT * { GRAPH <x:g1> { <x:a> <x:p>* ?o } }", ["o=a", "o=b", "o=c"]);
});

describe("GRAPH with a variable", () => {
  shouldAnswer("SELECT * { GRAPH ?g {} }", ["g=g1", "g=g2"]);
  shouldAnswer("SELECT * { GRAPH ?g { ?s <x:p> ?o . ?o <x:p> ?z } }", ["g=g1 o=b s=a z=c"]);
  shouldAnswer("SELECT ?g ?h { GRAPH ?g { ?s <x:p> ?o } GRAPH ?h { ?o <x:q> ?z } }", ["g=g1 h=g2"]);
  shouldAnswer("SELECT ?g ?t { ?g <x:title> ?t GRAPH ?g { <x:a> <x:p> ?o } }", ['g=g1 t="one"']);
  shouldAnswer("SELECT * { GRAPH ?g { ?s <x:q> ?g } }", ["g=g2 s=b"]);
  shouldAnswer("SELECT * { GRAPH ?g { ?s <x:p> ?o FILTER(?g != <x:g1>) } }", ["g=g2 o=c s=b"]);
  shouldAnswer("SELECT * { GRAPH ?g { ?s <x:p> ?o } FILTER(?g = <x:g2>) }", ["g=g2 o=c s=b"]);
  shouldAnswer("SELECT * { GRAPH ?g { <x:b> <x:p>+ ?o } }", ["g=g1 o=c", "g=g2 o=c"]);
  shouldAnswer("SELECT * { GRAPH ?g { <x:a> <x:p>+ ?o } }", ["g=g1 o=b", "g=g1 o=c"]);
  shouldAnswer("SELECT * { GRAPH ?g { <x:z> <x:p>* ?o } }", ["g=g1 o=z", "g=g2 o=z"]);
  shouldAnswer("SELECT * { GRAPH ?g { ?s <x:p>|^<x:p> <x:b> } }", ["g=g1 s=a", "g=g1 s=c", "g=g2 s=c"]);
  shouldAnswer("SELECT * { GRAPH ?g { VALUES ?x { 1 } } }", ["g=g1 x=1^^integer", "g=g2 x=1^^integer"]);
  shouldAnswer("SELECT * { GRAPH ?g { BIND(<x:i> AS ?x) } }", ["g=g1 x=i", "g=g2 x=i"]);
  shouldAnswer("SELECT * { GRAPH ?g { OPTIONAL { ?s <x:q> <x:c> } } }", ["g=g1 s=a", "g=g2"]);
  shouldAnswer("SELECT * { GRAPH ?g { { ?s <x:q> <x:c> } UNION {} } }", ["g=g1", "g=g1 s=a", "g=g2"]);
  shouldAnswer("SELECT ?g { GRAPH ?g { ?s <x:p> <x:c> FILTER EXISTS { ?s <x:q> ?x } } }", ["g=g2"]);
  shouldAnswer("SELECT ?g { GRAPH ?g { ?s <x:p> <x:c> FILTER NOT EXISTS { ?s <x:q> ?x } } }", ["g=g1"]);
  shouldAnswer("SELECT ?g { GRAPH ?g { ?s <x:p> <x:c> MINUS { ?s <x:q> ?x } } }", ["g=g1"]);
  // The name of the graph is no variable that the sides of a MINUS share.
  shouldAnswer("SELECT ?g { GRAPH ?g { ?s <x:p> <x:c> MINUS { ?x <x:q> ?y } } }", ["g=g1", "g=g2"]);
  shouldAnswer("SELECT * { GRAPH ?g { SELECT ?s { ?s <x:p> <x:c> } } }", ["g=g1 s=b", "g=g2 s=b"]);
  shouldAnswer("SELECT * { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?s <x:p> ?o } } }", [
    "g=g1 n=2^^integer",
    "g=g2 n=1^^integer",
  ]);
  shouldAnswer("SELECT * { GRAPH ?g { SELECT (COUNT(*) AS ?n) { <x:a> <x:p> ?o } } }", [
    "g=g1 n=1^^integer",
    "g=g2 n=0^^integer",
  ]);
  shouldAnswer("SELECT * { GRAPH ?g { SELECT ?s (COUNT(*) AS ?n) { ?s <x:p> ?o } GROUP BY ?s } }", [
    "g=g1 n=1^^integer s=a",
    "g=g1 n=1^^integer s=b",
    "g=g2 n=1^^integer s=b",
  ]);
  shouldAnswer("SELECT * { GRAPH ?g { SELECT ?s { ?s <x:p> ?o } ORDER BY ?s LIMIT 1 } }", ["g=g1 s=a", "g=g2 s=b"]);
  shouldAnswer("SELECT * { GRAPH ?g { ?s <x:p> <x:c> BIND(<x:i> AS ?g) } }", []);
  shouldAnswer("SELECT * { GRAPH ?g { ?s <x:p> <x:c> GRAPH <x:g1> { ?x <x:q> ?y } } }", [
    "g=g1 s=b x=a y=c",
    "g=g2 s=b x=a y=c",
  ]);
  shouldAnswer("SELECT * { GRAPH ?g { GRAPH ?h { ?s <x:q> <x:c> } } }", ["g=g1 h=g1 s=a", "g=g2 h=g1 s=a"]);
  shouldAnswer("SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s ?p ?o } }", ["n=2^^integer"]);
  shouldAnswer("DESCRIBE ?g { GRAPH ?g { <x:a> <x:p> ?o } }", ['g1 title "one"']);
  shouldAnswer("SELECT ?g { GRAPH ?g { ?s <x:p> <x:b> } } LIMIT 1", ["g=g1"]);

  it("is refused in words where too many graphs would be asked one by one", async () => {
    const query = "SELECT * { GRAPH ?g { SELECT ?s { ?s ?p ?o } LIMIT 1 } }";
    await expect(many.answer(query)).rejects.toThrow(
      expect.objectContaining({ code: "EVALUATION_TOO_LARGE", message: expect.stringContaining("101 graphs") }),
    );
  });
});

describe("blank nodes", () => {
  shouldAnswer("SELECT ?g ?h { GRAPH ?g { ?b <x:r> <x:c> } GRAPH ?h { ?b <x:r> <x:e> } }", ["g=g1 h=g2"]);
  // Those of two members differ.
  shouldAnswer("SELECT ?g { GRAPH ?g { ?b <x:r> <x:c> ; <x:s> <x:c> } }", []);
  shouldAnswer("SELECT (COUNT(DISTINCT ?b) AS ?n) { GRAPH <x:g1> { ?b <x:r>|<x:s> ?o } }", ["n=2^^integer"]);
});

describe("FROM and FROM NAMED", () => {
  shouldAnswer("SELECT * FROM <x:g1> { ?s <x:p> ?o }", ["o=b s=a", "o=c s=b"]);
  // A triple of two graphs is one of their merge.
  shouldAnswer("SELECT * FROM <x:g1> FROM <x:g2> { ?s <x:p> ?o }", ["o=b s=a", "o=c s=b"]);
  shouldAnswer("SELECT * FROM <x:g1> FROM <x:g2> { ?s <x:p> ?o } LIMIT 2", ["o=b s=a", "o=c s=b"]);
  shouldAnswer("SELECT (COUNT(*) AS ?n) FROM <x:g1> FROM <x:g2> { ?b <x:r> ?o }", ["n=2^^integer"]);
  shouldAnswer("SELECT * FROM <x:g1> FROM <x:g2> { <x:a> <x:p>+/<x:q> ?o }", ["o=g2"]);
  shouldAnswer("SELECT * FROM <x:g1> { GRAPH ?g { ?s ?p ?o } }", []);
  shouldAnswer("SELECT * FROM NAMED <x:g1> { ?s ?p ?o }", []);
  shouldAnswer("SELECT * FROM NAMED <x:g2> { GRAPH ?g { ?s <x:p> ?o } }", ["g=g2 o=c s=b"]);
  shouldAnswer("SELECT * FROM NAMED <x:g2> { GRAPH <x:g1> { ?s <x:p> ?o } }", []);
  shouldAnswer("SELECT * FROM NAMED <x:g2> FROM NAMED <x:none> { GRAPH ?g {} }", ["g=g2", "g=none"]);
  shouldAnswer("ASK FROM <x:g2> { <x:a> ?p ?o }", ["false"]);
  shouldAnswer("DESCRIBE <x:b> FROM <x:g2>", ["b p c", "b q g2"]);
});

describe("members without named graphs", () => {
  shouldAnswer("SELECT * { GRAPH ?g { ?s <x:p> ?o } }", ["g=g1 o=b s=a", "g=g1 o=c s=b", "g=g2 o=c s=b"], withFile);
  shouldAnswer("SELECT ?s { ?s <x:p> ?s }", ["s=d", "s=f"], withFile);
});

describe("the parser's text", () => {
  it("has SERVICE SILENT for GRAPH, and nowhere else", () => {
    const text = toParserText("# GRAPH\nSELECT * { graph<x:g> { ?graph graph:x :graph, 'GRAPH'@graph } GRAPH :g {} }");
    expect(text).toBe(
      "# GRAPH\nSELECT * { SERVICE SILENT<x:g> { ?graph graph:x :graph, 'GRAPH'@graph } SERVICE SILENT :g {} }",
    );
    expect(toParserText("SERVICE SILENT <urn:x> {} service silent ?g {}")).toBe("SERVICE <urn:x> {} SERVICE ?g {}");
  });
});
