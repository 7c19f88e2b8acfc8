import { describe, expect, it } from "vitest";
import { rowsOf } from "../../../../shards/src/verify/answer-store.ts";
import { chanceIn } from "../../../../shards/src/verify/compare-answers.ts";

type Term = Readonly<Record<string, string>>;
const xsd = "http://www.w3.org/2001/XMLSchema#";

const rows = (...bindings: readonly Readonly<Record<string, Term>>[]): readonly string[] => {
  const body = Buffer.from(JSON.stringify({ head: { vars: [] }, results: { bindings } }));
  return rowsOf({ mediaType: "application/sparql-results+json; charset=utf-8", body });
};
const literal = (value: string, datatype?: string): Term => ({
  type: "literal",
  value,
  ...(datatype === undefined ? {} : { datatype: xsd + datatype }),
});

const shouldEqual = (name: string, left: Term, right: Term): void =>
  it(name, () => expect(rows({ x: left })).toStrictEqual(rows({ x: right })));
const shouldDiffer = (name: string, left: Term, right: Term): void =>
  it(name, () => expect(rows({ x: left })).not.toStrictEqual(rows({ x: right })));

describe("equal terms", () => {
  shouldEqual("xsd:string is plain", literal("a"), literal("a", "string"));
  shouldEqual(
    "sums that differ behind the tenth digit",
    literal("0.30000000000000004", "double"),
    literal("0.3", "double"),
  );
  shouldEqual("languages in any case", { ...literal("a"), "xml:lang": "EN" }, { ...literal("a"), "xml:lang": "en" });
  shouldEqual("labels of blank nodes", { type: "bnode", value: "a" }, { type: "bnode", value: "b" });
});

describe("different terms", () => {
  shouldDiffer("IRI and literal", { type: "uri", value: "http://a" }, literal("http://a"));
  shouldDiffer("integers are exact", literal("12345678901", "integer"), literal("12345678902", "integer"));
  shouldDiffer("datatypes", literal("1", "integer"), literal("1", "double"));
  shouldDiffer("languages", { ...literal("a"), "xml:lang": "en" }, { ...literal("a"), "xml:lang": "de" });
  shouldDiffer("texts that look like numbers", literal("1.0"), literal("1.00"));
});

it("names of variables belong to the rows, their order does not", () => {
  const [a, b] = [literal("1"), literal("2")];
  expect(rows({ x: a, y: b })).toStrictEqual(rows({ y: b, x: a }));
  expect(rows({ x: a, y: b })).not.toStrictEqual(rows({ x: b, y: a }));
});

it("an ASK is one row", () =>
  expect(
    rowsOf({ mediaType: "application/sparql-results+json", body: Buffer.from('{"boolean":false}') }),
  ).toStrictEqual(["false"]));

it("a graph is its lines", () =>
  expect(rowsOf({ mediaType: "application/n-triples", body: Buffer.from("<b> .\n\n<a> .\n") })).toStrictEqual([
    "<a> .",
    "<b> .",
  ]));

it("a graph's blank nodes have no names, what looks like one in a literal stays", () => {
  const body = Buffer.from('_:b1 <p> _:b2 .\n<a> <p> "_:b1 ." .\n<a> <p> " _:b1" .\n');
  expect(rowsOf({ mediaType: "application/n-triples", body })).toStrictEqual([
    '<a> <p> " _:b1" .',
    '<a> <p> "_:b1 ." .',
    "_: <p> _: .",
  ]);
});

describe("left to chance", () => {
  const shouldBe = (text: string, chance: "none" | "rows" | "count"): void =>
    it(text, () => expect(chanceIn(text)).toBe(chance));
  shouldBe("SELECT * { ?s ?p ?o }", "none");
  shouldBe("SELECT (MAX(?o) AS ?m) (COUNT(*) AS ?c) { ?s ?p ?o } GROUP BY ?s ORDER BY ?s", "none");
  shouldBe("CONSTRUCT { ?s ?p [] } { ?s ?p ?o }", "none");
  shouldBe("SELECT * { ?s ?p ?o } ORDER BY ?o LIMIT 1", "rows");
  shouldBe("SELECT DISTINCT ?s { ?s ?p ?o } LIMIT 1", "rows");
  shouldBe("SELECT * { ?s ?p ?o } OFFSET 2", "rows");
  shouldBe("SELECT (SAMPLE(?o) AS ?x) { ?s ?p ?o } GROUP BY ?s", "rows");
  shouldBe("SELECT (GROUP_CONCAT(?o) AS ?x) { ?s ?p ?o } GROUP BY ?s", "rows");
  shouldBe("SELECT (NOW() AS ?x) { }", "rows");
  shouldBe("SELECT DISTINCT (SAMPLE(?o) AS ?x) { ?s ?p ?o } GROUP BY ?s", "count");
  shouldBe("SELECT REDUCED ?s { ?s ?p ?o }", "count");
  shouldBe("SELECT * { { SELECT ?s { ?s ?p ?o } LIMIT 1 } ?s ?p ?o }", "count");
  shouldBe("SELECT * { ?s ?p ?o FILTER(RAND() > 0.5) }", "count");
  shouldBe("SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING(SAMPLE(?o) = 1)", "count");
  shouldBe("CONSTRUCT WHERE { ?s ?p ?o } LIMIT 5", "count");
});
