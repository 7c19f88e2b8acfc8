import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FaultKind } from "../../../src/errors/fedway-error.ts";
import { type Monitor, createMonitor, type MonitorOptions } from "../../../src/monitor/create-monitor.ts";
import type { Incident, MonitorEvent } from "../../../src/monitor/monitor.ts";
import type { CatalogEntry } from "../../../src/registry/catalog.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { createSimulatedClock, type SimulatedClock } from "../../support/simulated-clock.ts";

const startMs = Date.parse("2026-03-01T00:00:00Z");
const minuteMs = 60_000;
const settings = { enabled: true, everyMs: 15 * minuteMs, jitter: 0.1, incidentAfter: 3, recoveredAfter: 2 };

let clock: SimulatedClock;
let store: Store;
let entries: readonly CatalogEntry[];
/** Endpoints that fail by themselves, and how. */
let broken: Map<string, FaultKind>;
/** How the network fails, and for whom. */
let lost: { readonly fault: FaultKind; readonly spares?: (id: string) => boolean } | undefined;
let told: string[];
let events: MonitorEvent[];
let faults: unknown[];
const monitors: Monitor[] = [];

beforeEach(() => {
  clock = createSimulatedClock(startMs);
  store = openSqliteStore({ path: ":memory:", clock });
  entries = Array.from({ length: 60 }, (_, n) => catalogEntry(`e${n}`));
  [broken, lost, told, events, faults] = [new Map(), undefined, [], [], []];
});
afterEach(async () => {
  await Promise.all(monitors.splice(0).map((monitor) => monitor.close()));
});

const isOwn = (entry: CatalogEntry): boolean => entry.url.startsWith("http://127.");

async function start(name: string, more: Partial<MonitorOptions> = {}): Promise<Monitor> {
  const monitor = createMonitor({
    catalog: {
      get entries() {
        return entries;
      },
      byId: (id) => entries.find((entry) => entry.id === id),
    },
    store,
    async probe(entry) {
      const own = broken.get(entry.id);
      const fault = own ?? (lost !== undefined && !isOwn(entry) && !lost.spares?.(entry.id) ? lost.fault : undefined);
      return fault === undefined ? { ok: true, ms: 5, tries: 1 } : { ok: false, ms: 5, fault, tries: 2 };
    },
    clock,
    settings,
    work: true,
    soleOwner: true,
    tickMs: 10_000,
    owner: name,
    tell: async ({ kind, incident }) => void told.push(`${kind.replace("incident-", "")} ${incident.endpoint}`),
    onFault: (error) => faults.push(error),
    ...more,
  });
  monitor.onEvent((event) => events.push(event));
  monitors.push(monitor);
  await monitor.start();
  return monitor;
}

const minutes = (count: number): Promise<void> => clock.advance(count * minuteMs);
const states = (monitor: Monitor): readonly string[] =>
  [...new Set(monitor.all().map(({ state }) => state))].toSorted();

/** Uptime of the last 30 days by endpoint; those without a probe left out. */
async function uptimes(monitor: Monitor): Promise<readonly number[]> {
  const all = await Promise.all(entries.map(({ id }) => monitor.availability(id)));
  return all.flatMap((one) => one?.windows.find(({ window }) => window === "30d")?.uptime ?? []);
}

/** Every observed turn is in the hours of the state as it is in the history. */
async function expectHoursToAgree(monitor: Monitor): Promise<void> {
  for (const { id } of entries) {
    const { health, windows } = (await monitor.availability(id)) ?? expect.fail("unknown");
    const { probes, good } = windows[0] ?? expect.fail("no window");
    const sum = (of: "probes" | "good"): number => health.hours.reduce((total, hour) => total + hour[of], 0);
    expect({ id, probes: sum("probes"), good: sum("good") }).toEqual({ id, probes, good });
  }
}

describe("a service that loses its network", () => {
  const kinds: readonly FaultKind[] = ["dns", "connect", "timeout"];
  it.each(kinds)("by %s: one incident, nobody is down, uptime stays whole, and it closes by itself", async (fault) => {
    const monitor = await start("one");
    await minutes(60);
    lost = { fault };
    await minutes(3);
    expect(monitor.heartbeat().offline).toMatchObject({ sinceMs: expect.any(Number) });
    await minutes(2 * 60);
    expect(states(monitor)).toEqual(["unknown"]);
    const [incident, ...others] = await monitor.incidents();
    expect(others).toEqual([]);
    expect(incident).toMatchObject({ endpoint: "_network", fault });
    expect(incident?.closedMs).toBeUndefined();
    expect(Math.abs((incident?.startedMs ?? 0) - (startMs + 60 * minuteMs))).toBeLessThan(minuteMs);
    expect(told).toEqual(["opened _network"]);
    lost = undefined;
    await minutes(2);
    expect(monitor.heartbeat().offline).toBeUndefined();
    await minutes(20);
    expect(states(monitor)).toEqual(["up"]);
    await minutes(60);
    expect(told).toEqual(["opened _network", "closed _network"]);
    expect(await monitor.incident(incident?.id ?? "")).toMatchObject({ closedBy: "recovered" });
    expect(new Set(await uptimes(monitor))).toEqual(new Set([1]));
    await expectHoursToAgree(monitor);
    expect(faults).toEqual([]);
  });

  it("before its first start: nothing is ever down, and nothing has an uptime of 0", async () => {
    lost = { fault: "dns" };
    const monitor = await start("one");
    await minutes(90);
    expect(told).toEqual(["opened _network"]);
    expect(states(monitor)).toEqual(["unknown"]);
    expect(await uptimes(monitor)).toEqual([]);
    lost = undefined;
    await minutes(30);
    expect([told.length, states(monitor)]).toEqual([2, ["up"]]);
    expect(new Set(await uptimes(monitor))).toEqual(new Set([1]));
    await expectHoursToAgree(monitor);
  });

  it("what was down before stays down, and what is the operator's own is probed as ever", async () => {
    entries = [...entries, catalogEntry("own", { url: "http://127.0.0.1:8890/sparql" })];
    broken.set("e7", "connect").set("e8", "http-5xx");
    const monitor = await start("one");
    await minutes(90);
    expect(told.toSorted()).toEqual(["opened e7", "opened e8"]);
    lost = { fault: "dns" };
    await minutes(60);
    expect(["e7", "e8", "e9", "own"].map((id) => monitor.health(id)?.state)).toEqual(["down", "down", "unknown", "up"]);
    broken.set("own", "reset");
    await minutes(60);
    expect(monitor.health("own")?.state).toBe("down");
    lost = undefined;
    await minutes(60);
    expect(["e7", "e8", "e9"].map((id) => monitor.health(id)?.state)).toEqual(["down", "down", "up"]);
    expect(told.slice(2)).toEqual(["opened _network", "opened own", "closed _network"]);
    const counted = (await monitor.availability("e7"))?.windows[0] ?? expect.fail("none");
    expect(counted.probes).toBeLessThanOrEqual(11);
  });

  it("is told from a large part of the hosts, though some answer still", async () => {
    const monitor = await start("one");
    await minutes(60);
    lost = { fault: "timeout", spares: (id) => Number(id.slice(1)) % 10 === 0 };
    await minutes(90);
    expect(told).toEqual(["opened _network"]);
    expect(monitor.health("e10")?.state).toBe("up");
    expect(monitor.health("e11")?.state).toBe("unknown");
    lost = undefined;
    await minutes(60);
    expect(told).toEqual(["opened _network", "closed _network"]);
  });

  it("is not told from a part of the hosts, nor from one owner's, nor from answers that are errors", async () => {
    entries = [
      ...entries.slice(0, 30),
      ...Array.from({ length: 30 }, (_, n) => catalogEntry(`s${n}`, { url: `http://s${n}.shared.example/sparql` })),
    ];
    const monitor = await start("one");
    await minutes(60);
    for (const { id } of entries.slice(0, 15)) broken.set(id, "connect");
    for (const { id } of entries.slice(30)) broken.set(id, "dns");
    await minutes(60);
    expect(monitor.heartbeat().offline).toBeUndefined();
    expect(monitor.all().filter(({ state }) => state === "down")).toHaveLength(45);
    broken = new Map(entries.map(({ id }) => [id, "http-5xx"]));
    await minutes(60);
    expect(monitor.heartbeat().offline).toBeUndefined();
    expect(monitor.all().filter(({ state }) => state === "down")).toHaveLength(60);
  });

  it("though one fault opens an incident, and traffic calls for early probes", async () => {
    const monitor = await start("one", { settings: { ...settings, incidentAfter: 1 } });
    await minutes(60);
    lost = { fault: "connect" };
    for (let second = 0; second < 180; second += 5) {
      for (let n = 0; n < 5; n += 1) monitor.observeTraffic({ endpoint: "e1", outcome: "connect", ms: 3 });
      await clock.advance(5_000);
    }
    await minutes(60);
    expect(told).toEqual(["opened _network"]);
    lost = undefined;
    await minutes(60);
    expect(told).toEqual(["opened _network", "closed _network"]);
    broken.set("e3", "dns");
    await minutes(35);
    expect(told.slice(2)).toEqual(["opened e3"]);
  });

  it.each([4, 5, 8])("with no more than %i hosts to ask", async (hosts) => {
    entries = entries.slice(0, hosts);
    const monitor = await start("one");
    await minutes(60);
    lost = { fault: "dns" };
    await minutes(120);
    expect(told).toEqual(["opened _network"]);
    expect(states(monitor)).toEqual(["unknown"]);
    lost = undefined;
    await minutes(60);
    expect(told).toEqual(["opened _network", "closed _network"]);
    expect(states(monitor)).toEqual(["up"]);
    expect(new Set(await uptimes(monitor))).toEqual(new Set([1]));
  });

  it("with fewer hosts than tell anything: each has its own incident", async () => {
    entries = entries.slice(0, 3);
    await start("one");
    await minutes(60);
    lost = { fault: "dns" };
    await minutes(60);
    expect(told.toSorted()).toEqual(["opened e0", "opened e1", "opened e2"]);
  });

  it("as several processes see it: one incident, told once", async () => {
    const all = [
      await start("one", { soleOwner: false }),
      await start("two", { soleOwner: false, tickMs: 13_000 }),
      await start("three", { soleOwner: false, tickMs: 7_000 }),
      await start("web", { soleOwner: false, work: false }),
    ];
    await minutes(60);
    for (let time = 0; time < 2; time += 1) {
      [told, events] = [[], []];
      lost = { fault: "dns" };
      await minutes(90);
      expect(told).toEqual(["opened _network"]);
      for (const one of all) {
        expect(one.heartbeat().offline).toEqual(all[0]?.heartbeat().offline);
        expect(states(one)).toEqual(["unknown"]);
      }
      lost = undefined;
      await minutes(60);
      expect(told).toEqual(["opened _network", "closed _network"]);
      expect(events.filter(({ kind }) => kind !== "probed")).toHaveLength(2);
      for (const one of all) expect(states(one)).toEqual(["up"]);
    }
    expect(new Set(await uptimes(all[0] ?? expect.fail("none")))).toEqual(new Set([1]));
    expect(faults).toEqual([]);
  });

  it("and ends meanwhile: the next process goes on, and closes it", async () => {
    const first = await start("one");
    await minutes(60);
    lost = { fault: "dns" };
    await minutes(60);
    await first.close();
    lost = undefined;
    await minutes(3 * 60);
    const next = await start("two");
    await minutes(30);
    expect(told).toEqual(["opened _network", "closed _network"]);
    expect(states(next)).toEqual(["up"]);
    expect(await next.incidents({ open: true })).toEqual([]);
  });
});

describe("a host with several endpoints", () => {
  const ofHost = ["h1", "h2", "h3", "h4"];
  beforeEach(() => {
    entries = [...entries, ...ofHost.map((id) => catalogEntry(id, { url: `https://data.shared.example/${id}` }))];
  });
  const only = (incidents: readonly Incident[]): Incident =>
    incidents.length === 1 ? (incidents[0] ?? expect.fail("none")) : expect.fail(JSON.stringify(incidents));

  it.each<FaultKind>(["timeout", "http-5xx"])(
    "that fails (%s) has one incident that names them, and one message",
    async (fault) => {
      const monitor = await start("one");
      await minutes(60);
      for (const id of ofHost) broken.set(id, fault);
      await minutes(90);
      const incident = only(await monitor.incidents());
      expect(incident).toMatchObject({
        endpoint: "_host.data.shared.example",
        url: "https://data.shared.example",
        fault,
      });
      expect(incident.endpoints).toEqual(ofHost);
      expect(told).toEqual(["opened _host.data.shared.example"]);
      for (const id of ofHost) {
        expect(monitor.health(id)).toMatchObject({ state: "down", incident: incident.id });
        expect(only(await monitor.incidents({ endpoint: id })).id).toBe(incident.id);
      }
      broken.clear();
      broken.set("h3", fault);
      await minutes(60);
      expect(await monitor.incidents({ open: true })).toHaveLength(1);
      broken.clear();
      await minutes(60);
      expect(told).toEqual(["opened _host.data.shared.example", "closed _host.data.shared.example"]);
      expect(await monitor.incident(incident.id)).toMatchObject({ closedBy: "recovered", endpoints: ofHost });
      expect(only(await monitor.incidents({ endpoint: "h3" })).closedMs).toBeDefined();
      expect(states(monitor)).toEqual(["up"]);
    },
  );

  it("of which one fails has that one's incident", async () => {
    const monitor = await start("one");
    await minutes(60);
    broken.set("h2", "http-4xx");
    await minutes(90);
    expect(told).toEqual(["opened h2"]);
    for (const id of ["h1", "h3", "h4"]) broken.set(id, "timeout");
    await minutes(90);
    expect(told).toEqual(["opened h2", "opened _host.data.shared.example"]);
    expect((await monitor.incidents({ endpoint: "h3" }))[0]?.endpoints).toEqual(["h1", "h3", "h4"]);
  });

  it("is told of once by several processes, and closed when its endpoints leave the catalogue", async () => {
    const [one] = [await start("one", { soleOwner: false }), await start("two", { soleOwner: false, tickMs: 13_000 })];
    await minutes(60);
    for (const id of ofHost) broken.set(id, "connect");
    await minutes(90);
    expect(told).toEqual(["opened _host.data.shared.example"]);
    entries = entries.filter(({ id }) => !ofHost.includes(id));
    for (const id of ofHost) await one.remove(id);
    await minutes(5);
    expect(told).toEqual(["opened _host.data.shared.example", "closed _host.data.shared.example"]);
    expect(await one.incidents()).toMatchObject([{ closedBy: "removed" }]);
    expect(faults).toEqual([]);
  });
});

describe("first probes", () => {
  const probes = (source: "turn" | "early") =>
    events.flatMap((event) => (event.kind === "probed" && event.observation.source === source ? event : []));

  it("of many endpoints are spread over the interval", async () => {
    await start("one");
    await minutes(18);
    expect(probes("early")).toEqual([]);
    const firsts = new Map(
      probes("turn")
        .toReversed()
        .map(({ endpoint, observation }) => [endpoint, observation.atMs]),
    );
    expect(firsts.size).toBe(60);
    const perMinute = Map.groupBy(firsts.values(), (atMs) => Math.floor((atMs - startMs) / minuteMs));
    expect(perMinute.size).toBeGreaterThanOrEqual(13);
    expect(Math.max(...Array.from(perMinute.values(), ({ length }) => length))).toBeLessThanOrEqual(12);
  });

  it("of few endpoints, and of those on the operator's own machines, are made at once", async () => {
    const own = ["x", "y"].map((id, n) => catalogEntry(id, { url: `http://127.0.0.${n + 2}/sparql` }));
    entries = [...entries, ...own];
    const monitor = await start("one");
    await clock.advance(1_000);
    expect(
      probes("early")
        .map(({ endpoint }) => endpoint)
        .toSorted(),
    ).toEqual(["x", "y"]);
    entries = [...entries, catalogEntry("new")];
    await clock.advance(6_000);
    expect(monitor.health("new")).toMatchObject({ state: "up", last: { source: "early" } });
    expect(probes("early")).toHaveLength(3);
  });
});
