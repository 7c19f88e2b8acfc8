import { expect, it } from "vitest";
import { createMonitor } from "../../src/monitor/create-monitor.ts";
import type { Incident, Observation } from "../../src/monitor/monitor.ts";
import { createEndpointProbe } from "../../src/monitor/probe-endpoint.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { catalogEntry } from "../support/catalog-entry.ts";
import { createSimulatedClock } from "../support/simulated-clock.ts";
import { createSimulatedEndpoints, injectedKinds, type InjectedTruth } from "../support/simulated-endpoints.ts";

const seed = Number(process.env["FEDWAY_SIMULATION_SEED"] ?? 20_260_301);
const endpoints = 2_000;
const days = 7;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const startMs = Date.parse("2026-03-01T00:00:30Z");
const settings = { enabled: true, everyMs: 15 * minuteMs, jitter: 0.1, incidentAfter: 3, recoveredAfter: 2 };

const entries = Array.from({ length: endpoints }, (_, n) => catalogEntry(`e${String(n).padStart(4, "0")}`));
const byId = new Map(entries.map((entry) => [entry.id, entry]));
/** Every fortieth endpoint is in maintenance on the third day, six hours long, and answers with faults. */
const maintained = new Set(entries.filter((_, n) => n % 40 === 0).map(({ id }) => id));
const maintenance = { fromMs: startMs + 50 * hourMs + 30_000, toMs: startMs + 56 * hourMs + 30_000 };

const sum = (truths: readonly InjectedTruth[], of: (truth: InjectedTruth) => number): number =>
  truths.reduce((total, truth) => total + of(truth), 0);

/** What incidents and injected outages have in common, oldest first. */
const spans = (outages: readonly Pick<Incident, "startedMs" | "openedMs" | "closedMs" | "fault">[]) =>
  outages
    .map(({ startedMs, openedMs, closedMs, fault }) => ({ startedMs, openedMs, closedMs, fault }))
    .toSorted((left, right) => left.startedMs - right.startedMs);

function simulation() {
  const clock = createSimulatedClock(startMs);
  // By its own clock nothing in the store ends meanwhile, and it need not look through everything every minute.
  const store = openSqliteStore({ path: ":memory:" });
  const simulated = createSimulatedEndpoints({
    seed,
    now: () => clock.now(),
    rules: settings,
    inMaintenance: (id, atMs) => maintained.has(id) && atMs >= maintenance.fromMs && atMs < maintenance.toMs,
  });
  const early = new Map<string, Observation[]>();
  const seen = { faults: [] as unknown[], told: new Map<string, number>(), dropped: 0, inMaintenance: 0, early };
  const monitor = createMonitor({
    catalog: { entries, byId: (id) => byId.get(id) },
    store,
    probe: createEndpointProbe({
      asker: simulated.asker,
      capabilities: { view: () => undefined },
      clock,
    }),
    clock,
    settings,
    work: true,
    soleOwner: true,
    tickMs: minuteMs,
    onFault: (error) => seen.faults.push(error),
    onDropped: () => {
      seen.dropped += 1;
    },
    async tell({ kind, incident }) {
      const name = `${kind} ${incident.id}`;
      seen.told.set(name, (seen.told.get(name) ?? 0) + 1);
    },
  });
  monitor.onEvent((event) => {
    if (event.kind !== "probed") return;
    const { endpoint, observation } = event;
    if (observation.maintenance) seen.inMaintenance += 1;
    if (observation.source === "early") early.set(endpoint, [...(early.get(endpoint) ?? []), observation]);
  });
  return { clock, simulated, monitor, seen };
}

/** What was injected into turns: probes of an endpoint that nothing was known of come early and count nowhere. */
function turnsOf({ simulated, seen }: ReturnType<typeof simulation>, id: string) {
  const { probes, good, faults, outages } = simulated.truthOf(id);
  const early = seen.early.get(id) ?? [];
  const counted = { ...faults };
  for (const { fault } of early) if (fault !== undefined) counted[fault] = (counted[fault] ?? 0) - 1;
  return {
    probes: probes - early.length,
    good: good - early.filter(({ ok }) => ok).length,
    faults: Object.fromEntries(Object.entries(counted).filter(([, count]) => count > 0)),
    outages,
  };
}

/** Lives through the days; resolves to the seconds of processor time that took. */
async function live({ clock, monitor }: ReturnType<typeof simulation>): Promise<number> {
  const before = process.cpuUsage();
  await monitor.start();
  for (const endpoint of maintained) await monitor.addMaintenance({ endpoint, ...maintenance });
  const context = { id: "upkeep", attempt: 1, signal: new AbortController().signal, progress: () => {}, children: [] };
  for (let hour = 0; hour < days * 24; hour += 4) {
    await clock.advance(4 * hourMs);
    await monitor.kinds[0]?.run({}, context);
  }
  // Probes of the last minute that are asked a second time.
  await clock.advance(10_000);
  await monitor.close();
  return process.cpuUsage(before).user / 1e6;
}

it(`${endpoints} endpoints over ${days} days: what is seen is what was injected`, { timeout: 2_400_000 }, async () => {
  const run = simulation();
  const { monitor, seen, simulated } = run;
  const seconds = await live(run);
  const truths = entries.map(({ id }) => simulated.truthOf(id));
  let worst = 0;
  for (const { id } of entries) {
    const { probes, good, faults, outages } = turnsOf(run, id);
    const window = (await monitor.availability(id))?.windows.find((one) => one.window === "30d");
    const incidents = await monitor.incidents({ endpoint: id, limit: 1_000 });
    worst = Math.max(worst, Math.abs((window?.uptime ?? Number.NaN) - good / probes));
    expect({
      id,
      probes: window?.probes,
      good: window?.good,
      faults: window?.faults,
      incidents: spans(incidents),
    }).toEqual({ id, probes, good, faults, incidents: spans(outages) });
  }

  const probes = sum(truths, (truth) => truth.probes);
  const faults = Object.fromEntries(injectedKinds.map((kind) => [kind, sum(truths, (one) => one.faults[kind] ?? 0)]));
  const outages = sum(truths, (truth) => truth.outages.length);
  const closed = sum(truths, (truth) => truth.outages.filter(({ closedMs }) => closedMs !== undefined).length);
  const blips = sum(truths, (truth) => truth.blips);
  const goodInside = sum(truths, (truth) => truth.goodInside);
  const { inMaintenance, dropped } = seen;
  const others = { transient: sum(truths, (truth) => truth.transient), silent: sum(truths, (truth) => truth.silent) };
  console.log({ seed, probes, faults, outages, closed, blips, goodInside, ...others, inMaintenance, worst, seconds });

  expect(seen.faults).toEqual([]);
  // Two thousand are too many for their first probes to be made at once.
  expect(seen.early.size).toBe(0);
  expect(dropped).toBe(0);
  expect(worst).toBeLessThan(0.001);
  expect(probes).toBeGreaterThan(1_300_000);
  expect(Math.min(...Object.values(faults))).toBeGreaterThan(1_000);
  expect(Math.min(outages, closed, blips, goodInside)).toBeGreaterThan(3_000);
  expect(Math.min(...Object.values(others))).toBeGreaterThan(500);
  expect(inMaintenance).toBeGreaterThan(maintained.size * 20);
  // Of each of them somebody was told once.
  expect(Array.from(seen.told.values()).filter((times) => times !== 1)).toEqual([]);
  expect(seen.told.size).toBe(outages + closed);
});
