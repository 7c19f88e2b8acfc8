import type { FaultKind } from "../errors/fedway-error.ts";

/** Faults by kind; kinds that did not occur are absent. */
export type FaultCounts = Readonly<Partial<Record<FaultKind, number>>>;

/** One look at an endpoint. */
export interface Observation {
  /** Milliseconds since the epoch, whole. */
  readonly atMs: number;
  readonly ok: boolean;
  /** Duration of the try that decided, in milliseconds. */
  readonly ms: number;
  /** Absent when `ok`. */
  readonly fault?: FaultKind | undefined;
  /** HTTP status, where one came. */
  readonly status?: number | undefined;
  /** Public text about the unexpected answer, at most 300 characters. */
  readonly detail?: string | undefined;
  /** Tries it took; more than one when the first one failed in transport. */
  readonly tries: number;
  /**
   * `turn`: a scheduled probe. `early`: a probe that proxied traffic called for. Only turns count in uptime and
   * percentiles, as the others come more often when there is trouble.
   */
  readonly source: "turn" | "early";
  /** Made inside a maintenance window: counts nowhere. */
  readonly maintenance?: true | undefined;
  /** Made while this service could not reach the network: counts nowhere. */
  readonly offline?: true | undefined;
}

/**
 * `unknown`: never probed, or not for three intervals (two minutes at least, as a probe may take one), or only while this
 * service could not reach the network.
 */
export type HealthState = (typeof healthStates)[number];
export const healthStates = ["up", "degraded", "flapping", "down", "unknown"] as const;

/** Turns of one hour. */
export interface HourSummary {
  /** Beginning of the hour. */
  readonly fromMs: number;
  readonly probes: number;
  readonly good: number;
  /** Median of the good ones' durations; absent when there was none. */
  readonly p50Ms?: number | undefined;
  /** Faults by kind. */
  readonly faults: FaultCounts;
}

/** Present state of an endpoint, from memory. */
export interface EndpointHealth {
  readonly endpoint: string;
  /** The URL that was probed. */
  readonly url: string;
  readonly state: HealthState;
  /** When it came into this state. */
  readonly sinceMs?: number | undefined;
  /** The latest probe. */
  readonly last?: Observation | undefined;
  /** Faults in a row, of an endpoint that is up still; good probes in a row, of one that is down still. */
  readonly streak: number;
  /** Id of the incident that is open. */
  readonly incident?: string | undefined;
  /** End of the maintenance window that holds now. */
  readonly maintenanceUntilMs?: number | undefined;
  /** The last 24 hours and the one that runs, oldest first; hours without a turn are left out. */
  readonly hours: readonly HourSummary[];
}

export type WindowName = "24h" | "7d" | "30d" | "90d";

/** The turns of a window that ends now and begins with a full hour. */
export interface WindowSummary {
  readonly window: WindowName;
  readonly probes: number;
  readonly good: number;
  /** `good / probes`; absent without a probe. */
  readonly uptime?: number | undefined;
  /** Percentiles of the good turns' durations, in milliseconds, within 5 % of the true value; absent without one. */
  readonly p50Ms?: number | undefined;
  readonly p90Ms?: number | undefined;
  readonly p99Ms?: number | undefined;
  readonly faults: FaultCounts;
  /** Beginning of the first hour with a turn in the window: the record may be younger than the window is long. */
  readonly firstMs?: number | undefined;
}

/** One day of the long strip. */
export interface DaySummary extends HourSummary {}

/** The record of an endpoint. */
export interface Availability {
  readonly health: EndpointHealth;
  readonly windows: readonly WindowSummary[];
  /** The last 90 days, oldest first; days without a turn are left out. */
  readonly days: readonly DaySummary[];
}

/** Kind of trouble; `drift`: the endpoint answers, but not as before. */
export type IncidentKind = "down" | "degraded" | "flapping" | "network" | "certificate" | "drift";

/** Trouble that something other than the state of an endpoint shows. */
export interface Finding {
  /** Id in the catalogue. */
  readonly endpoint: string;
  readonly kind: IncidentKind;
  /** Any text; endpoint, kind and key name one open incident. */
  readonly key: string;
  readonly atMs: number;
  /** One sentence; at most 300 characters are kept. */
  readonly summary: string;
  /** At most 20 are kept. */
  readonly evidence: readonly (Observation | string)[];
  /** Repair, e.g. a query; at most 4,000 characters are kept. */
  readonly repair?: string | undefined;
}

/** Trouble of an endpoint, of several endpoints of one host, or of the network of this service. */
export interface Incident {
  readonly id: string;
  /** `kindOf` gives it where it is absent. */
  readonly kind?: IncidentKind | undefined;
  /** One sentence; absent where the faults say it all. */
  readonly summary?: string | undefined;
  /** Evidence that is text. */
  readonly notes?: readonly string[] | undefined;
  /** Repair, e.g. a query. */
  readonly repair?: string | undefined;
  /** Id of the endpoint, or the subject of a host or the network in its place; see `subjectOf`. */
  readonly endpoint: string;
  /** Of a host: its origin. Of the network: empty. */
  readonly url: string;
  /** Of a host: the ids of the endpoints that failed alike. */
  readonly endpoints?: readonly string[] | undefined;
  /** The first fault. */
  readonly startedMs: number;
  /** The fault after which it counted as down. */
  readonly openedMs: number;
  /** When it opened again, soon after it had closed; the latest time. */
  readonly reopenedMs?: number | undefined;
  /** The good probe after which it counted as up; absent while it is open. */
  readonly closedMs?: number | undefined;
  /** Why it was closed when no good probe did: `removed`, `moved`, `maintenance`. */
  readonly closedBy?: "recovered" | "removed" | "moved" | "maintenance" | undefined;
  /** Kind of the first fault; absent where nothing failed. */
  readonly fault?: FaultKind | undefined;
  readonly faults: FaultCounts;
  /** Observations that led to it and to its end, and some of those between; at most 20, oldest first. */
  readonly evidence: readonly Observation[];
}

/** A time in which probes of an endpoint say nothing about it. */
export interface MaintenanceWindow {
  readonly id: string;
  readonly endpoint: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** At most 300 characters. */
  readonly reason?: string | undefined;
}

/** One part of a score. */
export interface ScorePart {
  readonly name: "reachable" | "correct" | "described" | "fast";
  /** Absent when nothing is known; the score is then out of the rest. */
  readonly points?: number | undefined;
  readonly outOf: number;
  /** One sentence with the figures it was made from. */
  readonly why: string;
  /** Path of the measurement, below the public URL. */
  readonly measurement: string;
}

/** How good an endpoint is to work with, and why. */
export interface Score {
  /** 0 to 100, of the parts that are known; absent when none is. */
  readonly points?: number | undefined;
  readonly parts: readonly ScorePart[];
}

/** State of the monitor itself. */
export interface Heartbeat {
  /** Probing is switched on. */
  readonly enabled: boolean;
  /** When probes were last started by any process. */
  readonly lastMs?: number | undefined;
  /** Times of the last 90 days without a probe for more than three intervals. */
  readonly gaps: readonly { readonly fromMs: number; readonly toMs: number }[];
  /** It beat within three intervals, or is switched off. */
  readonly alive: boolean;
  /** This service cannot reach the network, so that probes say nothing of endpoints beyond it. */
  readonly offline?: { readonly sinceMs: number; readonly incident: string } | undefined;
}

/** Report of proxied traffic about an endpoint; `ExchangeReport` of `outbound` fits. */
export interface TrafficReport {
  /** Catalogue id, or `unlisted`, which is ignored. */
  readonly endpoint: string;
  readonly outcome: "ok" | "partial" | "cancelled" | FaultKind;
  readonly ms: number;
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
