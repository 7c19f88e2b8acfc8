import { blankRecord, probedRecord } from "../../../src/monitor/health-record.ts";
import { beforeEach, describe, expect, it } from "vitest";
import {
  createHealthRepository,
  createIncidentRepository,
  type HealthRepository,
  type IncidentRepository,
  createMaintenance,
} from "../../../src/monitor/repositories.ts";
import { createHealthReader } from "../../../src/monitor/health-reader.ts";
import { createHistory } from "../../../src/monitor/history.ts";
import type { MonitorReader, Observation } from "../../../src/monitor/monitor.ts";
import { createHeartbeat } from "../../../src/monitor/turns.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";

const rules = { incidentAfter: 1, recoveredAfter: 1, staleMs: 600_000 };
const entries = ["a", "b", "c"].map((id) => catalogEntry(id));
const startMs = Date.parse("2026-03-01T00:00:00Z");
/** Beyond the half day in which an incident opens again. */
const laterMs = 13 * 3_600_000;
let nowMs = startMs;
let store: Store;
let records: HealthRepository;
let stored: IncidentRepository;
let reader: MonitorReader;

beforeEach(() => {
  nowMs = startMs;
  store = openSqliteStore({ path: ":memory:" });
  records = createHealthRepository(store);
  stored = createIncidentRepository({ store, now: () => nowMs });
  reader = readerOver(stored);
});

function readerOver(incidents: IncidentRepository): MonitorReader {
  return createHealthReader({
    catalog: { entries, byId: (id) => entries.find((entry) => entry.id === id) },
    records,
    incidents,
    maintenance: createMaintenance(store),
    heartbeat: createHeartbeat({ store, enabled: true, quietMs: rules.staleMs }),
    history: createHistory({ store, now: () => nowMs }),
    score: undefined,
    now: () => nowMs,
    staleMs: rules.staleMs,
    settings: { enabled: true },
  });
}

/** A probe that changes the state; what follows from it lies in the outbox. */
async function probe(id: string, outcome: "good" | "bad"): Promise<void> {
  nowMs += 1_000;
  const frame = { atMs: nowMs, ms: 5, tries: 1, source: "turn" } as const;
  const observation: Observation =
    outcome === "good" ? { ...frame, ok: true } : { ...frame, ok: false, fault: "connect" };
  await records.change(id, (record) =>
    probedRecord(id, { record: record ?? blankRecord(`http://${id}.example/sparql`), observation }, rules),
  );
}

/** Works the outbox off, as the announcer does. */
async function settle(id: string): Promise<void> {
  for (const { incident } of records.get(id)?.outbox ?? []) await stored.write(incident);
  await records.change(id, (record) => record && { ...record, outbox: [] });
}

/** Endpoints and states of the incidents that are listed. */
const listed = async (options: Parameters<MonitorReader["incidents"]>[0] = {}): Promise<readonly string[]> =>
  (await reader.incidents(options)).map(
    ({ endpoint, closedMs }) => `${endpoint} ${closedMs === undefined ? "open" : "closed"}`,
  );

/** Everything that tells of the incidents of an endpoint says the same. */
async function shouldTell(id: string, expected: "open" | "closed" | "none"): Promise<void> {
  const open = expected === "open" ? [`${id} open`] : [];
  const closed = expected === "closed" ? [`${id} closed`] : [];
  const endpoint = id;
  expect(await listed({ endpoint })).toEqual([...open, ...closed]);
  expect(await listed({ endpoint, open: true })).toEqual(open);
  expect(await listed({ endpoint, open: false })).toEqual(closed);
  expect(reader.health(id)?.incident === undefined).toBe(expected !== "open");
  for (const incident of await reader.incidents({ endpoint })) {
    expect(await reader.incident(incident.id)).toEqual(incident);
  }
}

describe("incidents are as the state is", () => {
  it("when nothing of them is stored yet", async () => {
    await shouldTell("a", "none");
    await probe("a", "bad");
    expect(reader.health("a")?.state).toBe("down");
    await shouldTell("a", "open");
    await probe("a", "good");
    expect(reader.health("a")?.state).toBe("up");
    await shouldTell("a", "closed");
  });

  it("when only their opening is stored", async () => {
    await probe("a", "bad");
    await settle("a");
    await shouldTell("a", "open");
    await probe("a", "good");
    await shouldTell("a", "closed");
    expect(await reader.incidents()).toMatchObject([{ closedBy: "recovered", closedMs: nowMs }]);
    await settle("a");
    await shouldTell("a", "closed");
  });

  it("when another process has closed them, and this one has not heard of it", async () => {
    await probe("a", "bad");
    await settle("a");
    const [incident] = await reader.incidents();
    if (incident === undefined) expect.fail("there is no incident");
    await stored.write({ ...incident, closedMs: nowMs + 1, closedBy: "recovered" });
    await shouldTell("a", "open");
  });

  it("when one closes and the next one opens before either is stored", async () => {
    for (const outcome of ["bad", "good"] as const) await probe("a", outcome);
    nowMs += laterMs;
    await probe("a", "bad");
    expect(await listed()).toEqual(["a open", "a closed"]);
    expect(await listed({ open: true })).toEqual(["a open"]);
    expect(await listed({ open: false })).toEqual(["a closed"]);
  });

  it("when one comes back soon: it is open again, under the same id", async () => {
    await probe("a", "bad");
    const [first] = await reader.incidents();
    await probe("a", "good");
    await probe("a", "bad");
    await shouldTell("a", "open");
    expect((await reader.incidents()).map(({ id }) => id)).toEqual([first?.id]);
  });

  it("while they are being stored: none is missed or told twice", async () => {
    await probe("a", "bad");
    await probe("a", "good");
    reader = readerOver({
      ...stored,
      async list(options) {
        const before = await stored.list(options);
        await settle("a");
        return before;
      },
    });
    expect(await listed()).toEqual(["a closed"]);
    expect(await listed()).toEqual(["a closed"]);
  });
});

it("the newest come first, as many as are asked for, stored or not", async () => {
  for (const id of ["a", "b", "c"]) await probe(id, "bad");
  await settle("b");
  await probe("a", "good");
  await settle("a");
  nowMs += laterMs;
  await probe("a", "bad");
  expect(await listed()).toEqual(["a open", "c open", "b open", "a closed"]);
  expect(await listed({ limit: 2 })).toEqual(["a open", "c open"]);
  expect(await listed({ endpoint: "a", limit: 1 })).toEqual(["a open"]);
  expect(await listed({ endpoint: "b" })).toEqual(["b open"]);
});

it("an incident that nobody knows is none", async () => {
  await probe("a", "bad");
  expect(await reader.incident("nonsense")).toBeUndefined();
  expect(await reader.incident("000000000.a")).toBeUndefined();
});
