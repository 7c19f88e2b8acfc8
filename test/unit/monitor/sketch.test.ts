import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addBins, type Bins, quantiles, withDuration } from "../../../src/monitor/sketch.ts";

const of = (values: readonly number[]): Bins => values.reduce<Bins>((bins, ms) => withDuration(bins, ms), []);
const counts = (...all: readonly Bins[]) => all.reduce((sum, bins) => addBins(sum, bins), new Map<number, number>());
const quantile = (bins: Bins, share: number): number | undefined => quantiles(counts(bins), [share])[0];

/** Mostly short, some very long, as durations are. */
const durations = fc.array(
  fc.double({ min: -1, max: 6.5, noNaN: true }).map((power) => 10 ** power),
  { minLength: 1, maxLength: 100 },
);
const share = fc.double({ min: 0, max: 1, noNaN: true });

/** The value of rank `ceil(share * n)`. */
function trueQuantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.max(1, Math.ceil(at * sorted.length)) - 1] ?? Number.NaN;
}

describe("a sketch of durations", () => {
  it("knows every quantile within 2.5 %, several at once", () => {
    fc.assert(
      fc.property(durations, share, share, (values, one, other) => {
        const shares = [one, other].toSorted((left, right) => left - right);
        const found = quantiles(counts(of(values)), shares);
        for (const [index, at] of shares.entries()) {
          const truth = trueQuantile(values, at);
          expect(Math.abs((found[index] ?? Number.NaN) - truth) / truth).toBeLessThanOrEqual(0.025);
        }
      }),
    );
  });

  it("added to another is the sketch of all values", () => {
    fc.assert(
      fc.property(durations, durations, (left, right) => {
        expect(counts(of(left), of(right))).toEqual(counts(of([...left, ...right])));
      }),
    );
  });

  it("has no quantile without values", () => {
    expect(quantile([], 0.5)).toBeUndefined();
    expect(of([Number.NaN])).toEqual([]);
  });

  it.each([0, -5, 1e-9])("holds %d ms as at most 0.1 ms", (ms) => {
    expect(quantile(of([ms]), 0.5)).toBeLessThanOrEqual(0.1);
  });

  it.each([3_600_000, 1e12, Number.MAX_VALUE, Number.POSITIVE_INFINITY])("holds %d ms as an hour", (ms) => {
    expect(Math.abs((quantile(of([ms]), 0.5) ?? 0) - 3_600_000) / 3_600_000).toBeLessThanOrEqual(0.025);
  });

  it("has a bounded number of bins", () => {
    const bins = of(Array.from({ length: 1_500 }, (_, step) => 10 ** (step / 100 - 3)));
    expect(bins.length).toBeLessThan(900);
    expect(JSON.stringify(bins).length).toBeLessThan(3_000);
  });

  it.each([
    ["half a pair", [1]],
    ["a count of 0", [3, 0]],
    ["a negative count", [3, -1]],
    ["a bin beyond the last", [100_000, 1]],
    ["fractions", [1.5, 1]],
  ])("leaves out %s", (_, bins) => {
    expect(counts(bins).size).toBe(0);
    expect(counts([2, 1, ...bins])).toEqual(new Map([[2, 1]]));
  });
});
