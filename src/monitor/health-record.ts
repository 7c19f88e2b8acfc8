import type { FaultCounts, HealthState, Incident, MonitorEvent, Observation } from "./monitor.ts";
import { type Hours, withoutFault, withTurn } from "./hour-buckets.ts";
import { isSilent } from "./network.ts";
import { continuedIncident, counted, incidentOf, openedIncident, type OpenIncident, trailed } from "./open-incident.ts";

/** An incident that has opened or closed. */
export type IncidentNotice = Extract<MonitorEvent, { readonly incident: Incident }>;

/** When it opened or closed. */
export const noticedMs = ({ incident }: IncidentNotice): number => incident.closedMs ?? incident.openedMs;

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
  /** Incidents that have changed and are not yet written and reported. */
  readonly outbox: readonly IncidentNotice[];
}

/** When a state changes. */
export interface HealthRules {
  /** Faults in a row that open an incident. */
  readonly incidentAfter: number;
  /** Good probes in a row that close it. */
  readonly recoveredAfter: number;
  /** Milliseconds without a probe after which nothing is known any more. */
  readonly staleMs: number;
  /** Whether anybody else has answered since a moment; else no incident opens because of silence. Absent: yes. */
  readonly isReachable?: ((sinceMs: number) => boolean) | undefined;
  /** The open incident of a host that an incident that opens is part of. */
  readonly shared?: SharedIncident | undefined;
}

/** The open incident of a host. */
export interface SharedIncident {
  readonly id: string;
  /** What stands for the host in the place of an endpoint's id. */
  readonly subject: string;
}

/** Outbox limit; the oldest undelivered changes are dropped. */
const mostNotices = 20;

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

/** The record after one probe. */
export function probedRecord(
  endpoint: string,
  { record, observation }: { readonly record: HealthRecord; readonly observation: Observation },
  rules: HealthRules,
): HealthRecord {
  if (observation.maintenance) return { ...record, last: observation };
  if (observation.offline) return offlineRecord(record, observation);
  const hours = observation.source === "turn" ? withTurn(record, observation) : {};
  const known = { ...forgotten(record, observation.atMs, rules), ...hours, last: observation };
  if (observation.ok) return known.open ? afterGoodProbe(endpoint, known, rules) : reachable(known, observation);
  return known.open ? stillDown(known, known.open) : afterFault(endpoint, known, rules);
}

/** What was down stays down; of anything else nothing is known while the network is lost, and it begins anew after that. */
function offlineRecord(record: HealthRecord, last: Observation): HealthRecord {
  if (record.open) return { ...record, last };
  const sinceMs = record.state === "unknown" ? record.sinceMs : last.atMs;
  return { ...record, state: "unknown", sinceMs, streak: 0, trail: [], faults: undefined, last };
}

/** Faults of the streak that came after the network had been lost. */
export const faultsSince = ({ open, trail }: HealthRecord, lostMs: number): readonly Observation[] =>
  open ? [] : trail.filter(({ atMs }) => atMs >= lostMs);

/** The record as if those faults had been known to be made offline. */
export function withdrawnFaults(record: HealthRecord, lostMs: number): HealthRecord {
  const faults = faultsSince(record, lostMs);
  const latest = faults.at(-1);
  if (latest === undefined || record.last === undefined) return record;
  const hours = faults.filter(({ source }) => source === "turn").reduce<Hours>(withoutFault, record);
  const last = record.last.ok ? record.last : { ...record.last, offline: true as const };
  return { ...offlineRecord({ ...record, past: hours.past, running: hours.running }, latest), last };
}

/** A record whose latest probe is long ago says that it was up once, which is nothing to go on from. */
function forgotten(record: HealthRecord, nowMs: number, { staleMs }: HealthRules): HealthRecord {
  if (record.open || record.last === undefined || nowMs - record.last.atMs <= staleMs) return record;
  return { ...record, state: "unknown", sinceMs: undefined, streak: 0, trail: [], faults: undefined };
}

function reachable(record: Probed, { atMs }: Observation): HealthRecord {
  if (record.state === "up" && record.streak === 0) return record;
  const sinceMs = record.state === "up" ? (record.sinceMs ?? atMs) : atMs;
  return { ...record, state: "up", sinceMs, streak: 0, trail: [], faults: undefined };
}

type Probed = HealthRecord & { readonly last: Observation };

function afterFault(endpoint: string, record: Probed, rules: HealthRules): HealthRecord {
  const { incidentAfter, isReachable, shared } = rules;
  const { last } = record;
  const streak = record.streak + 1;
  const trail = trailed(record.trail, last);
  const faults = counted(record.faults ?? {}, last.fault);
  const isOwnFault = !isSilent(last) || isReachable?.(trail[0]?.atMs ?? last.atMs) !== false;
  if (streak < incidentAfter || !isOwnFault) return { ...record, streak, trail, faults };
  const open = openedIncident(endpoint, trail, faults);
  const down = { ...record, state: "down", sinceMs: last.atMs, streak: 0, trail: [], faults: undefined } as const;
  if (shared) return { ...down, open: { ...open, ...shared } };
  return noticed({ ...down, open }, "incident-opened", incidentOf(open, { endpoint, url: record.url }, []));
}

/** The record of a host or the network with these faults, oldest first, as its incident; an open one goes on. */
export function sharedRecord(
  subject: string,
  record: HealthRecord,
  { faults, endpoints }: { readonly faults: readonly Observation[]; readonly endpoints?: readonly string[] },
): HealthRecord {
  if (record.open) {
    const named = [...new Set([...(record.open.endpoints ?? []), ...(endpoints ?? [])])];
    if (named.length === (record.open.endpoints?.length ?? 0)) return record;
    return { ...record, open: { ...record.open, endpoints: named } };
  }
  const counts = faults.reduce<FaultCounts>((sum, { fault }) => counted(sum, fault), {});
  const open = { ...openedIncident(subject, faults.reduce(trailed, [] as readonly Observation[]), counts), endpoints };
  const down = { ...record, state: "down", sinceMs: open.openedMs, last: faults.at(-1), open } as const;
  return noticed(down, "incident-opened", incidentOf(open, { endpoint: subject, url: record.url }, []));
}

function stillDown(record: Probed, open: OpenIncident): HealthRecord {
  // Good probes that led to nothing are evidence too: the endpoint came and went.
  const withGood = record.trail.reduce(continuedIncident, open);
  return { ...record, streak: 0, trail: [], open: continuedIncident(withGood, record.last) };
}

function afterGoodProbe(endpoint: string, record: Probed, { recoveredAfter }: HealthRules): HealthRecord {
  const { last } = record;
  const waiting = { ...record, streak: record.streak + 1, trail: trailed(record.trail, last) };
  if (waiting.streak < recoveredAfter) return waiting;
  return closedRecord(endpoint, { ...waiting, state: "up", sinceMs: last.atMs }, { atMs: last.atMs, by: "recovered" });
}

/** The record without its open incident, which is closed; unchanged when there is none. A shared one goes on without it. */
export function closedRecord(
  endpoint: string,
  record: HealthRecord,
  { atMs, by }: { readonly atMs: number; readonly by: NonNullable<Incident["closedBy"]> },
): HealthRecord {
  if (record.open === undefined) return record;
  const incident = incidentOf(record.open, { endpoint, url: record.url }, record.trail);
  const closed = { ...record, open: undefined, streak: 0, trail: [] };
  if (record.open.subject !== undefined) return closed;
  return noticed(closed, "incident-closed", { ...incident, closedMs: atMs, closedBy: by });
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

/** The record with a notice in its outbox. */
export function noticed(record: HealthRecord, kind: IncidentNotice["kind"], incident: Incident): HealthRecord {
  return { ...record, outbox: [...record.outbox, { kind, incident }].slice(-mostNotices) };
}
