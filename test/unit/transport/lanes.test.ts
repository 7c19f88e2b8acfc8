import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/transport/clock.ts";
import { createLanes, type Lane, type Lanes } from "../../../src/transport/lanes.ts";

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
