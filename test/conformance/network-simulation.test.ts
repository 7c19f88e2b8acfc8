import { expect, it } from "vitest";
import type { FaultKind } from "../../src/errors/fedway-error.ts";
import { createMonitor } from "../../src/monitor/create-monitor.ts";
import type { Incident } from "../../src/monitor/monitor.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { catalogEntry } from "../support/catalog-entry.ts";
import { createSimulatedClock } from "../support/simulated-clock.ts";
import { createRandom } from "../support/seeded-random.ts";

const seed = Number(process.env["FEDWAY_SIMULATION_SEED"] ?? 20_260_301);
const days = 15;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const startMs = Date.parse("2026-03-01T00:00:30Z");
const endMs = startMs + days * 24 * hourMs;
const settings = { enabled: true, everyMs: 15 * minuteMs, jitter: 0.1, incidentAfter: 3, recoveredAfter: 2 };

/** 82 endpoints of 62 owners, as in the catalogue: one owner has 8 endpoints of one host, twelve have two hosts. */
const entries = Array.from({ length: 82 }, (_, n) => {
  const owner = n < 62 ? n : n < 70 ? 0 : n - 69;
  const host = n >= 70 ? "other" : "data";
  return catalogEntry(`e${n}`, { url: `https://${host}.owner${owner}.example/${n}` });
});
const hostOf = (url: string): string => new URL(url).hostname;

interface Trouble {
  readonly fromMs: number;
  readonly toMs: number;
  readonly fault: FaultKind;
}

const random = createRandom(seed);
const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
const silent: readonly FaultKind[] = ["dns", "connect", "timeout", "reset", "tls"];
const spoken: readonly FaultKind[] = ["http-5xx", "http-4xx", "wrong-media-type", "malformed"];

/** Outages of a host: every six days on average, for minutes up to a day; one host in ten is dead all the time. */
function outagesOf(): readonly Trouble[] {
  const fault = random() < 0.6 ? pick(silent) : pick(spoken);
  if (random() < 0.1) return [{ fromMs: 0, toMs: endMs, fault }];
  const found: Trouble[] = [];
  for (let atMs = startMs; ; ) {
    atMs += -Math.log(1 - random()) * 6 * 24 * hourMs;
    if (atMs >= endMs) return found;
    const lengthMs = Math.exp(random() * Math.log(24 * 60)) * minuteMs;
    found.push({ fromMs: atMs, toMs: atMs + lengthMs, fault: random() < 0.6 ? pick(silent) : pick(spoken) });
    atMs += lengthMs;
  }
}

/** When the service has no network: minutes to hours, at night, at once at its start. */
const losses: readonly Trouble[] = [
  [0, 2 * hourMs, "dns"],
  [1.6 * 24 * hourMs, 10 * minuteMs, "dns"],
  [3.1 * 24 * hourMs, 9 * hourMs, "connect"],
  [5.8 * 24 * hourMs, 40 * minuteMs, "timeout"],
  [7.6 * 24 * hourMs, 30 * hourMs, "dns"],
  [9.4 * 24 * hourMs, 5 * minuteMs, "connect"],
  [11.4 * 24 * hourMs, 75 * minuteMs, "reset"],
  [14.05 * 24 * hourMs, 3 * hourMs, "dns"],
].map(([after, lengthMs, fault]) => {
  const fromMs = startMs + Number(after);
  return { fromMs, toMs: fromMs + Number(lengthMs), fault: fault as FaultKind };
});

const outages = new Map([...new Set(entries.map(({ url }) => hostOf(url)))].map((host) => [host, outagesOf()]));

function within(troubles: readonly Trouble[], atMs: number): FaultKind | undefined {
  return troubles.find(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs)?.fault;
}

/** How a probe ends: three in a thousand fail for no reason that lasts. */
function outcome(url: string, atMs: number): FaultKind | undefined {
  const blip = random() < 0.003 ? pick([...silent, ...spoken]) : undefined;
  return within(losses, atMs) ?? within(outages.get(hostOf(url)) ?? [], atMs) ?? blip;
}

it(`${days} days: each loss of the network is one incident, and there is no other of it`, {
  timeout: 900_000,
}, async () => {
  const clock = createSimulatedClock(startMs);
  const store = openSqliteStore({ path: ":memory:" });
  const notices: { readonly kind: string; readonly id: string }[] = [];
  const faults: unknown[] = [];
  let probes = 0;
  const monitor = createMonitor({
    catalog: { entries, byId: (id) => entries.find((entry) => entry.id === id) },
    store,
    async probe({ url }) {
      probes += 1;
      const fault = outcome(url, clock.now());
      return fault === undefined ? { ok: true, ms: 20, tries: 1 } : { ok: false, ms: 20, fault, tries: 2 };
    },
    clock,
    settings,
    work: true,
    soleOwner: true,
    tickMs: 20_000,
    tell: async ({ kind, incident }) => void (kind === "incident-reminder" || notices.push({ kind, id: incident.id })),
    onFault: (error) => faults.push(error),
  });
  await monitor.start();
  await clock.advance(endMs - startMs);
  const incidents = await monitor.incidents({ limit: 1_000 });
  await monitor.close();

  const ofNetwork = incidents.filter(({ endpoint }) => endpoint === "_network").toReversed();
  expect(ofNetwork).toHaveLength(losses.length);
  for (const [index, { startedMs, closedMs = Number.NaN }] of ofNetwork.entries()) {
    const { fromMs, toMs } = losses[index] ?? expect.fail("no loss");
    // Blips before a loss may count as its beginning.
    expect(startedMs).toBeGreaterThan(fromMs - 5 * minuteMs);
    expect(startedMs).toBeLessThan(fromMs + 3 * minuteMs);
    expect(closedMs).toBeGreaterThanOrEqual(toMs);
    expect(closedMs).toBeLessThan(toMs + 3 * minuteMs);
  }
  // No other incident opened while the network was lost, and each has an outage of its host behind it.
  const others = incidents.filter(({ endpoint }) => endpoint !== "_network");
  const isFalse = ({ url, startedMs, openedMs, closedMs }: Incident): boolean =>
    within(losses, openedMs) !== undefined ||
    !(outages.get(hostOf(url)) ?? []).some(({ fromMs, toMs }) => startedMs < toMs && (closedMs ?? endMs) > fromMs);
  expect(others.filter(isFalse)).toEqual([]);
  expect(others.length).toBeGreaterThan(50);
  // Each opens and closes in turn: one that comes back within half a day opens again.
  const byIncident = Map.groupBy(notices, ({ id }) => id);
  expect([...byIncident.keys()].toSorted()).toEqual(incidents.map(({ id }) => id).toSorted());
  for (const { id, closedMs } of incidents) {
    const kinds = byIncident.get(id)?.map(({ kind }) => kind) ?? [];
    expect(kinds).toEqual(kinds.map((_, index) => (index % 2 === 0 ? "incident-opened" : "incident-closed")));
    expect(kinds.length % 2).toBe(closedMs === undefined ? 1 : 0);
  }
  expect(faults).toEqual([]);
  const shared = others.filter(({ endpoints }) => endpoints !== undefined).length;
  console.log({ seed, probes, losses: losses.length, ofNetwork: ofNetwork.length, others: others.length, shared });
  // What never was down has an uptime that knows nothing of the losses: two days of them would cost 13 %.
  const sound = entries.filter(({ url }) => outages.get(hostOf(url))?.length === 0);
  for (const { id } of sound) {
    const window = (await monitor.availability(id))?.windows.find((one) => one.window === "30d");
    expect(window?.uptime).toBeGreaterThan(0.99);
  }
  expect(sound.length).toBeGreaterThan(0);
});
