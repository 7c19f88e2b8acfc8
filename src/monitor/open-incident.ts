import type { FaultKind } from "../errors/fedway-error.ts";
import type { FaultCounts, Incident, IncidentKind, Observation } from "./monitor.ts";
import { ownerOfRecord } from "./subjects.ts";

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

/** Observations of each of the three parts of the evidence: together no more than 20. */
const mostLed = 7;
const mostBetween = 6;

/** Beyond any moment, so that ids of later incidents sort first: stores list in the order of keys. */
const latestMs = 2 ** 43;

/** An id that is a function of its subject: every process that opens this incident opens the same one. */
export const incidentId = (endpoint: string, startedMs: number): string =>
  `${(latestMs - startedMs).toString(36).padStart(9, "0")}.${endpoint}`;

/** A list with one more at its end, bounded: its beginning and its end stay. */
export function trailed(trail: readonly Observation[], observation: Observation): readonly Observation[] {
  if (trail.length < mostLed) return [...trail, observation];
  const begins = Math.ceil(mostLed / 2);
  return [...trail.slice(0, begins), ...trail.slice(begins + 1), observation];
}

export const counted = (faults: FaultCounts, fault: FaultKind | undefined): FaultCounts =>
  fault === undefined ? faults : { ...faults, [fault]: (faults[fault] ?? 0) + 1 };

/** The incident that these faults are; `faults` counts them all, the trail may be shorter. */
export function openedIncident(endpoint: string, trail: readonly Observation[], faults: FaultCounts): OpenIncident {
  const startedMs = trail[0]?.atMs ?? 0;
  return {
    id: incidentId(endpoint, startedMs),
    startedMs,
    openedMs: trail.at(-1)?.atMs ?? startedMs,
    fault: trail[0]?.fault ?? "connect",
    faults,
    led: trail,
    between: [],
    stride: 1,
    seen: 0,
  };
}

/** The incident with one observation more that did not end it. */
export function continuedIncident(open: OpenIncident, observation: Observation): OpenIncident {
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
export function reopenedIncident(ended: OpenIncident, again: OpenIncident): OpenIncident {
  const faults: Record<string, number> = { ...ended.faults };
  for (const [kind, count] of Object.entries(again.faults)) faults[kind] = (faults[kind] ?? 0) + count;
  return { ...again.led.reduce(continuedIncident, ended), faults, reopenedMs: again.openedMs };
}

/** The incident as others see it; `trail` are the observations that may be about to end it. */
export function incidentOf(
  open: OpenIncident,
  { endpoint: name, url }: Pick<Incident, "endpoint" | "url">,
  trail: readonly Observation[],
): Incident {
  const { led, between, stride: _s, seen: _n, subject: _o, reminded: _r, remindedMs: _m, ...known } = open;
  return { endpoint: ownerOfRecord(name), url, ...known, evidence: [...led, ...between, ...trail] };
}
