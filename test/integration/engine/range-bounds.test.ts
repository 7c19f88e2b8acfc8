import { afterAll, beforeAll, expect, it } from "vitest";
import { answerDifference } from "../../support/canonical-answer.ts";
import { type ChangingMembers, openChangingMembers } from "../../support/changing-members.ts";

// A FILTER that compares a variable of one side of a join with an expression over the other: which bounds are sent, and whether the
// answer is that of one store, which has no bounds.

const typed = (value: string | number, type: string): string =>
  `"${value}"^^<http://www.w3.org/2001/XMLSchema#${type}>`;
const values: Readonly<Record<string, (number: number) => string | undefined>> = {
  low: (number) => typed(number, "integer"),
  minus: (number) => typed(-5 - number, "integer"),
  dec: (number) => typed(`${number}.25`, "decimal"),
  dbl: (number) => typed(`${number}.5E0`, "double"),
  nan: (number) => typed(number === 3 ? "NaN" : `${number}.5`, "double"),
  inf: (number) => typed(number === 3 ? "INF" : `${number}.5`, "double"),
  text: (number) => `"${number}"`,
  mixed: (number) => (number === 3 ? '"x"' : typed(number, "integer")),
  day: (number) => typed(`2020-01-0${1 + (number % 9)}`, "date"),
  moment: (number) => typed(`2020-01-0${1 + (number % 9)}T00:00:00`, "dateTime"),
  big: (number) => typed(16_777_217 + number, "integer"),
  huge: (number) => typed(`99999999999${number}`, "integer"),
  tiny: (number) => typed(`${number}.0000000001`, "decimal"),
  some: (number) => (number % 2 === 0 ? typed(number, "integer") : undefined),
};
const size = { a: 8, b: 90 };

function dataOf(member: "a" | "b"): Set<string> {
  const triples: string[] = [];
  for (let number = 0; number < size[member]; number++) {
    for (const [property, value] of Object.entries(values)) {
      const object = value(number);
      if (object)
        triples.push(`<http://${member}.example/s${number}> <http://v.example/${member}-${property}> ${object}`);
    }
    triples.push(`<http://${member}.example/s${number}> <http://v.example/${member}-group> "g${number % 3}"`);
  }
  return new Set(triples);
}

let members: ChangingMembers;
beforeAll(async () => {
  members = await openChangingMembers([dataOf("a"), dataOf("b")], false);
}, 120_000);
afterAll(() => members.close());

type Case = readonly [filter: string, x: string, y: string, bounds: readonly string[]];
const cases: readonly Case[] = [
  ["?y < ?x + 3", "low", "low", ["?y < 11"]],
  ["?y <= ?x", "low", "low", ["?y < 8"]],
  ["?y > ?x * 2", "low", "low", ["?y > -1"]],
  ["?y >= ?x", "low", "low", ["?y > -1"]],
  ["?x > ?y", "low", "low", ["?y < 8"]],
  ["?x + 1 >= ?y", "low", "dec", ["?y < 9"]],
  ["?y = ?x + 1", "low", "low", ["?y < 9", "?y > 0"]],
  ["?y = ?x", "minus", "minus", []],
  ["?y < ?x", "minus", "minus", ["?y < -4"]],
  ["?y > ?x && ?y < ?x + 2", "low", "low", ["?y < 10", "?y > -1"]],
  ["?y < ?x || ?y > 30", "low", "low", []],
  ["?y < ?x", "dec", "low", ["?y < 8"]],
  ["?y < ?x", "low", "dec", ["?y < 8"]],
  ["?y < ?x", "dbl", "low", ["?y < 8"]],
  ["?y < ?x", "low", "dbl", ["?y < 8"]],
  ["?y < ?x", "nan", "low", []],
  ["?y < ?x", "low", "nan", ["?y < 8"]],
  ["?y < ?x", "inf", "low", []],
  ["?y < ?x", "text", "text", []],
  ["?y < ?x + 1", "text", "low", []],
  ["?y < ?x", "mixed", "low", []],
  ["?y < ?x + 1", "mixed", "low", ["?y < 9"]],
  ["?y < ?x", "low", "mixed", ["?y < 8"]],
  ["?y < ?x", "moment", "moment", []],
  ["?y < ?x", "day", "day", []],
  ["?y <= ?x", "big", "big", ["?y < 16777226"]],
  ["?y <= ?x", "huge", "huge", []],
  ["?y <= ?x", "tiny", "tiny", ["?y < 8"]],
  ["?y < ABS(?x - 4)", "low", "low", ["?y < 5"]],
  ["?y < IF(?x > 3, ?x, ?nothing)", "low", "low", []],
  ["?y < ?x + ?y", "low", "low", []],
];

it.each(cases)("FILTER(%s) of %s beside %s", async (filter, x, y, bounds) => {
  const text = (inside: (pattern: string, at: number) => string): string =>
    `PREFIX : <http://v.example/> SELECT * { ${inside(`?s :a-${x} ?x`, 0)} ${inside(`?t :b-${y} ?y`, 1)} FILTER(${filter}) }`;
  for (const over of [true, false]) {
    const query = text((pattern, at) => (over ? `${pattern} .` : `SERVICE <${members.urls[at]}> { ${pattern} }`));
    const { answer, asked } = await members.ask(query, over);
    expect(answerDifference(members.expected(query), answer), asked.join("\n")).toBeUndefined();
    expect(boundsOf(asked), asked.join("\n")).toEqual(bounds);
  }
});

it("bounds come with keys, and block by block", async () => {
  const query = `PREFIX : <http://v.example/> SELECT * { ?s :a-group ?g ; :a-low ?x . ?t :b-group ?g ; :b-low ?y FILTER(?y < ?x + 1) }`;
  const { answer, asked } = await members.ask(query, true);
  expect(answerDifference(members.expected(query), answer), asked.join("\n")).toBeUndefined();
  expect(
    asked.filter((one) => one.includes("VALUES") && boundsOf([one]).includes("?y < 9")).length,
    asked.join("\n"),
  ).toBe(1);
});

it("what the left side may leave unbound is no bound", async () => {
  const query = `PREFIX : <http://v.example/> SELECT * { ?s :a-low ?n OPTIONAL { ?s :a-some ?x } ?t :b-low ?y FILTER(?y < ?x) }`;
  const { answer, asked } = await members.ask(query, true);
  expect(answerDifference(members.expected(query), answer), asked.join("\n")).toBeUndefined();
  expect(boundsOf(asked)).toEqual([]);
});

const boundsOf = (asked: readonly string[]): readonly string[] =>
  asked.flatMap((query) => [...query.matchAll(/FILTER\((\?y [<>] [^)]*)\)/gu)].map(([, bound = ""]) => unTyped(bound)));
const unTyped = (bound: string): string => bound.replace(/"(-?\d+)"\^\^<[^>]*>/u, "$1");
