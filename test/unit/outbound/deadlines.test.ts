import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { createDeadlines, type Expiring } from "../../../src/outbound/deadlines.ts";

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(0);
});
afterEach(() => {
  vi.useRealTimers();
});

const record = (): { log: string[]; at: (deadlineMs: number) => Expiring } => {
  const log: string[] = [];
  const at = (deadlineMs: number): Expiring => ({
    deadlineMs,
    place: -1,
    expire: () => log.push(`${deadlineMs} at ${Date.now()}`),
  });
  return { log, at };
};

it("expires each entry at its moment, whatever the order they came in", () => {
  const { log, at } = record();
  const deadlines = createDeadlines(systemClock);
  for (const moment of [500, 100, 300, 100, 700]) deadlines.add(at(moment));
  vi.advanceTimersByTime(1000);
  expect(log).toEqual(["100 at 100", "100 at 100", "300 at 300", "500 at 500", "700 at 700"]);
});

it("needs one timer for any number of entries", () => {
  const { at } = record();
  const deadlines = createDeadlines(systemClock);
  for (let index = 0; index < 1000; index += 1) deadlines.add(at(1000 + index));
  expect(vi.getTimerCount()).toBe(1);
});

it("leaves deleted entries alone and never fires early or after close", () => {
  const { log, at } = record();
  const deadlines = createDeadlines(systemClock);
  const gone = at(100);
  deadlines.add(gone);
  deadlines.add(at(200));
  deadlines.delete(gone);
  vi.advanceTimersByTime(199);
  expect(log).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(log).toEqual(["200 at 200"]);
  deadlines.add(at(300));
  deadlines.close();
  vi.advanceTimersByTime(1000);
  expect(log).toHaveLength(1);
});

it("waits for deadlines beyond the longest timer", () => {
  const { log, at } = record();
  const farMs = 2 ** 31 + 5000;
  createDeadlines(systemClock).add(at(farMs));
  vi.advanceTimersByTime(farMs - 1);
  expect(log).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(log).toEqual([`${farMs} at ${farMs}`]);
});
