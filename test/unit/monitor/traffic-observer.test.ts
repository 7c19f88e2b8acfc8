import { describe, expect, it } from "vitest";
import type { HealthState, TrafficReport } from "../../../src/monitor/monitor.ts";
import { createTrafficObserver } from "../../../src/monitor/prober.ts";

const faults = ["dns", "connect", "tls", "timeout", "reset", "http-5xx"] as const;

function setting(state: HealthState | undefined) {
  const clock = { nowMs: 1_000_000 };
  const called: number[] = [];
  const observer = createTrafficObserver({
    now: () => clock.nowMs,
    stateOf: (endpoint) => (endpoint === "people" ? state : undefined),
    callForProbe: () => called.push(clock.nowMs),
  });
  const see = (outcome: TrafficReport["outcome"], endpoint = "people"): void =>
    observer.report({ endpoint, outcome, ms: 12 });
  return { see, clock, called };
}

describe("an endpoint that is up", () => {
  it.each(faults)("three times %s within a minute call for a probe", (outcome) => {
    const { see, called, clock } = setting("up");
    see(outcome);
    clock.nowMs += 20_000;
    see(outcome);
    expect(called).toEqual([]);
    clock.nowMs += 20_000;
    see(outcome);
    expect(called).toHaveLength(1);
  });

  it("three within more than a minute do not", () => {
    const { see, called, clock } = setting("up");
    for (let n = 0; n < 20; n += 1) {
      see("timeout");
      clock.nowMs += 31_000;
    }
    expect(called).toEqual([]);
  });

  it.each(["ok", "partial", "cancelled", "http-4xx", "circuit-open", "busy", "address", "malformed"] as const)(
    "%s does not",
    (outcome) => {
      const { see, called } = setting("up");
      for (let n = 0; n < 10; n += 1) see(outcome);
      expect(called).toEqual([]);
    },
  );

  it("calls at most every 30 s, however much traffic fails", () => {
    const { see, called, clock } = setting("up");
    for (let ms = 0; ms < 120_000; ms += 100) {
      see("connect");
      clock.nowMs += 100;
    }
    expect(called.length).toBeGreaterThanOrEqual(3);
    expect(called.length).toBeLessThanOrEqual(4);
  });
});

it.each(["ok", "partial", "http-4xx", "too-large"] as const)("%s of one that is down calls for a probe", (outcome) => {
  const { see, called } = setting("down");
  see("timeout");
  see("circuit-open");
  expect(called).toEqual([]);
  see(outcome);
  see(outcome);
  expect(called).toHaveLength(1);
});

it.each(["up", "down"] as const)("what is not in the catalogue is nothing while others are %s", (state) => {
  const { see, called } = setting(state);
  for (let n = 0; n < 5; n += 1) see("timeout", "unlisted");
  see("ok", "unlisted");
  expect(called).toEqual([]);
});

it("an endpoint of which nothing is known waits for its turn", () => {
  const { see, called } = setting("unknown");
  for (let n = 0; n < 5; n += 1) see("timeout");
  see("ok");
  expect(called).toEqual([]);
});
