import type {
  Availability,
  EndpointHealth,
  Heartbeat,
  HourSummary,
  Incident,
  MaintenanceWindow,
  Observation,
  WindowSummary,
} from "../monitor/monitor.ts";

const iso = (ms: number): string => new Date(ms).toISOString();

/** A moment under another name; nothing where there is none. */
const at = (name: string, ms: number | undefined): object => (ms === undefined ? {} : { [name]: iso(ms) });

/** An observation as the JSON API shows it: moments in ISO 8601, durations in milliseconds. */
export const observationView = ({ atMs, ...rest }: Observation): object => ({ at: iso(atMs), ...rest });

const hourView = ({ fromMs, ...rest }: HourSummary): object => ({ from: iso(fromMs), ...rest });

const windowView = ({ firstMs, ...rest }: WindowSummary): object => ({ ...rest, ...at("first", firstMs) });

/** The state of an endpoint, without its hours. */
export function healthView(health: EndpointHealth): object {
  const { endpoint, url, state, streak, sinceMs, last, incident, maintenanceUntilMs } = health;
  return {
    endpoint,
    url,
    state,
    ...at("since", sinceMs),
    streak,
    ...(last && { last: observationView(last) }),
    ...(incident !== undefined && { incident }),
    ...at("maintenanceUntil", maintenanceUntilMs),
  };
}

/** The record of an endpoint. */
export const availabilityView = ({ health, windows, days }: Availability): object => ({
  ...healthView(health),
  windows: windows.map(windowView),
  hours: health.hours.map(hourView),
  days: days.map(hourView),
});

/** An incident; with its evidence when it is shown alone. */
export function incidentView(incident: Incident, whole: boolean): object {
  const { startedMs, openedMs, closedMs, evidence, ...rest } = incident;
  return {
    ...rest,
    state: closedMs === undefined ? "open" : "closed",
    started: iso(startedMs),
    opened: iso(openedMs),
    ...at("closed", closedMs),
    ...(whole && { evidence: evidence.map(observationView) }),
  };
}

/** A maintenance window. */
export const maintenanceView = ({ fromMs, toMs, ...rest }: MaintenanceWindow): object => ({
  ...rest,
  from: iso(fromMs),
  to: iso(toMs),
});

/** Whether the monitor runs. */
export const heartbeatView = ({ enabled, alive, lastMs, gaps }: Heartbeat): object => ({
  enabled,
  alive,
  ...at("last", lastMs),
  gaps: gaps.map(({ fromMs, toMs }) => ({ from: iso(fromMs), to: iso(toMs) })),
});
