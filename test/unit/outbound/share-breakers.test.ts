import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type SharedBreakersOptions, BreakerSharing } from "../../../src/outbound/share-breakers.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import type { HealthSign } from "../../../src/outbound/endpoint-states.ts";
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
  store = openSqliteStore({ path: ":memory:" });
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
  const sharing = new BreakerSharing({ breakers, store, clock, onFault: (fault) => faults.push(fault), ...options });
  closings.push(() => sharing.close());
  const stateOf = (at = url): EndpointState => states.of({ id: "a", url: at }, new URL(at));
  /** One request with this outcome; false when it was refused. */
  const request = (sign: HealthSign, at = url): boolean => {
    const { breaker } = stateOf(at);
    const permission = breaker.enter();
    if (permission !== undefined) breaker.leave(permission, sign);
    return permission !== undefined;
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
    expect(b.stateOf().breaker.waitMs()).toBe(9_000);
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
  it("there are 4,000 notices at most", async () => {
    const a = openProcess();
    for (let at = 0; at < 4_500; at += 1) a.request("fault", `http://a.example/${at}`);
    await looks(2);
    // The first is under way while the others wait.
    expect(await store.list(prefix, { limit: 10_000 })).toHaveLength(4_001);
    a.request("fault", "http://a.example/more");
    a.request("good", "http://a.example/0");
    await looks(1);
    expect(await store.list(prefix, { limit: 10_000 })).toHaveLength(4_001);
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
  it("so does one that could not read the store for a while", async () => {
    const [a, b] = [openProcess(), openProcess()];
    await looks(1);
    const get = vi.spyOn(store, "get").mockRejectedValue(new FedwayError("STORE_FAILED", "away"));
    a.request("fault");
    await looks(6);
    expect(b.state()).toBe("closed");
    get.mockRestore();
    a.request("fault", "http://b.example/");
    await looks(1);
    expect(b.stateOf().breaker.waitMs()).toBe(3_000);
  });
  it("a notice that is over but still there, for others to see, opens nothing", async () => {
    const a = openProcess();
    a.request("fault");
    await looks(15);
    const late = openProcess();
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
    expect(late.stateOf().breaker.waitMs()).toBeGreaterThan(9_000);
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
  it("when the store fails: nothing changes, it is told, and sharing goes on afterwards", async () => {
    const [a, b] = [openProcess(), openProcess()];
    const put = vi.spyOn(store, "put").mockRejectedValue(new FedwayError("STORE_FAILED", "away"));
    a.request("fault");
    await looks(5);
    expect([a.state(), b.state()]).toEqual(["open", "closed"]);
    expect([a.faults.length, b.faults.length]).toEqual([1, 0]);
    put.mockRestore();
    await looks(6);
    a.request("fault");
    await looks(1);
    expect(b.state()).toBe("open");
  });
  it.each([
    ["no JSON", "{"],
    ["no object", "null"],
    ["no URL", JSON.stringify({ openMs: 1_000, atMs: Date.now(), from: "x", nth: 1 })],
    ["a URL that is none", JSON.stringify({ url: "a.example", openMs: 1_000, atMs: Date.now(), from: "x", nth: 1 })],
    ["a negative time", JSON.stringify({ url, openMs: -1, atMs: Date.now(), from: "x", nth: 1 })],
    ["a time in words", JSON.stringify({ url, openMs: "long", atMs: Date.now(), from: "x", nth: 1 })],
    ["a name that is none", JSON.stringify({ url, id: {}, openMs: 1_000, atMs: Date.now(), from: "x", nth: 1 })],
    ["a moment in words", JSON.stringify({ url, openMs: 1_000, atMs: "noon", from: "x", nth: 1 })],
  ])("when a notice has %s", async (_what, text) => {
    const b = openProcess();
    await store.put(`${prefix}x`, text);
    await store.put(
      `${prefix}y`,
      JSON.stringify({ url: "http://b.example/", openMs: 5_000, atMs: Date.now(), from: "x", nth: 1 }),
    );
    await looks(2);
    expect(b.stateOf("http://b.example/").breaker.state).toBe("open");
    expect([b.state(), b.faults]).toEqual(["closed", []]);
  });
  it("when a notice names a year: ten minutes are the most", async () => {
    const b = openProcess();
    await store.put(
      `${prefix}x`,
      JSON.stringify({ url, openMs: 365 * 86_400_000, atMs: Date.now(), from: "x", nth: 1 }),
    );
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
  it("when they are closed: nothing is read, written or adopted any more", async () => {
    const a = openProcess();
    await looks(1);
    const [put, get] = [vi.spyOn(store, "put"), vi.spyOn(store, "get")];
    a.sharing.close();
    a.request("fault");
    await store.put(`${prefix}x`, JSON.stringify({ url, openMs: 0, from: "x", nth: 1 }));
    await looks(5);
    expect([put.mock.calls.length, get.mock.calls.length, a.state()]).toEqual([1, 0, "open"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
