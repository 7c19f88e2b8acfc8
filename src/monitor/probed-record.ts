import { closedRecord, type HealthRecord, type HealthRules, offlineRecord, opened, stateOf } from "./health-record.ts";
import { type Hours, withTurn } from "./hour-buckets.ts";
import {
  calmTurns,
  hasSettled,
  isPartial,
  isSilent,
  kindNow,
  goodAfter,
  type Peaks,
  shareText,
  slowText,
  withDay,
  withRecent,
} from "./judgement.ts";
import type { Observation } from "./monitor.ts";
import {
  continuedIncident,
  counted,
  openedIncident,
  type OpenIncident,
  reopenedIncident,
  trailed,
} from "./open-incident.ts";

const dayMs = 24 * 3_600_000;
const weekMs = 7 * dayMs;
/** An incident that opens within this time after another one of the endpoint is the same. */
const againMs = dayMs / 2;

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
  const next = observation.ok
    ? known.open
      ? afterGoodProbe(endpoint, known, rules)
      : reachable(known, observation)
    : known.open
      ? stillDown(known, known.open)
      : afterFault(endpoint, known, rules);
  if (observation.source !== "turn") return next;
  const judged = next.open ? withKind(next, next.open, rules) : openedIfPartial(endpoint, next);
  return known.running?.h === before.running?.h ? judged : judgedByHour(endpoint, judged, rules);
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
    return opened(endpoint, record, {
      ...openedIncident(endpoint, [last], {}),
      fault: undefined,
      kind: "degraded",
      summary,
    });
  }
  if (open === undefined || summary !== undefined) return record;
  return closedRecord(endpoint, { ...record, state: "up", sinceMs: last.atMs }, { atMs: last.atMs, by: "recovered" });
}

/** A record whose latest probe is long ago says that it was up once, which is nothing to go on from. */
function forgotten(record: HealthRecord, nowMs: number, { staleMs }: HealthRules): HealthRecord {
  if (record.open || record.last === undefined || nowMs - record.last.atMs <= staleMs) return record;
  return { ...record, state: "unknown", sinceMs: undefined, streak: 0, trail: [], faults: undefined, recent: "" };
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
  if (!shared) return openedAgain(endpoint, record, open);
  return { ...opened(endpoint, record, { ...open, ...shared }), outbox: record.outbox };
}

/** The record with this incident, or with the one that ended a short while ago: recurring trouble is one incident. */
function openedAgain(endpoint: string, record: HealthRecord, open: OpenIncident): HealthRecord {
  const { ended, recent = "" } = record;
  const one = ended === undefined ? open : reopenedIncident(ended.incident, open);
  const kind = hasSettled(recent) ? "flapping" : open.kind;
  const summary = kind === undefined ? undefined : shareText(recent);
  return { ...opened(endpoint, record, { ...one, kind, summary }), ended: undefined };
}

function stillDown(record: Probed, open: OpenIncident): HealthRecord {
  // Good probes that led to nothing are evidence too: the endpoint came and went.
  const withGood = record.trail.reduce(continuedIncident, open);
  return { ...record, streak: 0, trail: [], open: continuedIncident(withGood, record.last) };
}

function afterGoodProbe(endpoint: string, record: Probed, rules: HealthRules): HealthRecord {
  const { last } = record;
  const waiting = { ...record, streak: record.streak + 1, trail: trailed(record.trail, last) };
  if (waiting.streak < goodToClose(record, rules)) return waiting;
  return closedRecord(endpoint, { ...waiting, state: "up", sinceMs: last.atMs }, { atMs: last.atMs, by: "recovered" });
}

/**
 * Good probes in a row that end an incident: as many as there were faulty ones before, within bounds, so that three bad
 * and two good in turns are one incident; more where it has come and gone.
 */
function goodToClose({ open, recent = "" }: HealthRecord, { recoveredAfter }: HealthRules): number {
  if (open && isSlow(open)) return Number.POSITIVE_INFINITY;
  if (open?.kind === "flapping" || open?.kind === "degraded") return Math.max(calmTurns, recoveredAfter);
  return Math.max(recoveredAfter, goodAfter(recent));
}
