import { expect, it } from "vitest";
import { toParserText } from "../../../src/engine/comunica/parser-text.ts";
import { innerName, outerName } from "../../../src/engine/evaluator/inner-names.ts";
import { engineAnswer, testEngine } from "../../support/engine-answer.ts";
import { createMergedFederation } from "../../support/merged-federation.ts";

const triples = `<urn:s> <urn:p> "1" .\n<urn:s> <urn:p> "2" .\n`;
const engine = testEngine({ "http://a.example/sparql": triples });
const A = "SERVICE <http://a.example/sparql>";

/** Queries whose rows do not depend on what the variable ?v is called. */
const queries = [
  "SELECT ?v { VALUES ?v { 1 2 } }",
  "SELECT ?v ?b { VALUES (?v ?b) { (1 1) (2 2) } VALUES $v { 1 } }",
  "SELECT ?b ?v { { SELECT ?b { VALUES (?v ?b) { (1 1) (2 2) } } } VALUES ?v { 7 } }",
  "SELECT ?v ?b { { VALUES (?v ?b) { (1 5) } } UNION { BIND(2 AS ?v) } MINUS { VALUES ?v { 2 } } }",
  "SELECT ?v (COUNT(*) AS ?n) { VALUES ?v { 1 2 2 } } GROUP BY ?v ORDER BY ?v",
  `SELECT ?s ?v { VALUES ?v { "1" } OPTIONAL { ${A} { ?s <urn:p> ?v } } }`,
  `SELECT ?s ?v { ${A} { <urn:s> <urn:p> ?v } ${A} { ?s <urn:p> ?v } }`,
  `SELECT ?v { VALUES ?v { "1" "3" } FILTER(EXISTS { ${A} { ?s <urn:p> ?v } } || false) }`,
  `CONSTRUCT { <x:a> <x:b> ?v } { VALUES ?v { "1" } }`,
  `SELECT (CONCAT(?v, "?v <#", '''?v''') AS ?x) { VALUES ?v { "1" } FILTER(?v<?v||true) } # ?v`,
];
const called = (query: string, name: string) => query.replaceAll("?v", `?${name}`).replaceAll("$v", `$${name}`);
const names = [...Object.getOwnPropertyNames(Object.prototype), "fedway_constructor", "constructors", "été"];

it.each(names)("?%s is a variable like any other", async (name) => {
  for (const query of queries) {
    const expected = (await engineAnswer(query, engine)).map((row) => called(row, name));
    expect(await engineAnswer(called(query, name), engine), query).toEqual(expected);
  }
  const merged = createMergedFederation([triples, triples]);
  expect(await merged.answer(`SELECT ?s { ?s ?p ?${name} FILTER(?${name} = "1") }`)).toMatchObject({
    rows: [expect.stringContaining("urn:s")],
  });
});

it("no variable changes what all objects share", async () => {
  const shared = () => [Object.prototype, Object].map((object) => Object.keys(object));
  const before = shared();
  for (const name of names) {
    await engineAnswer(called("SELECT * { { VALUES ?v { 1 } } UNION { VALUES ?v { 2 } } }", name));
  }
  expect(shared()).toEqual(before);
});

it("names stay apart inside", () => {
  const outer = ["constructor", "fedway_constructor", "fedway_fedway_constructor", "fedway_0", "s"];
  const inner = outer.map((name) => innerName(name));
  expect(new Set(inner).size).toBe(outer.length);
  expect(inner.map((name) => outerName(name))).toEqual(outer);
  expect(toParserText(`?s ?toString "?toString" <?toString> # ?toString`)).toBe(
    `?s ?fedway_toString "?toString" <?toString> # ?toString`,
  );
});
