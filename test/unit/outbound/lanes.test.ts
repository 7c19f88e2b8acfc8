import { describe, expect, it } from "vitest";
import { type BreakerReport, createBreakers } from "../../../src/outbound/breakers.ts";
import { systemClock } from "../../../src/clock.ts";
import { createLanes, type Lane, type Lanes } from "../../../src/outbound/lanes.ts";

const make = (maxLanes: number): Lanes =>
  createLanes({
    maxLanes,
    scheduler: { concurrency: 1, queueLimit: 1, clock: systemClock },
    breaker: { faults: 1, coolDownMs: 60_000, maxCoolDownMs: 60_000, clock: systemClock },
  });
const of = (lanes: Lanes, url: string): Lane => lanes.of({ url }, new URL(url));
const occupy = (lane: Lane): void => {
  lane.scheduler.take({ deadlineMs: 0, granted: () => {}, heldBack: () => {} });
};

describe("lanes", () => {
  it("are one for each origin and path", () => {
    const lanes = make(10);
    const lane = of(lanes, "http://a.example/sparql");
    expect(of(lanes, "http://a.example:80/sparql?x=1#f")).toBe(lane);
    expect(of(lanes, "http://a.example/other")).not.toBe(lane);
    expect(of(lanes, "https://a.example/sparql")).not.toBe(lane);
    expect(lanes.size).toBe(3);
  });
  it("are bounded: the longest unused idle one is forgotten", () => {
    const lanes = make(3);
    const first = of(lanes, "http://a.example/1");
    const second = of(lanes, "http://a.example/2");
    of(lanes, "http://a.example/3");
    of(lanes, "http://a.example/1");
    of(lanes, "http://a.example/4");
    expect(lanes.size).toBe(3);
    expect(of(lanes, "http://a.example/1")).toBe(first);
    expect(of(lanes, "http://a.example/2")).not.toBe(second);
  });
  it("are never forgotten while busy, and an open breaker only when nothing else is left", () => {
    const lanes = make(2);
    const busy = of(lanes, "http://a.example/busy");
    occupy(busy);
    const broken = of(lanes, "http://a.example/broken");
    const admission = broken.breaker.enter();
    if (admission !== undefined) broken.breaker.leave(admission, "fault");
    of(lanes, "http://a.example/other");
    expect(of(lanes, "http://a.example/busy")).toBe(busy);
    expect(of(lanes, "http://a.example/broken")).not.toBe(broken);
    for (let index = 0; index < 100; index += 1) of(lanes, `http://a.example/${index}`);
    expect(lanes.size).toBeLessThanOrEqual(2);
  });
});

describe("the breakers of lanes", () => {
  const reports: BreakerReport[] = [];
  const told = (maxLanes = 10) => {
    reports.length = 0;
    const listeners = new Set<(report: BreakerReport) => void>();
    const lanes = createLanes({
      maxLanes,
      scheduler: { concurrency: 1, queueLimit: 1, clock: systemClock },
      breaker: { faults: 1, coolDownMs: 60_000, maxCoolDownMs: 60_000, clock: systemClock },
      onBreaker: (report) => {
        for (const listener of listeners) listener(report);
      },
    });
    const breakers = createBreakers(lanes, listeners);
    const ignore = breakers.onChange((report) => reports.push(report));
    return { lanes, breakers, ignore };
  };
  const soon = Date.now() + 3_600_000;

  it("are held open under the name of the endpoint, origin and path", () => {
    const { lanes, breakers } = told();
    breakers.holdOpen({ id: "a", url: "http://a.example/sparql?x=1" }, soon, "down");
    const { breaker } = of(lanes, "http://a.example/sparql");
    expect([breaker.state, breaker.reason]).toEqual(["open", "down"]);
    const url = "http://a.example/sparql";
    expect(reports).toEqual([{ endpoint: "a", id: "a", url, state: "open", openUntilMs: soon, by: "outside" }]);
  });
  it("are closed by their URL", () => {
    const { lanes, breakers } = told();
    breakers.holdOpen({ url: "http://a.example/sparql" }, soon);
    breakers.close("http://a.example/other");
    expect(of(lanes, "http://a.example/sparql").breaker.state).toBe("open");
    breakers.close("http://a.example/sparql");
    expect(of(lanes, "http://a.example/sparql").breaker.state).toBe("closed");
    const last = { endpoint: "unlisted", url: "http://a.example/sparql", state: "closed", by: "outside" };
    expect(reports.at(-1)).toEqual(last);
  });
  it("are not made for what is no URL or only to be closed, and are bounded like all lanes", () => {
    const { lanes, breakers } = told(3);
    breakers.holdOpen({ url: "no URL" }, soon);
    breakers.close("no URL");
    breakers.close("http://a.example/");
    expect(lanes.size).toBe(0);
    for (let index = 0; index < 10; index += 1) breakers.holdOpen({ url: `http://a.example/${index}` }, soon);
    expect(lanes.size).toBe(3);
  });
  it("tell a listener until it stops listening, and keep long reasons short", () => {
    const { lanes, breakers, ignore } = told();
    ignore();
    breakers.holdOpen({ url: "http://a.example/" }, soon, "x".repeat(5_000));
    expect(reports).toEqual([]);
    expect(of(lanes, "http://a.example/").breaker.reason).toHaveLength(300);
  });
});
