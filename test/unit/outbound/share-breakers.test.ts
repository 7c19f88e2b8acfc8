import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type SharedBreakersOptions, shareBreakers } from "../../../src/outbound/share-breakers.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import type { HealthSign } from "../../../src/outbound/breaker.ts";
import { EndpointStates, type EndpointState } from "../../../src/outbound/endpoint-states.ts";
import type { BreakerReport } from "../../../src/outbound/observer.ts";
import { type Clock, systemClock } from "../../../src/clock.ts";

const url = "http://a.example/sparql";
const prefix = "breaker/";

let store: Store;
let closings: (() => void)[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(1_000_000);
  store = createMemoryStore();
});
afterEach(() => {
  for (const closing of closings.splice(0)) closing();
  vi.useRealTimers();
});

/** A process with the breakers of its client: one fault opens, for 10 s at first. */
function openProcess(options: Partial<SharedBreakersOptions> = {}) {
  const { clock = systemClock } = options;
  const reports: BreakerReport[] = [];
  const faults: unknown[] = [];
  const states = new EndpointStates({
    maxEndpoints: 100,
    scheduler: { concurrency: 1, queueLimit: 1, clock },
    breaker: { faults: 1, coolDownMs: 10_000, maxCoolDownMs: 60_000, clock },
    onBreaker: (report) => reports.push(report),
  });
  const { breakers } = states;
  const sharing = shareBreakers({ breakers, store, clock, onFault: (fault) => faults.push(fault), ...options });
  closings.push(() => sharing.close());
  const stateOf = (at = url): EndpointState => states.of({ id: "a", url: at }, new URL(at));
  /** One request with this outcome; false when it was refused. */
  const request = (sign: HealthSign, at = url): boolean => {
    const { breaker } = stateOf(at);
    const admission = breaker.enter();
    if (admission !== undefined) breaker.leave(admission, sign);
    return admission !== undefined;
  };
  return { breakers, sharing, reports, faults, request, stateOf, state: () => stateOf().breaker.state };
}

const looks = (count: number): Promise<unknown> => vi.advanceTimersByTimeAsync(count * 1_000);
const notices = async (): Promise<readonly unknown[]> =>
  (await store.list(prefix)).map(({ value }) => JSON.parse(value) as unknown);

describe("shared circuit breakers", () => {
  it("an endpoint that one process finds broken is left alone by the others", async () => {
    const [a, b] = [openProcess(), openProcess()];
    a.request("fault");
    await looks(1);
    expect([a.state(), b.state()]).toEqual(["open", "open"]);
    expect(a.stateOf().breaker.waitMs()).toBe(9_000);
    expect(b.request("good")).toBe(false);
    expect(b.reports).toMatchObject([{ endpoint: "a", url, state: "open", by: "outside" }]);
    expect(b.stateOf().breaker.waitMs()).toBeGreaterThan(9_000);
    expect(b.stateOf().breaker.waitMs()).toBeLessThanOrEqual(10_000);
  });
  it("what was adopted is not told again", async () => {
    const [a, b] = [openProcess(), openProcess()];
    const put = vi.spyOn(store, "put");
    a.request("fault");
    await looks(5);
    expect(b.state()).toBe("open");
    expect(put).toHaveBeenCalledTimes(1);
    expect(await notices()).toMatchObject([{ url, id: "a", openMs: 10_000 }]);
  });
  it("a trial that succeeds at one lets all back", async () => {
    const [a, b, c] = [openProcess(), openProcess(), openProcess()];
    a.request("fault");
    await looks(1);
    await looks(10);
    expect(b.request("good")).toBe(true);
    await looks(1);
    expect([a.state(), b.state(), c.state()]).toEqual(["closed", "closed", "closed"]);
    expect(a.reports.at(-1)).toMatchObject({ state: "closed", by: "outside" });
    expect(await notices()).toMatchObject([{ openMs: 0 }]);
  });
  it("a trial that fails at one keeps the others away for its longer cool-down", async () => {
    const [a, b] = [openProcess(), openProcess()];
    a.request("fault");
    await looks(11);
    a.request("fault");
    await looks(1);
    expect(b.stateOf().breaker.waitMs()).toBeGreaterThan(18_000);
    expect(b.request("good")).toBe(false);
  });
  it("a notice is adopted once: what a process sees itself afterwards holds", async () => {
    const [a, b] = [openProcess(), openProcess()];
    a.request("fault");
    await looks(1);
    a.sharing.close();
    b.breakers.close(url);
    await looks(5);
    expect(await notices()).toHaveLength(1);
    expect(b.state()).toBe("closed");
  });
  it("a process that comes later learns of it, too", async () => {
    const a = openProcess();
    a.request("fault");
    await looks(2);
    const late = openProcess();
    await looks(1);
    expect(late.request("good")).toBe(false);
  });
  it("a process that comes later holds it for what is left, not for the whole time again", async () => {
    const a = openProcess();
    a.request("fault");
    await looks(7);
    const late = openProcess();
    await looks(1);
    expect(late.stateOf().breaker.waitMs()).toBe(2_000);
    await looks(2);
    expect(late.request("good")).toBe(true);
  });
  it("so does one that could not look for a while", async () => {
    const [a, b] = [openProcess(), openProcess()];
    await looks(1);
    const list = vi.spyOn(store, "list").mockRejectedValue(new FedwayError("STORE_FAILED", "away"));
    a.request("fault");
    await looks(6);
    expect(b.state()).toBe("closed");
    list.mockRestore();
    await looks(1);
    expect(b.stateOf().breaker.waitMs()).toBe(3_000);
  });
  it("a notice that is over but still there, for others to see, opens nothing", async () => {
    const a = openProcess({ pollMs: 5_000 });
    a.request("fault");
    await looks(9);
    const late = openProcess({ pollMs: 5_000 });
    await looks(5);
    expect(await notices()).toHaveLength(1);
    expect([late.state(), late.reports]).toEqual(["closed", []]);
  });
  it.each([
    ["an hour ahead", 3_600_000],
    ["an hour behind", -3_600_000],
  ])("whose clock is %s does not know what is left, and takes the whole", async (_what, shiftMs) => {
    const a = openProcess();
    a.request("fault");
    await looks(7);
    const late = openProcess({ clock: { ...systemClock, now: () => Date.now() + shiftMs } });
    await looks(1);
    expect(late.stateOf().breaker.waitMs()).toBe(10_000);
  });
  it.each([
    ["seconds ahead", 4_000],
    ["seconds behind", -4_000],
  ])("who has looked all the time needs no clocks: one that is %s loses at most a look", async (_what, shiftMs) => {
    const [a, b] = [openProcess(), openProcess({ clock: { ...systemClock, now: () => Date.now() + shiftMs } })];
    await looks(3);
    a.request("fault");
    await looks(1);
    expect(b.stateOf().breaker.waitMs()).toBeGreaterThanOrEqual(9_000);
    expect(b.stateOf().breaker.waitMs()).toBeLessThanOrEqual(10_000);
  });
  it("do not depend on the clocks of processes being alike", async () => {
    const ahead: Clock = { ...systemClock, now: () => Date.now() + 3_600_000 };
    const [a, b] = [openProcess({ clock: ahead }), openProcess()];
    a.request("fault");
    await looks(1);
    expect(b.stateOf().breaker.waitMs()).toBeLessThanOrEqual(10_000);
    await looks(10);
    b.request("fault");
    await looks(1);
    expect(a.stateOf().breaker.waitMs()).toBeGreaterThan(10_000);
    expect(a.stateOf().breaker.waitMs()).toBeLessThanOrEqual(20_000);
  });
  it("notices of short cool-downs stay until the others have looked", async () => {
    const [a, b] = [openProcess({ pollMs: 60_000 }), openProcess({ pollMs: 60_000 })];
    a.request("fault");
    await looks(60);
    expect(b.state()).toBe("open");
  });
  it("only the last word on an endpoint is kept when the store is slow", async () => {
    const a = openProcess();
    const slow = Promise.withResolvers<void>();
    const put = vi.spyOn(store, "put").mockImplementationOnce(async () => {
      await slow.promise;
      return 1;
    });
    a.request("fault", "http://first.example/");
    for (let round = 0; round < 3; round += 1) {
      a.request("fault");
      await looks(round === 2 ? 0 : 60);
    }
    slow.resolve();
    await looks(0);
    expect(put).toHaveBeenCalledTimes(2);
    expect(await notices()).toMatchObject([{ url, openMs: 40_000 }]);
  });
});

describe("shared circuit breakers stay sound", () => {
  it("when the store fails: nothing changes, it is told once, and sharing goes on afterwards", async () => {
    const [a, b] = [openProcess(), openProcess()];
    const broken = async (): Promise<never> => {
      throw new FedwayError("STORE_FAILED", "away");
    };
    const put = vi.spyOn(store, "put").mockImplementation(broken);
    const list = vi.spyOn(store, "list").mockImplementation(broken);
    a.request("fault");
    await looks(5);
    expect([a.state(), b.state()]).toEqual(["open", "closed"]);
    expect([a.faults.length, b.faults.length]).toEqual([1, 1]);
    expect(list.mock.calls.length).toBeGreaterThan(4);
    put.mockRestore();
    list.mockRestore();
    await looks(6);
    a.request("fault");
    await looks(1);
    expect(b.state()).toBe("open");
    vi.spyOn(store, "list").mockImplementation(broken);
    await looks(3);
    expect(b.faults).toHaveLength(2);
  });
  it.each([
    ["no JSON", "{"],
    ["no object", "null"],
    ["no URL", JSON.stringify({ openMs: 1_000, from: "x", nth: 1 })],
    ["a URL that is none", JSON.stringify({ url: "a.example", openMs: 1_000, from: "x", nth: 1 })],
    ["a negative time", JSON.stringify({ url, openMs: -1, from: "x", nth: 1 })],
    ["a time in words", JSON.stringify({ url, openMs: "long", from: "x", nth: 1 })],
    ["a name that is none", JSON.stringify({ url, id: {}, openMs: 1_000, from: "x", nth: 1 })],
    ["a moment in words", JSON.stringify({ url, openMs: 1_000, atMs: "noon", from: "x", nth: 1 })],
  ])("when a notice has %s", async (_what, text) => {
    const b = openProcess();
    await store.put(`${prefix}x`, text);
    await store.put(`${prefix}y`, JSON.stringify({ url: "http://b.example/", openMs: 5_000, from: "x", nth: 1 }));
    await looks(2);
    expect(b.stateOf("http://b.example/").breaker.state).toBe("open");
    expect([b.state(), b.faults]).toEqual(["closed", []]);
  });
  it("when a notice names a year: ten minutes are the most", async () => {
    const b = openProcess();
    await store.put(`${prefix}x`, JSON.stringify({ url, openMs: 365 * 86_400_000, from: "x", nth: 1 }));
    await looks(1);
    expect(b.state()).toBe("open");
    expect(b.stateOf().breaker.waitMs()).toBeLessThanOrEqual(600_000);
  });
  it("when each process answers an endpoint itself: its failure is its own", async () => {
    const isLocal = (at: string): boolean => at === url;
    const [a, b] = [openProcess({ isLocal }), openProcess({ isLocal })];
    a.request("fault");
    a.request("fault", "http://b.example/");
    await looks(2);
    expect(await notices()).toMatchObject([{ url: "http://b.example/" }]);
    expect(b.state()).toBe("closed");
    await store.put(`${prefix}x`, JSON.stringify({ url, openMs: 5_000, from: "x", nth: 1 }));
    await looks(1);
    expect(b.state()).toBe("closed");
  });
  it("when they are closed: nothing is read or written any more", async () => {
    const a = openProcess();
    await looks(1);
    const [put, list] = [vi.spyOn(store, "put"), vi.spyOn(store, "list")];
    a.sharing.close();
    a.request("fault");
    await looks(5);
    expect([put.mock.calls, list.mock.calls]).toEqual([[], []]);
    expect(vi.getTimerCount()).toBe(0);
  });
  it("when they are closed during a look: what it finds is left", async () => {
    const b = openProcess();
    const found = Promise.withResolvers<Awaited<ReturnType<Store["list"]>>>();
    vi.spyOn(store, "list").mockReturnValueOnce(found.promise);
    await looks(1);
    b.sharing.close();
    found.resolve([
      { key: `${prefix}x`, version: 1, value: JSON.stringify({ url, openMs: 5_000, from: "x", nth: 1 }) },
    ]);
    await looks(5);
    expect([b.state(), vi.getTimerCount()]).toEqual(["closed", 0]);
  });
});
