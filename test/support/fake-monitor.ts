import type { FaultKind } from "../../src/errors/fedway-error.ts";
import type { Monitor } from "../../src/monitor/create-monitor.ts";
import type {
  Availability,
  EndpointHealth,
  Heartbeat,
  HourSummary,
  Incident,
  MaintenanceWindow,
  MonitorReader,
  Observation,
  Score,
  WindowName,
  WindowSummary,
} from "../../src/monitor/monitor.ts";

/**
 * How an endpoint of the fake has fared: always good; some faults; down for five hours with an open incident; never
 * probed; probed for three hours only; good with a hole in the record; back since yesterday; in maintenance.
 */
export type Fate = "steady" | "flaky" | "down" | "silent" | "young" | "holey" | "recovered" | "maintained";

export const fates: readonly Fate[] = [
  "steady",
  "silent",
  "down",
  "flaky",
  "young",
  "holey",
  "recovered",
  "maintained",
];

/** What the monitor readers of tests are made of. */
export interface FakeMonitorOptions {
  readonly endpoints: readonly { readonly id: string; readonly url: string }[];
  readonly nowMs: number;
  /** By place in the list when absent, so that all occur. */
  readonly fateOf?: (id: string, at: number) => Fate;
  readonly heartbeat?: Partial<Heartbeat>;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Probes, and how many of them were good, of the span that ended so many spans ago. */
type Course = (ago: number) => readonly [probes: number, good: number];

const hourly: Readonly<Record<Fate, Course>> = {
  steady: () => [4, 4],
  flaky: (ago) => [4, ago % 5 === 2 ? 3 : 4],
  down: (ago) => [4, ago < 5 ? 0 : 4],
  silent: () => [0, 0],
  young: (ago) => (ago < 3 ? [4, 4] : [0, 0]),
  holey: (ago) => (ago >= 6 && ago < 11 ? [0, 0] : [4, 4]),
  recovered: (ago) => [4, ago >= 18 && ago < 22 ? 0 : 4],
  maintained: () => [4, 4],
};
const daily: Readonly<Record<Fate, Course>> = {
  steady: () => [96, 96],
  flaky: (ago) => [96, ago % 3 === 0 ? 92 : 96],
  down: (ago) => [96, ago === 0 ? 70 : 96],
  silent: () => [0, 0],
  young: (ago) => (ago < 1 ? [12, 12] : [0, 0]),
  holey: (ago) => (ago >= 20 && ago < 35 ? [0, 0] : [96, 96]),
  recovered: (ago) => [96, ago === 1 ? 80 : ago === 40 ? 0 : 96],
  maintained: () => [96, 96],
};

function summaries(course: Course, first: { readonly at: number; readonly spans: number; readonly spanMs: number }) {
  const found: HourSummary[] = [];
  for (let ago = first.spans - 1; ago >= 0; ago--) {
    const [probes, good] = course(ago);
    if (probes === 0) continue;
    const fromMs = Math.floor(first.at / first.spanMs) * first.spanMs - ago * first.spanMs;
    const p50Ms = 80 + ((ago * 37) % 60) + (ago % 11 === 3 ? 140 : 0);
    found.push({
      fromMs,
      probes,
      good,
      ...(good > 0 && { p50Ms }),
      faults: good < probes ? { timeout: probes - good } : {},
    });
  }
  return found;
}

const observation = (atMs: number, fault?: FaultKind): Observation => ({
  atMs,
  ok: fault === undefined,
  ms: fault === undefined ? 84 : 10_000,
  tries: fault === undefined ? 1 : 2,
  source: "turn",
  ...(fault === undefined ? { status: 200 } : { fault, detail: '<img src=x onerror="alert(1)"> instead of results' }),
});

function incidentOf(id: string, url: string, span: { readonly fromMs: number; readonly toMs?: number }): Incident {
  const { fromMs, toMs } = span;
  return {
    id: `${id}-${fromMs}`,
    endpoint: id,
    url,
    startedMs: fromMs,
    openedMs: fromMs + 30 * 60_000,
    ...(toMs !== undefined && { closedMs: toMs, closedBy: "recovered" }),
    fault: "timeout",
    faults: { timeout: 18, "http-5xx": 2 },
    evidence: [
      observation(fromMs, "timeout"),
      { ...observation(fromMs + 15 * 60_000, "http-5xx"), status: 503, source: "early" },
      { ...observation(fromMs + 20 * 60_000, "timeout"), source: "early" },
      ...(toMs === undefined ? [] : [observation(toMs)]),
    ],
  };
}

const hoursOf = (fate: Fate, nowMs: number) => summaries(hourly[fate], { at: nowMs, spans: 25, spanMs: hourMs });
const daysOf = (fate: Fate, nowMs: number) => summaries(daily[fate], { at: nowMs, spans: 90, spanMs: dayMs });

function windowOf(window: WindowName, spans: readonly HourSummary[]): WindowSummary {
  const probes = spans.reduce((sum, span) => sum + span.probes, 0);
  const good = spans.reduce((sum, span) => sum + span.good, 0);
  const [first] = spans;
  return {
    window,
    probes,
    good,
    ...(probes > 0 && { uptime: good / probes }),
    ...(good > 0 && { p50Ms: 96, p90Ms: 180, p99Ms: 1240 }),
    faults: good < probes ? { timeout: probes - good } : {},
    ...(first && { firstMs: first.fromMs }),
  };
}

const scoreOf = (fate: Fate): Score => ({
  ...(fate !== "silent" && { points: 81 }),
  parts: [
    {
      name: "reachable",
      ...(fate !== "silent" && { points: 38 }),
      outOf: 40,
      why: fate === "silent" ? "It has not been probed." : "96 of 100 probes of 30 days were good.",
      measurement: "/api/endpoints/x/availability",
    },
    {
      name: "correct",
      points: 25,
      outOf: 30,
      why: "11 of 13 constructs gave the known answer.",
      measurement: "/api/endpoints/x/capabilities",
    },
    {
      name: "described",
      outOf: 15,
      why: "It has not been described.",
      measurement: "javascript:alert(1)",
    },
    { name: "fast", points: 9, outOf: 15, why: "Half of the good probes took 96 ms.", measurement: "//evil.example/" },
  ],
});

interface Known {
  readonly fate: Fate;
  readonly health: EndpointHealth;
  readonly incidents: readonly Incident[];
}

function known({ id, url }: { readonly id: string; readonly url: string }, fate: Fate, nowMs: number): Known {
  const incidents = [
    ...(fate === "down" ? [incidentOf(id, url, { fromMs: nowMs - 5 * hourMs })] : []),
    ...(fate === "recovered" ? [incidentOf(id, url, { fromMs: nowMs - 22 * hourMs, toMs: nowMs - 18 * hourMs })] : []),
  ];
  const open = incidents.find(({ closedMs }) => closedMs === undefined);
  const since: Partial<Record<Fate, number>> = { down: 5 * hourMs, recovered: 18 * hourMs, young: 3 * hourMs };
  const health: EndpointHealth = {
    endpoint: id,
    url,
    state: fate === "silent" ? "unknown" : fate === "down" ? "down" : "up",
    ...(fate !== "silent" && {
      sinceMs: nowMs - (since[fate] ?? 40 * dayMs),
      last: observation(nowMs - 240_000, fate === "down" ? "timeout" : undefined),
    }),
    streak: 0,
    ...(open && { incident: open.id }),
    ...(fate === "maintained" && { maintenanceUntilMs: nowMs + 2 * hourMs }),
    hours: hoursOf(fate, nowMs),
  };
  return { fate, health, incidents };
}

function availabilityOf({ fate, health }: Known, nowMs: number): Availability {
  const days = daysOf(fate, nowMs);
  const long = [7, 30, 90] as const;
  return {
    health,
    windows: [
      windowOf("24h", health.hours),
      ...long.map((count) =>
        windowOf(
          `${count}d`,
          days.filter(({ fromMs }) => fromMs > nowMs - count * dayMs),
        ),
      ),
    ],
    days,
  };
}

/** A reader of a monitor that never probes: endpoints up, down and unknown, incidents, gaps; the same every time. */
export function createFakeMonitor(
  options: FakeMonitorOptions,
): MonitorReader & Pick<Monitor, "addMaintenance" | "removeMaintenance"> {
  const { endpoints, nowMs, fateOf = (_id: string, at: number) => fates[at % fates.length] ?? "steady" } = options;
  const all = new Map(endpoints.map((each, at) => [each.id, known(each, fateOf(each.id, at), nowMs)]));
  const incidents = [...all.values()]
    .flatMap((each) => each.incidents)
    .toSorted((a, b) => b.startedMs - a.startedMs || (a.id < b.id ? -1 : 1));
  const windows: MaintenanceWindow[] = [...all].flatMap(([id, { health }]) =>
    health.maintenanceUntilMs === undefined
      ? []
      : [
          {
            id: `m-${id}`,
            endpoint: id,
            fromMs: nowMs - hourMs,
            toMs: health.maintenanceUntilMs,
            reason: "<b>New disks",
          },
        ],
  );
  const states = [...all].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, { health }]) => health);
  return {
    health: (id) => all.get(id)?.health,
    all: () => states,
    openByKind: () => ({}),
    heartbeat: () => ({ enabled: true, lastMs: nowMs - 60_000, gaps: [], alive: true, ...options.heartbeat }),
    availability: async (id) => {
      const found = all.get(id);
      return found && availabilityOf(found, nowMs);
    },
    score: async (id) => {
      const found = all.get(id);
      return found && scoreOf(found.fate);
    },
    incidents: async ({ endpoint, open, limit = 100, behind } = {}) =>
      incidents
        .filter(
          ({ startedMs, id }) =>
            behind === undefined || startedMs < behind.atMs || (startedMs === behind.atMs && id > behind.id),
        )
        .filter((each) => endpoint === undefined || each.endpoint === endpoint)
        .filter((each) => open === undefined || (each.closedMs === undefined) === open)
        .slice(0, limit),
    incident: async (id) => incidents.find((each) => each.id === id),
    maintenance: async (endpoint) => windows.filter((each) => endpoint === undefined || each.endpoint === endpoint),
    addMaintenance: async (window) => {
      const added = { ...window, id: `m-${windows.length + 1}` };
      windows.push(added);
      return added;
    },
    removeMaintenance: async (id) => {
      const at = windows.findIndex((each) => each.id === id);
      if (at !== -1) windows.splice(at, 1);
      return at !== -1;
    },
  };
}
