import { describe, expect, it } from "vitest";
import {
  bootstrap,
  drawsOf,
  mcNemar,
  pairedDifference,
  valueOf,
} from "../../../../shards/src/evaluate/score/statistics.ts";

const shares = (...parts: readonly number[]) => parts.map((part) => ({ part, of: 1 }));

describe("statistics", () => {
  // Two-sided binomial probabilities at 1/2, from tables.
  it.each([
    [0, 0, 1],
    [2, 0, 0.5],
    [5, 0, 0.0625],
    [1, 7, 0.0703125],
    [10, 10, 1],
    [0, 3_000, 0],
  ])("McNemar of %i and %i", (one, other, p) => expect(mcNemar(one, other)).toBeCloseTo(p, 9));

  it("a mean without observations is not known", () => {
    expect(valueOf([])).toBeNull();
    expect(bootstrap([], drawsOf(0))).toEqual({ low: null, high: null });
    expect(pairedDifference([], [], drawsOf(0))).toEqual({ low: null, high: null, p: null });
  });

  it("intervals hold the value, narrow with more questions and are the same each time", () => {
    const widths = [20, 2_000].map((count) => {
      const ratios = shares(...Array.from({ length: count }, (_, at) => at % 2));
      const { low, high } = bootstrap(ratios, drawsOf(count));
      expect(bootstrap(ratios, drawsOf(count))).toEqual({ low, high });
      expect(low).toBeLessThan(0.5);
      expect(high).toBeGreaterThan(0.5);
      return Number(high) - Number(low);
    });
    // Of a share of 1/2: 2 x 1.96 x sqrt(0.25 / n), 0.438 and 0.044.
    expect(widths[0]).toBeCloseTo(0.438, 1);
    expect(widths[1]).toBeCloseTo(0.044, 2);
  });

  it("shares of several questions are of all that they are of", () => {
    expect(
      valueOf([
        { part: 1, of: 1 },
        { part: 0, of: 3 },
        { part: 0, of: 0 },
      ]),
    ).toBe(0.25);
  });

  it("a difference of few questions shows little, of many much", () => {
    const p = (count: number) => {
      const [left, right] = [shares(...Array(count).fill(1)), shares(...Array(count).fill(0))];
      return pairedDifference(left, right, drawsOf(count));
    };
    // Of 4 ways to change places 2 are as far apart.
    expect(p(2)).toMatchObject({ low: 1, high: 1, p: expect.closeTo(0.5, 1) });
    expect(p(20).p).toBeLessThan(0.002);
    expect(pairedDifference(shares(1, 0), shares(1, 0), drawsOf(2)).p).toBe(1);
  });
});
