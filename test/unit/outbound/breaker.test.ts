import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/clock.ts";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import { FedwayError, type ErrorDetails } from "../../../src/errors/fedway-error.ts";
import { type Permission, Breaker, healthSign, type HealthSign } from "../../../src/outbound/endpoint-states.ts";

/**
 * A breaker of three faults with cool-downs of 100 to 300 ms, taken through some steps. A number lets so many milliseconds
 * pass. `good`, `fault` and `none` are requests that end so, and with `probe` before it one past the breaker; of one that
 * is not admitted nothing comes. `enter` begins a request that `enter` and its end, such as `ends good`, follow up.
 * `hold 50 why` and `close` come from outside.
 */
function after(steps: string): Breaker & { readonly told: readonly string[]; readonly refused: number } {
  let now = 0;
  const told: string[] = [];
  const clock: Clock = { now: () => now, setTimeout: () => expect.fail("no timer"), clearTimeout: () => {} };
  const onState = (state: string, by: string): number => told.push(`${state} ${by}`);
  const breaker = new Breaker({ faults: 3, coolDownMs: 100, maxCoolDownMs: 300, clock, onState });
  let refused = 0;
  let underWay: Permission | undefined;
  const leave = (permission: Permission | undefined, sign: string): void => {
    if (permission === undefined) refused += 1;
    else breaker.leave(permission, sign as HealthSign);
  };
  for (const step of steps.split(", ")) {
    const [verb = "", first = "", ...rest] = step.split(" ");
    if (/^\d+$/.test(verb)) now += Number(verb);
    else if (verb === "probe") leave(breaker.pass(), first);
    else if (verb === "enter") underWay = breaker.enter();
    else if (verb === "ends") leave(underWay, first);
    else if (verb === "hold") breaker.holdOpen(Number(first), rest.join(" ") || undefined);
    else if (verb === "close") breaker.close();
    else leave(breaker.enter(), verb);
  }
  return Object.assign(breaker, { told, refused });
}

const broken = "fault, fault, fault";

describe("a circuit breaker", () => {
  const cases: readonly (readonly [does: string, steps: string, then: object, waitMs: number])[] = [
    ["counts faults in a row only", "fault, fault, good, fault, fault", { state: "closed" }, 0],
    [
      "opens; what says nothing does not interrupt the row",
      "fault, fault, none, fault, good",
      { state: "open", refused: 1 },
      100,
    ],
    [
      "lets one trial through, which closes it",
      `${broken}, 100, enter, good, ends good, good`,
      { state: "closed", refused: 1, told: ["open own", "half-open own", "closed own"] },
      0,
    ],
    ["cools down for longer after a failed trial", `${broken}, 100, fault`, { state: "open" }, 200],
    ["and longer again, up to a limit", `${broken}, 100, fault, 200, fault, 300, fault`, { state: "open" }, 300],
    [
      "gives the trial to the next request when it says nothing",
      `${broken}, 100, none, good`,
      { state: "closed", refused: 0 },
      0,
    ],
    ["ignores requests from before the opening that end late", `enter, ${broken}, ends good`, { state: "open" }, 100],
    [
      "is held open from outside",
      "hold 5000 down since noon, good",
      { state: "open", reason: "down since noon", refused: 1 },
      5_000,
    ],
    [
      "then lets one trial decide",
      "hold 5000 down, 5000, good",
      { state: "closed", reason: undefined, told: ["open outside", "half-open own", "closed own"] },
      0,
    ],
    ["never has a cool-down shortened by a hold", `${broken}, hold 50`, { told: ["open own"] }, 100],
    [
      "nor a hold by another one, whose reason counts",
      `${broken}, hold 1000 first, hold 400 second`,
      { reason: "second", told: ["open own"] },
      1_000,
    ],
    [
      "takes no notice of a moment that has passed",
      "10, hold 10 late",
      { state: "closed", reason: undefined, told: [] },
      0,
    ],
    [
      "opens anew by its own failed trial",
      "hold 1000 down, 1000, fault",
      { reason: undefined, told: ["open outside", "half-open own", "open own"] },
      200,
    ],
    [
      "held open over a trial under way hears it when it is good",
      `${broken}, 100, enter, hold 2000 down, good, ends good`,
      { state: "closed", refused: 1 },
      0,
    ],
    [
      "and stays held open when it fails",
      `${broken}, 100, enter, hold 2000 down, ends fault`,
      { state: "open", reason: "down" },
      1_900,
    ],
    [
      "closes from outside, and counts from the beginning",
      `${broken}, 100, fault, close, fault, fault`,
      { state: "closed" },
      0,
    ],
    [
      "with the first cool-down",
      `${broken}, 100, fault, close, ${broken}`,
      { told: ["open own", "half-open own", "open own", "closed outside", "open own"] },
      100,
    ],
    [
      "does not hear a trial that was under way when it was closed",
      `${broken}, 100, enter, close, ends fault`,
      { state: "closed" },
      0,
    ],
    ["is closed by a good probe", `${broken}, probe good`, { state: "closed", told: ["open own", "closed own"] }, 0],
    [
      "is not changed by other probes while it cools down",
      `${broken}, probe fault, probe none`,
      { state: "open" },
      100,
    ],
    [
      "is spared the trial by a probe that fails in its place",
      `${broken}, 100, probe fault, good`,
      { state: "open", refused: 1 },
      200,
    ],
    ["leaves a trial under way its say", `${broken}, 100, enter, probe fault, ends good`, { state: "closed" }, 0],
    ["counts probes like requests while it is closed", "probe fault, probe fault, probe fault", { state: "open" }, 100],
  ];
  it.each(cases)("%s", (_does, steps, then, waitMs) => {
    const breaker = after(steps);
    expect(breaker).toMatchObject(then);
    expect(breaker.waitMs()).toBe(waitMs);
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

describe("the faults of one run", () => {
  const clock: Clock = { now: () => 0, setTimeout: () => expect.fail("no timer"), clearTimeout: () => {} };
  const error = new FedwayError("ENDPOINT_FAILED", "secret", { fault: "http-5xx", upstreamStatus: 500 });
  const leave = (breaker: Breaker, sign: HealthSign, run: object): void =>
    breaker.leave({ trial: false }, sign, { run, error });

  it("are one, until the endpoint has answered", () => {
    const breaker = new Breaker({ faults: 2, coolDownMs: 100, maxCoolDownMs: 300, clock });
    const [one, other] = [{}, {}];
    for (let block = 0; block < 5; block++) leave(breaker, "fault", one);
    expect(breaker.state).toBe("closed");
    leave(breaker, "good", other);
    leave(breaker, "fault", one);
    expect(breaker.state).toBe("closed");
    leave(breaker, "fault", other);
    expect(breaker.state).toBe("open");
  });
  it("are told by their kind, not in the endpoint's words", () => {
    const breaker = new Breaker({ faults: 1, coolDownMs: 100, maxCoolDownMs: 300, clock });
    leave(breaker, "fault", {});
    expect(breaker.refusal().message).toContain("The endpoint failed (HTTP status 500)");
    expect(breaker.refusal().message).not.toContain("secret");
  });
});

describe("a trial", () => {
  /** A breaker that is due for a trial. */
  function due(): Breaker {
    let now = 0;
    const clock: Clock = { now: () => now, setTimeout: () => expect.fail("no timer"), clearTimeout: () => {} };
    const breaker = new Breaker({ faults: 1, coolDownMs: 100, maxCoolDownMs: 300, clock });
    breaker.leave({ trial: false }, "fault");
    now = 100;
    return breaker;
  }
  const cases: readonly (readonly [does: string, signs: readonly HealthSign[], state: string])[] = [
    ["closes with the first good one", ["good", "fault", "none"], "closed"],
    ["opens with the first fault", ["fault", "good", "none"], "open"],
    ["hears those that come after one that says nothing", ["none", "none", "good"], "closed"],
    ["goes to the next run when none says anything", ["none", "none", "none"], "half-open"],
  ];
  it.each(cases)("admits all requests of its run, and no other, and %s", (_does, signs, state) => {
    const breaker = due();
    const [run, other] = [{}, {}];
    const admitted = signs.map(() => breaker.enter(run));
    expect(admitted).not.toContain(undefined);
    expect([breaker.waitMs(run), breaker.waitMs(other), breaker.waitMs()]).toEqual([0, 100, 100]);
    expect([breaker.enter(other), breaker.enter()]).toEqual([undefined, undefined]);
    admitted.forEach((permission, index) => permission && breaker.leave(permission, signs[index] ?? "none", { run }));
    expect(breaker.state).toBe(state);
    expect(breaker.enter(other) !== undefined).toBe(state !== "open");
  });
  it("that the breaker was held open over has no say in the next one", () => {
    const breaker = due();
    const run = {};
    const early = breaker.enter(run);
    breaker.close();
    breaker.leave({ trial: false }, "fault");
    if (early) breaker.leave(early, "good");
    expect(breaker.state).toBe("open");
  });
});
