import type { Catalog, CatalogEntry } from "../registry/catalog.ts";
import type { HealthRepository } from "./health-repository.ts";
import type { HealthRecord } from "./health-record.ts";
import type { HeartbeatRepository } from "./heartbeat.ts";
import type { History } from "./history.ts";
import { hourSummaries } from "./hour-buckets.ts";
import { type IncidentRepository, createIncidentReader } from "./incident-repository.ts";
import type { MaintenanceRepository } from "./maintenance.ts";
import { networkSubject } from "./subjects.ts";
import type { EndpointHealth, HourSummary, MonitorReader, Score, WindowSummary } from "./monitor.ts";

/** Sources of a reader. */
export interface HealthReaderOptions {
  readonly catalog: Pick<Catalog, "entries" | "byId">;
  readonly records: HealthRepository;
  readonly incidents: Pick<IncidentRepository, "get" | "list">;
  readonly maintenance: Pick<MaintenanceRepository, "holding" | "list">;
  readonly heartbeat: Pick<HeartbeatRepository, "view">;
  readonly history: Pick<History, "read">;
  readonly score: ((entry: CatalogEntry, windows: readonly WindowSummary[]) => Promise<Score>) | undefined;
  readonly now: () => number;
  readonly staleMs: number;
  /** With `enabled` off the state of every endpoint is unknown, regardless of earlier findings. */
  readonly settings: { readonly enabled: boolean };
}

/** The read side of a monitor. */
export function createHealthReader(options: HealthReaderOptions): MonitorReader {
  const { catalog, records, incidents, maintenance, heartbeat, history, now } = options;
  const hoursOf = rememberedHours();
  const stateIn = (record: HealthRecord, nowMs: number) =>
    options.settings.enabled ? known(record, nowMs, options.staleMs) : formerly(record);
  /** Reads the health of entries at one moment. */
  const reading = (): ((entry: CatalogEntry) => EndpointHealth) => {
    const nowMs = now();
    const until = maintenance.holding(nowMs);
    return (entry) => {
      const record = records.get(entry.id);
      return {
        endpoint: entry.id,
        url: entry.url,
        ...(record?.url === entry.url ? stateIn(record, nowMs) : { state: "unknown" as const, streak: 0 }),
        maintenanceUntilMs: until.get(entry.id),
        hours: record?.url === entry.url ? hoursOf(record, nowMs) : [],
      };
    };
  };
  const health = (endpoint: string): EndpointHealth | undefined => {
    const entry = catalog.byId(endpoint);
    return entry && reading()(entry);
  };
  const readHistory = ({ endpoint, url }: Pick<EndpointHealth, "endpoint" | "url">) => {
    const record = records.get(endpoint);
    return history.read(endpoint, record?.url === url ? record : { past: [] });
  };
  return {
    ...createIncidentReader(records, incidents),
    health,
    all: () => catalog.entries.map(reading()),
    heartbeat() {
      const open = options.settings.enabled ? records.get(networkSubject)?.open : undefined;
      return { ...heartbeat.view(now()), offline: open && { sinceMs: open.startedMs, incident: open.id } };
    },
    async availability(endpoint) {
      const found = health(endpoint);
      if (found === undefined) return undefined;
      return { health: found, ...(await readHistory(found)) };
    },
    async score(endpoint) {
      const entry = catalog.byId(endpoint);
      return entry && options.score?.(entry, (await readHistory({ endpoint, url: entry.url })).windows);
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
