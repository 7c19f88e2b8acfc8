import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeHistogram, Histogram } from "../../../src/monitor/tally.ts";

const of = (values: readonly number[]): Histogram => {
  const histogram = new Histogram();
  for (const value of values) histogram.add(value);
  return histogram;
};

/** Mostly short, some very long, as durations are. */
const durations = fc.array(
  fc.double({ min: -1, max: 6.5, noNaN: true }).map((power) => 10 ** power),
  {
    minLength: 1,
    maxLength: 300,
  },
);
const share = fc.double({ min: 0, max: 1, noNaN: true });

/** The value of rank `ceil(share * n)`. */
function trueQuantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.max(1, Math.ceil(at * sorted.length)) - 1] ?? Number.NaN;
}

describe("a histogram", () => {
  it("knows every quantile within 2.5 %", () => {
    fc.assert(
      fc.property(durations, share, (values, at) => {
        const truth = trueQuantile(values, at);
        const told = of(values).quantile(at) ?? Number.NaN;
        expect(Math.abs(told - truth) / truth).toBeLessThanOrEqual(0.025);
      }),
    );
  });

  it("merged is the histogram of all values", () => {
    fc.assert(
      fc.property(durations, durations, (left, right) => {
        const merged = of(left);
        merged.merge(of(right));
        expect(merged.bins()).toEqual(of([...left, ...right]).bins());
        expect(merged.total).toBe(left.length + right.length);
      }),
    );
  });

  it("survives being written down", () => {
    fc.assert(
      fc.property(durations, (values) => {
        const text = JSON.stringify(of(values).encode());
        expect(decodeHistogram(JSON.parse(text))?.bins()).toEqual(of(values).bins());
      }),
    );
  });

  it("has no quantile without values", () => {
    expect(new Histogram().quantile(0.5)).toBeUndefined();
    expect(decodeHistogram(new Histogram().encode())?.total).toBe(0);
  });

  it.each([
    [0, 0.1],
    [-5, 0.1],
    [1e-9, 0.1],
  ])("holds %d ms as at most %d ms", (ms, most) => {
    expect(of([ms]).quantile(0.5)).toBeLessThanOrEqual(most);
  });

  it.each([3_600_000, 1e12, Number.MAX_VALUE, Number.POSITIVE_INFINITY])("holds %d ms as an hour", (ms) => {
    const told = of([ms]).quantile(0.5) ?? 0;
    expect(Math.abs(told - 3_600_000) / 3_600_000).toBeLessThanOrEqual(0.025);
  });

  it("has a bounded number of bins", () => {
    const histogram = new Histogram();
    for (let step = 0; step < 15_000; step += 1) histogram.add(10 ** (step / 1000 - 3));
    expect(histogram.total).toBe(15_000);
    expect(histogram.bins().length).toBeLessThan(450);
    expect(JSON.stringify(histogram.encode()).length).toBeLessThan(3_000);
  });

  it("never takes what is no number for a duration", () => {
    const histogram = of([Number.NaN, 5]);
    expect(histogram.total).toBe(1);
  });

  it.each([
    ["no list", { 0: 1 }],
    ["half a pair", [1]],
    ["no numbers", ["1", "2"]],
    ["a count of 0", [3, 0]],
    ["a negative count", [3, -1]],
    ["a bin twice", [3, 1, 0, 1]],
    ["bins backwards", [3, 1, -1, 1]],
    ["a bin beyond the last", [100_000, 1]],
    ["fractions", [1.5, 1]],
  ])("is not read from %s", (_, encoded) => {
    expect(decodeHistogram(encoded)).toBeUndefined();
  });
});
