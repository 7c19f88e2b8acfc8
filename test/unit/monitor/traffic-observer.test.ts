import { describe, expect, it } from "vitest";
import type { HealthState, Observation, TrafficReport } from "../../../src/monitor/monitor.ts";
import { createTrafficObserver } from "../../../src/monitor/traffic-observer.ts";

const faults = ["dns", "connect", "tls", "timeout", "reset", "http-5xx"] as const;

function setting(state: HealthState | undefined) {
  const clock = { nowMs: 1_000_000 };
  const called: number[] = [];
  const kept: Observation[] = [];
  const observer = createTrafficObserver({
    now: () => clock.nowMs,
    stateOf: (endpoint) => (endpoint === "people" ? state : undefined),
    callForProbe: () => called.push(clock.nowMs),
    keep: (_, observation) => kept.push(observation),
  });
  const see = (outcome: TrafficReport["outcome"], endpoint = "people"): void =>
    observer.report({ endpoint, outcome, ms: 12 });
  return { see, clock, called, kept };
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
  const { see, called, kept } = setting(state);
  for (let n = 0; n < 5; n += 1) see("timeout", "unlisted");
  see("ok", "unlisted");
  expect([called, kept]).toEqual([[], []]);
});

it("an endpoint of which nothing is known waits for its turn", () => {
  const { see, called } = setting("unknown");
  for (let n = 0; n < 5; n += 1) see("timeout");
  see("ok");
  expect(called).toEqual([]);
});

it("keeps one good and three bad observations a minute", () => {
  const { see, kept, clock } = setting("unknown");
  for (let n = 0; n < 50; n += 1) {
    see("ok");
    see("http-5xx");
    see("cancelled");
    see("http-4xx");
  }
  const frame = { atMs: clock.nowMs, ms: 12, tries: 1, source: "traffic" };
  const bad = { ...frame, ok: false, fault: "http-5xx" };
  expect(kept).toEqual([{ ...frame, ok: true }, bad, bad, bad]);
  clock.nowMs += 60_000;
  see("ok");
  expect(kept).toHaveLength(5);
});
