import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateShop } from "../../bench/federation/shop/generate.ts";
import { shopQueries } from "../../bench/federation/shop/queries.ts";
import { answerDifference } from "../../support/canonical-answer.ts";
import { type ChangingMembers, openChangingMembers } from "../../support/changing-members.ts";

/** Requests at most, those of the plan by hand, and bytes sent and received at most; existence queries apart. */
type Row = readonly [query: string, requests: number, byHand: number, bytes: number];

/** Queries for which the same members are needed, however many there are. */
const narrow: readonly Row[] = [
  ["q01", 5, 5, 9_200],
  // Which features are elsewhere is known after the first round.
  ["q02", 10, 5, 17_600],
  ["q03", 5, 5, 23_800],
  ["q05", 10, 10, 26_600],
  ["q07", 12, 10, 12_600],
  ["q08", 5, 4, 10_800],
  ["q09", 1, 1, 800],
  ["q10", 2, 2, 2_200],
  ["q11", 1, 1, 2_100],
  ["q12", 1, 1, 1_200],
];
const wide: readonly Row[] = [
  ["q04", 10, 10, 26_900],
  ["q06", 10, 10, 9_000],
  ["total", 10, 10, 11_000],
];

describe.each([
  [20, [...narrow, ...wide]],
  [40, narrow.filter(([name]) => ["q01", "q05", "q09"].includes(name))],
] as const)("%d members whose triples are known", (size, rows) => {
  let members: ChangingMembers;

  beforeAll(async () => {
    const triples = Object.values(generateShop(size)).map(
      (text) => new Set(text.split("\n").flatMap((line) => (line === "" ? [] : line.replace(/ \.$/u, "")))),
    );
    members = await openChangingMembers(triples, true);
  }, 120_000);

  afterAll(() => members.close());

  it.each(rows)("%s of the shop takes %d requests (by hand %d) and %d bytes", async (name, requests, _, bytes) => {
    const { text = "" } = shopQueries.find((query) => query.name === name) ?? {};
    const asked = await members.ask(text, true);
    if (size === 20) expect(answerDifference(members.expected(text), asked.answer)).toBeUndefined();
    expect(asked.requests).toBe(requests);
    expect(asked.bytes).toBeLessThanOrEqual(bytes);
  });
});
