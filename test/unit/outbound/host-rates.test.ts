import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { type HostRateOptions, HostRates, type TurnWaiter } from "../../../src/outbound/host-rates.ts";

let log: string[];

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(0);
  log = [];
});
afterEach(() => {
  vi.useRealTimers();
});

// A token every 100 ms, three at once.
const make = (more: Partial<HostRateOptions> = {}): HostRates =>
  new HostRates({ perSecond: 10, burst: 3, queueLimit: 100, maxHosts: 100, clock: systemClock, ...more });
const waiter = (name: string, deadlineMs = 100_000): TurnWaiter => ({
  deadlineMs,
  granted: () => log.push(`${name} ${Date.now()}`),
});
const ask = (rates: HostRates, count: number, host = "a.example"): string[] =>
  Array.from({ length: count }, (_, index) => rates.take(host, waiter(`${index}`)));
const granted = (rates: HostRates, count: number): number =>
  ask(rates, count).filter((outcome) => outcome === "now").length;

describe("a burst", () => {
  it("goes at once, what follows waits", () => {
    expect(ask(make(), 5)).toEqual(["now", "now", "now", "queued", "queued"]);
  });
  it("is never less than one request", () => {
    expect(ask(make({ burst: 0 }), 2)).toEqual(["now", "queued"]);
  });
  it.each([1, 3, 7, 13, 60, 1000])("is exact at a rate of %i, also at today's time", (perSecond) => {
    vi.setSystemTime(Date.UTC(2026, 5, 1, 12, 34, 56, 789));
    expect(granted(make({ perSecond, burst: 2 * perSecond, queueLimit: 0 }), 3 * perSecond)).toBe(2 * perSecond);
  });
});

describe("refill", () => {
  it.each([
    [99, 0],
    [100, 1],
    [250, 2],
    [300, 3],
    [60_000, 3],
  ])("after %i ms there are %i tokens", (ms, tokens) => {
    const rates = make({ queueLimit: 0 });
    expect(granted(rates, 10)).toBe(3);
    vi.advanceTimersByTime(ms);
    expect(granted(rates, 10)).toBe(tokens);
  });
  it("keeps to the rate in the long run", () => {
    const rates = make({ queueLimit: 0 });
    let sent = 0;
    for (let step = 0; step < 10_000; step += 1) {
      if (rates.take("a.example", waiter("")) === "now") sent += 1;
      vi.advanceTimersByTime(1);
    }
    expect(sent).toBe(3 + 99);
  });
  it("gives nothing when the clock goes back", () => {
    vi.setSystemTime(1_000_000);
    const rates = make({ queueLimit: 0 });
    expect(granted(rates, 10)).toBe(3);
    vi.setSystemTime(999_000);
    expect(granted(rates, 10)).toBe(0);
  });
});

describe("fairness", () => {
  it("grants turns in the order of asking, each at its time", () => {
    ask(make(), 6);
    vi.advanceTimersByTime(1000);
    expect(log).toEqual(["3 100", "4 200", "5 300"]);
  });
  it("lets nobody overtake, not even when a token is there before the timer has run", () => {
    const rates = make();
    ask(rates, 4);
    vi.setSystemTime(250);
    expect(rates.take("a.example", waiter("late"))).toBe("queued");
    vi.advanceTimersByTime(1000);
    expect(log.map((line) => line.split(" ")[0])).toEqual(["3", "late"]);
  });
  it("hosts do not wait for each other", () => {
    const rates = make();
    expect(ask(rates, 4, "a.example").at(-1)).toBe("queued");
    expect(ask(rates, 3, "b.example")).toEqual(["now", "now", "now"]);
  });
  it("one timer serves all that wait for a host", () => {
    ask(make(), 50);
    expect(vi.getTimerCount()).toBe(1);
  });
});

describe("the queue", () => {
  it("is bounded", () => {
    expect(ask(make({ queueLimit: 2 }), 7).slice(3)).toEqual(["queued", "queued", "refused", "refused"]);
  });
  it("refuses at once whose turn would not come before the deadline", () => {
    const rates = make();
    ask(rates, 4);
    expect(rates.waitMs("a.example", 0)).toBeCloseTo(200, 0);
    expect(rates.take("a.example", waiter("hasty", 199))).toBe("refused");
    expect(rates.take("a.example", waiter("patient", 201))).toBe("queued");
    vi.advanceTimersByTime(1000);
    expect(log).toEqual(["3 100", "patient 200"]);
  });
  it("moves up when somebody leaves, who costs no token", () => {
    const rates = make();
    ask(rates, 3);
    const leaving = waiter("leaving");
    rates.take("a.example", leaving);
    rates.take("a.example", waiter("next"));
    rates.drop("a.example", leaving);
    vi.advanceTimersByTime(1000);
    expect(log).toEqual(["next 100"]);
  });
  it("needs no timer once everybody has left", () => {
    const rates = make();
    ask(rates, 3);
    const leaving = waiter("leaving");
    rates.take("a.example", leaving);
    rates.drop("a.example", leaving);
    rates.drop("a.example", leaving);
    rates.drop("unknown.example", leaving);
    expect(vi.getTimerCount()).toBe(0);
  });
  it("is empty after close", () => {
    const rates = make();
    ask(rates, 10);
    rates.close();
    vi.advanceTimersByTime(10_000);
    expect(log).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
  it("waits longer than the longest timer", () => {
    const farMs = 2 ** 31 + 5000;
    const rates = make({ perSecond: 1000 / farMs, burst: 1 });
    rates.take("a.example", waiter("first"));
    expect(rates.take("a.example", waiter("far", 2 * farMs))).toBe("queued");
    vi.advanceTimersByTime(farMs - 1);
    expect(log).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(log).toEqual([`far ${farMs}`]);
  });
});

describe("the wait ahead of a request", () => {
  it("counts those that wait and those that are still to come", () => {
    const rates = make();
    expect([0, 2, 3, 5].map((ahead) => Math.round(rates.waitMs("a.example", ahead)))).toEqual([0, 0, 100, 300]);
    ask(rates, 5);
    expect([0, 2].map((ahead) => Math.round(rates.waitMs("a.example", ahead)))).toEqual([300, 500]);
    expect(rates.waitMs("b.example", 0)).toBe(0);
  });
});

describe("memory", () => {
  it("is bounded by the number of hosts", () => {
    const rates = make({ maxHosts: 10 });
    for (let index = 0; index < 1000; index += 1) rates.take(`${index}.example`, waiter(""));
    expect(rates.size).toBe(10);
  });
  it("gives up full buckets first, so that many other hosts do not refill an empty one", () => {
    const rates = make({ maxHosts: 3, queueLimit: 0 });
    ask(rates, 3, "rested.example");
    vi.advanceTimersByTime(300);
    ask(rates, 3, "empty.example");
    ask(rates, 1, "rested.example");
    vi.advanceTimersByTime(100);
    rates.take("other.example", waiter(""));
    rates.take("another.example", waiter(""));
    expect(rates.size).toBe(3);
    expect(ask(rates, 3, "empty.example")).toEqual(["now", "refused", "refused"]);
  });
  it("gives up the longest unused when none is full", () => {
    const rates = make({ maxHosts: 2, queueLimit: 0 });
    ask(rates, 3, "a.example");
    ask(rates, 3, "b.example");
    rates.take("a.example", waiter(""));
    rates.take("c.example", waiter(""));
    expect(rates.take("a.example", waiter(""))).toBe("refused");
    expect(rates.take("b.example", waiter(""))).toBe("now");
  });
  it("never gives up a host that somebody waits for", () => {
    const rates = make({ maxHosts: 1 });
    ask(rates, 4, "a.example");
    ask(rates, 3, "b.example");
    vi.advanceTimersByTime(100);
    expect(log).toEqual(["3 100"]);
  });
});
