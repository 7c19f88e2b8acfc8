import { describe, expect, it } from "vitest";
import type { EndpointHealth, HealthState, Heartbeat } from "../../../src/monitor/monitor.ts";
import {
  publishSnapshot,
  type PublishOptions,
  buildSnapshot,
  figuresOf,
  judgeSnapshot,
  type Snapshot,
} from "../../../src/monitor/snapshot.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { incident, turn } from "../../support/monitor-records.ts";

const nowMs = Date.parse("2026-03-01T12:00:00Z");
const beating: Heartbeat = { enabled: true, alive: true, lastMs: nowMs - 1000, gaps: [] };

const health = (id: string, state: HealthState): EndpointHealth => ({
  endpoint: id,
  url: `http://${id}.example/sparql`,
  state,
  sinceMs: nowMs - 3_600_000,
  ...(state !== "unknown" && { last: turn(nowMs - 60_000, { ok: state === "up" }) }),
  streak: 0,
  hours: [],
});

/** Endpoints `e0`, `e1`, ... in these states. */
function snapshotOf(states: readonly HealthState[], heartbeat = beating): Snapshot {
  const records = states.map((state, index) => ({
    entry: catalogEntry(`e${index}`),
    health: health(`e${index}`, state),
    windows: [],
    incident: undefined,
    score: undefined,
  }));
  return buildSnapshot({ version: "1.2.3", publicUrl: "https://fedway.example", nowMs, heartbeat, records });
}

const many = (up: number, down: number): readonly HealthState[] => [
  ...Array.from({ length: up }, () => "up" as const),
  ...Array.from({ length: down }, () => "down" as const),
];

describe("a snapshot", () => {
  it("tells all of an endpoint", () => {
    const firstMs = nowMs - 40 * 86_400_000;
    const window = { window: "90d", probes: 3, good: 2, uptime: 2 / 3, p50Ms: 5, faults: { dns: 1 }, firstMs } as const;
    const score = { points: 50, parts: [] };
    const snapshot = buildSnapshot({
      version: "1.2.3",
      publicUrl: "https://fedway.example",
      nowMs,
      heartbeat: beating,
      records: [
        {
          entry: catalogEntry("people"),
          health: health("people", "down"),
          windows: [window],
          incident: incident(),
          score,
        },
      ],
    });
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual({
      schema: 1,
      version: "1.2.3",
      generated: "2026-03-01T12:00:00.000Z",
      publicUrl: "https://fedway.example",
      heartbeat: { enabled: true, alive: true, last: "2026-03-01T11:59:59.000Z" },
      counts: { up: 0, degraded: 0, flapping: 0, down: 1, unknown: 0 },
      endpoints: [
        {
          id: "people",
          title: "people",
          url: "http://people.example/sparql",
          state: "down",
          since: "2026-03-01T11:00:00.000Z",
          observedSince: "2026-01-20T12:00:00.000Z",
          last: { at: "2026-03-01T11:59:00.000Z", ok: false, ms: 12, tries: 1, source: "turn" },
          windows: [
            {
              window: "90d",
              probes: 3,
              good: 2,
              uptime: 2 / 3,
              p50Ms: 5,
              faults: { dns: 1 },
              first: "2026-01-20T12:00:00.000Z",
            },
          ],
          incident: {
            id: "people-1",
            started: "2026-03-01T10:00:00.000Z",
            opened: "2026-03-01T10:30:00.000Z",
            kind: "down",
            fault: "timeout",
          },
          score,
        },
      ],
    });
  });

  it("says unknown of what the monitor does not know", () => {
    const records = [
      { entry: catalogEntry("new"), health: undefined, windows: [], incident: undefined, score: undefined },
      { entry: catalogEntry("a"), health: undefined, windows: [], incident: undefined, score: undefined },
    ];
    const input = { version: "1", publicUrl: "http://f.example", nowMs, heartbeat: beating, records };
    const { counts, endpoints } = buildSnapshot(input);
    expect(counts).toEqual({ up: 0, degraded: 0, flapping: 0, down: 0, unknown: 2 });
    expect(endpoints.map(({ id }) => id)).toEqual(["a", "new"]);
    expect(endpoints[1]).toEqual({
      id: "new",
      title: "new",
      url: "http://new.example/sparql",
      state: "unknown",
      windows: [],
      score: { parts: [] },
    });
  });
});

describe("judging", () => {
  const silent: Heartbeat = { ...beating, alive: false };
  const { lastMs: _, ...never } = silent;
  const off: Heartbeat = { enabled: false, alive: true, gaps: [] };
  const ten = figuresOf(snapshotOf(many(10, 0)));
  const upWere = "endpoints that were up at 2026-03-01T12:00:00.000Z";
  it.each([
    ["the first one", snapshotOf(many(1, 9)), undefined, []],
    ["the same again", snapshotOf(many(10, 0)), ten, []],
    ["a fifth down", snapshotOf(many(8, 2)), ten, []],
    ["more than a fifth down", snapshotOf(many(7, 3)), ten, [`Of the 10 ${upWere}, 3 are not up now.`]],
    [
      "all unknown but one",
      snapshotOf(["up", ...Array.from({ length: 9 }, () => "unknown" as const)]),
      ten,
      [`Of the 10 ${upWere}, 9 are not up now.`],
    ],
    ["a fifth gone", snapshotOf(many(8, 0)), ten, []],
    [
      "more than a fifth gone",
      snapshotOf(many(7, 0)),
      ten,
      ["It has 7 endpoints; the one of 2026-03-01T12:00:00.000Z had 10."],
    ],
    [
      "a fifth gone, a quarter of the rest down",
      snapshotOf(many(6, 2)),
      ten,
      [`Of the 8 ${upWere}, 2 are not up now.`],
    ],
    ["those down before still down", snapshotOf(many(2, 8)), figuresOf(snapshotOf(many(2, 8))), []],
    ["many more", snapshotOf(many(10, 50)), ten, []],
    ["none", snapshotOf([]), undefined, ["It has no endpoint."]],
    ["nothing probed", snapshotOf(["unknown", "unknown"]), undefined, ["No endpoint has been probed."]],
    [
      "a silent monitor",
      snapshotOf(many(10, 0), silent),
      ten,
      ["The monitor does not run; it last did at 2026-03-01T11:59:59.000Z."],
    ],
    [
      "one that never ran",
      snapshotOf(many(10, 0), never),
      ten,
      ["The monitor does not run; it last did at no known time."],
    ],
    ["one that is switched off", snapshotOf(many(10, 0), off), ten, ["Probing is switched off."]],
  ] as const)("%s", (__, next, previous, reasons) => {
    expect(judgeSnapshot(next, previous)).toEqual(reasons);
  });
});

describe("publishing", () => {
  function setUp() {
    const states = new Map<string, HealthState>(many(10, 0).map((state, index) => [`e${index}`, state]));
    const store = openSqliteStore({ path: ":memory:" });
    const options: PublishOptions = {
      catalog: {
        get entries() {
          return [...states.keys()].map((id) => catalogEntry(id));
        },
      },
      monitor: {
        heartbeat: () => beating,
        health: (id) => ({
          ...health(id, states.get(id) ?? "unknown"),
          ...(states.get(id) === "down" && { incident: `i-${id}` }),
        }),
        availability: async (id) => ({ health: health(id, states.get(id) ?? "unknown"), windows: [], days: [] }),
        incident: async (id) => incident({ id }),
        score: async () => ({ points: 7, parts: [] }),
      },
      store,
      clock: { now: () => nowMs },
      version: "1.2.3",
      publicUrl: "https://fedway.example",
    };
    const publish = (reviewed = false): Promise<Snapshot> => publishSnapshot(options, { reviewed });
    const breakDown = (count: number): void => {
      for (let index = 0; index < count; index += 1) states.set(`e${index}`, "down");
    };
    return { store, publish, breakDown, states };
  }

  it("refuses what is not plausible, until somebody has looked at it", async () => {
    const { publish, breakDown, store } = setUp();
    expect((await publish()).counts).toEqual({ up: 10, degraded: 0, flapping: 0, down: 0, unknown: 0 });
    breakDown(5);
    const kept = await store.get("monitor/snapshot");
    for (let time = 0; time < 2; time += 1) {
      await expect(publish()).rejects.toMatchObject({
        code: "SNAPSHOT_IMPLAUSIBLE",
        kind: { status: 409 },
        message:
          "The snapshot is not plausible. Of the 10 endpoints that were up at 2026-03-01T12:00:00.000Z, 5 are not up now.",
        details: { next: expect.stringContaining("--reviewed") },
      });
    }
    expect(await store.get("monitor/snapshot")).toEqual(kept);
    const reviewed = await publish(true);
    expect(reviewed.counts).toEqual({ up: 5, degraded: 0, flapping: 0, down: 5, unknown: 0 });
    expect(reviewed.endpoints[0]).toMatchObject({ id: "e0", incident: { id: "i-e0" }, score: { points: 7 } });
    expect((await publish()).counts).toEqual(reviewed.counts);
  });

  it("has every endpoint of a large catalogue", async () => {
    const { publish, states } = setUp();
    for (let index = 10; index < 101; index += 1) states.set(`e${index}`, "up");
    expect(new Set((await publish()).endpoints.map(({ id }) => id)).size).toBe(101);
  });

  it("begins anew when what is kept cannot be read", async () => {
    const { publish, breakDown, store } = setUp();
    await publish();
    breakDown(9);
    await store.put("monitor/snapshot", "damaged");
    expect((await publish()).counts.down).toBe(9);
  });
});
