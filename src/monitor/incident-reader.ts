import type { HealthBook } from "./health-book.ts";
import type { IncidentBook } from "./incident-book.ts";
import type { Incident, MonitorReader } from "./monitor.ts";
import { endpointOfIncident, incidentOf } from "./open-incident.ts";

/** What incidents are read from. */
export interface IncidentReaderOptions {
  readonly book: Pick<HealthBook, "get" | "entries">;
  readonly incidents: Pick<IncidentBook, "get" | "list">;
}

const defaultListed = 100;
const mostListed = 1_000;

/**
 * The incidents as the states of the endpoints have them. They are stored a moment after the state has changed, so that
 * what a state tells of an incident (open, or in its outbox) holds before what is stored of it.
 */
export function createIncidentReader({
  book,
  incidents,
}: IncidentReaderOptions): Pick<MonitorReader, "incidents" | "incident"> {
  return {
    async incidents({ endpoint, open, limit = defaultListed } = {}) {
      const most = Math.min(Math.max(1, Math.floor(limit)), mostListed);
      // Read first: what is stored meanwhile leaves the outbox, but is in both places for this reader.
      const told = toldIncidents(book, endpoint);
      const latest = (incident: Incident): Incident => told.get(incident.id) ?? incident;
      const fits = (incident: Incident): boolean =>
        open === undefined || (latest(incident).closedMs === undefined) === open;
      const of = endpoint !== undefined && { endpoint };
      const stored = open === true ? [] : await incidents.list({ ...of, limit: most, fits });
      const found = new Map(stored.map((incident) => [incident.id, latest(incident)]));
      for (const incident of told.values()) if (fits(incident)) found.set(incident.id, incident);
      return [...found.values()].toSorted(newestFirst).slice(0, most);
    },
    async incident(id) {
      const endpoint = endpointOfIncident(id);
      if (endpoint === undefined) return undefined;
      return toldIncidents(book, endpoint).get(id) ?? incidents.get(id);
    },
  };
}

/** Incidents that are open or not stored yet, by id; of all endpoints, or of one. */
function toldIncidents(
  book: IncidentReaderOptions["book"],
  endpoint: string | undefined,
): ReadonlyMap<string, Incident> {
  const told = new Map<string, Incident>();
  const records = endpoint === undefined ? book.entries() : [[endpoint, book.get(endpoint)] as const];
  for (const [id, record] of records) {
    // The later notice of an incident is the one that holds, and an open one has seen more than its notice.
    for (const { incident } of record?.outbox ?? []) told.set(incident.id, incident);
    if (record?.open)
      told.set(record.open.id, incidentOf(record.open, { endpoint: id, url: record.url }, record.trail));
  }
  return told;
}

const newestFirst = (left: Incident, right: Incident): number =>
  right.startedMs - left.startedMs || (left.id < right.id ? -1 : 1);
