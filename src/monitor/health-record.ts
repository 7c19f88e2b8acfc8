import type { FaultCounts, HealthState, Incident, IncidentKind, MonitorEvent, Observation } from "./monitor.ts";
import { type Hours, withoutFault } from "./hour-buckets.ts";
import { isSilent, type Peaks, type RecentTurns, settledTurns, type SlowRules, withoutLatest } from "./judgement.ts";
import { continuedIncident, counted, incidentOf, openedIncident, type OpenIncident, trailed } from "./open-incident.ts";

/** An incident that has opened or closed, or goes on. */
export type IncidentNotice = Extract<MonitorEvent, { readonly incident: Incident }>;

/** When that was. */
export const noticedMs = ({ incident, kind, atMs }: IncidentNotice): number =>
  atMs ?? (kind === "incident-closed" ? incident.closedMs : undefined) ?? incident.openedMs;

/** Everything that is known of an endpoint now, or of a host or the network that has an incident; one document of the store, changed by compare-and-set only. */
export interface HealthRecord extends Hours {
  /** The URL that was probed. */
  readonly url: string;
  /** As of the latest probe; that it was long ago is for the reader to say. */
  readonly state: HealthState;
  readonly sinceMs?: number | undefined;
  readonly streak: number;
  readonly last?: Observation | undefined;
  /** The observations of the streak, bounded. */
  readonly trail: readonly Observation[];
  /** Faults of the streak by kind, while the endpoint is not down. */
  readonly faults?: FaultCounts | undefined;
  readonly open?: OpenIncident | undefined;
  /** The endpoint's own incident that has closed lately, in case it opens again. */
  readonly ended?: { readonly incident: OpenIncident; readonly atMs: number } | undefined;
  readonly recent?: RecentTurns | undefined;
  readonly peaks?: Peaks | undefined;
  /** Incidents that have changed and are not yet written and reported. */
  readonly outbox: readonly IncidentNotice[];
}

/** When a state changes. */
export interface HealthRules extends Partial<SlowRules> {
  /** Faults in a row that open an incident. */
  readonly incidentAfter: number;
  /** Good probes in a row that close it. */
  readonly recoveredAfter: number;
  /** Milliseconds without a probe after which nothing is known any more. */
  readonly staleMs: number;
  /** True if another host has answered since a moment; else no incident opens because of silence. Absent: yes. */
  readonly isReachable?: ((sinceMs: number) => boolean) | undefined;
  /** The open incident of a host that an incident that opens is part of. */
  readonly shared?: SharedIncident | undefined;
}

/** The open incident of a host. */
export interface SharedIncident {
  readonly id: string;
  /** Subject of a host's incident, in the place of an endpoint's id. */
  readonly subject: string;
}

/** Outbox limit; the oldest undelivered changes are dropped. */
const mostNotices = 20;
const mostReminders = 10;
const dayMs = 24 * 3_600_000;
const weekMs = 7 * dayMs;

/** Nothing is known of the endpoint at this URL. */
export const blankRecord = (url: string): HealthRecord => ({
  url,
  state: "unknown",
  streak: 0,
  trail: [],
  past: [],
  outbox: [],
});

/** Nothing is known of the endpoint; something may wait to be reported. */
export const isBlank = ({ open, last, past, running }: HealthRecord): boolean =>
  open === undefined && last === undefined && past.length === 0 && running === undefined;

/** The state of an endpoint whose own incident is of this kind. */
export const stateOf = (kind: IncidentKind): HealthState =>
  kind === "flapping" || kind === "degraded" ? kind : "down";

/** The record with this incident, and the notice of it. */
export const withIncident = (name: string, record: HealthRecord, open: OpenIncident): HealthRecord =>
  noticed(
    { ...record, open },
    {
      kind: "incident-opened",
      incident: incidentOf(open, { endpoint: name, url: record.url }, []),
      atMs: open.reopenedMs,
    },
  );

/** The record with this incident of its own. */
export const opened = (endpoint: string, record: HealthRecord, open: OpenIncident): HealthRecord => ({
  ...withIncident(endpoint, record, open),
  state: stateOf(open.kind ?? "down"),
  sinceMs: open.reopenedMs ?? open.openedMs,
  streak: 0,
  trail: [],
  faults: undefined,
});

/**
 * Record while the network is lost: an endpoint that was down stays down; any other state is unknown, and starts anew after that.
 */
export function offlineRecord(record: HealthRecord, last: Observation): HealthRecord {
  if (record.open) return { ...record, last };
  const sinceMs = record.state === "unknown" ? record.sinceMs : last.atMs;
  return { ...record, state: "unknown", sinceMs, streak: 0, trail: [], faults: undefined, last };
}

/** Faults that came after the network had been lost: those of the streak, or the latest while an incident is open. */
export function faultsSince({ open, trail, last }: HealthRecord, lostMs: number): readonly Observation[] {
  if (!open) return trail.filter(({ atMs }) => atMs >= lostMs);
  return last !== undefined && last.atMs >= lostMs && isSilent(last) && !last.offline && !last.maintenance
    ? [last]
    : [];
}

/** The record as if those faults had been known to be made offline. */
export function withdrawnFaults(record: HealthRecord, lostMs: number): HealthRecord {
  const faults = faultsSince(record, lostMs);
  const latest = faults.at(-1);
  if (latest === undefined || record.last === undefined) return record;
  const turns = faults.filter(({ source }) => source === "turn");
  const { past, running } = turns.reduce<Hours>(withoutFault, record);
  const recent = withoutLatest(record.recent ?? "", turns.length);
  const last = record.last.ok ? record.last : { ...record.last, offline: true as const };
  const known = { ...record, past, running, recent };
  return { ...(record.open ? known : offlineRecord(known, latest)), last };
}

/** Trouble that several endpoints share. */
interface SharedTrouble extends Pick<OpenIncident, "kind" | "summary" | "endpoints"> {
  readonly faults: readonly Observation[];
}

/** The record of a host or the network with these faults, oldest first, as its incident; an open one goes on. */
export function sharedRecord(
  subject: string,
  record: HealthRecord,
  { faults, endpoints, ...about }: SharedTrouble,
): HealthRecord {
  if (record.open) {
    const named = [...new Set([...(record.open.endpoints ?? []), ...(endpoints ?? [])])];
    if (named.length === (record.open.endpoints?.length ?? 0)) return record;
    return { ...record, open: { ...record.open, ...about, endpoints: named } };
  }
  const counts = faults.reduce<FaultCounts>((sum, { fault }) => counted(sum, fault), {});
  const trail = faults.reduce(trailed, [] as readonly Observation[]);
  const open = { ...openedIncident(subject, trail, counts), endpoints, ...about };
  return { ...withIncident(subject, record, open), state: "down", sinceMs: open.openedMs, last: faults.at(-1) };
}

/** The record without its open incident, which is closed; unchanged when there is none. A shared one goes on without it. */
export function closedRecord(
  endpoint: string,
  record: HealthRecord,
  { atMs, by }: { readonly atMs: number; readonly by: NonNullable<Incident["closedBy"]> },
): HealthRecord {
  const { open, recent = "", trail, url } = record;
  if (open === undefined) return record;
  const closed = { ...record, open: undefined, streak: 0, trail: [], recent: settledTurns(recent) };
  if (open.subject !== undefined) return closed;
  const canReopen = by === "recovered" && open.fault !== undefined;
  const ended = canReopen ? { incident: trail.reduce(continuedIncident, open), atMs } : undefined;
  return noticed(
    { ...closed, ended },
    {
      kind: "incident-closed",
      incident: { ...incidentOf(open, { endpoint, url }, trail), closedMs: atMs, closedBy: by },
      atMs: open.reopenedMs === undefined ? undefined : atMs,
    },
  );
}

/** The endpoint of this id is another one now, or none: nothing is known of it; what waits to be reported stays. */
export function leftRecord(
  endpoint: string,
  record: HealthRecord,
  { url, ...why }: { readonly url: string; readonly atMs: number; readonly by: "moved" | "removed" },
): HealthRecord {
  return { ...blankRecord(url), outbox: closedRecord(endpoint, record, why).outbox };
}

/** The record of an endpoint that is in no catalogue: its incident is closed, its hours stay as it may come back. */
export function withdrawnRecord(endpoint: string, record: HealthRecord, atMs: number): HealthRecord {
  if (record.open === undefined) return record;
  return { ...closedRecord(endpoint, record, { atMs, by: "removed" }), state: "unknown", sinceMs: undefined };
}

/** The record with a reminder of its open incident, when one is due: after a day, then weekly, ten in all. */
export function remindedRecord(name: string, record: HealthRecord, atMs: number): HealthRecord {
  const { open, url } = record;
  if (open === undefined || open.subject !== undefined) return record;
  const { reminded = 0, remindedMs = open.openedMs } = open;
  if (reminded >= mostReminders || atMs - remindedMs < (reminded === 0 ? dayMs : weekMs)) return record;
  const next = { ...record, open: { ...open, reminded: reminded + 1, remindedMs: atMs } };
  return noticed(next, {
    kind: "incident-reminder",
    incident: incidentOf(next.open, { endpoint: name, url }, record.trail),
    atMs,
  });
}

/** The record with a notice in its outbox. */
const noticed = (record: HealthRecord, notice: IncidentNotice): HealthRecord => ({
  ...record,
  outbox: [...record.outbox, notice].slice(-mostNotices),
});
