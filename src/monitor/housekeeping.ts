import type { JobKind, JobSchedule } from "../jobs/job-queue.ts";
import type { Catalog } from "../registry/catalog/catalog.ts";
import type { Announcer } from "./recorder.ts";
import { type HealthRepository, newNotices } from "./health-repository.ts";
import { isBlank, leftRecord, withdrawnRecord } from "./health-record.ts";
import { isShared } from "./subjects.ts";
import type { HeartbeatRepository } from "./heartbeat.ts";
import type { History } from "./history.ts";
import type { IncidentRepository } from "./incident-repository.ts";
import type { Incident, MonitorEvent } from "./monitor.ts";

interface HousekeepingOptions {
  readonly catalog: Pick<Catalog, "entries" | "byId">;
  readonly records: HealthRepository;
  readonly incidents: IncidentRepository;
  readonly history: Pick<History, "rollUp" | "remove">;
  readonly announcer: Announcer;
  readonly heartbeat: HeartbeatRepository;
  readonly now: () => number;
  readonly emit: (event: MonitorEvent) => void;
  readonly onFault: (error: unknown) => void;
  /** No other process works on this store. */
  readonly soleOwner: boolean;
  /** Milliseconds without a probe after which the endpoint is in no catalogue any more. */
  readonly staleMs: number;
}

const name = "monitor-upkeep";
const everyMs = 3_600_000;
/** An endpoint that one process does not find in the catalogue may be in that of another one. */
const goneAfterMs = 24 * 3_600_000;
/** Heartbeats come every ten seconds while anybody probes. */
const silentMs = 60_000;
const lostAfterMs = 600_000;
const mostLost = 1_000;

/** Roll-ups, old incidents, and endpoints that have left the catalogue. */
export function createHousekeeping(options: HousekeepingOptions) {
  const { records, catalog, history, incidents, now } = options;
  const forget = (endpoint: string): Promise<void> => forgetEndpoint(options, endpoint);
  const run: JobKind["run"] = async (_payload, { signal, progress }) => {
    const ids = catalog.entries.map(({ id }) => id);
    progress({ stage: "summing up", done: 0, total: ids.length });
    await history.rollUp(ids, now(), signal);
    progress({ stage: "removing", done: ids.length, total: ids.length });
    const gone = [...records.entries()]
      .filter(([id, { open }]) => catalog.byId(id) === undefined && !(isShared(id) && open))
      .filter(([, { last }]) => now() - (last?.atMs ?? 0) > goneAfterMs)
      .map(([id]) => id);
    for (const id of gone) {
      signal.throwIfAborted();
      await forget(id);
    }
    const lost = await closeLost(options);
    return { summedUp: ids.length, gone: gone.length, orphans: lost, pruned: await incidents.prune(signal) };
  };
  return {
    kind: { name, validate: () => undefined, run } satisfies JobKind,
    schedule: { name, kind: name, payload: {}, everyMs } satisfies JobSchedule,
    /** Forgets an endpoint: its incident is closed, state and history go. @throws FedwayError `STORE_FAILED` */
    forget,
    /**
     * Closes the incidents of endpoints that left the catalogue while nobody looked; their records stay for a day. As another
     * process may have them in its catalogue, a silent deployment is waited for, or the silence about the endpoint.
     * @throws FedwayError `STORE_FAILED`
     */
    closeGone: () => closeGone(options),
  };
}

async function forgetEndpoint(options: HousekeepingOptions, endpoint: string): Promise<void> {
  const { records, announcer, emit, history, now } = options;
  const atMs = now();
  const change = await records.change(endpoint, (record) => {
    if (record === undefined || isBlank(record)) return undefined;
    return leftRecord(endpoint, record, { url: record.url, atMs, by: "removed" });
  });
  for (const notice of newNotices(change)) emit(notice);
  await history.remove(endpoint);
  // Keep the record until its notice is delivered.
  await announcer.settle(endpoint);
  const left = records.get(endpoint);
  if (left !== undefined && left.outbox.length === 0) await records.delete(endpoint, left);
}

async function closeGone(options: HousekeepingOptions): Promise<void> {
  const { records, announcer, emit, now, onFault } = options;
  const atMs = now();
  for (const id of openAndGone(options)) {
    const change = await records.change(id, (record) => record && withdrawnRecord(id, record, atMs));
    const notices = newNotices(change);
    for (const notice of notices) emit(notice);
    // An undelivered notice stays in the outbox; the others do not wait for it.
    if (notices.length > 0) await announcer.settle(id).catch(onFault);
  }
}

/** Endpoints with an open incident that are in no process's catalogue. From memory. */
function openAndGone(options: HousekeepingOptions): readonly string[] {
  const { records, catalog, now, staleMs } = options;
  const alone = isAlone(options);
  const gone: string[] = [];
  for (const [id, { open, last }] of records.entries()) {
    if (open === undefined || isShared(id) || catalog.byId(id) !== undefined) continue;
    if (alone || Math.abs(now() - (last?.atMs ?? 0)) > staleMs) gone.push(id);
  }
  return gone;
}

/** No other process probes on this store: what is not in the catalogue of this one is in none. */
function isAlone({ soleOwner, heartbeat, now }: HousekeepingOptions): boolean {
  const { lastMs } = heartbeat.view(now());
  return soleOwner || lastMs === undefined || Math.abs(now() - lastMs) > silentMs;
}

/** Incidents that no endpoint's state knows of, as after a loss of parts of the store: nobody else would close them. */
async function closeLost({ records, incidents, now }: HousekeepingOptions): Promise<number> {
  const isLost = ({ id, endpoint, openedMs, closedMs }: Incident): boolean => {
    const record = records.get(endpoint);
    const known = record?.open?.id === id || record?.outbox.some(({ incident }) => incident.id === id) === true;
    return closedMs === undefined && !known && now() - openedMs > lostAfterMs;
  };
  const lost = await incidents.list({ limit: mostLost, fits: isLost });
  for (const incident of lost) await incidents.write({ ...incident, closedMs: now(), closedBy: "removed" });
  return lost.length;
}
