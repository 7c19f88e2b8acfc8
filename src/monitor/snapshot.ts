import { type Static, Type } from "typebox";
import { createCollection } from "../store/collection.ts";
import type { Catalog, CatalogEntry } from "../registry/catalog.ts";
import type {
  EndpointHealth,
  HealthState,
  Heartbeat,
  Incident,
  Observation,
  Score,
  WindowSummary,
  MonitorReader,
} from "./monitor.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { kindOf } from "./subjects.ts";
import type { Store } from "../store/store.ts";

/** Record of one endpoint. */
interface SnapshotRecord {
  readonly entry: CatalogEntry;
  readonly health: EndpointHealth | undefined;
  readonly windows: readonly WindowSummary[];
  readonly incident: Incident | undefined;
  readonly score: Score | undefined;
}

interface SnapshotInput {
  readonly version: string;
  readonly publicUrl: string;
  readonly nowMs: number;
  readonly heartbeat: Heartbeat;
  readonly records: readonly SnapshotRecord[];
}

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOf = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : iso(ms));

/**
 * The state of all endpoints at one time, to be kept, shown or compared elsewhere; JSON-serialisable, its moments in
 * ISO 8601. `schema` grows when the meaning or the shape of a field changes.
 */
export type Snapshot = ReturnType<typeof buildSnapshot>;

/** The snapshot of these records, endpoints by id. */
export function buildSnapshot({ heartbeat, nowMs, publicUrl, records, version }: SnapshotInput) {
  const { alive, enabled, lastMs } = heartbeat;
  const endpoints = records.map(endpointOf).toSorted((left, right) => (left.id < right.id ? -1 : 1));
  const count = (wanted: HealthState) => endpoints.filter(({ state }) => state === wanted).length;
  return {
    schema: 1 as const,
    version,
    generated: iso(nowMs),
    publicUrl,
    /** `offline`: since when the service cannot reach the network. */
    heartbeat: { enabled, alive, last: isoOf(lastMs), offline: isoOf(heartbeat.offline?.sinceMs) },
    counts: {
      up: count("up"),
      degraded: count("degraded"),
      flapping: count("flapping"),
      down: count("down"),
      unknown: count("unknown"),
    },
    endpoints,
  };
}

function endpointOf({ entry, health, incident, score, windows }: SnapshotRecord) {
  const { id, title, url } = entry;
  return {
    id,
    title,
    url,
    state: health?.state ?? ("unknown" as const),
    /** When it came into this state. */
    since: isoOf(health?.sinceMs),
    /** The first turn of the last 90 days. */
    observedSince: isoOf(windows.find(({ window }) => window === "90d")?.firstMs),
    last: health?.last && lastOf(health.last),
    windows: windows.map(windowOf),
    incident: incident && incidentOf(incident),
    score: score ?? { parts: [] },
  };
}

/** `first`: the first turn in it. */
const windowOf = ({ firstMs, ...rest }: WindowSummary) => ({ ...rest, first: isoOf(firstMs) });

const lastOf = ({ atMs, ...rest }: Observation) => ({ at: iso(atMs), ...rest });

const incidentOf = (incident: Incident) => ({
  id: incident.id,
  started: iso(incident.startedMs),
  opened: iso(incident.openedMs),
  kind: kindOf(incident),
  fault: incident.fault,
});

/** Figures kept of a published snapshot, to judge the next one by. */
const figuresSchema = Type.Object({
  generated: Type.String(),
  endpoints: Type.Number(),
  /** Ids of those that were up. */
  up: Type.Array(Type.String()),
});

type SnapshotFigures = Static<typeof figuresSchema>;

/** The figures of a snapshot. */
export const figuresOf = ({ endpoints, generated }: Snapshot): SnapshotFigures => ({
  generated,
  endpoints: endpoints.length,
  up: endpoints.flatMap(({ id, state }) => (state === "up" ? [id] : [])),
});

/** Share of the last snapshot's endpoints that must still be there, and of those up that must still be up. */
const leastKept = 0.8;
const mostLost = 0.2;

/**
 * The reasons why a snapshot cannot be believed, one sentence each; none when it is plausible. A monitor that broke
 * looks like endpoints that did: so one that lost much at once is looked at by somebody before it is published.
 */
export function judgeSnapshot(next: Snapshot, previous: SnapshotFigures | undefined): readonly string[] {
  const { endpoints, heartbeat } = next;
  const reasons: string[] = [];
  if (!heartbeat.enabled) reasons.push("Probing is switched off.");
  else if (!heartbeat.alive) {
    reasons.push(`The monitor does not run; it last did at ${heartbeat.last ?? "no known time"}.`);
  }
  if (heartbeat.offline) reasons.push(`The service has not been able to reach the network since ${heartbeat.offline}.`);
  if (endpoints.length === 0) reasons.push("It has no endpoint.");
  else if (endpoints.every(({ last, windows }) => last === undefined && windows.every(({ probes }) => probes === 0))) {
    reasons.push("No endpoint has been probed.");
  }
  if (previous === undefined) return reasons;
  if (endpoints.length < leastKept * previous.endpoints) {
    reasons.push(`It has ${endpoints.length} endpoints; the one of ${previous.generated} had ${previous.endpoints}.`);
  }
  const states = new Map(endpoints.map(({ id, state }) => [id, state]));
  const there = previous.up.filter((id) => states.has(id));
  const lost = there.filter((id) => states.get(id) !== "up").length;
  if (lost > mostLost * there.length) {
    reasons.push(`Of the ${there.length} endpoints that were up at ${previous.generated}, ${lost} are not up now.`);
  }
  return reasons;
}

/** Options of publishing. */
export interface PublishOptions {
  readonly catalog: Pick<Catalog, "entries">;
  readonly monitor: Pick<MonitorReader, "availability" | "heartbeat" | "health" | "incident" | "score">;
  readonly store: Store;
  readonly clock: { now(): number };
  /** Version of Fedway. */
  readonly version: string;
  /** Without a trailing slash. */
  readonly publicUrl: string;
}

/** Endpoints whose records are read at once. */
const together = 16;

/**
 * The snapshot of now, remembered as the one that the next is compared with. With `reviewed` it is published whatever
 * it looks like, as somebody has looked at it.
 * @throws FedwayError `SNAPSHOT_IMPLAUSIBLE`, `STORE_FAILED`
 */
export async function publishSnapshot(
  options: PublishOptions,
  { reviewed }: { readonly reviewed: boolean },
): Promise<Snapshot> {
  const { catalog, clock, monitor, publicUrl, store, version } = options;
  const records: SnapshotRecord[] = [];
  const { entries } = catalog;
  for (let index = 0; index < entries.length; index += together) {
    records.push(
      ...(await Promise.all(entries.slice(index, index + together).map((entry) => recordOf(entry, monitor)))),
    );
  }
  const heartbeat = monitor.heartbeat();
  const snapshot = buildSnapshot({ version, publicUrl, nowMs: clock.now(), heartbeat, records });
  // One document, the only one of its collection.
  const published = createCollection({
    store,
    prefix: "monitor/snapshot",
    schema: figuresSchema,
    lost: "The next snapshot is not compared with the last one.",
  });
  const reasons = judgeSnapshot(snapshot, await published.get(""));
  if (reasons.length > 0 && !reviewed) {
    throw new FedwayError("SNAPSHOT_IMPLAUSIBLE", `The snapshot is not plausible. ${reasons.join(" ")}`, {
      next: "Run `fedway serve` where it reaches the endpoints, and export when it has probed them; --reviewed (API: ?reviewed=true) publishes this one.",
    });
  }
  await published.put("", figuresOf(snapshot));
  return snapshot;
}

async function recordOf(entry: CatalogEntry, monitor: PublishOptions["monitor"]): Promise<SnapshotRecord> {
  const { id } = entry;
  const [availability, score, incident] = await Promise.all([
    monitor.availability(id),
    monitor.score(id),
    openIncident(id, monitor),
  ]);
  const health = availability?.health ?? monitor.health(id);
  return { entry, health, windows: availability?.windows ?? [], incident, score };
}

async function openIncident(endpoint: string, monitor: PublishOptions["monitor"]): Promise<Incident | undefined> {
  const id = monitor.health(endpoint)?.incident;
  return id === undefined ? undefined : monitor.incident(id);
}
