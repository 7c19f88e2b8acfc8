import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import type { CatalogEntry } from "../../../src/registry/catalog.ts";
import { type Monitor, createMonitor, type MonitorOptions } from "../../../src/monitor/create-monitor.ts";
import type { Incident } from "../../../src/monitor/monitor.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { createSimulatedClock, type SimulatedClock } from "../../support/simulated-clock.ts";

const startMs = Date.parse("2026-03-01T00:00:00Z");
const minuteMs = 60_000;
const settings = { enabled: true, everyMs: 10 * minuteMs, jitter: 0.1, incidentAfter: 3, recoveredAfter: 2 };
const ids = ["a", "b", "c"];

let clock: SimulatedClock;
let store: Store;
let entries: readonly CatalogEntry[];
let down: Set<string>;
/** What listeners heard and what was told to receivers: `kind endpoint`, with the process. */
let heard: string[];
let told: string[];
let faults: unknown[];
const monitors: Monitor[] = [];

beforeEach(() => {
  clock = createSimulatedClock(startMs);
  store = openSqliteStore({ path: ":memory:", clock });
  entries = ids.map((id) => catalogEntry(id));
  [heard, told, faults] = [[], [], []];
  down = new Set();
});
afterEach(async () => {
  await Promise.all(monitors.splice(0).map((monitor) => monitor.close()));
});

/** A process with a monitor and the catalogue of now; a second one over the same store is another process. */
async function start(name: string, more: Partial<MonitorOptions> = {}): Promise<Monitor> {
  const own = entries;
  const monitor = createMonitor({
    catalog: { entries: own, byId: (id) => own.find((entry) => entry.id === id) },
    store,
    probe: async ({ id }) =>
      down.has(id) ? { ok: false, ms: 5, fault: "connect", tries: 2 } : { ok: true, ms: 5, tries: 1 },
    clock,
    settings,
    work: true,
    soleOwner: false,
    owner: name,
    tell: async ({ kind, incident }) => void told.push(`${kind} ${incident.endpoint}`),
    onFault: (error) => faults.push(error),
    ...more,
  });
  monitor.onEvent((event) => {
    if (event.kind !== "probed") heard.push(`${event.kind} ${event.incident.endpoint}`);
  });
  monitors.push(monitor);
  await monitor.start();
  return monitor;
}

/** A catalogue that changes while a process runs. */
const live: MonitorOptions["catalog"] = {
  get entries() {
    return entries;
  },
  byId: (id) => entries.find((entry) => entry.id === id),
};

/** A process that has found "b" down and has ended. */
async function leaveIncident(more: Partial<MonitorOptions> = {}): Promise<Incident> {
  const before = await start("before", more);
  down.add("b");
  await clock.advance(5 * settings.everyMs);
  const [incident] = await before.incidents({ open: true });
  expect(heard).toEqual(["incident-opened b"]);
  await before.close();
  [heard, told] = [[], []];
  return incident ?? expect.fail("there is no incident");
}

const withoutB = (): void => {
  entries = entries.filter(({ id }) => id !== "b");
};
const minutes = (count: number): Promise<void> => clock.advance(count * minuteMs);
const closedOnce = ["incident-closed b"];

describe("an endpoint that is removed while its incident is open", () => {
  it("is told of once in the process, and counted", async () => {
    const monitor = await start("one", { catalog: live });
    const metrics = createMetrics();
    monitor.onEvent((event) => metrics.observeMonitor(event));
    down.add("b");
    await clock.advance(5 * settings.everyMs);
    withoutB();
    await monitor.remove("b");
    await monitor.remove("b");
    expect(heard).toEqual(["incident-opened b", ...closedOnce]);
    expect(told).toEqual(["incident-opened b", ...closedOnce]);
    expect(await metrics.render()).toContain('fedway_incidents_total{event="closed"} 1');
  });

  it("is told of by one process of several", async () => {
    const [one, two] = [await start("one", { catalog: live }), await start("two", { catalog: live })];
    down.add("b");
    await clock.advance(5 * settings.everyMs);
    expect(two.health("b")?.state).toBe("down");
    [heard, told] = [[], []];
    withoutB();
    await Promise.all([one.remove("b"), two.remove("b")]);
    expect(heard).toEqual(closedOnce);
    await minutes(2);
    expect(new Set(told)).toEqual(new Set(closedOnce));
    expect(await store.get("monitor/health/b")).toBeUndefined();
  });
});

describe("an endpoint that left the catalogue while nothing ran", () => {
  it("has its incident closed at the start, once, and the reason said", async () => {
    const incident = await leaveIncident({ soleOwner: true });
    withoutB();
    const after = await start("after", { soleOwner: true });
    await clock.advance(1_000);
    expect(await after.incidents({ open: true })).toEqual([]);
    const closed = { id: incident.id, closedBy: "removed", closedMs: clock.now() - 1_000 };
    expect(await after.incidents()).toMatchObject([closed]);
    expect([heard, told]).toEqual([closedOnce, closedOnce]);
    await minutes(30);
    await after.close();
    await start("again", { soleOwner: true });
    await minutes(30);
    expect([heard, told, faults]).toEqual([closedOnce, closedOnce, []]);
  });

  it("is told of once by several processes that start together", async () => {
    await leaveIncident();
    withoutB();
    await minutes(2);
    await Promise.all([start("one"), start("two"), start("three")]);
    await clock.advance(1_000);
    expect(heard).toEqual(closedOnce);
    await minutes(40);
    expect([heard, told]).toEqual([closedOnce, closedOnce]);
  });

  it("keeps its record, and goes on from it when it comes back", async () => {
    await leaveIncident({ soleOwner: true });
    const all = entries;
    withoutB();
    const without = await start("without", { soleOwner: true });
    await minutes(60);
    await without.close();
    entries = all;
    const back = await start("back", { soleOwner: true });
    expect(back.health("b")).toMatchObject({ state: "unknown", streak: 0 });
    expect(back.health("b")?.incident).toBeUndefined();
    expect(back.health("b")?.hours.length).toBeGreaterThan(0);
    await clock.advance(4 * settings.everyMs);
    expect(back.health("b")?.state).toBe("down");
    expect(heard).toEqual([...closedOnce, "incident-opened b"]);
    expect(new Set((await back.incidents({ endpoint: "b" })).map(({ id }) => id)).size).toBe(2);
  });

  it("is made up for when the store fails at that moment", async () => {
    await leaveIncident({ soleOwner: true });
    withoutB();
    let broken = true;
    const failing: Store = {
      ...store,
      async put(key, value, options) {
        if (broken && key === "monitor/health/b") throw new FedwayError("STORE_FAILED", "The store is full.");
        return store.put(key, value, options);
      },
    };
    await start("after", { soleOwner: true, store: failing });
    await minutes(1);
    expect([heard, told]).toEqual([[], []]);
    expect(faults.length).toBeGreaterThan(0);
    broken = false;
    await minutes(1);
    expect([heard, told]).toEqual([closedOnce, closedOnce]);
  });

  it("is left alone by a process that only reads", async () => {
    await leaveIncident();
    withoutB();
    await minutes(2);
    const reader = await start("web", { work: false });
    await minutes(60);
    expect([heard, told]).toEqual([[], []]);
    expect(await reader.incidents({ open: true })).toHaveLength(1);
  });
});

it("an endpoint that another process still has and probes is left to it; once nobody does, it is closed", async () => {
  const old = await start("old");
  down.add("b");
  await clock.advance(5 * settings.everyMs);
  [heard, told] = [[], []];
  withoutB();
  await start("new");
  await minutes(60);
  expect([heard, told]).toEqual([[], []]);
  expect(old.health("b")?.state).toBe("down");
  await old.close();
  await minutes(45);
  expect([heard, told]).toEqual([closedOnce, closedOnce]);
});
