import { type Clock, sleep } from "../clock.ts";
import { toFedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import type { Change } from "../store/collection.ts";
import type { Store } from "../store/store.ts";
import {
  blankRecord,
  type HealthRecord,
  type HealthRules,
  type IncidentNotice,
  leftRecord,
  noticedMs,
  probedRecord,
} from "./health-record.ts";
import type { History } from "./history.ts";
import type { MonitorEvent, Observation, WatchedCatalog } from "./monitor.ts";
import type { EndpointProbe } from "./probe-endpoint.ts";
import {
  type HealthRepository,
  type IncidentRepository,
  type MaintenanceRepository,
  hoursOver,
  newNotices,
} from "./repositories.ts";
import type { SharedIncidents } from "./shared-incidents.ts";
import { domainOf } from "./subjects.ts";

/** From a probe to its message. */
export type Watchdog = ReturnType<typeof createWatchdog>;

interface WatchdogOptions {
  readonly catalog: WatchedCatalog;
  readonly probe: EndpointProbe;
  readonly maintenance: MaintenanceRepository;
  readonly records: HealthRepository;
  readonly history: History;
  readonly outbox: Outbox;
  readonly shared: SharedIncidents;
  readonly rules: HealthRules;
  readonly clock: Clock;
  /** Called after each good probe. */
  readonly onGood: (entry: CatalogEntry) => Promise<void>;
  readonly emit: (event: MonitorEvent) => void;
  readonly onFault: (error: unknown) => void;
  /** Ends the probes under way. */
  readonly signal: AbortSignal;
}

/** Waits before the next tries of what the store did not take. */
const retryMs = [1_000, 5_000, 30_000, 120_000];
/** Observations that may wait for the store; more are lost, and the loss is reported. */
const mostWaiting = 2_000;

/** A watchdog; `close` it before the store. */
export function createWatchdog(options: WatchdogOptions) {
  const { clock, signal, onGood, onFault } = options;
  const waiting = new Set<Promise<void>>();

  /** False when the store has failed and the same again may help. */
  const isDone = async (takeIn: () => Promise<void>): Promise<boolean> => {
    try {
      await takeIn();
      return true;
    } catch (error) {
      onFault(error);
      return toFedwayError(error).code !== "STORE_FAILED";
    }
  };
  const retry = async (takeIn: () => Promise<void>): Promise<void> => {
    for (const ms of retryMs) {
      await sleep(ms, { clock, signal });
      if (await isDone(takeIn)) return;
      if (signal.aborted) break;
    }
    onFault(new Error("An observation could not be stored and is lost."));
  };

  return {
    /** Probes an endpoint and takes in what that found. Never rejects: while the store fails it is tried again. */
    async watch(endpoint: string, source: Observation["source"]): Promise<void> {
      const entry = options.catalog.byId(endpoint);
      const observation = entry && (await observe(options, entry, source));
      if (entry === undefined || observation === undefined) return;
      const takeIn = stepsAfter(options, entry, observation);
      if (await isDone(takeIn)) {
        if (observation.ok) await onGood(entry).catch(onFault);
      } else if (waiting.size >= mostWaiting) {
        onFault(new Error("Too many observations wait for the store; one is lost."));
      } else {
        // The probe is over; its place is free for another one while this waits.
        const later = retry(takeIn).finally(() => waiting.delete(later));
        waiting.add(later);
      }
    },
    /** Resolves when what waited for the store has been tried a last time; the signal has ended the waiting. */
    close: async (): Promise<void> => void (await Promise.all(waiting)),
  };
}

/** Probes an endpoint; undefined when that says nothing of it. */
async function observe(
  { catalog, probe, maintenance, clock, signal, onFault }: WatchdogOptions,
  entry: CatalogEntry,
  source: Observation["source"],
): Promise<Observation | undefined> {
  if (signal.aborted) return undefined;
  const atMs = Math.floor(clock.now());
  const result = await probe(entry, signal).catch(onFault);
  // The catalogue may name another URL by now.
  if (!result || signal.aborted || catalog.byId(entry.id)?.url !== entry.url) return undefined;
  const windowEndMs = maintenance.untilMs(entry.id, atMs) ?? maintenance.untilMs(entry.id, clock.now());
  return { atMs, ...result, source, maintenance: windowEndMs === undefined ? undefined : true };
}

/** The steps after a probe, in their order; called again after a failure, they go on with the one that failed. */
function stepsAfter(options: WatchdogOptions, entry: CatalogEntry, found: Observation): () => Promise<void> {
  const { history, outbox, shared, emit, onFault } = options;
  const { id } = entry;
  // What is out in the network may fail for reasons of the network or of its host.
  const isRemote = domainOf(entry) !== undefined;
  const observation = isRemote ? shared.marked(found) : found;
  let judged: Judged | undefined;
  let isCounted = false;
  return async () => {
    // Judgement: the state and an incident that opens or closes, with its notice in the outbox.
    judged ??= await judge(options, entry, observation);
    const notices = newNotices(judged);
    const past = hoursOver(judged);
    // Counters of hours that are over.
    if (!isCounted) {
      if (judged.hasMoved) await history.remove(id);
      if (past) await history.keep(id, past);
      isCounted = true;
      emit({ kind: "probed", endpoint: id, observation });
      for (const notice of notices) emit(notice);
    }
    // Messages. What fails here stays in the outbox and is delivered later.
    if (notices.length > 0) await outbox.deliver(id).catch(onFault);
    // Incidents of its host and of the network.
    const left = leftSubject(judged);
    if (left !== undefined) await shared.leave(left).catch(onFault);
    if (isRemote) await shared.judgeNetwork(entry, observation).catch(onFault);
  };
}

/** The shared incident that the endpoint has left. */
const leftSubject = ({ before, after }: Judged): string | undefined =>
  after?.open === undefined ? before?.open?.subject : undefined;

interface Judged extends Change<HealthRecord> {
  /** The endpoint had another URL before: its history belongs to that one. */
  readonly hasMoved: boolean;
}

/** The record after a probe, written together with its incident and notice. @throws FedwayError `STORE_FAILED` */
async function judge(options: WatchdogOptions, entry: CatalogEntry, observation: Observation): Promise<Judged> {
  const { records, shared } = options;
  const { id, url } = entry;
  const { ok, offline, maintenance, atMs, source } = observation;
  const isFault = !ok && !offline && !maintenance;
  const isShareable = isFault && domainOf(entry) !== undefined;
  const rules = isShareable ? await shared.rulesFor(entry, observation, options.rules) : options.rules;
  let hasMoved = false;
  const change = await records.change(id, (record = blankRecord(url)) => {
    // The store had taken it all the same, though it said otherwise.
    if (record.last?.atMs === atMs && record.last.source === source && record.url === url) return undefined;
    hasMoved = record.url !== url;
    const known = hasMoved ? leftRecord(id, record, { url, atMs, by: "moved" }) : record;
    return probedRecord(id, { record: known, observation }, rules);
  });
  return { ...change, hasMoved };
}

/**
 * Incidents that have opened or closed wait in the outbox of their record, which is written in one step with the change
 * itself, until they are stored and sent: nothing is lost with a process, and what was sent may be sent again.
 */
export type Outbox = ReturnType<typeof createOutbox>;

interface OutboxOptions {
  readonly records: HealthRepository;
  readonly incidents: IncidentRepository;
  readonly store: Store;
  readonly owner: string;
  readonly now: () => number;
  /** Takes a notice over for good, at least once; repeated, it is the same notice. */
  readonly tell?: ((notice: IncidentNotice) => Promise<void>) | undefined;
  /** True if no other process works on the store: unfinished work is this process's own. */
  readonly soleOwner: boolean;
  readonly emit: (event: MonitorEvent) => void;
  readonly onFault: (error: unknown) => void;
}

/** Time for the process that wrote a notice, or tries to deliver it. */
const patienceMs = 30_000;

const nameOf = ({ kind, incident, atMs }: IncidentNotice): string => `${kind} ${incident.id} ${atMs ?? ""}`;

/** The outboxes of these records. */
export function createOutbox(options: OutboxOptions) {
  const { records, incidents, store, owner, now, tell, soleOwner, emit, onFault } = options;
  const underWay = new Set<string>();
  const noticesOf = (name: string): readonly IncidentNotice[] => records.get(name)?.outbox ?? [];
  const deliver = async (name: string): Promise<void> => {
    if (underWay.has(name)) return;
    underWay.add(name);
    try {
      for (let notices = noticesOf(name); notices.length > 0; notices = noticesOf(name)) {
        for (const notice of notices) {
          await incidents.write(notice.incident);
          await tell?.(notice);
        }
        await records.change(name, (record) => record && withoutNotices(record, notices));
      }
    } finally {
      underWay.delete(name);
    }
  };
  return {
    /** Changes a record, and delivers the notices of incidents that this opened or closed. @throws FedwayError `STORE_FAILED` */
    async change(
      name: string,
      change: (record: HealthRecord | undefined) => HealthRecord | undefined,
    ): Promise<HealthRecord | undefined> {
      const changed = await records.change(name, change);
      const notices = newNotices(changed);
      for (const notice of notices) emit(notice);
      // What fails here stays in the outbox and is delivered later.
      if (notices.length > 0) await deliver(name).catch(onFault);
      return changed.after;
    },
    /** Stores and sends the notices of a record. @throws what the store or `tell` throws; the notices then stay */
    deliver,
    /** Does so for notices that another process, or an earlier try, has left behind. */
    async deliverOld(): Promise<void> {
      const nowMs = now();
      const isOld = (notice: IncidentNotice): boolean => soleOwner || Math.abs(nowMs - noticedMs(notice)) >= patienceMs;
      for (const [name, { outbox }] of records.entries()) {
        if (!outbox.some(isOld)) continue;
        try {
          if (soleOwner || (await store.acquire(`monitor/settle/${name}`, owner, patienceMs))) await deliver(name);
        } catch (error) {
          onFault(error);
        }
      }
    },
  };
}

function withoutNotices(record: HealthRecord, notices: readonly IncidentNotice[]): HealthRecord | undefined {
  const told = new Set(notices.map(nameOf));
  const outbox = record.outbox.filter((notice) => !told.has(nameOf(notice)));
  return outbox.length === record.outbox.length ? undefined : { ...record, outbox };
}
