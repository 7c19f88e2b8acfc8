import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { CatalogEntry } from "../../../src/registry/catalog.ts";
import { type Monitor, createMonitor, type MonitorOptions } from "../../../src/monitor/create-monitor.ts";
import type { MonitorEvent } from "../../../src/monitor/monitor.ts";
import { turnsBetween } from "../../../src/monitor/turns.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { createSimulatedClock, type SimulatedClock } from "../../support/simulated-clock.ts";

const startMs = Date.parse("2026-03-01T00:00:00Z");
const minuteMs = 60_000;
const settings = { enabled: true, everyMs: 10 * minuteMs, jitter: 0.1, incidentAfter: 3, recoveredAfter: 2 };
const ids = Array.from({ length: 30 }, (_, n) => `e${n}`);

let clock: SimulatedClock;
let store: Store;
let entries: CatalogEntry[];
let down: Set<string>;
/** Every probe that was really made: which process asked whom, and when. */
let probes: { readonly by: string; readonly endpoint: string; readonly atMs: number }[];
let faults: unknown[];
let events: MonitorEvent[];
const monitors: Monitor[] = [];

beforeEach(() => {
  clock = createSimulatedClock(startMs);
  store = openSqliteStore({ path: ":memory:", clock });
  entries = ids.map((id) => catalogEntry(id));
  down = new Set();
  probes = [];
  faults = [];
  events = [];
});
afterEach(async () => {
  const closed = Promise.all(monitors.splice(0).map((monitor) => monitor.close()));
  // Probes that do not hear the signal come to their own end.
  await clock.advance(minuteMs);
  await closed;
});

/** A process with a monitor; a second one over the same store is another process. */
async function start(name: string, more: Partial<MonitorOptions> = {}): Promise<Monitor> {
  const monitor = createMonitor({
    catalog: {
      get entries() {
        return entries;
      },
      byId: (id) => entries.find((entry) => entry.id === id),
    },
    store,
    async probe({ id }) {
      probes.push({ by: name, endpoint: id, atMs: clock.now() });
      return down.has(id) ? { ok: false, ms: 5, fault: "connect", tries: 2 } : { ok: true, ms: 5, tries: 1 };
    },
    clock,
    settings,
    work: true,
    soleOwner: false,
    owner: name,
    onFault: (error) => faults.push(error),
    ...more,
  });
  monitor.onEvent((event) => events.push(event));
  monitors.push(monitor);
  await monitor.start();
  return monitor;
}

/** Turns of a time: how many, and of how many endpoints. */
const turnsIn = (fromMs: number, toMs: number): number => turnsBetween(ids, settings, { fromMs, toMs }).length;

const earlyProbes = (): readonly string[] =>
  events.flatMap((event) => (event.kind === "probed" && event.observation.source === "early" ? [event.endpoint] : []));

describe("several processes", () => {
  it("probe each turn once, share the work, and know the same", async () => {
    const [one, two] = [await start("one"), await start("two", { tickMs: 1_300 })];
    await clock.advance(minuteMs);
    const from = clock.now();
    probes = [];
    await clock.advance(6 * settings.everyMs);
    expect(Math.abs(probes.length - turnsIn(from, clock.now()))).toBeLessThanOrEqual(1);
    for (const id of ids) {
      const own = probes.filter(({ endpoint }) => endpoint === id).map(({ atMs }) => atMs);
      const gaps = own.slice(1).map((atMs, index) => atMs - (own[index] ?? 0));
      expect(Math.min(...gaps)).toBeGreaterThan(0.7 * settings.everyMs);
    }
    const shares = ["one", "two"].map((name) => probes.filter(({ by }) => by === name).length);
    expect(Math.min(...shares)).toBeGreaterThan(10);
    await clock.advance(10_000);
    expect(one.all().map(({ state }) => state)).toEqual(ids.map(() => "up"));
    expect(two.all()).toEqual(one.all());
    expect(faults).toEqual([]);
  });

  it("an incident is opened, told and closed once", async () => {
    const told: string[] = [];
    const tell = async ({ kind, incident }: { kind: string; incident: { endpoint: string } }): Promise<void> => {
      told.push(`${kind} ${incident.endpoint}`);
    };
    const [one] = [await start("one", { tell }), await start("two", { tell, tickMs: 1_300 })];
    down.add("e3");
    await clock.advance(5 * settings.everyMs);
    expect(one.health("e3")).toMatchObject({ state: "down" });
    expect(told).toEqual(["incident-opened e3"]);
    const open = await one.incidents({ open: true });
    expect(open.map(({ endpoint }) => endpoint)).toEqual(["e3"]);
    down.clear();
    await clock.advance(4 * settings.everyMs);
    expect(told).toEqual(["incident-opened e3", "incident-closed e3"]);
    expect(await one.incidents({ open: true })).toEqual([]);
    const [incident] = await one.incidents();
    expect(incident).toMatchObject({ id: open[0]?.id, closedBy: "recovered", fault: "connect" });
    expect(await one.incident(incident?.id ?? "")).toEqual(incident);
    expect(events.filter(({ kind }) => kind !== "probed").map(({ kind }) => kind)).toEqual([
      "incident-opened",
      "incident-closed",
    ]);
  });

  it("one that only reads sees what the worker found, and hands on what its traffic tells", async () => {
    const reader = await start("web", { work: false });
    const worker = await start("worker");
    await clock.advance(settings.everyMs * 1.5);
    expect(probes.every(({ by }) => by === "worker")).toBe(true);
    expect(reader.health("e5")).toEqual(worker.health("e5"));
    expect(reader.heartbeat()).toMatchObject({ alive: true });
    probes = [];
    events = [];
    down.add("e5");
    for (let n = 0; n < 10; n += 1) reader.observeTraffic({ endpoint: "e5", outcome: "connect", ms: 10 });
    await clock.advance(6_000);
    expect(probes.filter(({ endpoint }) => endpoint === "e5").length).toBeGreaterThanOrEqual(1);
    expect(earlyProbes()).toHaveLength(1);
    await clock.advance(6_000);
    expect(reader.health("e5")).toMatchObject({ state: "up", streak: 1 });
  });

  it("traffic at all of them calls for one early probe in 30 s", async () => {
    const all = [await start("one"), await start("two"), await start("three")];
    await clock.advance(settings.everyMs * 1.5);
    probes = [];
    events = [];
    down.add("e1");
    for (let second = 0; second < 29; second += 1) {
      for (const one of all)
        for (let n = 0; n < 5; n += 1) one.observeTraffic({ endpoint: "e1", outcome: "reset", ms: 3 });
      await clock.advance(1_000);
    }
    expect(earlyProbes()).toHaveLength(1);
  });
});

describe("a process that ends", () => {
  it("is followed by one that knows what it knew, and probes no turn again", async () => {
    const first = await start("first", { soleOwner: true });
    down.add("e2");
    await clock.advance(4 * settings.everyMs);
    const known = first.all();
    await first.close();
    probes = [];
    const second = await start("second", { soleOwner: true });
    expect(second.all()).toEqual(known);
    expect(second.health("e2")?.state).toBe("down");
    await clock.advance(500);
    expect(probes).toEqual([]);
    down.clear();
    await clock.advance(5 * settings.everyMs);
    expect(second.health("e2")?.state).toBe("up");
    expect(await second.incidents()).toHaveLength(1);
  });

  it("has its probes aborted, and they count as nothing", async () => {
    let aborted = 0;
    const monitor = await start("one", {
      probe: (_, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted += 1;
            resolve({ ok: false, ms: 1, fault: "reset", tries: 1 });
          });
        }),
    });
    await clock.advance(settings.everyMs);
    await monitor.close();
    expect(aborted).toBeGreaterThan(20);
    expect(events).toEqual([]);
    expect(await store.list("monitor/health/")).toEqual([]);
  });

  it("before it told of an incident: the next one does", async () => {
    const told: string[] = [];
    const lost = await start("lost", { soleOwner: true, tell: () => Promise.reject(new Error("killed")) });
    down.add("e4");
    await clock.advance(5 * settings.everyMs);
    expect(lost.health("e4")?.state).toBe("down");
    await lost.close();
    expect(faults.length).toBeGreaterThan(0);
    const next = await start("next", { soleOwner: true, tell: async ({ kind }) => void told.push(kind) });
    await clock.advance(1_000);
    expect(told).toEqual(["incident-opened"]);
    await clock.advance(5 * minuteMs);
    expect(told).toEqual(["incident-opened"]);
    expect(await next.incidents({ endpoint: "e4" })).toHaveLength(1);
  });

  it("what it could not tell, another one tells after a while", async () => {
    const told: string[] = [];
    const tell = async ({ kind, incident }: { kind: string; incident: { id: string } }): Promise<void> => {
      told.push(`${kind} ${incident.id}`);
    };
    const lost = await start("lost", { tell: () => Promise.reject(new Error("no queue")) });
    down.add("e4");
    await clock.advance(5 * settings.everyMs);
    const open = lost.health("e4")?.incident ?? expect.fail("no incident");
    await lost.close();
    await start("other", { tell });
    await clock.advance(2 * minuteMs);
    expect(told).toEqual([`incident-opened ${open}`]);
    await clock.advance(5 * minuteMs);
    expect(told).toHaveLength(1);
  });
});

describe("a store that fails", () => {
  function breakable() {
    const state = { broken: false };
    const broken: Store = new Proxy(store, {
      get(target, name: keyof Store) {
        const method: unknown = target[name];
        if (typeof method !== "function" || name === "watch") return method;
        return async (...args: unknown[]): Promise<unknown> => {
          if (state.broken) throw new FedwayError("STORE_FAILED", "The store is away.");
          return Reflect.apply(method, target, args);
        };
      },
    });
    return { state, broken };
  }

  it("for a while: no false state, no storm, and it goes on by itself", async () => {
    const { state, broken } = breakable();
    const monitor = await start("one", { store: broken });
    await clock.advance(2 * settings.everyMs);
    state.broken = true;
    probes = [];
    await clock.advance(5 * settings.everyMs);
    expect(probes).toEqual([]);
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.length).toBeLessThan(300);
    expect(new Set(monitor.all().map((health) => health.state))).toEqual(new Set(["unknown"]));
    expect(monitor.heartbeat().alive).toBe(false);
    state.broken = false;
    await clock.advance(70_000);
    expect(probes.length).toBeLessThanOrEqual(ids.length + 10);
    expect(probes.length).toBeGreaterThan(ids.length * 0.8);
    await clock.advance(settings.everyMs * 1.2);
    expect(new Set(monitor.all().map((health) => health.state))).toEqual(new Set(["up"]));
    const [gap, ...others] = monitor.heartbeat().gaps;
    expect(others).toEqual([]);
    expect((gap?.toMs ?? 0) - (gap?.fromMs ?? 0)).toBeGreaterThan(4.9 * settings.everyMs);
  });

  it("in the middle of a probe: what was found is stored when it is back", async () => {
    const { state, broken } = breakable();
    entries = entries.slice(0, 5);
    const monitor = await start("one", {
      store: broken,
      async probe() {
        state.broken = true;
        return { ok: true, ms: 5, tries: 1 };
      },
      atOnce: 1,
    });
    await clock.advance(500);
    expect(await store.list("monitor/health/")).toEqual([]);
    state.broken = false;
    await clock.advance(2_000);
    expect((await store.list("monitor/health/")).length).toBeGreaterThanOrEqual(1);
    expect(monitor.all().filter((health) => health.state === "up").length).toBeGreaterThanOrEqual(1);
    state.broken = false;
  });

  it("that is emptied: everything is learnt anew", async () => {
    const monitor = await start("one");
    down.add("e1");
    await clock.advance(5 * settings.everyMs);
    expect(monitor.health("e1")?.state).toBe("down");
    for (const { key } of await store.list("monitor/")) await store.delete(key);
    await clock.advance(5_500);
    expect(monitor.all().filter(({ last }) => last !== undefined && last.atMs < clock.now() - 6_000)).toEqual([]);
    down.clear();
    await clock.advance(2 * settings.everyMs);
    expect(new Set(monitor.all().map((health) => health.state))).toEqual(new Set(["up"]));
  });
});

describe("a clock that jumps", () => {
  it.each([
    ["a day ahead", 86_400_000],
    ["a day back", -86_400_000],
    ["an hour back", -3_600_000],
  ])("%s: probing goes on, each endpoint about once an interval", async (_, shiftMs) => {
    const monitor = await start("one");
    await clock.advance(3 * settings.everyMs);
    clock.set(clock.now() + shiftMs);
    probes = [];
    await clock.advance(4 * settings.everyMs);
    const expected = ids.length * 4;
    expect(probes.length).toBeGreaterThan(expected - ids.length * 0.5);
    expect(probes.length).toBeLessThan(expected + ids.length * 1.5);
    expect(new Set(monitor.all().map(({ state }) => state))).toEqual(new Set(["up"]));
    expect(await monitor.incidents()).toEqual([]);
    expect(monitor.heartbeat().alive).toBe(true);
  });
});

describe("the catalogue", () => {
  it("an endpoint that moves begins anew, and its incident is closed", async () => {
    const monitor = await start("one");
    down.add("e7");
    await clock.advance(5 * settings.everyMs);
    entries = entries.map((entry) => (entry.id === "e7" ? { ...entry, url: "http://moved.example/sparql" } : entry));
    expect(monitor.health("e7")).toMatchObject({ url: "http://moved.example/sparql", state: "unknown", hours: [] });
    down.clear();
    await clock.advance(2 * settings.everyMs);
    expect(monitor.health("e7")).toMatchObject({ state: "up" });
    const [incident] = await monitor.incidents({ endpoint: "e7" });
    expect(incident).toMatchObject({ url: "http://e7.example/sparql", closedBy: "moved" });
    const windows = (await monitor.availability("e7"))?.windows ?? [];
    expect(windows.map(({ faults: kinds }) => kinds)).toEqual(windows.map(() => ({})));
    expect(windows.length).toBe(4);
  });

  it("one that is removed is forgotten, and its incident is closed", async () => {
    const told: string[] = [];
    const monitor = await start("one", {
      tell: async ({ kind, incident }) => void told.push(`${kind} ${incident.closedBy ?? ""}`),
    });
    down.add("e7");
    await clock.advance(5 * settings.everyMs);
    await monitor.addMaintenance({ endpoint: "e7", fromMs: clock.now() + 1_000_000, toMs: clock.now() + 2_000_000 });
    entries = entries.filter(({ id }) => id !== "e7");
    await monitor.remove("e7");
    expect(monitor.health("e7")).toBeUndefined();
    expect(await monitor.availability("e7")).toBeUndefined();
    expect(await monitor.maintenance()).toEqual([]);
    expect(told).toEqual(["incident-opened ", "incident-closed removed"]);
    expect(await store.get("monitor/health/e7")).toBeUndefined();
    expect(await monitor.incidents({ endpoint: "e7" })).toMatchObject([{ closedBy: "removed" }]);
    await expect(monitor.addMaintenance({ endpoint: "e7", fromMs: 1, toMs: 2 })).rejects.toMatchObject({
      code: "ENDPOINT_UNKNOWN",
    });
  });

  it("one that is new is probed at once", async () => {
    let changed = (): void => {};
    await start("one", {
      catalog: {
        get entries() {
          return entries;
        },
        byId: (id) => entries.find((entry) => entry.id === id),
        onChange(listener) {
          changed = listener;
          return () => {};
        },
      },
    });
    await clock.advance(2 * settings.everyMs);
    entries = [...entries, catalogEntry("new")];
    changed();
    await clock.advance(100);
    expect(probes.at(-1)).toMatchObject({ endpoint: "new", atMs: clock.now() - 100 });
  });
});

it("upkeep closes what nobody knows of, and forgets those that are gone", async () => {
  const monitor = await start("one");
  await clock.advance(3 * settings.everyMs);
  entries = entries.filter(({ id }) => id !== "e0");
  await clock.advance(25 * 60 * minuteMs);
  const run = monitor.kinds[0]?.run ?? expect.fail("no job");
  const context = { id: "x", attempt: 1, signal: new AbortController().signal, progress: () => {}, children: [] };
  expect(await run({}, context)).toEqual({ gone: 1, orphans: 0, pruned: 0 });
  expect(await store.get("monitor/health/e0")).toBeUndefined();
  const [day] = (await monitor.availability("e1"))?.windows ?? [];
  expect(day).toMatchObject({ window: "24h", uptime: 1 });
  expect(day?.probes).toBeGreaterThan(140);
  expect(monitor.schedules.map(({ kind }) => kind)).toEqual(monitor.kinds.map(({ name }) => name));
});

it("maintenance: probes count nowhere, and what was before goes on after it", async () => {
  const monitor = await start("one");
  await clock.advance(3 * settings.everyMs);
  const { toMs } = await monitor.addMaintenance({
    endpoint: "e9",
    fromMs: clock.now(),
    toMs: clock.now() + 10 * settings.everyMs,
  });
  down.add("e9");
  down.add("e8");
  await clock.advance(9 * settings.everyMs);
  expect(monitor.health("e9")).toMatchObject({ state: "up", streak: 0, maintenanceUntilMs: toMs, last: { ok: false } });
  expect(monitor.health("e8")?.state).toBe("down");
  expect((await monitor.incidents()).map(({ endpoint }) => endpoint)).toEqual(["e8"]);
  expect((await monitor.availability("e9"))?.windows[0]?.uptime).toBe(1);
  await clock.advance(5 * settings.everyMs);
  expect(monitor.health("e9")?.state).toBe("down");
  expect(monitor.health("e9")?.maintenanceUntilMs).toBeUndefined();
});

it("switched off, it calls nothing down that was down before", async () => {
  const before = await start("one");
  down.add("e3");
  await clock.advance(5 * settings.everyMs);
  expect(before.health("e3")).toMatchObject({ state: "down" });
  await before.close();
  const after = await start("two", { settings: { ...settings, enabled: false } });
  expect(after.health("e3")).toMatchObject({ state: "unknown", streak: 0, last: { ok: false } });
  expect(after.health("e3")).not.toHaveProperty("incident");
});

it("switched off, it probes nothing and says so", async () => {
  const monitor = await start("one", { settings: { ...settings, enabled: false } });
  monitor.observeTraffic({ endpoint: "e1", outcome: "ok", ms: 1 });
  await clock.advance(3 * settings.everyMs);
  expect(probes).toEqual([]);
  expect(monitor.heartbeat()).toEqual({ enabled: false, gaps: [], alive: true });
  expect(new Set(monitor.all().map(({ state }) => state))).toEqual(new Set(["unknown"]));
  expect(await store.list("monitor/")).toEqual([]);
});

it("endpoints of one host are probed one after the other, and what finds no time is dropped", async () => {
  entries = ids.map((id) => catalogEntry(id, { url: `http://shared.example/${id}` }));
  let atOnce = 0;
  let most = 0;
  const dropped: string[] = [];
  await start("one", {
    onDropped: (endpoint) => dropped.push(endpoint),
    async probe() {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise<void>((resolve) => clock.setTimeout(resolve, 30_000));
      atOnce -= 1;
      return { ok: true, ms: 30_000, tries: 1 };
    },
  });
  await clock.advance(4 * settings.everyMs);
  expect(most).toBe(1);
  expect(dropped.length).toBeGreaterThan(5);
});

it("a store whose answers are lost: what it took is not counted twice, and is told", async () => {
  const state = { loses: false };
  const lossy: Store = {
    ...store,
    async put(key, value, options) {
      const version = await store.put(key, value, options);
      if (state.loses && key === "monitor/health/e4") {
        state.loses = false;
        throw new FedwayError("STORE_FAILED", "It was written, but nobody could say so.");
      }
      return version;
    },
  };
  const told: string[] = [];
  const monitor = await start("one", { store: lossy, tell: async ({ kind }) => void told.push(kind) });
  down.add("e4");
  await clock.advance(1_000);
  for (let turn = 0; turn < 4; turn += 1) {
    state.loses = true;
    await clock.advance(settings.everyMs);
  }
  await clock.advance(2 * minuteMs);
  const made = probes.filter(({ endpoint }) => endpoint === "e4").length;
  expect(made).toBeGreaterThanOrEqual(4);
  const hours = monitor.health("e4")?.hours ?? [];
  expect(hours.reduce((sum, hour) => sum + hour.probes, 0)).toBe(made);
  expect((await monitor.availability("e4"))?.windows[0]?.probes).toBe(made);
  expect(told).toEqual(["incident-opened"]);
});
