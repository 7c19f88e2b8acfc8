import { afterAll, beforeAll, expect, it } from "vitest";
import { answerDifference } from "../../support/canonical-answer.ts";
import { type ChangingMembers, openChangingMembers, routed } from "../../support/changing-members.ts";

// Branches of a UNION over members that are all known: how many requests they take beside the same answer as that of one store.

const integer = (value: number): string => `"${value}"^^<http://www.w3.org/2001/XMLSchema#integer>`;

function dataOf(member: number): Set<string> {
  const triples: string[] = [];
  for (let number = 0; number < 40 + member; number++) {
    const say = (property: string, object: string) =>
      triples.push(`<http://m${member}.example/s${number}> <http://v.example/${property}> ${object}`);
    say("kind", `<http://v.example/k${number % 3}>`);
    say("size", number % 7 === 0 ? `"large"` : integer(number));
    say("label", `"label ${number % 9}"`);
    if (number % 2 === 0) say("weight", integer(number % 5));
    if (number % 4 === 0) say("part", `_:b${member}x${number}`);
    if (member === 1) say("only", `"${number % 6}"@en`);
  }
  for (let number = 0; number < 600; number++)
    triples.push(`<http://m${member}.example/t${number}> <http://v.example/many> ${integer(number)}`);
  triples.push(`<http://shared.example/s> <http://v.example/twice> ${integer(1)}`);
  triples.push(`<http://shared.example/s> <http://v.example/again> ${integer(2)}`);
  return new Set(triples);
}

let members: ChangingMembers;
beforeAll(async () => {
  members = await openChangingMembers([0, 1, 2].map(dataOf), true);
  await routed(members);
}, 120_000);
afterAll(() => members.close());

const [zero, one] = ["?s :kind :k0 ; :label ?l .", "?s :kind :k1 ; :label ?l ."];
type Case = readonly [name: string, query: string, requests: number];
const cases: readonly Case[] = [
  ["two stars", `SELECT * { { ${zero} } UNION { ${one} } }`, 3],
  ["the same star twice: each solution counts", `SELECT ?l { { ${zero} } UNION { ${zero} } }`, 3],
  ["three stars", `SELECT ?l { { ${zero} } UNION { ${one} } UNION { ?s :kind :k2 ; :label ?l } }`, 3],
  ["a FILTER in one", `SELECT * { { ${zero} ?s :size ?n FILTER(?n > 20) } UNION { ${one} } }`, 3],
  [
    "FILTERs in both, one of which has an error",
    `SELECT ?l { { ${zero} ?s :size ?n FILTER(?n + 1 > 9) } UNION { ${one} ?s :size ?n FILTER(LCASE(?n) = "large") } }`,
    3,
  ],
  [
    "several FILTERs",
    `SELECT ?s { { ${zero} ?s :size ?n FILTER(?n > 2) FILTER(?n < 30 && ?l != "x") } UNION { ${one} FILTER(STRLEN(?l) > 3) } }`,
    3,
  ],
  ["variables of one branch only", `SELECT * { { ${zero} } UNION { ?s :kind :k1 ; :weight ?w } }`, 3],
  ["DISTINCT", `SELECT DISTINCT ?l { { ${zero} } UNION { ${one} } }`, 3],
  ["ORDER BY", `SELECT DISTINCT ?s ?l { { ${zero} } UNION { ${one} } } ORDER BY ?l ?s OFFSET 3 LIMIT 5`, 3],
  ["COUNT DISTINCT", `SELECT (COUNT(DISTINCT ?l) AS ?n) { { ${zero} } UNION { ${one} } }`, 3],
  ["a star that one member has", `SELECT * { { ${zero} } UNION { ?s :only ?o ; :label ?l } }`, 3],
  ["asked with keys", `SELECT * { ?s :weight 3 { ${zero} ?s :size ?n } UNION { ${one} ?s :size ?m } }`, 6],
  [
    "keys for what one branch leaves open",
    `SELECT * { ?x :weight ?w { ${zero} } UNION { ?s :kind :k1 ; :size ?w } }`,
    12,
  ],
  ["in OPTIONAL", `SELECT * { ?s :weight 3 OPTIONAL { { ${zero} } UNION { ${one} } } }`, 6],
  ["in EXISTS", `SELECT * { ?s :weight 3 FILTER EXISTS { { ${zero} } UNION { ${one} } } }`, 9],
  ["in MINUS", `SELECT * { ?s :weight 3 MINUS { { ${zero} } UNION { ${one} } } }`, 6],
  [
    "each joined with the other",
    `SELECT * { { ${zero} } UNION { ${one} } { ?s :size ?n } UNION { ?s :weight ?n } }`,
    6,
  ],
  ["EXISTS in a branch", `SELECT ?l { { ${zero} FILTER EXISTS { ?s :weight ?w } } UNION { ${one} } }`, 9],
  ["blank nodes", "SELECT ?s ?o { { ?s :kind :k0 ; :part ?o } UNION { ?s :kind :k1 ; :part ?o } }", 3],
  [
    "blank nodes that are told apart",
    `SELECT DISTINCT ?o { { ?s :kind :k0 ; :part ?o } UNION { ?s :kind :k1 ; :part ?o } }`,
    21,
  ],
  ["more rows than engines cut at", `SELECT * { { ?s :many ?n } UNION { ?t :many ?n } }`, 6],
  ["a triple that several members have", `SELECT * { { ?s :twice ?n } UNION { ?s :again ?n } }`, 6],
];

it.each(cases)("%s", async (_, text, requests) => {
  const query = `PREFIX : <http://v.example/> ${text}`;
  const asked = await members.ask(query, true);
  expect(answerDifference(members.expected(query), asked.answer), asked.asked.join("\n")).toBeUndefined();
  expect(asked.requests, asked.asked.join("\n")).toBe(requests);
});
