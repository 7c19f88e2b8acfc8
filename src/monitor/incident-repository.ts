import { Type } from "typebox";
import { createCollection, documentsUnder } from "../store/collection.ts";
import type { Store } from "../store/store.ts";
import type { HealthRecord } from "./health-record.ts";
import { incidentOf } from "./open-incident.ts";
import { endpointOfIncident, kindOf, ownerOfRecord } from "./subjects.ts";
import type { HealthRepository } from "./health-repository.ts";
import type { Incident, IncidentKind, MonitorReader } from "./monitor.ts";

/** How many incidents are kept, and how long. */
export interface IncidentRepositoryOptions {
  readonly store: Store;
  readonly now: () => number;
  /** Default 10,000. */
  readonly mostKept?: number;
  /** Milliseconds after its end; default 2 years. */
  readonly keptMs?: number;
}

/** The incidents of all endpoints, in the store. */
export type IncidentRepository = ReturnType<typeof createIncidentRepository>;

const prefix = "monitor/incident/";
/** Pointers by endpoint, so that its incidents are found without looking at all; their text is the id. */
const pointerPrefix = (endpoint: string): string => `monitor/incident-of/${endpoint}/`;
const format = 1;
const pageSize = 200;
const twoYearsMs = 2 * 365 * 24 * 3_600_000;

const incidentSchema = Type.Unsafe<Incident>(
  Type.Object({
    id: Type.Unknown(),
    endpoint: Type.Unknown(),
    startedMs: Type.Unknown(),
    evidence: Type.Array(Type.Unknown()),
  }),
);
const schema = Type.Object({ format: Type.Literal(format), incident: incidentSchema });

/** The repository over a store; its methods throw FedwayError `STORE_FAILED`. Ids of later incidents sort first. */
export function createIncidentRepository(options: IncidentRepositoryOptions) {
  const { store, now, mostKept = 10_000, keptMs = twoYearsMs } = options;
  const all = createCollection(
    { store, prefix, schema, pageSize, lost: "The incident is not listed." },
    { decode: ({ incident }) => incident, encode: (incident) => JSON.stringify({ format, incident }) },
  );
  async function* of(endpoint: string | undefined): AsyncGenerator<Incident | undefined> {
    if (endpoint === undefined) for await (const [, incident] of all.entries()) yield incident;
    else for await (const { value } of documentsUnder(store, pointerPrefix(endpoint), pageSize)) yield all.get(value);
  }
  return {
    get: async (id: string): Promise<Incident | undefined> =>
      endpointOfIncident(id) === undefined ? undefined : all.get(id),
    /** Writes an incident; one that is closed stays closed, unless it has opened again since. */
    async write(incident: Incident): Promise<void> {
      const { id, endpoint, endpoints, closedMs } = incident;
      const leftMs = (closedMs ?? now()) + keptMs - now();
      const ttlMs = closedMs === undefined ? undefined : Math.min(Math.max(1, leftMs), keptMs);
      for (const each of [endpoint, ...(endpoints ?? [])]) {
        await store.put(pointerPrefix(each) + id, id, ttlMs === undefined ? {} : { ttlMs });
      }
      const isFinal = (found: Incident | undefined): boolean =>
        found?.closedMs !== undefined && closedMs === undefined && found.closedMs > (incident.reopenedMs ?? 0);
      await all.change(id, (found) => (isFinal(found) ? found : incident), { ttlMs: () => ttlMs });
    },
    /** Newest first. */
    async list({ endpoint, limit, fits }: ListedIncidents): Promise<readonly Incident[]> {
      const found: Incident[] = [];
      for await (const incident of of(endpoint)) {
        if (incident !== undefined && fits(incident)) found.push(incident);
        if (found.length >= limit) break;
      }
      return found;
    },
    /** Removes the oldest beyond the number that is kept; resolves to how many that were. */
    async prune(signal: AbortSignal): Promise<number> {
      let seen = 0;
      let removed = 0;
      for await (const [id, { document }] of all.versionedEntries()) {
        signal.throwIfAborted();
        seen += 1;
        // One that is open is written again when it closes.
        if (seen <= mostKept || document?.closedMs === undefined) continue;
        for (const each of [endpointOfIncident(id) ?? "", ...(document.endpoints ?? [])]) {
          await store.delete(pointerPrefix(each) + id);
        }
        await all.delete(id);
        removed += 1;
      }
      return removed;
    },
  };
}

interface ListedIncidents {
  /** Absent: of all. */
  readonly endpoint?: string | undefined;
  readonly limit: number;
  readonly fits: (incident: Incident) => boolean;
}

const defaultListed = 100;
const mostListed = 2_000;

/**
 * The incidents as the states of the endpoints have them. They are stored a moment after the state has changed, so a
 * state's view of an incident (open, or in its outbox) overrides the stored one.
 */
export function createIncidentReader(
  records: HealthRepository,
  incidents: Pick<IncidentRepository, "get" | "list">,
): Pick<MonitorReader, "incidents" | "incident" | "openByKind"> {
  return {
    async incidents({ endpoint, open, limit = defaultListed, behind } = {}) {
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
    async incident(id) {
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
    const { open, trail, url } = record;
    // One that is shared stands in the record of its host.
    if (open && open.subject === undefined) told.set(open.id, incidentOf(open, { endpoint: id, url }, trail));
  }
  return told;
}

const newestFirst = (left: Pick<Incident, "startedMs" | "id">, right: Incident): number =>
  right.startedMs - left.startedMs || (left.id < right.id ? -1 : Number(left.id > right.id));
