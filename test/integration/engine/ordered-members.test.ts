import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerDifference } from "../../support/canonical-answer.ts";
import { type ChangingMembers, openChangingMembers, routed } from "../../support/changing-members.ts";
import { createRandom, type Random } from "../../support/random.ts";

// The first rows in an order of what several members have, who answer in any order, each with its own first rows only: the answer is
// that of one store. Numbers have many ties, at the cut, too.

const integer = (value: number | bigint): string => `"${value}"^^<http://www.w3.org/2001/XMLSchema#integer>`;
const decimal = (text: string): string => `"${text}"^^<http://www.w3.org/2001/XMLSchema#decimal>`;

/** Ranges and spellings of numbers differ by member, so that the best of one is the worst of another. */
function dataOf(member: number): Set<string> {
  const random = createRandom(100 + member);
  const triples: string[] = [];
  const kinds: Readonly<Record<string, () => string>> = {
    few: () => integer(random.below(3) + member),
    many: () => integer(random.below(40) - 20 * member),
    // Doubles cannot tell them apart.
    large: () => integer(9_007_199_254_740_992n + BigInt(random.below(4))),
    dec: () => decimal(`${random.below(3)}.${random.pick(["5", "50", "25"])}`),
    zero: () => decimal(random.pick(["0.0", "-0.0", "0.00", "1.0"])),
  };
  for (let number = 0; number < 60 + 20 * member; number++) {
    for (const [property, value] of Object.entries(kinds)) {
      triples.push(`<http://m${member}.example/s${number}> <http://v.example/${property}> ${value()}`);
    }
  }
  return new Set(triples);
}

let members: ChangingMembers;
beforeAll(async () => {
  members = await openChangingMembers([0, 1, 2].map(dataOf), true);
  await routed(members);
}, 120_000);
afterAll(() => members.close());

const properties = ["few", "many", "large", "dec", "zero"];

/** A query whose last key names each solution; or the sorted values alone, of which all equal ones are alike. */
function orderedQuery(random: Random, over: boolean): string {
  const [first, second] = [random.pick(properties), random.pick(properties)];
  const pattern = `?s :${first} ?v ; :${second} ?w`;
  const group = over ? pattern : members.urls.map((url) => `{ SERVICE <${url}> { ${pattern} } }`).join(" UNION ");
  const key = (name: string): string => random.pick([`?${name}`, `ASC(?${name})`, `DESC(?${name})`]);
  const isOne = random.chance(0.2);
  const keys = isOne ? [key("v")] : [key("v"), ...(random.chance(0.5) ? [key("w")] : []), key("s")];
  const cut = `LIMIT ${random.below(12)}${random.chance(0.4) ? ` OFFSET ${random.below(8)}` : ""}`;
  // Equal decimals are spelled in several ways.
  const shown = isOne ? "(?v + 0.0 AS ?n)" : "*";
  return `PREFIX : <http://v.example/> SELECT ${shown} { ${group} } ORDER BY ${keys.join(" ")} ${cut}`;
}

const cases = Number(process.env["FEDWAY_DIFFERENTIAL_CASES"] ?? 120);
const seed = Number(process.env["FEDWAY_DIFFERENTIAL_SEED"] ?? 20_261_130);

describe("the first rows of several members are those of one store", () => {
  it.each([
    ["a federation", true],
    ["SERVICE clauses", false],
  ])("%s", async (_, over) => {
    const random = createRandom(seed);
    let summarised = 0;
    for (let at = 0; at < cases; at++) {
      members.delay([0, 1, 2].map(() => random.below(6)));
      const text = orderedQuery(random, over);
      const { answer, asked } = await members.ask(text, over);
      expect(answerDifference(members.expected(text), answer), `${at}: ${text}\n${asked.join("\n")}`).toBeUndefined();
      if (asked.some((query) => query.includes("ORDER BY"))) summarised++;
    }
    expect(summarised).toBeGreaterThan(cases / 4);
  });
});

it("the last number of all members decides whether others equal it", async () => {
  // The issue's recipe: nine subjects of one member share its highest number, the right first row comes 150 ms later.
  const one = new Set(
    [...Array(400).keys()].map((n) => `<http://m0.example/q${n}> <http://v.example/size> ${integer(n < 9 ? 995 : n)}`),
  );
  const other = new Set(
    [...Array(300).keys()].map((n) => `<http://m1.example/b${n}> <http://v.example/size> ${integer(n)}`),
  );
  const two = await openChangingMembers([one, other], true);
  const text = "SELECT * { ?x <http://v.example/size> ?n } ORDER BY DESC(?n) ?x LIMIT 5";
  for (const turns of [
    [0, 5],
    [5, 0],
  ]) {
    two.delay(turns);
    const { answer, asked } = await two.ask(text, true);
    expect(answerDifference(two.expected(text), answer)).toBeUndefined();
    expect(asked.some((query) => query.includes("ORDER BY"))).toBe(true);
  }
  await two.close();
});
