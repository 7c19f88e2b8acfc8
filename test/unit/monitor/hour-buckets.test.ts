import { expect, it } from "vitest";
import { type Hours, hourSummaries, withTurn } from "../../../src/monitor/hour-buckets.ts";
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
