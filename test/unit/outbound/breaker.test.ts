import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FedwayError, type ErrorDetails } from "../../../src/errors/fedway-error.ts";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import { Breaker, type BreakerState, type BreakerSource, type HealthSign } from "../../../src/outbound/breaker.ts";
import { systemClock } from "../../../src/clock.ts";
import { healthSign } from "../../../src/outbound/observer.ts";

let states: BreakerState[];
let witnesses: BreakerSource[];

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(0);
  states = [];
  witnesses = [];
});
afterEach(() => {
  vi.useRealTimers();
});

const make = (): Breaker =>
  new Breaker({
    faults: 3,
    coolDownMs: 100,
    maxCoolDownMs: 300,
    clock: systemClock,
    onState: (state, by) => {
      states.push(state);
      witnesses.push(by);
    },
  });

function broken(): Breaker {
  const breaker = make();
  for (let round = 0; round < 3; round += 1) once(breaker, "fault");
  return breaker;
}

/** One request past the breaker. */
const probe = (breaker: Breaker, sign: HealthSign): void => breaker.leave(breaker.pass(), sign);

/** One request with this outcome; false when it was not admitted. */
function once(breaker: Breaker, sign: HealthSign): boolean {
  const admission = breaker.enter();
  if (admission === undefined) return false;
  breaker.leave(admission, sign);
  return true;
}

describe("circuit breaker", () => {
  it("opens after consecutive faults only", () => {
    const breaker = make();
    for (const sign of ["fault", "fault", "good", "fault", "fault"] as const) once(breaker, sign);
    expect(breaker.state).toBe("closed");
    once(breaker, "none");
    once(breaker, "fault");
    expect(breaker.state).toBe("open");
    expect(breaker.waitMs()).toBe(100);
    expect(once(breaker, "good")).toBe(false);
  });
  it("lets one trial through after the cool-down and closes when it is good", () => {
    const breaker = make();
    for (let round = 0; round < 3; round += 1) once(breaker, "fault");
    vi.advanceTimersByTime(100);
    const trial = breaker.enter();
    expect(trial).toEqual({ trial: true });
    expect(breaker.enter()).toBeUndefined();
    expect(breaker.waitMs()).toBeGreaterThan(0);
    if (trial !== undefined) breaker.leave(trial, "good");
    expect(once(breaker, "good")).toBe(true);
    expect(states).toEqual(["open", "half-open", "closed"]);
  });
  it("grows its cool-down with every failed trial, up to a limit", () => {
    const breaker = make();
    for (let round = 0; round < 3; round += 1) once(breaker, "fault");
    const waits = [0, 1, 2, 3].map(() => {
      vi.advanceTimersByTime(breaker.waitMs());
      once(breaker, "fault");
      return breaker.waitMs();
    });
    expect(waits).toEqual([200, 300, 300, 300]);
  });
  it("gives the trial to the next one when it says nothing", () => {
    const breaker = make();
    for (let round = 0; round < 3; round += 1) once(breaker, "fault");
    vi.advanceTimersByTime(100);
    expect(once(breaker, "none")).toBe(true);
    expect(breaker.state).toBe("half-open");
    expect(once(breaker, "good")).toBe(true);
    expect(breaker.state).toBe("closed");
  });
  it("ignores requests from before the opening that end late", () => {
    const breaker = make();
    const early = breaker.enter();
    for (let round = 0; round < 3; round += 1) once(breaker, "fault");
    if (early !== undefined) breaker.leave(early, "good");
    expect(breaker.state).toBe("open");
  });
});

describe("a circuit breaker that is told from outside", () => {
  it("is open until the moment given, then lets one trial decide", () => {
    const breaker = make();
    breaker.holdOpen(5_000, "down since noon");
    expect([breaker.state, breaker.waitMs(), breaker.reason]).toEqual(["open", 5_000, "down since noon"]);
    expect(once(breaker, "good")).toBe(false);
    vi.advanceTimersByTime(5_000);
    expect(once(breaker, "good")).toBe(true);
    expect([breaker.state, breaker.reason]).toEqual(["closed", undefined]);
    expect(states).toEqual(["open", "half-open", "closed"]);
    expect(witnesses).toEqual(["outside", "own", "own"]);
  });
  it("never has a cool-down shortened, by another hold or by itself", () => {
    const breaker = broken();
    breaker.holdOpen(50);
    expect(breaker.waitMs()).toBe(100);
    breaker.holdOpen(1_000, "first");
    breaker.holdOpen(400, "second");
    expect([breaker.waitMs(), breaker.reason]).toEqual([1_000, "second"]);
    expect(states).toEqual(["open"]);
  });
  it("takes no notice of a moment that has passed", () => {
    const breaker = make();
    vi.advanceTimersByTime(10);
    breaker.holdOpen(10, "late");
    expect([breaker.state, breaker.reason, states]).toEqual(["closed", undefined, []]);
  });
  it("opens anew by its own failed trial, which is its own word", () => {
    const breaker = make();
    breaker.holdOpen(1_000, "down");
    vi.advanceTimersByTime(1_000);
    once(breaker, "fault");
    expect([breaker.state, breaker.waitMs(), breaker.reason]).toEqual(["open", 200, undefined]);
    expect(witnesses).toEqual(["outside", "own", "own"]);
  });
  it("is held open over a trial under way, which decides all the same when it is good", () => {
    const breaker = broken();
    vi.advanceTimersByTime(100);
    const trial = breaker.enter();
    breaker.holdOpen(2_000, "down");
    expect([breaker.state, breaker.enter()]).toEqual(["open", undefined]);
    if (trial !== undefined) breaker.leave(trial, "good");
    expect(breaker.state).toBe("closed");
  });
  it("stays held open when that trial fails", () => {
    const breaker = broken();
    vi.advanceTimersByTime(100);
    const trial = breaker.enter();
    breaker.holdOpen(2_000, "down");
    if (trial !== undefined) breaker.leave(trial, "fault");
    expect([breaker.waitMs(), breaker.reason]).toEqual([1_900, "down"]);
  });
  it("closes at once, and counts faults and cool-downs from the beginning", () => {
    const breaker = broken();
    vi.advanceTimersByTime(100);
    once(breaker, "fault");
    breaker.close();
    expect([breaker.state, breaker.waitMs()]).toEqual(["closed", 0]);
    for (let round = 0; round < 2; round += 1) once(breaker, "fault");
    expect(breaker.state).toBe("closed");
    once(breaker, "fault");
    expect(breaker.waitMs()).toBe(100);
    expect(witnesses).toEqual(["own", "own", "own", "outside", "own"]);
  });
  it("does not hear the trial that was under way when it was closed", () => {
    const breaker = broken();
    vi.advanceTimersByTime(100);
    const trial = breaker.enter();
    breaker.close();
    if (trial !== undefined) breaker.leave(trial, "fault");
    expect(breaker.state).toBe("closed");
  });
});

describe("a request past the circuit breaker", () => {
  it("closes an open one when it is good", () => {
    const breaker = broken();
    probe(breaker, "good");
    expect([breaker.state, states, witnesses]).toEqual(["closed", ["open", "closed"], ["own", "own"]]);
  });
  it("changes nothing of an open one when it fails or says nothing", () => {
    const breaker = broken();
    probe(breaker, "fault");
    probe(breaker, "none");
    expect([breaker.state, breaker.waitMs()]).toEqual(["open", 100]);
  });
  it("does not take the trial, and spares the next request when it fails in its place", () => {
    const breaker = broken();
    vi.advanceTimersByTime(100);
    const admission = breaker.pass();
    expect(admission.trial).toBe(false);
    expect(breaker.state).toBe("open");
    breaker.leave(admission, "fault");
    expect([breaker.state, breaker.waitMs()]).toEqual(["open", 200]);
    expect(once(breaker, "good")).toBe(false);
  });
  it("leaves a trial under way its say", () => {
    const breaker = broken();
    vi.advanceTimersByTime(100);
    const trial = breaker.enter();
    probe(breaker, "fault");
    expect(breaker.state).toBe("half-open");
    if (trial !== undefined) breaker.leave(trial, "good");
    expect(breaker.state).toBe("closed");
  });
  it("counts like any other at a closed one", () => {
    const breaker = make();
    for (let round = 0; round < 3; round += 1) probe(breaker, "fault");
    expect(breaker.state).toBe("open");
  });
});

describe("what an outcome says about the endpoint", () => {
  const cases: readonly (readonly [ErrorCode, ErrorDetails, HealthSign])[] = [
    ["ENDPOINT_UNREACHABLE", { fault: "connect" }, "fault"],
    ["ENDPOINT_UNREACHABLE", { fault: "dns" }, "fault"],
    ["ENDPOINT_FAILED", { fault: "http-5xx", upstreamStatus: 500 }, "fault"],
    ["ENDPOINT_TIMEOUT", { fault: "timeout" }, "fault"],
    ["ENDPOINT_BROKE_OFF", { fault: "reset" }, "fault"],
    ["ENDPOINT_TIMEOUT", { fault: "timeout", upstreamStatus: 429 }, "none"],
    ["ENDPOINT_BROKE_OFF", { fault: "malformed" }, "none"],
    ["ENDPOINT_RATE_LIMITED", { fault: "http-429" }, "none"],
    ["ENDPOINT_MALFORMED", { fault: "malformed" }, "none"],
    ["ADDRESS_REFUSED", { fault: "address" }, "none"],
    ["CANCELLED", {}, "none"],
    ["ENDPOINT_REJECTED_QUERY", { upstreamStatus: 400 }, "good"],
    ["ENDPOINT_REFUSED", { upstreamStatus: 403 }, "good"],
    ["ENDPOINT_PARTIAL", { fault: "partial", upstreamStatus: 206 }, "good"],
    ["ENDPOINT_BUSY", { fault: "busy" }, "none"],
  ];
  it.each(cases)("%s %j is %s", (code, details, sign) => {
    expect(healthSign(new FedwayError(code, "x", details), false)).toBe(sign);
  });
  it("a deadline speaks against a silent endpoint only after a long wait", () => {
    const error = new FedwayError("DEADLINE_EXCEEDED", "x");
    expect([healthSign(error, false), healthSign(error, true)]).toEqual(["none", "fault"]);
  });
  it("an answer is good, a partial one too", () => {
    const partial = { how: "status-206", detail: "x" } as const;
    expect(healthSign({ decodedBytes: 1, wireBytes: 1, partial }, false)).toBe("good");
  });
});
