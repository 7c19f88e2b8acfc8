import { expect, test } from "vitest";
import { type CoverInstance, reduceCover } from "../../../../src/shards/rules/reduce-cover.ts";
import { linearBound, searchCover } from "../../../../src/shards/rules/search-cover.ts";
import { randomCover, subsets } from "../../../support/shard-problems.ts";

function instanceOf(size: Parameters<typeof randomCover>[0], seed: number): CoverInstance {
  const { candidates, queries } = randomCover(size, seed, seed % 3 === 0);
  return { rules: candidates.map(({ covers }) => covers), queries: queries.length };
}

const covered = ({ rules }: CoverInstance, chosen: readonly number[]): number =>
  new Set(chosen.flatMap((rule) => rules[rule] ?? [])).size;

function smallest(instance: CoverInstance): number {
  let best = instance.rules.length;
  for (const chosen of subsets(instance.rules.length)) {
    if (chosen.length < best && covered(instance, chosen) === instance.queries) best = chosen.length;
  }
  return best;
}

const small = Array.from({ length: 40 }, (_, at) =>
  instanceOf({ queries: 6 + (at % 20), rules: 6 + (at % 7), each: 2 + (at % 2) }, at + 1),
);
const large = instanceOf({ queries: 300, rules: 100, each: 3 }, 5);

test("no bound is above the optimum", () => {
  let reached = 0;
  for (const instance of small) {
    const optimum = smallest(instance);
    // A target that is too high on purpose: the bound must not go along.
    const bound = linearBound(instance, optimum + 1);
    expect(bound).toBeLessThanOrEqual(optimum);
    reached += bound === optimum ? 1 : 0;
  }
  expect(reached).toBeGreaterThan(10);
  expect(linearBound(large, searchCover(large, 5_000).length)).toBeGreaterThan(20);
});

test("time ends the search and the bound, and what they give holds", () => {
  const greedy = searchCover(large, 5_000, 0);
  expect(greedy).toEqual(searchCover(large, 0));
  expect(linearBound(large, greedy.length, 0)).toBe(0);
});

test("local search covers everything, finds the optimum of small instances and is deterministic", () => {
  for (const instance of small) {
    const chosen = searchCover(instance, 2_000);
    expect(covered(instance, chosen)).toBe(instance.queries);
    expect(chosen).toHaveLength(smallest(instance));
  }
  const [greedy, searched] = [searchCover(large, 0), searchCover(large, 5_000)];
  expect(searched.length).toBeLessThan(greedy.length);
  expect(covered(large, searched)).toBe(large.queries);
  expect(searchCover(large, 5_000)).toEqual(searched);
});

test("reduction keeps the optimum, and drops dominated rules", () => {
  let dropped = 0;
  for (const instance of small) {
    const { core, kept, forced } = reduceCover(instance);
    expect(forced.length + (core.queries === 0 ? 0 : smallest(core))).toBe(smallest(instance));
    expect(kept).toHaveLength(core.rules.length);
    dropped += instance.rules.length - kept.length - forced.length;
  }
  expect(dropped).toBeGreaterThan(50);
});

test("of rules with the same queries the first stays; a rule that a query depends on is forced", () => {
  const rules = [[0, 1], [0, 1], [1], [2, 3], [3, 4], [4, 2], [5]];
  expect(reduceCover({ rules, queries: 6 })).toEqual({
    core: {
      rules: [
        [0, 1],
        [1, 2],
        [0, 2],
      ],
      queries: 3,
    },
    kept: [3, 4, 5],
    forced: [0, 6],
  });
});
