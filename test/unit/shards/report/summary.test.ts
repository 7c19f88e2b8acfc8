import { describe, expect, it } from "vitest";
import { coefficientOfVariation, summaryOf, weightedSummary } from "../../../../src/shards/report/shard-statistics.ts";

describe("summaries", () => {
  it("of nothing are not zero", () => expect(summaryOf([])).toBeUndefined());

  it("an odd number has one in the middle", () =>
    expect(summaryOf([9, 1, 2])).toStrictEqual({ count: 3, mean: 4, median: 2, min: 1, max: 9 }));

  it("an even number has two", () =>
    expect(summaryOf([4, 1, 3, 10])).toStrictEqual({ count: 4, mean: 4.5, median: 3.5, min: 1, max: 10 }));

  it("weights are repetitions", () => {
    const observed = [
      { value: 5, weight: 1 },
      { value: 2, weight: 3 },
    ];
    expect(weightedSummary(observed)).toStrictEqual(summaryOf([2, 2, 2, 5]));
    expect(weightedSummary(observed)).toStrictEqual({ count: 4, mean: 2.75, median: 2, min: 2, max: 5 });
  });
});

describe("the coefficient of variation", () => {
  // Mean 5, squared differences 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, over 8: 4; root 2.
  it("is the population's", () => expect(coefficientOfVariation([2, 4, 4, 4, 5, 5, 7, 9])).toBe(0.4));
  it("of equal sizes is 0", () => expect(coefficientOfVariation([3, 3, 3])).toBe(0));
  it("of nothing is unknown", () => expect(coefficientOfVariation([])).toBeUndefined());
  it("of zeros is unknown", () => expect(coefficientOfVariation([0, 0])).toBeUndefined());
});
