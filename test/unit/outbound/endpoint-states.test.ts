import { describe, expect, it } from "vitest";
import { type BreakerReport } from "../../../src/outbound/observer.ts";
import { systemClock } from "../../../src/clock.ts";
import { type EndpointState, EndpointStates } from "../../../src/outbound/endpoint-states.ts";

const make = (maxEndpoints: number): EndpointStates =>
  new EndpointStates({
    maxEndpoints,
    scheduler: { concurrency: 1, queueLimit: 1, clock: systemClock },
    breaker: { faults: 1, coolDownMs: 60_000, maxCoolDownMs: 60_000, clock: systemClock },
  });
const of = (states: EndpointStates, url: string): EndpointState => states.of({ url }, new URL(url));
const occupy = (state: EndpointState): void => {
  state.scheduler.take({ deadlineMs: 0, granted: () => {}, heldBack: () => {} });
};

describe("states", () => {
  it("are one for each origin and path", () => {
    const states = make(10);
    const state = of(states, "http://a.example/sparql");
    expect(of(states, "http://a.example:80/sparql?x=1#f")).toBe(state);
    expect(of(states, "http://a.example/other")).not.toBe(state);
    expect(of(states, "https://a.example/sparql")).not.toBe(state);
    expect(states.size).toBe(3);
  });
  it("are bounded: the longest unused idle one is forgotten", () => {
    const states = make(3);
    const first = of(states, "http://a.example/1");
    const second = of(states, "http://a.example/2");
    of(states, "http://a.example/3");
    of(states, "http://a.example/1");
    of(states, "http://a.example/4");
    expect(states.size).toBe(3);
    expect(of(states, "http://a.example/1")).toBe(first);
    expect(of(states, "http://a.example/2")).not.toBe(second);
  });
  it("are never forgotten while busy, and an open breaker only when nothing else is left", () => {
    const states = make(2);
    const busy = of(states, "http://a.example/busy");
    occupy(busy);
    const broken = of(states, "http://a.example/broken");
    const admission = broken.breaker.enter();
    if (admission !== undefined) broken.breaker.leave(admission, "fault");
    of(states, "http://a.example/other");
    expect(of(states, "http://a.example/busy")).toBe(busy);
    expect(of(states, "http://a.example/broken")).not.toBe(broken);
    for (let index = 0; index < 100; index += 1) of(states, `http://a.example/${index}`);
    expect(states.size).toBeLessThanOrEqual(2);
  });
});

describe("the breakers of states", () => {
  const reports: BreakerReport[] = [];
  const told = (maxEndpoints = 10) => {
    reports.length = 0;
    const states = make(maxEndpoints);
    const { breakers } = states;
    const ignore = breakers.onChange((report) => reports.push(report));
    return { states, breakers, ignore };
  };
  const soon = Date.now() + 3_600_000;

  it("are held open under the name of the endpoint, origin and path", () => {
    const { states, breakers } = told();
    breakers.holdOpen({ id: "a", url: "http://a.example/sparql?x=1" }, soon, "down");
    const { breaker } = of(states, "http://a.example/sparql");
    expect([breaker.state, breaker.reason]).toEqual(["open", "down"]);
    const url = "http://a.example/sparql";
    expect(reports).toEqual([{ endpoint: "a", id: "a", url, state: "open", openUntilMs: soon, by: "outside" }]);
  });
  it("are closed by their URL", () => {
    const { states, breakers } = told();
    breakers.holdOpen({ url: "http://a.example/sparql" }, soon);
    breakers.close("http://a.example/other");
    expect(of(states, "http://a.example/sparql").breaker.state).toBe("open");
    breakers.close("http://a.example/sparql");
    expect(of(states, "http://a.example/sparql").breaker.state).toBe("closed");
    const last = { endpoint: "unlisted", url: "http://a.example/sparql", state: "closed", by: "outside" };
    expect(reports.at(-1)).toEqual(last);
  });
  it("are not made for what is no URL or only to be closed, and are bounded like all states", () => {
    const { states, breakers } = told(3);
    breakers.holdOpen({ url: "no URL" }, soon);
    breakers.close("no URL");
    breakers.close("http://a.example/");
    expect(states.size).toBe(0);
    for (let index = 0; index < 10; index += 1) breakers.holdOpen({ url: `http://a.example/${index}` }, soon);
    expect(states.size).toBe(3);
  });
  it("tell a listener until it stops listening, and keep long reasons short", () => {
    const { states, breakers, ignore } = told();
    ignore();
    breakers.holdOpen({ url: "http://a.example/" }, soon, "x".repeat(5_000));
    expect(reports).toEqual([]);
    expect(of(states, "http://a.example/").breaker.reason).toHaveLength(300);
  });
});
