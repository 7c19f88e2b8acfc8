import { afterAll, beforeAll, expect, it } from "vitest";
import { generateShop } from "../../bench/federation/shop/generate.ts";
import { shopQueries } from "../../bench/federation/shop/queries.ts";
import { answerDifference } from "../../support/canonical-answer.ts";
import { type ChangingMembers, openChangingMembers } from "../../support/changing-members.ts";

/** Requests of the plan by hand: q01, q03 5, q04 10, q07 10, q08 4, q10 2. */
const most: Readonly<Record<string, number>> = { q01: 5, q03: 5, q04: 10, q07: 12, q08: 5, q10: 2 };
let members: ChangingMembers;

beforeAll(async () => {
  const triples = Object.values(generateShop(20)).map(
    (text) => new Set(text.split("\n").flatMap((line) => (line === "" ? [] : line.replace(/ \.$/u, "")))),
  );
  members = await openChangingMembers(triples, true);
}, 120_000);

afterAll(() => members.close());

for (const [name, requests] of Object.entries(most)) {
  it(`${name} of the shop takes ${requests} requests to 20 members whose triples are known`, async () => {
    const { text = "" } = shopQueries.find((query) => query.name === name) ?? {};
    const asked = await members.ask(text, true);
    expect(answerDifference(members.expected(text), asked.answer)).toBeUndefined();
    expect(asked.requests).toBe(requests);
  });
}
