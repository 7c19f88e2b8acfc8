import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { Scheduler, type Waiter } from "../../../src/outbound/scheduler.ts";

let log: string[];

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(0);
  log = [];
});
afterEach(() => {
  vi.useRealTimers();
});

const make = (concurrency: number, queueLimit = 10): Scheduler =>
  new Scheduler({ concurrency, queueLimit, clock: systemClock });
const waiter = (name: string, deadlineMs = 100_000): Waiter => ({
  deadlineMs,
  granted: () => log.push(`${name} granted at ${Date.now()}`),
  heldBack: (ms) => log.push(`${name} held back ${ms}`),
});

describe("slots", () => {
  it("are granted in the order of asking", () => {
    const scheduler = make(1);
    expect(["a", "b", "c"].map((name) => scheduler.take(waiter(name)))).toEqual(["now", "queued", "queued"]);
    expect(scheduler.waiting()).toBe(2);
    scheduler.release();
    scheduler.release();
    expect(log).toEqual(["b granted at 0", "c granted at 0"]);
    expect(scheduler.idle).toBe(false);
    scheduler.release();
    expect(scheduler.idle).toBe(true);
  });
  it("are refused when the queue is full", () => {
    const scheduler = make(1, 1);
    expect(["a", "b", "c"].map((name) => scheduler.take(waiter(name)))).toEqual(["now", "queued", "full"]);
  });
  it("skip a waiter that has left", () => {
    const scheduler = make(1);
    const leaving = waiter("leaving");
    scheduler.take(waiter("a"));
    scheduler.take(leaving);
    scheduler.take(waiter("b"));
    scheduler.drop(leaving);
    scheduler.release();
    expect(log).toEqual(["b granted at 0"]);
  });
});

describe("holding back", () => {
  it("delays those that can wait and tells those that cannot", () => {
    const scheduler = make(2);
    scheduler.take(waiter("running"));
    scheduler.holdUntil(1000);
    expect(scheduler.heldMs()).toBe(1000);
    expect(scheduler.take(waiter("patient"))).toBe("queued");
    scheduler.take(waiter("hasty", 1500));
    scheduler.holdUntil(2000);
    expect(log).toEqual(["hasty held back 2000"]);
    scheduler.release();
    vi.advanceTimersByTime(1999);
    expect(log).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(log).toEqual(["hasty held back 2000", "patient granted at 2000"]);
    expect(scheduler.heldMs()).toBe(0);
  });
  it("is never shortened", () => {
    const scheduler = make(1);
    scheduler.holdUntil(5000);
    scheduler.holdUntil(10);
    expect(scheduler.heldMs()).toBe(5000);
    expect(scheduler.idle).toBe(false);
  });
  it("lets no more than the slots go at once when it ends", () => {
    const scheduler = make(2);
    scheduler.holdUntil(100);
    for (const name of ["a", "b", "c"]) scheduler.take(waiter(name));
    vi.advanceTimersByTime(100);
    expect(log).toEqual(["a granted at 100", "b granted at 100"]);
    scheduler.release();
    expect(log).toHaveLength(3);
  });
});
