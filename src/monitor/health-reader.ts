import type { CatalogEntry } from "../registry/catalog.ts";
import { type HealthRecord, incidentOf } from "./health-record.ts";
import type { History } from "./history.ts";
import { hourSummaries } from "./hours.ts";
import type {
  EndpointHealth,
  HourSummary,
  Incident,
  IncidentKind,
  MonitorReader,
  Score,
  WatchedCatalog,
  WindowSummary,
} from "./monitor.ts";
import type { HealthRepository, IncidentRepository, MaintenanceRepository } from "./repositories.ts";
import { endpointOfIncident, kindOf, networkSubject, ownerOfRecord } from "./subjects.ts";
import type { HeartbeatRepository } from "./turns.ts";

/** Sources of a reader. */
export interface HealthReaderOptions {
  readonly catalog: WatchedCatalog;
  readonly records: HealthRepository;
  readonly incidents: IncidentRepository;
  readonly maintenance: MaintenanceRepository;
  readonly heartbeat: HeartbeatRepository;
  readonly history: History;
  readonly score: ((entry: CatalogEntry, windows: readonly WindowSummary[]) => Promise<Score>) | undefined;
  readonly now: () => number;
  readonly staleMs: number;
  /** With `enabled` off the state of every endpoint is unknown, regardless of earlier findings. */
  readonly settings: { readonly enabled: boolean };
}

/** The read side of a monitor. */
export function createHealthReader(options: HealthReaderOptions): MonitorReader {
  const { catalog, records, maintenance, heartbeat, history, now } = options;
  const hoursOf = rememberedHours();
  const stateIn = (record: HealthRecord, nowMs: number) =>
    options.settings.enabled ? known(record, nowMs, options.staleMs) : formerly(record);
  /** Reads the health of entries at one moment. */
  const reading = (): ((entry: CatalogEntry) => EndpointHealth) => {
    const nowMs = now();
    const until = maintenance.holding(nowMs);
    return (entry) => {
      const found = records.get(entry.id);
      const record = found?.url === entry.url ? found : undefined;
      return {
        endpoint: entry.id,
        url: entry.url,
        ...(record ? stateIn(record, nowMs) : { state: "unknown" as const, streak: 0 }),
        maintenanceUntilMs: until.get(entry.id),
        // Most readers want the state only.
        get hours() {
          return record ? hoursOf(record, nowMs) : [];
        },
      };
    };
  };
  const health = (endpoint: string): EndpointHealth | undefined => {
    const entry = catalog.byId(endpoint);
    return entry && reading()(entry);
  };
  const readHistory = ({ id, url }: CatalogEntry) => {
    const record = records.get(id);
    return history.read(id, record?.url === url ? record : { past: [] });
  };
  return {
    ...createIncidentReader(options),
    health,
    all: () => catalog.entries.map(reading()),
    heartbeat() {
      const open = options.settings.enabled ? records.get(networkSubject)?.open : undefined;
      return { ...heartbeat.view(now()), offline: open && { sinceMs: open.startedMs, incident: open.id } };
    },
    async availability(endpoint) {
      const entry = catalog.byId(endpoint);
      return entry && { health: reading()(entry), ...(await readHistory(entry)) };
    },
    async score(endpoint) {
      const entry = catalog.byId(endpoint);
      return entry && options.score?.(entry, (await readHistory(entry)).windows);
    },
    maintenance: async (endpoint) => maintenance.list(now(), endpoint),
  };
}

function known(record: HealthRecord, nowMs: number, staleMs: number) {
  const { state, sinceMs, streak, last, open } = record;
  const incident = open?.id;
  if (last !== undefined && nowMs - last.atMs > staleMs) {
    return { state: "unknown" as const, sinceMs: last.atMs + staleMs, last, streak: 0, incident };
  }
  return { state, sinceMs, last, streak, incident };
}

const formerly = ({ last }: HealthRecord) => ({ state: "unknown" as const, last, streak: 0 });

/** Hours as they are shown, worked out once a record and hour. */
function rememberedHours(): (record: HealthRecord, nowMs: number) => readonly HourSummary[] {
  const remembered = new WeakMap<HealthRecord, { readonly hour: number; readonly hours: readonly HourSummary[] }>();
  return (record, nowMs) => {
    const hour = Math.floor(nowMs / 3_600_000);
    const found = remembered.get(record);
    if (found?.hour === hour) return found.hours;
    const hours = hourSummaries(record, nowMs);
    remembered.set(record, { hour, hours });
    return hours;
  };
}

const defaultListed = 100;
const mostListed = 2_000;
type ListOptions = Parameters<MonitorReader["incidents"]>[0];

/**
 * The incidents as the states of the endpoints have them. They are stored a moment after the state has changed, so a
 * state's view of an incident (open, or in its outbox) overrides the stored one.
 */
function createIncidentReader({ records, incidents }: HealthReaderOptions) {
  return {
    async incidents({ endpoint, open, limit = defaultListed, behind }: ListOptions = {}) {
      const most = Math.min(Math.max(1, Math.floor(limit)), mostListed);
      // Read first: an incident stored meanwhile leaves the outbox, but is in both places for this reader.
      const told = unstoredIncidents(records, endpoint);
      const latest = (incident: Incident): Incident => told.get(incident.id) ?? incident;
      const fits = (incident: Incident): boolean =>
        (behind === undefined || newestFirst({ startedMs: behind.atMs, id: behind.id }, incident) < 0) &&
        (open === undefined || (latest(incident).closedMs === undefined) === open);
      const stored = open === true ? [] : await incidents.list({ endpoint, limit: most, fits });
      const found = new Map(stored.map((incident) => [incident.id, latest(incident)]));
      for (const incident of told.values()) if (fits(incident)) found.set(incident.id, incident);
      return [...found.values()].toSorted(newestFirst).slice(0, most);
    },
    async incident(id: string) {
      const endpoint = endpointOfIncident(id);
      if (endpoint === undefined) return undefined;
      return unstoredIncidents(records, endpoint).get(id) ?? incidents.get(id);
    },
    openByKind() {
      const counts: Partial<Record<IncidentKind, number>> = {};
      for (const incident of unstoredIncidents(records, undefined).values()) {
        const kind = kindOf(incident);
        if (incident.closedMs === undefined) counts[kind] = (counts[kind] ?? 0) + 1;
      }
      return counts;
    },
  };
}

/** All records, or those of an endpoint and of what it shares an incident with. */
function recordsOf(records: HealthRepository, endpoint: string | undefined): Iterable<readonly [string, HealthRecord]> {
  if (endpoint === undefined) return records.entries();
  const subject = records.get(endpoint)?.open?.subject;
  return Array.from(records.entries()).filter(([name]) => name === subject || ownerOfRecord(name) === endpoint);
}

/** Incidents that are open or not stored yet, by id; of all endpoints, or of one. */
function unstoredIncidents(records: HealthRepository, endpoint: string | undefined): ReadonlyMap<string, Incident> {
  const told = new Map<string, Incident>();
  for (const [id, record] of recordsOf(records, endpoint)) {
    // The later notice of an incident is the one that holds, and an open one has seen more than its notice.
    for (const { incident } of record.outbox) told.set(incident.id, incident);
    const { open, trail } = record;
    // One that is shared stands in the record of its host.
    if (open && open.subject === undefined) told.set(open.id, incidentOf(id, record, open, trail));
  }
  return told;
}

const newestFirst = (left: Position, right: Position): number =>
  right.startedMs - left.startedMs || (left.id < right.id ? -1 : Number(left.id > right.id));

/** Place of an incident in the list. */
interface Position {
  readonly startedMs: number;
  readonly id: string;
}
