import { sample } from "fast-check";
import { expect, test } from "vitest";
import { isNonEmpty } from "../support/canonical-answer.ts";
import { createOracle } from "../support/oracle.ts";
import { generatedCases } from "../support/query-generator.ts";
import { nTriplesAt, predicateRules } from "../support/query-generator-data.ts";
import { printQuery } from "../support/query-generator-syntax.ts";
import { createRandom } from "../support/random.ts";
import { typedCheck } from "../support/typed-registry.ts";

const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_261_127);
const runs = Number(process.env["FEDWAY_TYPED_CASES"] ?? 150);
const names = ["a", "b", "c", "d"] as const;
const urls = names.map((name) => `http://${name}.example/sparql`);
const spelling = { endpoints: urls, dead: "http://127.0.0.1:9/sparql" };
const aggregate = /\b(?:COUNT|SUM|AVG|MIN|MAX|SAMPLE|GROUP_CONCAT)\b/;

test("an answer with rows is never said to be contradicted by what is certain", { timeout: 600_000 }, async () => {
  const random = createRandom(seed);
  const wrong: string[] = [];
  let [contradicted, answered] = [0, 0];
  for (const [at, value] of sample(generatedCases(), { numRuns: runs, seed }).entries()) {
    const data = names.map((name, index) => [name, nTriplesAt(value.data, index, spelling)] as const);
    const { check } = await typedCheck({ data: Object.fromEntries(data), known: at % 2 === 0 ? "read" : "counted" });
    // Some predicates are exchanged, as most of what is generated has rows.
    const change = exchange(random.below(1_000), random.pick(predicateRules).predicate);
    const text = change(printQuery(value.query, { keyword: "SERVICE", ...spelling }));
    const oracle = createOracle(new Map(data.map(([, triples], index) => [urls[index] ?? "", triples])));
    const hasRows = isNonEmpty(oracle.answer(change(printQuery(value.query, { keyword: "GRAPH", ...spelling }))));
    const { contradictions } = await check(text);
    const said = contradictions.filter(({ certain, isEmpty }) => certain && isEmpty);
    if (said.length > 0) contradicted++;
    if (hasRows) answered++;
    if (said.length > 0 && hasRows && !aggregate.test(text))
      wrong.push(`${said[0]?.message}\n${text}\n${JSON.stringify(data)}`);
  }
  process.stdout.write(`${runs} queries, ${contradicted} contradicted, ${answered} with rows\n`);
  expect(wrong.slice(0, 2)).toEqual([]);
  expect(contradicted).toBeGreaterThan(runs / 50);
  expect(answered).toBeGreaterThan(runs / 4);
});

/** Puts a predicate in the place of one of those that a text has. */
function exchange(at: number, predicate: string): (text: string) => string {
  return (text) => {
    const places = [...text.matchAll(/<http:\/\/vocabulary\.example\/\w+>/g)];
    const place = places[at % Math.max(1, places.length)];
    return place ? text.slice(0, place.index) + predicate + text.slice(place.index + place[0].length) : text;
  };
}
