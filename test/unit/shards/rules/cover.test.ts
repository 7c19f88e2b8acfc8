import { expect, test } from "vitest";
import { type CoverInstance, greedyCover, linearBound, reduceCover } from "../../../../shards/src/rules/set-cover.ts";
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
  expect(linearBound(large, greedyCover(large).length)).toBeGreaterThan(20);
  // When there is no time nothing is proven.
  expect(linearBound(large, greedyCover(large).length, 0)).toBe(0);
});

test("the greedy cover covers everything, needs each of its rules, and is near the optimum", () => {
  let tooMany = 0;
  for (const instance of small) {
    const chosen = greedyCover(instance);
    expect(covered(instance, chosen)).toBe(instance.queries);
    for (const rule of chosen) {
      const others = chosen.filter((other) => other !== rule);
      expect(covered(instance, others)).toBeLessThan(instance.queries);
    }
    tooMany += chosen.length - smallest(instance);
  }
  expect(tooMany).toBeLessThan(small.length / 4);
  expect(covered(large, greedyCover(large))).toBe(large.queries);
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
