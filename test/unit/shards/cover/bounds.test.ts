import { expect, test } from "vitest";
import { branchCover } from "../../../../src/shards/cover/branch-cover.ts";
import type { CoverInstance } from "../../../../src/shards/cover/cover-instance.ts";
import { linearBound } from "../../../../src/shards/cover/linear-bound.ts";
import { type QuadraticMinorant, quadraticMinorant } from "../../../../src/shards/cover/quadratic-bound.ts";
import { reduceCover } from "../../../../src/shards/cover/reduce-cover.ts";
import { searchCover } from "../../../../src/shards/cover/search-cover.ts";
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
const medium = instanceOf({ queries: 130, rules: 50, each: 3 }, 5);
const large = instanceOf({ queries: 300, rules: 100, each: 3 }, 5);

function minorantOf(instance: CoverInstance, heard: number[]): QuadraticMinorant {
  const minorant = quadraticMinorant(instance, (bound) => heard.push(bound));
  return minorant ?? expect.unreachable("no start was definite");
}

test("no bound is above the optimum, and branching reaches it", () => {
  let linearGap = 0;
  for (const instance of small) {
    const optimum = smallest(instance);
    const linear = linearBound(instance, optimum);
    expect(linear).toBeLessThanOrEqual(optimum);
    linearGap += optimum - linear;
    const heard: number[] = [];
    const minorant = minorantOf(instance, heard);
    // A target that is too high on purpose: the bound must not go along.
    const proven = branchCover(instance, minorant, {
      target: optimum + 1,
      nodes: 20_000,
      better: (n) => heard.push(n),
    });
    expect(Math.max(...heard)).toBe(proven);
    expect(proven).toBe(optimum);
  }
  expect(linearGap).toBeGreaterThan(0);
});

/** The minorant at the 0-1 vector of a choice. */
function valueAt(
  { constant, linear, diagonal, neighbours, coefficients }: QuadraticMinorant,
  chosen: readonly number[],
): number {
  const isIn = new Set(chosen);
  let value = constant;
  for (const rule of chosen) {
    value += (linear[rule] ?? 0) + (diagonal[rule] ?? 0);
    for (const [at, other] of (neighbours[rule] ?? new Int32Array()).entries()) {
      if (isIn.has(other)) value += coefficients[rule]?.[at] ?? 0;
    }
  }
  return value;
}

test.each([
  ["plain", undefined],
  // A target that no bound reaches: cuts go on to their end.
  ["with products of inequalities", { target: 1_000 }],
] as const)("the minorant lies below the size of every cover: %s", (_, cuts) => {
  let covers = 0;
  for (const instance of small.slice(0, cuts === undefined ? 12 : 6)) {
    const minorant = quadraticMinorant(instance, () => undefined, cuts) ?? expect.unreachable("no start was definite");
    for (const chosen of subsets(instance.rules.length)) {
      if (covered(instance, chosen) < instance.queries) continue;
      expect(valueAt(minorant, chosen)).toBeLessThanOrEqual(chosen.length + 1e-9);
      covers += 1;
    }
  }
  expect(covers).toBeGreaterThan(500);
});

test("on a hard instance the quadratic bound is above the linear one and below a cover", () => {
  const cover = searchCover(large, 5_000).length;
  const linear = linearBound(large, cover);
  const heard: number[] = [];
  quadraticMinorant(large, (bound) => heard.push(bound));
  expect(Math.max(...heard)).toBeGreaterThan(linear);
  expect(Math.max(...heard)).toBeLessThanOrEqual(cover);
});

test("products of inequalities raise the bound, never above the optimum, and branching goes on from there", () => {
  const plain = mostHeard((better) => quadraticMinorant(medium, better));
  const cover = searchCover(medium, 5_000).length;
  const minorants: (QuadraticMinorant | undefined)[] = [];
  const raised = mostHeard((better) => minorants.push(quadraticMinorant(medium, better, { target: cover })));
  expect(raised).toBeGreaterThan(plain);
  const minorant = minorants[0] ?? expect.unreachable("no start was definite");
  const heard: number[] = [];
  const better = (bound: number): unknown => heard.push(bound);
  expect(branchCover(medium, minorant, { target: cover, nodes: 20_000, better })).toBe(cover);
  expect(raised).toBeLessThanOrEqual(cover);
});

function mostHeard(raise: (better: (bound: number) => void) => unknown): number {
  const heard: number[] = [];
  raise((bound) => heard.push(bound));
  return Math.max(...heard);
}

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
