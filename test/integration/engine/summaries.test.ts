import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerDifference } from "../../support/canonical-answer.ts";
import { type ChangingMembers, openChangingMembers, routed } from "../../support/changing-members.ts";
import { createRandom } from "../../support/random.ts";

// What members and SERVICE clauses are asked to summarise, and whether the answer is the same as that of one store: by the kind
// of the values that a property has, which descriptions tell.

const xsd = (text: string | number, type: string): string => `"${text}"^^<http://www.w3.org/2001/XMLSchema#${type}>`;
const random = createRandom(7);

/** A value of each property. */
const values: Readonly<Record<string, (member: number) => string>> = {
  int: () => xsd(random.below(60) - 20, "integer"),
  dec: () => xsd(`${random.below(30) - 10}.${1 + random.below(9)}`, "decimal"),
  num: () => (random.chance(0.5) ? xsd(random.below(9), "integer") : xsd(`${random.below(9)}.5`, "decimal")),
  dbl: () => xsd(`${random.below(9)}.5E0`, "double"),
  str: () => `"text ${random.below(5)}"`,
  tag: () => `"text ${random.below(5)}"@en`,
  iri: () => `<http://v.example/g${random.below(4)}>`,
  any: () => random.pick([xsd(3, "integer"), '"3"', "<http://v.example/x>"]),
};

function dataOf(member: number): Set<string> {
  const triples: string[] = [];
  for (let number = 0; number < 150 + member; number++) {
    for (const [property, value] of Object.entries(values)) {
      triples.push(`<http://m${member}.example/s${number}> <http://v.example/${property}> ${value(member)}`);
    }
    if (number % 3 === 0)
      triples.push(`<http://m${member}.example/s${number}> <http://v.example/rare> ${xsd(1, "integer")}`);
  }
  // Nobody else has a property, and nobody has a solution of the other.
  if (member === 1) triples.push(`<http://m1.example/s1> <http://v.example/only> ${xsd(5, "integer")}`);
  triples.push(`<http://shared.example/s> <http://v.example/twice> ${xsd(member < 2 ? 1 : 2, "integer")}`);
  return new Set(triples);
}

let members: ChangingMembers;
beforeAll(async () => {
  members = await openChangingMembers([0, 1, 2].map(dataOf), true);
  await routed(members);
}, 120_000);
afterAll(() => members.close());

const inText = (text: string): string => `PREFIX : <http://v.example/> ${text}`;
const united = (pattern: string): string =>
  members.urls.map((url) => `{ SERVICE <${url}> { ${pattern} } }`).join(" UNION ");

/** The question about patterns that all members may have, asked of a federation and of SERVICE clauses: whether they summarise. */
async function isSummarised(ask: (group: string) => string, pattern: string): Promise<readonly boolean[]> {
  const verdicts: boolean[] = [];
  for (const over of [true, false]) {
    const text = inText(ask(over ? pattern : united(pattern)));
    const { answer, asked } = await members.ask(text, over);
    expect(answerDifference(members.expected(text), answer), `${text}\n${asked.join("\n")}`).toBeUndefined();
    verdicts.push(asked.every((query) => /\((?:SUM|COUNT|MIN|MAX)\(|ORDER BY|(?:>=|<=) /u.test(query)));
  }
  return verdicts;
}

const there = [true, true];
const here = [false, false];
type Row = readonly [what: string, ask: (group: string) => string, pattern: string, verdicts: readonly boolean[]];

const aggregate = (list: string) => (group: string) => `SELECT (${list} AS ?a) { ${group} }`;
const grouped = (list: string) => (group: string) => `SELECT ?g ${list} { ${group} } GROUP BY ?g`;
const ordered =
  (order: string, rest = "LIMIT 7") =>
  (group: string) =>
    `SELECT * { ${group} } ORDER BY ${order} ${rest}`;

const aggregates: readonly Row[] = ["SUM", "AVG", "MIN", "MAX"].flatMap((name) =>
  Object.keys(values)
    .filter((property) => !(property === "any" || (property === "dbl" && name !== "MIN")))
    .map(
      (property): Row => [
        `${name} of ${property}`,
        aggregate(`${name}(?v)`),
        `?s :${property} ?v`,
        property === "int" || property === "dec" ? there : here,
      ],
    ),
);

describe("the answer is that of one store, and computed where the data are as far as that is certain", () => {
  it.each<Row>([
    ...aggregates,
    ["COUNT of what has no certain kind", aggregate("COUNT(?v)"), "?s :any ?v", there],
    ["MIN that only one has", aggregate("MIN(?v)"), "?s :only ?v", there],
    ["AVG and its parts", aggregate("AVG(?v) + SUM(?v) / COUNT(*)"), "?s :int ?v", there],
    ["SUM of distinct values", aggregate("SUM(DISTINCT ?v)"), "?s :int ?v", here],
    ["MAX of distinct values", aggregate("MAX(DISTINCT ?v)"), "?s :int ?v", there],
    ["SUM of an expression", aggregate("SUM(?v + 1)"), "?s :int ?v", here],
    ["SUM of what may be unbound", aggregate("SUM(?v)"), "?s :int ?w OPTIONAL { ?s :rare ?v }", here],
    ["SAMPLE beside", aggregate("SUM(?v) + 0 * COUNT(DISTINCT ?s)"), "?s :int ?v", here],
    ["groups by IRIs", grouped("(SUM(?v) AS ?a) (AVG(?v) AS ?b) (COUNT(*) AS ?n)"), "?s :iri ?g ; :int ?v", there],
    ["groups by texts", grouped("(MIN(?v) AS ?a) (MAX(?v) AS ?b)"), "?s :str ?g ; :dec ?v", there],
    ["groups by tagged texts", grouped("(SUM(?v) AS ?a)"), "?s :tag ?g ; :int ?v", here],
    ["groups by numbers", grouped("(SUM(?v) AS ?a)"), "?s :int ?g ; :dec ?v", here],
    [
      "groups by subjects, which are many",
      (group) => `SELECT ?s (SUM(?v) AS ?a) { ${group} } GROUP BY ?s`,
      "?s :int ?v",
      here,
    ],
    ["HAVING", (group) => `${grouped("(SUM(?v) AS ?a)")(group)} HAVING (AVG(?v) > 10)`, "?s :iri ?g ; :int ?v", there],
    [
      "groups in an order",
      (group) => `${grouped("(SUM(?v) AS ?a)")(group)} ORDER BY DESC(SUM(?v)) LIMIT 2`,
      "?s :iri ?g ; :int ?v",
      there,
    ],
    ["the first", ordered("?v ?s"), "?s :int ?v", there],
    ["the last, some skipped", ordered("DESC(?v) ?s", "OFFSET 3 LIMIT 4"), "?s :dec ?v", there],
    ["more than there are", ordered("?v ?s", "LIMIT 500"), "?s :int ?v", here],
    ["the first of texts", ordered("?v ?s"), "?s :str ?v", here],
    ["the first of two types", ordered("?v ?s"), "?s :num ?v", here],
    ["the first by an expression", ordered("(?v + 1) ?s"), "?s :int ?v", here],
    ["the first distinct ones", (group) => `SELECT DISTINCT ?v { ${group} } ORDER BY ?v LIMIT 3`, "?s :int ?v", here],
    [
      "the first in a subselect",
      (group) => `SELECT * { { SELECT ?s ?v { ${group} } ORDER BY ?v ?s LIMIT 5 } FILTER(?v < 100) }`,
      "?s :int ?v",
      there,
    ],
  ])("%s", async (_, ask, pattern, verdicts) => expect(await isSummarised(ask, pattern)).toEqual(verdicts));

  it("a triple that two members have counts once", async () => {
    const text = inText("SELECT (SUM(?v) AS ?a) (COUNT(*) AS ?n) { ?s :twice ?v }");
    const { answer, asked } = await members.ask(text, true);
    expect(answerDifference(members.expected(text), answer)).toBeUndefined();
    expect(asked.join(" ")).not.toContain("SUM(");
  });

  it("a number that is missing is an error", async () => {
    members.triplesAt(0).add(`<http://m0.example/big> <http://v.example/int> ${xsd("9223372036854775807", "integer")}`);
    members.changed(0);
    const text = inText(`SELECT (SUM(?v) AS ?a) { ${united("?s :int ?v")} }`);
    await expect(members.ask(text, false)).rejects.toThrow("The endpoint gave no number for SUM.");
  });
});
