import { expect, it } from "vitest";
import { comparedFigures, type ComparedFigure } from "../../../../src/shards/report/compared-figures.ts";
import type { FanOut, ShardStatistics } from "../../../../src/shards/report/shard-statistics.ts";

const fanOut = (...questions: readonly number[]): FanOut => ({
  questions: questions.reduce((sum, each) => sum + each, 0),
  summary: undefined,
  distribution: questions.map((each, shards) => ({ shards, questions: each })),
});

const small: ShardStatistics = {
  questions: 4,
  distinctQueries: 4,
  rules: 2,
  composition: { vertical: 1, class: 1, horizontal: 0 },
  shards: 4,
  emptyShards: 0,
  triples: 40,
  sizes: undefined,
  sizeVariation: 0.5,
  largestShare: 0.75,
  impliedFanOut: fanOut(0, 0, 4),
  relevantFanOut: undefined,
  realisedFanOut: fanOut(1, 1, 2),
};
const large: ShardStatistics = {
  ...small,
  questions: 16,
  rules: 6,
  composition: { vertical: 0, class: 3, horizontal: 3 },
  shards: 9,
  sizeVariation: 1,
  largestShare: 0.25,
  answers: { none: 2, "one-shard": 3, "several-shards": 9, unknown: 2 },
  impliedFanOut: fanOut(0, 0, 0, 16),
  realisedFanOut: fanOut(0, 3, 3, 10),
};

const figures = (...of: readonly ShardStatistics[]): ReadonlyMap<string, ComparedFigure> =>
  new Map(comparedFigures(of).map((figure) => [figure.id, figure]));

it("stand beside the published ones", () => {
  const published = Object.fromEntries([...figures(small)].map(([id, figure]) => [id, figure.published]));
  expect(published).toStrictEqual({
    rules: { mean: 3.7, median: 4, min: 2, max: 8 },
    "vertical-share": { mean: 0.183 },
    "class-share": { mean: 0.3042 },
    "horizontal-share": { mean: 0.5128 },
    shards: { mean: 6.21, median: 6, min: 3, max: 14 },
    "size-variation": { mean: 0.88 },
    "implied-fan-out": { mean: 6.48, median: 6, min: 2, max: 14 },
    "largest-shard": undefined,
    "realised-fan-out": undefined,
    "no-match-by-solutions": { mean: 0.0484 },
    "no-match": undefined,
    "one-shard": { mean: 0.2449 },
    "two-shards": undefined,
    federated: undefined,
    "answered-alone": undefined,
  });
});

it("of several datasets: each dataset counts once, each question once", () => {
  const both = figures(small, large);
  const value = (id: string): unknown => both.get(id)?.value;
  expect(value("rules")).toStrictEqual({ count: 2, mean: 4, median: 4, min: 2, max: 6 });
  expect(value("vertical-share")).toStrictEqual({ count: 2, mean: 0.25, median: 0.25, min: 0, max: 0.5 });
  expect(value("class-share")).toStrictEqual({ count: 2, mean: 0.5, median: 0.5, min: 0.5, max: 0.5 });
  expect(value("shards")).toStrictEqual({ count: 2, mean: 6.5, median: 6.5, min: 4, max: 9 });
  expect(value("size-variation")).toStrictEqual({ count: 2, mean: 0.75, median: 0.75, min: 0.5, max: 1 });
  expect(value("implied-fan-out")).toStrictEqual({ count: 20, mean: 2.8, median: 3, min: 2, max: 3 });
  expect(value("realised-fan-out")).toStrictEqual({ count: 20, mean: 2.2, median: 2.5, min: 0, max: 3 });
  expect(value("largest-shard")).toStrictEqual({ count: 2, mean: 0.5, median: 0.5, min: 0.25, max: 0.75 });
  expect(both.get("no-match")?.value?.mean).toBe(1 / 20);
  expect(both.get("two-shards")?.value?.mean).toBe(5 / 20);
  expect(both.get("one-shard")?.value?.mean).toBe(4 / 20);
  expect(both.get("federated")?.value?.mean).toBe(15 / 20);
});

it("by solutions: of the questions whose answers are known, and of those with solutions", () => {
  const both = figures(small, large);
  expect(both.get("no-match-by-solutions")?.value?.mean).toBe(2 / 14);
  expect(both.get("answered-alone")?.value?.mean).toBe(3 / 12);
  for (const id of ["no-match-by-solutions", "answered-alone"]) expect(figures(small).get(id)?.value).toBeUndefined();
});

it("without rules and questions shares are unknown, not 0", () => {
  const none = figures({ ...small, rules: 0, impliedFanOut: fanOut(), realisedFanOut: fanOut() });
  for (const id of ["vertical-share", "implied-fan-out", "realised-fan-out", "no-match", "federated"]) {
    expect(none.get(id)?.value).toBeUndefined();
  }
  expect(none.get("rules")?.value?.mean).toBe(0);
});
