import { FedwayError } from "../errors/fedway-error.ts";
import type { Store, StoredDocument } from "../store/store.ts";
import type { Incident, MonitorReader } from "./monitor.ts";
import { parseRecord } from "./tally.ts";
import { endpointOfIncident, incidentOf } from "./health-record.ts";
import type { HealthBook } from "./health-repository.ts";

/** The incidents of all endpoints, in the store. Every method throws FedwayError `STORE_FAILED`. */
export interface IncidentBook {
  /** Writes an incident; one that is closed stays closed. */
  write(incident: Incident): Promise<void>;
  get(id: string): Promise<Incident | undefined>;
  /** Newest first. */
  list(options: {
    readonly endpoint?: string;
    readonly limit: number;
    readonly fits: (incident: Incident) => boolean;
  }): Promise<readonly Incident[]>;
  /** Removes the oldest beyond the number that is kept; resolves to how many that were. */
  prune(signal: AbortSignal): Promise<number>;
}

/** How many incidents are kept, and how long. */
interface IncidentBookOptions {
  readonly store: Pick<Store, "get" | "put" | "delete" | "list">;
  readonly now: () => number;
  /** Default 10,000. */
  readonly mostKept?: number;
  /** Milliseconds after its end; default 2 years. */
  readonly keptMs?: number;
}

const prefix = "monitor/incident/";
/** Pointers by endpoint, so that its incidents are found without looking at all. */
const pointerPrefix = (endpoint: string): string => `monitor/incident-of/${endpoint}/`;
const format = 1;
const pageSize = 200;
const twoYearsMs = 2 * 365 * 24 * 3_600_000;
const mostTurns = 50;

/** The book over a store. Ids of later incidents sort first. */
export function createIncidentBook(options: IncidentBookOptions): IncidentBook {
  const { store, now, mostKept = 10_000, keptMs = twoYearsMs } = options;
  const get = async (id: string): Promise<Incident | undefined> => {
    const document = await store.get(prefix + id);
    return document && readIncident(document);
  };
  return {
    get: async (id) => (endpointOfIncident(id) === undefined ? undefined : get(id)),
    async write(incident) {
      const leftMs = (incident.closedMs ?? now()) + keptMs - now();
      const ttl = incident.closedMs === undefined ? {} : { ttlMs: Math.min(Math.max(1, leftMs), keptMs) };
      const value = JSON.stringify({ format, incident });
      await store.put(pointerPrefix(incident.endpoint) + incident.id, incident.id, ttl);
      for (let turn = 0; turn < mostTurns; turn += 1) {
        const found = await store.get(prefix + incident.id);
        if (found && isFinal(found) && incident.closedMs === undefined) return;
        const written = await store.put(prefix + incident.id, value, { ifVersion: found?.version ?? 0, ...ttl });
        if (written !== undefined) return;
      }
      throw new FedwayError("STORE_FAILED", "The incident changes all the time and could not be written.");
    },
    async list({ endpoint, limit, fits }) {
      const found: Incident[] = [];
      for await (const document of pages(store, endpoint === undefined ? prefix : pointerPrefix(endpoint))) {
        const incident = endpoint === undefined ? readIncident(document) : await get(document.value);
        if (incident !== undefined && fits(incident)) found.push(incident);
        if (found.length >= limit) break;
      }
      return found;
    },
    async prune(signal) {
      let seen = 0;
      let removed = 0;
      for await (const { key, value } of pages(store, prefix)) {
        signal.throwIfAborted();
        seen += 1;
        // One that is open is written again when it closes.
        if (seen <= mostKept || readIncident({ value })?.closedMs === undefined) continue;
        const id = key.slice(prefix.length);
        await store.delete(`${pointerPrefix(endpointOfIncident(id) ?? "")}${id}`);
        await store.delete(key);
        removed += 1;
      }
      return removed;
    },
  };
}

async function* pages(store: Pick<Store, "list">, of: string): AsyncIterable<StoredDocument> {
  for (let after: string | undefined; ; ) {
    const page = await store.list(of, { limit: pageSize, ...(after !== undefined && { after }) });
    yield* page;
    after = page.at(-1)?.key;
    if (page.length < pageSize) return;
  }
}

const isFinal = (document: StoredDocument): boolean => readIncident(document)?.closedMs !== undefined;

function readIncident({ value }: Pick<StoredDocument, "value">): Incident | undefined {
  const { format: found, incident } = parseRecord(value) ?? {};
  return found === format && isIncident(incident) ? incident : undefined;
}

const isIncident = (value: unknown): value is Incident =>
  typeof value === "object" &&
  value !== null &&
  "id" in value &&
  "endpoint" in value &&
  "startedMs" in value &&
  "evidence" in value &&
  Array.isArray(value.evidence);

/** What incidents are read from. */
interface IncidentReaderOptions {
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
