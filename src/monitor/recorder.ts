import { toFedwayError } from "../errors/fedway-error.ts";
import { type Clock, sleep } from "../clock.ts";
import { type HealthRepository, newNotices } from "./health-repository.ts";
import type { Change } from "../store/collection.ts";
import {
  blankRecord,
  type HealthRecord,
  type HealthRules,
  leftRecord,
  noticedMs,
  type IncidentNotice,
} from "./health-record.ts";
import { probedRecord } from "./probed-record.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import type { History } from "./history.ts";
import type { MonitorEvent, Observation } from "./monitor.ts";
import type { Store } from "../store/store.ts";
import type { SharedIncidents } from "./shared-incidents.ts";
import type { IncidentRepository } from "./incident-repository.ts";

/** Takes in observations: state, incidents, history. */
export type Recorder = ReturnType<typeof createRecorder>;

type ProbedEndpoint = Pick<CatalogEntry, "id" | "url">;

interface RecorderOptions {
  readonly records: HealthRepository;
  readonly history: Pick<History, "keep" | "remove">;
  readonly announcer: Announcer;
  readonly shared: SharedIncidents;
  readonly rules: HealthRules;
  readonly clock: Clock;
  readonly emit: (event: MonitorEvent) => void;
  readonly onFault: (error: unknown) => void;
}

/** Waits before the next tries of what the store did not take. */
const retryMs = [1_000, 5_000, 30_000, 120_000];
/** Observations that may wait for the store; more are lost, and said so. */
const mostWaiting = 2_000;

/** A recorder; `close` it before the store. */
export function createRecorder(options: RecorderOptions) {
  const { clock, onFault } = options;
  const closing = new AbortController();
  const waiting = new Set<Promise<void>>();

  const retry = async (step: () => Promise<void>): Promise<void> => {
    for (const ms of retryMs) {
      await sleep(ms, { clock, signal: closing.signal });
      if (await done(step)) return;
      if (closing.signal.aborted) break;
    }
    onFault(new Error("An observation could not be stored and is lost."));
  };
  const done = async (step: () => Promise<void>): Promise<boolean> => {
    try {
      await step();
      return true;
    } catch (error) {
      onFault(error);
      return toFedwayError(error).code !== "STORE_FAILED";
    }
  };

  return {
    /** Takes in what a probe of the endpoint at this URL found. Never rejects: while the store fails it is tried again. */
    async probed(target: ProbedEndpoint, observation: Observation): Promise<void> {
      const step = stepsOf(options, target, observation);
      if (await done(step)) return;
      if (waiting.size >= mostWaiting) {
        onFault(new Error("Too many observations wait for the store; one is lost."));
        return;
      }
      // The probe is over; its place is free for another one while this waits.
      const later = retry(step).finally(() => waiting.delete(later));
      waiting.add(later);
    },
    /** Tries the remaining work a last time. */
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(waiting);
    },
  };
}

/** Steps to record one observation; called again after a failure, it continues at the failed step. */
function stepsOf(options: RecorderOptions, target: ProbedEndpoint, observation: Observation): () => Promise<void> {
  const { history, announcer, emit, onFault } = options;
  const { id } = target;
  const seen = options.shared.marked(target, observation);
  const state: Applied = { moved: false };
  let recorded = false;
  return async () => {
    state.change ??= await apply(options, { target, observation: seen, state });
    if (state.moved) await history.remove(id);
    state.moved = false;
    const notices = newNotices(state.change);
    if (!recorded) {
      await history.keep(id, state.change);
      recorded = true;
      emit({ kind: "probed", endpoint: id, observation: seen });
      for (const notice of notices) emit(notice);
    }
    // What fails here waits in the outbox and is made up for.
    if (notices.length > 0) await announcer.settle(id).catch(onFault);
    const { before, after } = state.change;
    const left = after?.open === undefined ? before?.open?.subject : undefined;
    await options.shared.after(target, seen, left).catch(onFault);
  };
}

interface Applied {
  change?: Change<HealthRecord>;
  /** The endpoint had another URL: its history belongs to that one. */
  moved: boolean;
}

interface Applying {
  readonly target: ProbedEndpoint;
  readonly observation: Observation;
  readonly state: Applied;
}

async function apply(
  { records, rules, shared }: RecorderOptions,
  { target, observation, state }: Applying,
): Promise<Change<HealthRecord>> {
  const { id, url } = target;
  const { atMs, source } = observation;
  const known = await shared.rulesFor(target, observation, rules);
  return records.change(id, (record) => {
    // The store had taken it all the same, though it said otherwise.
    if (record?.last?.atMs === atMs && record.last.source === source && record.url === url) return undefined;
    state.moved = record !== undefined && record.url !== url;
    return probedRecord(id, { record: recordFor(id, record, { url, atMs }), observation }, known);
  });
}

/** The record to go on from: a new one when the endpoint is new or has moved. */
function recordFor(
  id: string,
  record: HealthRecord | undefined,
  { url, atMs }: { readonly url: string; readonly atMs: number },
): HealthRecord {
  if (record === undefined) return blankRecord(url);
  return record.url === url ? record : leftRecord(id, record, { url, atMs, by: "moved" });
}

/**
 * Writes and announces incidents that have opened or closed. They wait in the outbox of the endpoint's record, which is
 * written in the same step as the change itself, and leave it when everything is done: nothing is lost with a process, and
 * what was reported may be reported again.
 */
export type Announcer = ReturnType<typeof createAnnouncer>;

interface AnnouncerOptions {
  readonly records: HealthRepository;
  readonly incidents: IncidentRepository;
  readonly store: Pick<Store, "acquire">;
  readonly owner: string;
  readonly now: () => number;
  /** Takes a notice over for good, at least once; repeated, it is the same notice. */
  readonly tell: ((notice: IncidentNotice) => Promise<void>) | undefined;
  /** True if no other process works on the store: unfinished work is this process's own. */
  readonly soleOwner: boolean;
  readonly emit: (event: MonitorEvent) => void;
  readonly onFault: (error: unknown) => void;
}

/** Time for a process that made a notice, or tries to report it. */
const patienceMs = 30_000;

const nameOf = ({ kind, incident, atMs }: IncidentNotice): string => `${kind} ${incident.id} ${atMs ?? ""}`;

/** An announcer over the outboxes of these records. */
export function createAnnouncer(options: AnnouncerOptions) {
  const { records, incidents, store, owner, now, tell, soleOwner, emit, onFault } = options;
  const underWay = new Set<string>();
  const settle = async (endpoint: string): Promise<void> => {
    if (underWay.has(endpoint)) return;
    underWay.add(endpoint);
    try {
      for (let notices = outboxOf(records, endpoint); notices.length > 0; notices = outboxOf(records, endpoint)) {
        for (const notice of notices) {
          await incidents.write(notice.incident);
          await tell?.(notice);
        }
        await records.change(endpoint, (record) => record && withoutNotices(record, notices));
      }
    } finally {
      underWay.delete(endpoint);
    }
  };
  return {
    /** Changes a record, and announces the incidents that this opened or closed. @throws FedwayError `STORE_FAILED` */
    async change(
      name: string,
      change: (record: HealthRecord | undefined) => HealthRecord | undefined,
    ): Promise<HealthRecord | undefined> {
      const changed = await records.change(name, change);
      const notices = newNotices(changed);
      for (const notice of notices) emit(notice);
      // What fails here waits in the outbox and is made up for.
      if (notices.length > 0) await settle(name).catch(onFault);
      return changed.after;
    },
    /** Empties the outbox of an endpoint. @throws what the store or `tell` throws; the notices then stay */
    settle,
    /** Does so for those that another process, or an earlier try, has left behind. */
    async settleOld(): Promise<void> {
      const nowMs = now();
      const isOld = (notice: IncidentNotice): boolean => soleOwner || Math.abs(nowMs - noticedMs(notice)) >= patienceMs;
      for (const [endpoint, { outbox }] of records.entries()) {
        if (!outbox.some(isOld)) continue;
        try {
          const free = soleOwner || (await store.acquire(`monitor/settle/${endpoint}`, owner, patienceMs));
          if (free) await settle(endpoint);
        } catch (error) {
          onFault(error);
        }
      }
    },
  };
}

const outboxOf = (records: HealthRepository, endpoint: string): readonly IncidentNotice[] =>
  records.get(endpoint)?.outbox ?? [];

function withoutNotices(record: HealthRecord, notices: readonly IncidentNotice[]): HealthRecord | undefined {
  const told = new Set(notices.map(nameOf));
  const outbox = record.outbox.filter((notice) => !told.has(nameOf(notice)));
  return outbox.length === record.outbox.length ? undefined : { ...record, outbox };
}
