import { sample } from "fast-check";
import { Parser } from "sparqljs";
import { expect, test } from "vitest";
import { answerDifference, canonicalText } from "../support/canonical-answer.ts";
import { createOracle, expectedAnswer, isInformative } from "../support/oracle.ts";
import { generatedCases } from "../support/query-generator.ts";
import { reduceCase } from "../support/query-generator-shrink.ts";
import { printQuery } from "../support/query-generator-syntax.ts";
import {
  countCase,
  createStatistics,
  operatorsOf,
  printStatistics,
  rareOperators,
} from "../support/query-statistics.ts";

const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_240_601);
const endpoints = [
  "http://a.example/sparql",
  "http://b.example/sparql",
  "http://c.example/sparql",
  "http://d.example/sparql",
];
const cases = sample(generatedCases(), { seed, numRuns: Number(process.env["GENERATOR_CASES"] ?? 150) });

test("generated queries are valid, mostly non-empty and use every operator", () => {
  const statistics = createStatistics();
  for (const value of cases) {
    const text = printQuery(value.query, { keyword: "SERVICE", endpoints });
    expect(() => new Parser().parse(text), text).not.toThrow();
    countCase(statistics, value.query, isInformative(value.query, expectedAnswer(value, endpoints)));
  }
  console.log(printStatistics(statistics, seed));
  expect(statistics.cases).toBeGreaterThanOrEqual(150);
  expect(statistics.nonEmpty / statistics.cases).toBeGreaterThanOrEqual(0.6);
  expect(rareOperators(statistics, 4)).toEqual([]);
});

test("the same seed gives the same cases", () => {
  expect(sample(generatedCases(), { seed, numRuns: 5 })).toEqual(cases.slice(0, 5));
});

test("a failing case shrinks to what makes it fail", async () => {
  const value = cases.find((one) => operatorsOf(one.query).has("union") && operatorsOf(one.query).has("optional"));
  expect(value).toBeDefined();
  if (!value) return;
  const reduced = await reduceCase(value, async (one) => operatorsOf(one.query).has("union"));
  const text = printQuery(reduced.query, { keyword: "SERVICE", endpoints });
  expect(reduced.data.facts).toEqual([]);
  expect(text).not.toContain("OPTIONAL");
  expect(text.split("\n").length).toBeLessThan(20);
});

test("the oracle joins endpoints and compares multisets", () => {
  const data = new Map([
    [
      "http://a.example/sparql",
      '<http://x/1> <http://x/p> "1.50"^^<http://www.w3.org/2001/XMLSchema#decimal> .\n_:n <http://x/p> "a" .\n',
    ],
    [
      "http://b.example/sparql",
      "<http://x/1> <http://x/q> <http://x/2>, <http://x/3> .\n".replace(",", " .\n<http://x/1> <http://x/q>"),
    ],
  ]);
  const oracle = createOracle(data);
  const answer = oracle.answer(
    "SELECT * { GRAPH <http://a.example/sparql> { ?s <http://x/p> ?o } GRAPH <http://b.example/sparql> { ?s <http://x/q> ?t } }",
  );
  expect(answer).toEqual({
    kind: "bindings",
    rows: ["?o=1.5^^decimal ?s=<http://x/1> ?t=<http://x/2>", "?o=1.5^^decimal ?s=<http://x/1> ?t=<http://x/3>"],
  });
  expect(oracle.answer('SELECT ?s { GRAPH ?g { ?s ?p "a" } }')).toEqual({ kind: "bindings", rows: ["?s=_:"] });
  expect(oracle.answer("ASK { GRAPH <http://a.example/sparql> { ?s <http://x/q> ?o } }")).toEqual({
    kind: "boolean",
    value: false,
  });
});

test.each([
  ["<http://x/1>", "<http://x/1>"],
  ["_:b12", "_:"],
  ['"a\\n\\u00e9"', '"a\né"'.replace("\n", "\\n")],
  ['"a"^^<http://www.w3.org/2001/XMLSchema#string>', '"a"'],
  ['"a"@EN', '"a"@en'],
  ['"01.50"^^<http://www.w3.org/2001/XMLSchema#decimal>', "1.5^^decimal"],
  ["1.0e0", "1^^double"],
  ["7", "7^^integer"],
  ["true", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'],
])("canonical form of %s", (text, expected) => {
  expect(canonicalText(text)).toBe(expected);
});

test("differences name what is missing and what is too many", () => {
  const expected = { kind: "bindings", rows: ["?a=1", "?a=1", "?a=2"] } as const;
  expect(answerDifference(expected, { kind: "bindings", rows: ["?a=1", "?a=1", "?a=2"] })).toBeUndefined();
  const text = answerDifference(expected, { kind: "bindings", rows: ["?a=1", "?a=2", "?a=3"] });
  expect(text).toContain("  - ?a=1\n  + ?a=3");
  expect(answerDifference(expected, { kind: "bindings", rows: ["?a=2", "?a=1", "?a=1"] })).toContain("another order");
});
