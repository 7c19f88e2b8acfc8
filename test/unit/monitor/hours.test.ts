import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addBins,
  type Bins,
  type Hours,
  hourSummaries,
  quantiles,
  withDuration,
  withTurn,
} from "../../../src/monitor/hours.ts";
import { fault, turn } from "../../support/monitor-records.ts";

const hourMs = 3_600_000;
const none: Hours = { past: [] };

it("counts by the hour, with the median of the good ones", () => {
  let hours = none;
  for (const ms of [10, 20, 30]) hours = withTurn(hours, turn(5 * hourMs + ms, { ms }));
  hours = withTurn(hours, fault(5 * hourMs + 40, "dns"));
  hours = withTurn(hours, fault(5 * hourMs + 50, "dns"));
  hours = withTurn(hours, turn(7 * hourMs, { ms: 100 }));
  const [first, second, ...rest] = hourSummaries(hours, 7 * hourMs + 1);
  expect(first).toMatchObject({ fromMs: 5 * hourMs, probes: 5, good: 3, faults: { dns: 2 } });
  expect(Math.abs((first?.p50Ms ?? 0) - 20)).toBeLessThan(0.5);
  expect(second).toMatchObject({ fromMs: 7 * hourMs, probes: 1, good: 1, faults: {} });
  expect(rest).toEqual([]);
});

it("an hour of faults alone has no median", () => {
  const [hour] = hourSummaries(withTurn(none, fault(0, "tls")), 0);
  expect(hour).toEqual({ fromMs: 0, probes: 1, good: 0, faults: { tls: 1 } });
});

it("keeps 24 hours and the one that runs", () => {
  let hours = none;
  for (let hour = 0; hour < 100; hour += 1) hours = withTurn(hours, turn(hour * hourMs));
  const shown = hourSummaries(hours, 99 * hourMs + 5).map(({ fromMs }) => fromMs / hourMs);
  expect(shown).toEqual(Array.from({ length: 25 }, (_, index) => 75 + index));
  expect(hours.past).toHaveLength(24);
  expect(hourSummaries(hours, 110 * hourMs)).toHaveLength(14);
});

it("a turn of the hour before, by another process, is counted there", () => {
  let hours = withTurn(none, turn(5 * hourMs - 1_000));
  hours = withTurn(hours, turn(5 * hourMs));
  hours = withTurn(hours, fault(5 * hourMs - 10, "dns"));
  hours = withTurn(hours, turn(5 * hourMs + 10));
  expect(hourSummaries(hours, 5 * hourMs).map(({ probes, good }) => [probes, good])).toEqual([
    [2, 1],
    [2, 2],
  ]);
});

it("hours that never were are gone when the clock is set back", () => {
  let hours = withTurn(none, turn(5 * hourMs));
  hours = withTurn(hours, turn(500 * hourMs));
  hours = withTurn(hours, turn(6 * hourMs));
  expect(hourSummaries(hours, 6 * hourMs).map(({ fromMs }) => fromMs / hourMs)).toEqual([5, 6]);
  expect(hourSummaries(hours, 500 * hourMs)).toEqual([]);
});

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
