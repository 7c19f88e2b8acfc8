import { randomUUID } from "node:crypto";
import { Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import { type Change, createCollection, documentsUnder } from "../store/collection.ts";
import { Mirror } from "../store/mirror.ts";
import type { Store } from "../store/store.ts";
import type { HealthRecord, IncidentNotice } from "./health-record.ts";
import { type HourBucket, hourSchema, readHour, storedHour } from "./hours.ts";
import { healthStates, type Incident, MaintenanceWindow } from "./monitor.ts";
import { endpointOfIncident } from "./subjects.ts";

/** The records of all endpoints by id, in the store and in memory. */
export type HealthRepository = Mirror<HealthRecord>;

const format = 1;
const objectWith = (key: string) => Type.Object({ [key]: Type.Unknown() });

/** Fields that identify a record; the rest is taken as it was written. */
const recordSchema = Type.Unsafe<Omit<HealthRecord, "past">>(
  Type.Object({
    url: Type.String(),
    state: Type.Enum([...healthStates]),
    streak: Type.Integer(),
    trail: Type.Array(objectWith("atMs")),
    outbox: Type.Array(objectWith("incident")),
    running: Type.Optional(objectWith("h")),
    open: Type.Optional(objectWith("id")),
    last: Type.Optional(objectWith("atMs")),
  }),
);

const storedSchema = Type.Intersect([
  Type.Object({ format: Type.Literal(format), past: Type.Array(hourSchema) }),
  recordSchema,
]);

/** The repository over a store; empty until it is refreshed. */
export const createHealthRepository = (store: Store): HealthRepository =>
  new Mirror(
    createCollection(
      {
        store,
        prefix: "monitor/health/",
        schema: storedSchema,
        lost: "The history of the endpoint begins anew with its next probe.",
      },
      {
        decode(stored): HealthRecord {
          const { format: _, past, ...record } = stored;
          return { ...record, past: past.map(readHour) };
        },
        encode: ({ past, ...rest }) => `{"format":${format},"past":${pastText(past)},${JSON.stringify(rest).slice(1)}`,
      },
    ),
  );

/** Texts of the hours that are over: most of a record, and the same from one probe to the next. */
const pastTexts = new WeakMap<readonly HourBucket[], string>();

function pastText(past: readonly HourBucket[]): string {
  const known = pastTexts.get(past);
  if (known !== undefined) return known;
  const text = JSON.stringify(past.map(storedHour));
  pastTexts.set(past, text);
  return text;
}

/** The hours that are over, where this change has ended one or corrected it. */
export const hoursOver = ({ before, after }: Change<HealthRecord>): readonly HourBucket[] | undefined =>
  after?.past === before?.past ? undefined : after?.past;

/** Incidents that this very change has opened or closed: only the process that made it notifies listeners. */
export function newNotices({ before, after }: Change<HealthRecord>): readonly IncidentNotice[] {
  if (after === undefined || after === before || after.outbox.length === 0) return [];
  const known = new Set(before?.outbox);
  return after.outbox.filter((notice) => !known.has(notice));
}

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
        for (const each of [document.endpoint, ...(document.endpoints ?? [])]) {
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

/** Maintenance windows, in the store and in memory. */
export type MaintenanceRepository = ReturnType<typeof createMaintenance>;

/** A window to be added. */
export type NewMaintenance = Omit<MaintenanceWindow, "id">;

const windowSchema = Type.Unsafe<MaintenanceWindow>(MaintenanceWindow);
const mostReason = 300;
const mostWindows = 100;
const longestMs = 366 * 24 * 3_600_000;

/** The windows over a store; none until they are refreshed. */
export function createMaintenance(store: Store) {
  const mirror = new Mirror(
    createCollection({
      store,
      prefix: "monitor/maintenance/",
      schema: windowSchema,
      lost: "The maintenance window does not count.",
    }),
  );
  const windows = (endpoint: string | undefined): readonly MaintenanceWindow[] =>
    Array.from(mirror.entries(), ([, window]) => window).filter(
      (window) => endpoint === undefined || window.endpoint === endpoint,
    );
  const holding = (atMs: number): ReadonlyMap<string, number> => {
    const ends = new Map<string, number>();
    for (const [, { endpoint, fromMs, toMs }] of mirror.entries()) {
      if (fromMs <= atMs && atMs < toMs) ends.set(endpoint, Math.max(toMs, ends.get(endpoint) ?? toMs));
    }
    return ends;
  };
  const list = (nowMs: number, endpoint?: string): readonly MaintenanceWindow[] =>
    windows(endpoint)
      .filter(({ toMs }) => toMs > nowMs)
      .toSorted((left, right) => left.fromMs - right.fromMs);
  return {
    mirror,
    /** Ends of the windows that hold at this moment, by endpoint; of several the latest. From memory. */
    holding,
    /** The end for one endpoint. From memory. */
    untilMs: (endpoint: string, atMs: number): number | undefined => holding(atMs).get(endpoint),
    /** Those that have not ended, soonest first. From memory. */
    list,
    /** @throws FedwayError `REQUEST_INVALID`, `STORE_FAILED` */
    async add(given: NewMaintenance, nowMs: number): Promise<MaintenanceWindow> {
      check(given, nowMs);
      if (list(nowMs, given.endpoint).length >= mostWindows) {
        refuse(
          `The endpoint has ${mostWindows} maintenance windows already.`,
          "DELETE /api/maintenance/{id} removes one.",
        );
      }
      const window = { ...given, id: randomUUID() };
      await mirror.put(window.id, window, { ttlMs: Math.max(1, given.toMs - nowMs) });
      return window;
    },
    /** False when there is no such window. @throws FedwayError `STORE_FAILED` */
    remove: async (id: string): Promise<boolean> => /^[0-9a-f-]{36}$/u.test(id) && mirror.delete(id),
  };
}

function refuse(message: string, next = "Send an end in the future, at most a year after the beginning."): never {
  throw new FedwayError("REQUEST_INVALID", message, { next });
}

function check({ fromMs, toMs, reason }: NewMaintenance, nowMs: number): void {
  if (!Number.isSafeInteger(fromMs) || !Number.isSafeInteger(toMs)) {
    refuse("A maintenance window begins and ends at whole milliseconds since the epoch.");
  }
  if (toMs <= fromMs || toMs <= nowMs) refuse("A maintenance window ends after its beginning, and in the future.");
  if (toMs - fromMs > longestMs || toMs - nowMs > 2 * longestMs) {
    refuse("A maintenance window lasts at most a year and ends within two.");
  }
  if (reason !== undefined && (reason.length > mostReason || !reason.isWellFormed())) {
    refuse(`The reason of a maintenance window has at most ${mostReason} characters.`, "Send a shorter reason.");
  }
}
