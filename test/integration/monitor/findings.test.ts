import { afterEach, describe, expect, it } from "vitest";
import { createMonitor, type Monitor } from "../../../src/monitor/create-monitor.ts";
import type { Finding } from "../../../src/monitor/monitor.ts";
import type { Store } from "../../../src/store/store.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { stores, turn } from "../../support/monitor-records.ts";
import { createSimulatedClock } from "../../support/simulated-clock.ts";

const startMs = Date.parse("2026-03-01T00:00:00Z");
const settings = { enabled: false, everyMs: 600_000, jitter: 0.1, incidentAfter: 3, recoveredAfter: 2 };
const finding: Finding = {
  endpoint: "a.b",
  kind: "drift",
  key: "query 7",
  atMs: startMs,
  summary: "The class foaf:Person has vanished.",
  evidence: ["12 rows were expected, 0 came.", turn(startMs)],
  repair: "SELECT * { ?s a schema:Person }",
};

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).toReversed()) await close();
});

function processOver(store: Store, entries = [catalogEntry("a.b"), catalogEntry("c")]) {
  const told: string[] = [];
  const clock = createSimulatedClock(startMs);
  const monitor: Monitor = createMonitor({
    catalog: { entries, byId: (id) => entries.find((entry) => entry.id === id) },
    store,
    probe: async () => undefined,
    clock,
    settings,
    work: true,
    soleOwner: true,
    tell: async ({ kind, incident }) => void told.push(`${kind} ${incident.id}`),
  });
  closes.push(() => monitor.close());
  return { monitor, told, clock };
}

describe.each(stores)("reported incidents on the %s store", (_name, open) => {
  it("open once, go on, are found by endpoint and id, and close", async () => {
    const { store, ...opened } = await open();
    closes.push(() => opened.close());
    const { monitor, told } = processOver(store);
    await monitor.start();
    await monitor.report(finding);
    await monitor.report(finding);
    await monitor.report({ ...finding, atMs: startMs + 60_000, summary: "It is still gone." });
    await monitor.report({ ...finding, key: "query 8" });
    await monitor.clear({ ...finding, endpoint: "c" });
    const found = await monitor.incidents({ endpoint: "a.b", open: true });
    expect(found.map(({ kind, endpoint, summary }) => ({ kind, endpoint, summary }))).toEqual([
      { kind: "drift", endpoint: "a.b", summary: expect.any(String) },
      { kind: "drift", endpoint: "a.b", summary: expect.any(String) },
    ]);
    expect(await monitor.incidents({ endpoint: "c" })).toEqual([]);
    expect(monitor.health("a.b")).toMatchObject({ state: "unknown" });
    const going = found.find(({ summary }) => summary === "It is still gone.") ?? expect.fail("it did not go on");
    expect(going).toMatchObject({
      notes: [finding.evidence[0]],
      evidence: [finding.evidence[1]],
      repair: finding.repair,
    });
    expect(await monitor.incident(going.id)).toEqual(going);
    const named = { endpoint: "a.b", kind: "drift", key: "query 7" } as const;
    await monitor.clear({ ...named, atMs: startMs + 120_000 });
    await monitor.clear({ ...named, atMs: startMs + 180_000 });
    expect(await monitor.incident(going.id)).toMatchObject({ closedMs: startMs + 120_000, closedBy: "recovered" });
    expect(told.filter((one) => one.endsWith(going.id))).toEqual([
      `incident-opened ${going.id}`,
      `incident-closed ${going.id}`,
    ]);
    expect(told).toHaveLength(3);
  });

  it("are closed when their endpoint leaves the catalogue, and refused for one that is in none", async () => {
    const { store, ...opened } = await open();
    closes.push(() => opened.close());
    await processOver(store).monitor.report(finding);
    const later = processOver(store, [catalogEntry("c")]);
    await later.monitor.start();
    await later.clock.advance(60_000);
    expect(await later.monitor.incidents()).toMatchObject([{ endpoint: "a.b", closedBy: "removed" }]);
    await expect(later.monitor.report(finding)).rejects.toMatchObject({ code: "ENDPOINT_UNKNOWN" });
  });
});
