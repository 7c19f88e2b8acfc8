import type { FaultKind } from "../errors/fedway-error.ts";
import { type Hours, withoutFault, withTurn } from "./hours.ts";
import {
  calmTurns,
  goodAfter,
  hasSettled,
  isPartial,
  isSilent,
  kindNow,
  type Peaks,
  type RecentTurns,
  settledTurns,
  shareText,
  type SlowRules,
  slowText,
  withDay,
  withoutLatest,
  withRecent,
} from "./judgement.ts";
import type { FaultCounts, HealthState, Incident, IncidentKind, MonitorEvent, Observation } from "./monitor.ts";
import { ownerOfRecord } from "./subjects.ts";

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

/** An incident that goes on, as it is kept beside an endpoint's state. */
export interface OpenIncident {
  readonly id: string;
  readonly startedMs: number;
  readonly openedMs: number;
  /** When it opened again, soon after it had closed. */
  readonly reopenedMs?: number | undefined;
  readonly fault?: FaultKind | undefined;
  readonly faults: FaultCounts;
  readonly kind?: IncidentKind | undefined;
  readonly summary?: string | undefined;
  readonly notes?: readonly string[] | undefined;
  readonly repair?: string | undefined;
  /** Observations that led to it. */
  readonly led: readonly Observation[];
  /** Every `stride`th of those since. */
  readonly between: readonly Observation[];
  readonly stride: number;
  /** Observations since. */
  readonly seen: number;
  /** Reminders that were sent, and when the latest was. */
  readonly reminded?: number | undefined;
  readonly remindedMs?: number | undefined;
  /** Subject of an incident of a host or the network, not of the endpoint itself. */
  readonly subject?: string | undefined;
  /** Of a host: ids of the endpoints that failed alike. */
  readonly endpoints?: readonly string[] | undefined;
}

/** Outbox limit; the oldest undelivered changes are dropped. */
const mostNotices = 20;
const mostReminders = 10;
const dayMs = 24 * 3_600_000;
const weekMs = 7 * dayMs;
/** An incident that opens within this time after another one of the endpoint is the same. */
const againMs = dayMs / 2;

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
  const before = forgotten(record, observation.atMs, rules);
  const known = {
    ...before,
    ...(observation.source === "turn" ? counting(before, observation) : {}),
    last: observation,
  };
  const next = observation.ok ? afterGoodProbe(endpoint, known, rules) : afterFault(endpoint, known, rules);
  if (observation.source !== "turn") return next;
  const judged = next.open ? withKind(next, next.open, rules) : openedIfPartial(endpoint, next);
  return known.running?.h === before.running?.h ? judged : judgedByHour(endpoint, judged, rules);
}

type Probed = HealthRecord & { readonly last: Observation };

/** A record whose latest probe is long ago says that it was up once, which is nothing to go on from. */
function forgotten(record: HealthRecord, nowMs: number, { staleMs }: HealthRules): HealthRecord {
  if (record.open || record.last === undefined || nowMs - record.last.atMs <= staleMs) return record;
  return { ...record, state: "unknown", sinceMs: undefined, streak: 0, trail: [], faults: undefined, recent: "" };
}

/** Contribution of a turn to the windows that the endpoint is judged by. */
function counting(record: HealthRecord, observation: Observation) {
  const hours = withTurn(record, observation);
  const { ended } = record;
  return {
    ...hours,
    recent: withRecent(record.recent ?? "", observation.ok),
    ended: ended !== undefined && observation.atMs - ended.atMs < againMs ? ended : undefined,
    peaks: peaksWith(record, hours, observation),
  };
}

/** While it is slow, the usual time stays; after a week the slow time is usual. */
function peaksWith({ open, peaks = [], ...before }: HealthRecord, hours: Hours, { atMs }: Observation): Peaks {
  const isRecent = open !== undefined && isSlow(open) && atMs - open.openedMs < weekMs;
  return isRecent ? peaks : withDay(peaks, hours, before);
}

/** An incident without a fault: the answers were good, and late. */
const isSlow = ({ kind, fault }: OpenIncident): boolean => kind === "degraded" && fault === undefined;

function afterGoodProbe(endpoint: string, record: Probed, rules: HealthRules): HealthRecord {
  const { last, open, state, streak } = record;
  if (open) {
    const waiting = { ...record, streak: streak + 1, trail: trailed(record.trail, last) };
    if (waiting.streak < goodToClose(open, record.recent ?? "", rules)) return waiting;
    return closedRecord(
      endpoint,
      { ...waiting, state: "up", sinceMs: last.atMs },
      { atMs: last.atMs, by: "recovered" },
    );
  }
  if (state === "up" && streak === 0) return record;
  const sinceMs = state === "up" ? (record.sinceMs ?? last.atMs) : last.atMs;
  return { ...record, state: "up", sinceMs, streak: 0, trail: [], faults: undefined };
}

/**
 * Good probes in a row that end an incident: as many as there were faulty ones before, within bounds, so that three bad
 * and two good in turns are one incident; more where it has come and gone.
 */
function goodToClose(open: OpenIncident, recent: RecentTurns, { recoveredAfter }: HealthRules): number {
  if (isSlow(open)) return Number.POSITIVE_INFINITY;
  if (open.kind === "flapping" || open.kind === "degraded") return Math.max(calmTurns, recoveredAfter);
  return Math.max(recoveredAfter, goodAfter(recent));
}

function afterFault(endpoint: string, record: Probed, rules: HealthRules): HealthRecord {
  const { incidentAfter, isReachable, shared } = rules;
  const { last, open } = record;
  if (open) {
    // Good probes that led to nothing are evidence too: the endpoint came and went.
    const withGood = record.trail.reduce(continuedIncident, open);
    return { ...record, streak: 0, trail: [], open: continuedIncident(withGood, last) };
  }
  const streak = record.streak + 1;
  const trail = trailed(record.trail, last);
  const faults = counted(record.faults ?? {}, last.fault);
  const isOwnFault = !isSilent(last) || isReachable?.(trail[0]?.atMs ?? last.atMs) !== false;
  if (streak < incidentAfter || !isOwnFault) return { ...record, streak, trail, faults };
  const own = openedIncident(endpoint, trail, faults);
  // The host's or the network's record has the notice.
  if (shared) return { ...opened(endpoint, record, { ...own, ...shared }), outbox: record.outbox };
  return openedAgain(endpoint, record, own);
}

/** The record with this incident, or with the one that ended a short while ago: recurring trouble is one incident. */
function openedAgain(endpoint: string, record: HealthRecord, open: OpenIncident): HealthRecord {
  const { ended, recent = "" } = record;
  const one = ended === undefined ? open : reopenedIncident(ended.incident, open);
  const kind = hasSettled(recent) ? "flapping" : open.kind;
  const summary = kind === undefined ? undefined : shareText(recent);
  return { ...opened(endpoint, record, { ...one, kind, summary }), ended: undefined };
}

/** An incident that got worse has a reminder at once, unless there was one in the latest days. */
const remindNow = ({ remindedMs }: OpenIncident, { atMs }: Observation) =>
  remindedMs === undefined || atMs - remindedMs > 3 * dayMs ? { remindedMs: 0 } : {};

/** An open incident that the window shows to be of another kind. */
function withKind(record: HealthRecord, open: OpenIncident, rules: HealthRules): HealthRecord {
  const { recent = "", last } = record;
  const was = open.kind ?? "down";
  const kind = kindNow(was, recent, rules.incidentAfter);
  if (kind === was || last === undefined) return record;
  const summary = kind === "down" ? undefined : shareText(recent);
  return {
    ...record,
    state: stateOf(kind),
    sinceMs: last.atMs,
    open: { ...open, kind, summary, fault: open.fault ?? last.fault, ...(kind === "down" && remindNow(open, last)) },
  };
}

function openedIfPartial(endpoint: string, record: HealthRecord): HealthRecord {
  const { recent = "", trail, faults = {} } = record;
  if (trail.length === 0 || !isPartial(recent)) return record;
  return openedAgain(endpoint, record, { ...openedIncident(endpoint, trail, faults), kind: "degraded" });
}

/** Opens or closes the incident of an endpoint that is slow; asked once an hour. */
function judgedByHour(endpoint: string, record: HealthRecord, rules: HealthRules): HealthRecord {
  const { open, last, peaks = [], state } = record;
  const { slowMs = Number.POSITIVE_INFINITY, slowFactor = Number.POSITIVE_INFINITY } = rules;
  if (last === undefined || !last.ok || (open ? !isSlow(open) : state !== "up")) return record;
  const summary = slowText(record, peaks, { slowMs, slowFactor, isSlow: open !== undefined });
  if (open === undefined && summary !== undefined) {
    return opened(endpoint, record, { ...openedIncident(endpoint, [last], {}), kind: "degraded", summary });
  }
  if (open === undefined || summary !== undefined) return record;
  return closedRecord(endpoint, { ...record, state: "up", sinceMs: last.atMs }, { atMs: last.atMs, by: "recovered" });
}

/** The state of an endpoint whose own incident is of this kind. */
const stateOf = (kind: IncidentKind): HealthState => (kind === "flapping" || kind === "degraded" ? kind : "down");

/** The record with this incident, and the notice of it. */
export const withIncident = (name: string, record: HealthRecord, open: OpenIncident): HealthRecord =>
  noticed(
    { ...record, open },
    {
      kind: "incident-opened",
      incident: incidentOf(name, record, open, []),
      atMs: open.reopenedMs,
    },
  );

/** The record with this incident of its own. */
const opened = (endpoint: string, record: HealthRecord, open: OpenIncident): HealthRecord => ({
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
function offlineRecord(record: HealthRecord, last: Observation): HealthRecord {
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
interface SharedTrouble {
  readonly faults: readonly Observation[];
  readonly kind?: IncidentKind | undefined;
  readonly summary?: string | undefined;
  readonly endpoints?: readonly string[] | undefined;
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
  const { open, recent = "", trail } = record;
  if (open === undefined) return record;
  const closed = { ...record, open: undefined, streak: 0, trail: [], recent: settledTurns(recent) };
  if (open.subject !== undefined) return closed;
  const canReopen = by === "recovered" && open.fault !== undefined;
  const ended = canReopen ? { incident: trail.reduce(continuedIncident, open), atMs } : undefined;
  return noticed(
    { ...closed, ended },
    {
      kind: "incident-closed",
      incident: { ...incidentOf(endpoint, record, open, trail), closedMs: atMs, closedBy: by },
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
  const { open } = record;
  if (open === undefined || open.subject !== undefined) return record;
  const { reminded = 0, remindedMs = open.openedMs } = open;
  if (reminded >= mostReminders || atMs - remindedMs < (reminded === 0 ? dayMs : weekMs)) return record;
  const next = { ...record, open: { ...open, reminded: reminded + 1, remindedMs: atMs } };
  return noticed(next, {
    kind: "incident-reminder",
    incident: incidentOf(name, record, next.open, record.trail),
    atMs,
  });
}

/** The record with a notice in its outbox. */
const noticed = (record: HealthRecord, notice: IncidentNotice): HealthRecord => ({
  ...record,
  outbox: [...record.outbox, notice].slice(-mostNotices),
});

/** Observations of each of the three parts of the evidence: together no more than 20. */
const mostLed = 7;
const mostBetween = 6;

/**
 * Beyond any moment, so that ids of later incidents sort first: stores list in the order of keys. An id is a function of
 * its subject and its beginning: every process that opens this incident opens the same one.
 */
const latestMs = 2 ** 43;

/** A list with one more at its end, bounded: its beginning and its end stay. */
function trailed(trail: readonly Observation[], observation: Observation): readonly Observation[] {
  if (trail.length < mostLed) return [...trail, observation];
  const begins = Math.ceil(mostLed / 2);
  return [...trail.slice(0, begins), ...trail.slice(begins + 1), observation];
}

const counted = (faults: FaultCounts, fault: FaultKind | undefined): FaultCounts =>
  fault === undefined ? faults : { ...faults, [fault]: (faults[fault] ?? 0) + 1 };

/** An incident that begins at a moment; nothing has been observed of it yet. */
export const incidentAt = (name: string, startedMs: number): OpenIncident => ({
  id: `${(latestMs - startedMs).toString(36).padStart(9, "0")}.${name}`,
  startedMs,
  openedMs: startedMs,
  faults: {},
  led: [],
  between: [],
  stride: 1,
  seen: 0,
});

/** The incident that these faults are; `faults` counts them all, the trail may be shorter. */
function openedIncident(name: string, trail: readonly Observation[], faults: FaultCounts): OpenIncident {
  const [first, last] = [trail[0], trail.at(-1)];
  if (first === undefined || last === undefined) throw new TypeError("An incident begins with an observation.");
  return { ...incidentAt(name, first.atMs), openedMs: last.atMs, fault: first.fault, faults, led: trail };
}

/** The incident with one observation more that did not end it. */
function continuedIncident(open: OpenIncident, observation: Observation): OpenIncident {
  const { stride, seen } = open;
  const faults = counted(open.faults, observation.fault);
  if (seen % stride !== 0) return { ...open, faults, seen: seen + 1 };
  const between = [...open.between, observation];
  if (between.length <= mostBetween) return { ...open, faults, between, seen: seen + 1 };
  // Every other one goes, and from now on every other one comes: the rest is spread over the whole time.
  return {
    ...open,
    faults,
    between: between.filter((_, index) => index % 2 === 0),
    stride: stride * 2,
    seen: seen + 1,
  };
}

/** An ended incident, open again with these later faults: recurring trouble is one incident. */
function reopenedIncident(ended: OpenIncident, again: OpenIncident): OpenIncident {
  const faults: Record<string, number> = { ...ended.faults };
  for (const [kind, count] of Object.entries(again.faults)) faults[kind] = (faults[kind] ?? 0) + count;
  return { ...again.led.reduce(continuedIncident, ended), faults, reopenedMs: again.openedMs };
}

/** The incident as others see it; `trail` are the observations that may be about to end it. */
export function incidentOf(
  name: string,
  { url }: HealthRecord,
  open: OpenIncident,
  trail: readonly Observation[],
): Incident {
  const { led, between, stride: _s, seen: _n, subject: _o, reminded: _r, remindedMs: _m, ...known } = open;
  return { endpoint: ownerOfRecord(name), url, ...known, evidence: [...led, ...between, ...trail] };
}
