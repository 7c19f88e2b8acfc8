import type { JobKind, JobSchedule } from "../jobs/job-queue.ts";
import { isBlank, leftRecord, remindedRecord, withdrawnRecord } from "./health-record.ts";
import { isShared, ownerOfRecord, recordOfIncident } from "./subjects.ts";
import type { History } from "./history.ts";
import type { Incident, WatchedCatalog } from "./monitor.ts";
import type { HealthRepository, IncidentRepository } from "./repositories.ts";
import type { HeartbeatRepository } from "./turns.ts";
import type { Outbox } from "./watchdog.ts";

interface HousekeepingOptions {
  readonly catalog: WatchedCatalog;
  readonly records: HealthRepository;
  readonly incidents: IncidentRepository;
  readonly history: History;
  readonly outbox: Outbox;
  readonly heartbeat: HeartbeatRepository;
  readonly now: () => number;
  /** No other process works on this store. */
  readonly soleOwner: boolean;
  /** Milliseconds without a probe after which the endpoint is in no catalogue any more. */
  readonly staleMs: number;
}

const jobName = "monitor-upkeep";
const everyMs = 3_600_000;
/** An endpoint that one process does not find in the catalogue may be in that of another one. */
const goneAfterMs = 24 * 3_600_000;
/** Heartbeats come every ten seconds while anybody probes. */
const silentMs = 60_000;
const lostAfterMs = 600_000;
const mostLost = 1_000;

/** Old incidents, and endpoints that have left the catalogue. */
export function createHousekeeping(options: HousekeepingOptions) {
  const { records, catalog, incidents, now } = options;
  const forget = (endpoint: string): Promise<void> => forgetEndpoint(options, endpoint);
  const run: JobKind["run"] = async (_payload, { signal }) => {
    const gone = Array.from(records.entries()).filter(
      ([id, { open, last }]) =>
        catalog.byId(id) === undefined && !(isShared(id) && open) && now() - (last?.atMs ?? 0) > goneAfterMs,
    );
    for (const [id] of gone) {
      signal.throwIfAborted();
      await forget(id);
    }
    return { gone: gone.length, orphans: await closeLost(options), pruned: await incidents.prune(signal) };
  };
  return {
    kind: { name: jobName, validate: () => undefined, run } satisfies JobKind,
    schedule: { name: jobName, kind: jobName, payload: {}, everyMs } satisfies JobSchedule,
    /** Forgets an endpoint: its incident is closed, state and history go. @throws FedwayError `STORE_FAILED` */
    forget,
    /**
     * Sends due reminders of open incidents, and closes those whose endpoint left the catalogue unnoticed; its record stays
     * for a day. As another process may have it in its catalogue, a silent deployment is waited for, or the silence about
     * the endpoint. @throws FedwayError `STORE_FAILED`
     */
    async sweep(): Promise<void> {
      const atMs = now();
      const isSilent = (sinceMs = 0, forMs = silentMs): boolean => Math.abs(atMs - sinceMs) > forMs;
      // No other process probes on this store: an endpoint outside this catalogue is in none.
      const isAlone = options.soleOwner || isSilent(options.heartbeat.view(atMs).lastMs);
      for (const [name, { open, last }] of records.entries()) {
        if (open === undefined) continue;
        const owner = ownerOfRecord(name);
        const isKnown = isShared(owner) || catalog.byId(owner) !== undefined;
        const isGone = !isKnown && (isAlone || isSilent(last?.atMs, options.staleMs));
        const next = isGone ? withdrawnRecord : remindedRecord;
        await options.outbox.change(name, (record) => record && next(name, record, atMs));
      }
    },
  };
}

async function forgetEndpoint(options: HousekeepingOptions, endpoint: string): Promise<void> {
  const { records, outbox, history, now } = options;
  const atMs = now();
  await outbox.change(endpoint, (record) =>
    record === undefined || isBlank(record)
      ? undefined
      : leftRecord(endpoint, record, { url: record.url, atMs, by: "removed" }),
  );
  await history.remove(endpoint);
  // Keep the record until its notice is delivered.
  await outbox.deliver(endpoint);
  const left = records.get(endpoint);
  if (left !== undefined && left.outbox.length === 0) await records.delete(endpoint, left);
}

/**
 * Closes incidents that no endpoint's state knows of, as after a loss of parts of the store; they would stay open otherwise.
 */
async function closeLost({ records, incidents, now }: HousekeepingOptions): Promise<number> {
  const isLost = ({ id, openedMs, closedMs }: Incident): boolean => {
    const record = records.get(recordOfIncident(id));
    const known = record?.open?.id === id || record?.outbox.some(({ incident }) => incident.id === id) === true;
    return closedMs === undefined && !known && now() - openedMs > lostAfterMs;
  };
  const lost = await incidents.list({ limit: mostLost, fits: isLost });
  for (const incident of lost) await incidents.write({ ...incident, closedMs: now(), closedBy: "removed" });
  return lost.length;
}
