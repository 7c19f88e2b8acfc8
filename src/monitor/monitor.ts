import { type Static, Type } from "typebox";
import type { FaultKind } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import { boolean, type Given, integer, number, text, texts } from "../shapes.ts";

const { Optional } = Type;

/** Faults by kind; kinds that did not occur are absent. */
export type FaultCounts = Readonly<Partial<Record<FaultKind, number>>>;
const faults = Type.Unsafe<FaultCounts>(
  Type.Record(Type.String(), Type.Integer(), { description: "Number of faults by kind; absent: none." }),
);
const fault = Type.Unsafe<FaultKind>(text("Kind of the (first) fault; absent where nothing failed."));

/** One look at an endpoint. */
export const Observation = Type.Object(
  {
    atMs: Type.Integer(),
    ok: Type.Boolean(),
    ms: number("Duration of the try that decided, in milliseconds."),
    fault: Optional(fault),
    status: Optional(integer("HTTP status, where one came.")),
    detail: Optional(text("The unexpected answer, at most 300 characters.")),
    tries: integer("Tries it took; more than one when the first one failed in transport."),
    source: Type.Enum(["turn", "early"], {
      description:
        "turn: a scheduled probe (only these count in uptime and percentiles); early: called for by proxied traffic.",
    }),
    maintenance: Optional(Type.Literal(true, { description: "Made inside a maintenance window: counts nowhere." })),
    offline: Optional(
      Type.Literal(true, { description: "Made while this service could not reach the network: counts nowhere." }),
    ),
  },
  { title: "Observation" },
);
export type Observation = Given<Static<typeof Observation>>;

export const healthStates = ["up", "degraded", "flapping", "down", "unknown"] as const;
export type HealthState = (typeof healthStates)[number];
const state = Type.Enum([...healthStates], {
  description:
    "degraded: slow by its own history, or many probes fail; flapping: goes down again and again; unknown: never probed, not for three intervals (two minutes at least), or only while the service had no network.",
});

/** Turns of one hour. */
export const HourSummary = Type.Object({
  fromMs: Type.Integer(),
  probes: Type.Integer(),
  good: Type.Integer(),
  p50Ms: Optional(number("Median duration of the good ones; absent when there was none.")),
  faults,
});
export type HourSummary = Given<Static<typeof HourSummary>>;

/** Present state of an endpoint, from memory. */
export const EndpointHealth = Type.Object({
  endpoint: Type.String(),
  url: text("The URL that was probed."),
  state,
  sinceMs: Optional(integer("When it came into this state.")),
  last: Optional(Observation),
  streak: integer("Probes in a row that speak for another state."),
  incident: Optional(text("Id of the incident that is open.")),
  maintenanceUntilMs: Optional(integer("End of the maintenance window that holds now.")),
  hours: Type.Array(HourSummary, {
    description: "The last 24 hours and the one that runs, oldest first; hours without a turn are left out.",
  }),
});
export type EndpointHealth = Given<Static<typeof EndpointHealth>>;

/** The turns of a window that ends now and begins with a full hour. */
export const WindowSummary = Type.Object({
  window: Type.Enum(["24h", "7d", "30d", "90d"], {
    description: "Up to now, from the full hour in which it begins.",
  }),
  probes: Type.Integer(),
  good: Type.Integer(),
  uptime: Optional(number("Good probes of all probes, 0 to 1; absent without a probe.")),
  p50Ms: Optional(number("Percentile of good probes' durations, within 5 % of the true value; absent without one.")),
  p90Ms: Optional(Type.Number()),
  p99Ms: Optional(Type.Number()),
  faults,
  firstMs: Optional(integer("Beginning of the first hour with a probe: the record may be younger than the window.")),
});
export type WindowSummary = Given<Static<typeof WindowSummary>>;
export type WindowName = WindowSummary["window"];

/** The record of an endpoint. */
export const Availability = Type.Object({
  health: EndpointHealth,
  windows: Type.Array(WindowSummary),
  days: Type.Array(HourSummary, {
    description: "The last 90 days, oldest first; days without a turn are left out.",
  }),
});
export type Availability = Given<Static<typeof Availability>>;

/** Kind of trouble; `drift`: the endpoint answers, but not as before. */
export type IncidentKind = Static<typeof IncidentKind>;
export const IncidentKind = Type.Enum(["down", "degraded", "flapping", "network", "certificate", "drift"]);

/** Names a finding. */
export interface NamedFinding {
  /** Id in the catalogue. */
  readonly endpoint: string;
  readonly kind: IncidentKind;
  /** Any text; endpoint, kind and key name one open incident. */
  readonly key: string;
  readonly atMs: number;
}

/** Trouble that something other than the state of an endpoint shows. */
export interface Finding extends NamedFinding {
  /** One sentence; at most 300 characters are kept. */
  readonly summary: string;
  /** At most 20 are kept. */
  readonly evidence: readonly (Observation | string)[];
  /** Repair, e.g. a query; at most 4,000 characters are kept. */
  readonly repair?: string | undefined;
}

/** Trouble of an endpoint, of several endpoints of one host, or of the network of this service. */
export const Incident = Type.Object({
  id: Type.String(),
  /** `kindOf` gives it where it is absent. */
  kind: Optional(IncidentKind),
  summary: Optional(text("One sentence; absent where the faults say it all.")),
  notes: Optional(texts("Evidence that is text.")),
  repair: Optional(text("What mends it, e.g. a query.")),
  /** Id of the endpoint, or the subject of a host or the network in its place; see `subjectOf`. */
  endpoint: Type.String(),
  url: text("Of a host: its origin."),
  endpoints: Optional(texts("Of an incident of a host: the endpoints that failed alike.")),
  startedMs: integer("The first fault."),
  openedMs: integer("The fault after which it counted as down."),
  reopenedMs: Optional(integer("When it opened again, soon after it had closed; the latest time.")),
  closedMs: Optional(integer("The good probe after which it counted as up; absent while it is open.")),
  closedBy: Optional(
    Type.Enum(["recovered", "removed", "moved", "maintenance"], {
      description: "Why it was closed when no good probe did.",
    }),
  ),
  fault: Optional(fault),
  faults,
  evidence: Type.Array(Observation, {
    description: "What led to it and to its end, and some between; at most 20, oldest first.",
  }),
});
export type Incident = Given<Static<typeof Incident>>;

/** A time in which probes of an endpoint say nothing about it. */
export const MaintenanceWindow = Type.Object(
  {
    id: Type.String(),
    endpoint: Type.String(),
    fromMs: Type.Integer(),
    toMs: Type.Integer(),
    reason: Optional(text("At most 300 characters.")),
  },
  { title: "Maintenance" },
);
export type MaintenanceWindow = Given<Static<typeof MaintenanceWindow>>;

/** How good an endpoint is to work with, and why. */
export const Score = Type.Object({
  points: Optional(number("0 to 100, of the parts that are known; absent when none is.")),
  parts: Type.Array(
    Type.Object({
      name: Type.Enum(["reachable", "correct", "described", "fast"]),
      points: Optional(number("Absent when nothing is known; the score is then out of the rest.")),
      outOf: Type.Number(),
      why: text("One sentence with the figures it was made from."),
      measurement: text("Path of the measurement, below the public URL."),
    }),
  ),
});
export type Score = Given<Static<typeof Score>>;
export type ScorePart = Score["parts"][number];

/** State of the monitor itself. */
export const Heartbeat = Type.Object({
  enabled: boolean("Probing is switched on."),
  lastMs: Optional(integer("When probes were last started by any process.")),
  gaps: Type.Array(Type.Object({ fromMs: Type.Integer(), toMs: Type.Integer() }), {
    description: "Times of the last 90 days without a probe for more than three intervals.",
  }),
  alive: boolean("It beat within three intervals, or is switched off."),
  offline: Optional(
    Type.Object(
      { sinceMs: Type.Integer(), incident: Type.String() },
      { description: "This service cannot reach the network; probes of endpoints beyond it say nothing." },
    ),
  ),
});
export type Heartbeat = Given<Static<typeof Heartbeat>>;

/** Report of proxied traffic about an endpoint; `ExchangeReport` of `outbound` fits. */
export interface TrafficReport {
  /** Catalogue id, or `unlisted`, which is ignored. */
  readonly endpoint: string;
  readonly outcome: "ok" | "partial" | "cancelled" | FaultKind;
  readonly ms: number;
}

/** The endpoints that are watched; the registry's catalogue fits. */
export interface WatchedCatalog {
  readonly entries: readonly CatalogEntry[];
  byId(id: string): CatalogEntry | undefined;
  /** Calls back after every change; absent: there is none. */
  onChange?(listener: () => void): () => void;
}

/** Sent to the listeners of the process that noticed it. */
export type MonitorEvent =
  | { readonly kind: "probed"; readonly endpoint: string; readonly observation: Observation }
  | {
      readonly kind: "incident-opened" | "incident-closed" | "incident-reminder";
      readonly incident: Incident;
      /** Of a reminder, and where an incident opens or closes once more. */
      readonly atMs?: number | undefined;
    };

/** Reading interface of the monitor. Methods that return promises throw FedwayError `STORE_FAILED`. */
export interface MonitorReader {
  /** From memory; undefined when the endpoint is not in the catalogue. */
  health(endpoint: string): EndpointHealth | undefined;
  /** The health of every endpoint of the catalogue, by id. */
  all(): readonly EndpointHealth[];
  heartbeat(): Heartbeat;
  /** Undefined when the endpoint is not in the catalogue. */
  availability(endpoint: string): Promise<Availability | undefined>;
  score(endpoint: string): Promise<Score | undefined>;
  /** Newest first; as `health` has them, also those that are not stored yet. */
  incidents(options?: {
    readonly endpoint?: string | undefined;
    readonly open?: boolean | undefined;
    /** Default 100. */
    readonly limit?: number | undefined;
    /** Only those that come after this one. */
    readonly behind?: { readonly atMs: number; readonly id: string } | undefined;
  }): Promise<readonly Incident[]>;
  incident(id: string): Promise<Incident | undefined>;
  /** How many are open, by kind; from memory. */
  openByKind(): Readonly<Partial<Record<IncidentKind, number>>>;
  /** Those that have not ended, soonest first. */
  maintenance(endpoint?: string): Promise<readonly MaintenanceWindow[]>;
}
