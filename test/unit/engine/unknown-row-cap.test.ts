import { afterAll, beforeAll, expect, it } from "vitest";
import { answerDifference } from "../../support/canonical-answer.ts";
import { type ChangingMembers, openChangingMembers } from "../../support/changing-members.ts";

// Queries that one member of two answers, of which it is not known where it cuts its answers: they go there whole. The
// client of endpoints looks into a round number of rows; the one of this test does not.

const integer = (value: number): string => `"${value}"^^<http://www.w3.org/2001/XMLSchema#integer>`;
let members: ChangingMembers;

beforeAll(async () => {
  const triples: string[] = [];
  for (let number = 0; number < 2_500; number++) {
    triples.push(`<http://a.example/s${number}> <http://v.example/name> "Name ${number % 700}"`);
    triples.push(`<http://a.example/s${number}> <http://v.example/size> ${integer(number)}`);
  }
  const others = [`<http://b.example/s> <http://v.example/title> "a"`];
  members = await openChangingMembers([new Set(triples), new Set(others)], false, {
    version: 0,
    view: () => undefined,
  });
}, 120_000);
afterAll(() => members.close());

type Case = readonly [name: string, query: string, requests: number, kilobytes: number];
const cases: readonly Case[] = [
  ["LCASE", `SELECT ?s { ?s :name ?n FILTER(LCASE(?n) = "name 7") }`, 1, 1],
  ["arithmetic", "SELECT * { ?s :name ?n ; :size ?x FILTER(?x * 2 < 9) }", 1, 2],
  ["subselect", "SELECT * { ?s :size ?x { SELECT (MAX(?y) AS ?x) { ?t :size ?y } } }", 1, 1],
  ["GROUP BY", "SELECT ?g (COUNT(*) AS ?k) { ?s :size ?x BIND(FLOOR(?x / 500) AS ?g) } GROUP BY ?g", 1, 2],
  ["VALUES behind, a comment at the end", 'SELECT ?s { ?s :name ?n } VALUES ?n { "Name 3" } # one', 1, 1],
  ["a variable that is never bound", "SELECT ?s ?none { ?s :size 3 }", 1, 1],
  ["rows that come several times", `SELECT ?n { ?s :name ?n FILTER(UCASE(?n) < "NAME 10") }`, 1, 1],
  ["a round number of rows", "SELECT ?s { ?s :size ?x FILTER(?x + 0 < 1000) }", 1, 90],
  ["ORDER BY is kept here", "SELECT ?s ?x { ?s :size ?x FILTER(?x > 2490) } ORDER BY DESC(?x)", 1, 2],
];

it.each(cases)("%s", async (_, text, requests, kilobytes) => {
  const query = `PREFIX : <http://v.example/> ${text}`;
  const asked = await members.ask(query, true);
  expect(answerDifference(members.expected(query), asked.answer), asked.asked.join("\n")).toBeUndefined();
  expect.soft(asked.requests, asked.asked.join("\n")).toBe(requests);
  expect.soft(Math.ceil(asked.bytes / 1_000)).toBeLessThanOrEqual(kilobytes);
});
