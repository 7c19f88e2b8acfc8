import { clientOf } from "../clients/client-name.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Store } from "../store/store.ts";
import type { Admission } from "./admission.ts";
import { runUnknown } from "./query-service.ts";
import { type OwnedRecord, ownerDigest, type RunLog, shownTo } from "./run-log.ts";
import type { RunRecord } from "./records.ts";
import { type ListedRuns, pageOf, type RunFilter } from "./run-list.ts";
import type { shareRuns } from "./shared-runs.ts";

/** A client that looks at runs, or ends them. */
export interface Viewer {
  readonly owner: string;
  /** Sees and ends the runs of all clients. */
  readonly isOperator: boolean;
}

interface RunControlOptions {
  readonly log: RunLog;
  readonly admission: Admission;
  /** Absent: there is no other process. */
  readonly shared: ReturnType<typeof shareRuns> | undefined;
  readonly store: Pick<Store, "get" | "put" | "list" | "watch"> | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Place, in ids and shared pages, of calls without a run: behind any log. */
export const callsPlace = 36 ** 5;

const callEnds = "call";
const requestPrefix = "cancel/";
const requestMs = 60_000;
/** How long a cancelled run is waited for. */
const settleMs = 3_000;

/** Finds, lists and ends runs, and calls without a run, of this process and of those that share its store. */
export function createRunControl(options: RunControlOptions) {
  const { log, admission, shared, store, now } = options;
  const idOf = (call: string): string =>
    `${callsPlace.toString(36)}-${shared === undefined ? "" : `${shared.name}-`}${call}`;
  const calls = (): readonly OwnedRecord[] => Array.from(admission.listed, (call) => callRecord(call, idOf(call.id)));
  const own = (id: string): OwnedRecord | undefined => log.record(id) ?? calls().find((call) => call.id === id);
  const find = async (id: string): Promise<OwnedRecord | undefined> => own(id) ?? (await shared?.find(id));
  const end = (id: string, by: string): boolean => {
    const call = Array.from(admission.listed).find((each) => idOf(each.id) === id);
    call?.cancel(cancelledBy(by));
    return call !== undefined || log.cancel(id, cancelledBy(by));
  };

  const ends = createEndWatch(find, options);
  admission.onListed = () => {
    shared?.changed(callsPlace);
    ends.callsChanged();
  };
  const { ended } = ends;

  // Whoever has the run ends it.
  const stopHeeding = store && watchRequests(store, end);
  return {
    ended,
    calls,
    /** @throws FedwayError `STORE_FAILED`, `REQUEST_INVALID` for a malformed cursor */
    async list(filter: RunFilter, viewer: Viewer): Promise<ListedRuns> {
      const maySee = ({ owner }: OwnedRecord): boolean => viewer.isOperator || owner === ownerDigest(viewer.owner);
      const page = pageOf(filter, now());
      page.add([...calls(), ...log.records(0, callsPlace)].filter(maySee));
      if (shared) for await (const records of shared.others()) page.add(records.filter(maySee));
      const { runs, next } = page.end();
      return { runs: runs.map((record) => shownIn(record, viewer)), next };
    },
    /**
     * Cancels what is under way. "accepted": it was asked to end and has not been seen to.
     * @throws FedwayError `RUN_UNKNOWN`, `RUN_FOREIGN`, `RUN_FINISHED`, `STORE_FAILED`
     */
    async cancel(id: string, viewer: Viewer): Promise<"cancelled" | "accepted"> {
      const record = await find(id);
      if (record === undefined) throw runUnknown();
      const isOwn = record.owner === ownerDigest(viewer.owner);
      if (!isOwn && !viewer.isOperator) throw foreign();
      const by = isOwn ? "owner" : "operator";
      if (record.status !== "running") throw runFinished(record);
      if (!end(id, by)) await store?.put(requestPrefix + id, by, { ttlMs: requestMs });
      const after = await ended(id, settleMs);
      if (after?.status === "running") return "accepted";
      // A call without a run leaves no record.
      if (after === undefined || after.status === "cancelled") return "cancelled";
      throw runFinished(after);
    },
    close: (): void => stopHeeding?.(),
  };
}

/** Waits for the ends of runs and calls, of this process and of those that share its store. */
function createEndWatch(
  find: (id: string) => Promise<OwnedRecord | undefined>,
  { log, shared, now }: RunControlOptions,
) {
  // Calls without a run share one name.
  const { ends } = log;
  const watchEnd = (id: string, listener: () => void): (() => void) => {
    const name = id.startsWith(`${callsPlace.toString(36)}-`) ? callEnds : id;
    ends.on(name, listener);
    const stopShared = shared?.watch(id, listener);
    return () => {
      ends.off(name, listener);
      stopShared?.();
    };
  };
  const whenEnded = async (id: string, waitMs: number): Promise<OwnedRecord | undefined> => {
    const until = now() + waitMs;
    let wake = Promise.withResolvers<void>();
    const stopWatching = watchEnd(id, () => wake.resolve());
    try {
      for (;;) {
        wake = Promise.withResolvers<void>();
        const record = await find(id);
        const leftMs = until - now();
        if (record?.status !== "running" || leftMs <= 0) return record;
        const timer = setTimeout(wake.resolve, leftMs);
        await wake.promise;
        clearTimeout(timer);
      }
    } finally {
      stopWatching();
    }
  };
  return {
    /** The record once the run has ended, or what is known of it after `waitMs`. @throws FedwayError `STORE_FAILED` */
    ended: async (id: string, waitMs: number): Promise<OwnedRecord | undefined> => {
      const record = await find(id);
      return record?.status === "running" && waitMs > 0 ? whenEnded(id, waitMs) : record;
    },
    callsChanged: (): unknown => ends.emit(callEnds),
  };
}

/** Operators see whose run it is. */
const shownIn = (record: OwnedRecord, { owner, isOperator }: Viewer): RunRecord => ({
  ...shownTo(owner, record),
  ...(isOperator && { client: record.client }),
});

type Listed = Admission["listed"] extends ReadonlySet<infer Call> ? Call : never;

const callRecord = ({ sinceMs, isWaiting, entrant, client }: Listed, id: string): OwnedRecord => ({
  id,
  startedAt: new Date(sinceMs).toISOString(),
  status: "running",
  call: isWaiting ? "waiting" : entrant.what,
  bytes: 0,
  sources: [],
  notes: [],
  client: clientOf(client),
  owner: ownerDigest(client),
});

/** Notices what other processes ask to be cancelled. @returns ends that */
function watchRequests(store: NonNullable<RunControlOptions["store"]>, end: (id: string, by: string) => boolean) {
  const heed = async (key: string): Promise<void> => {
    const wanted = await store.get(key);
    if (wanted) end(key.slice(requestPrefix.length), wanted.value);
  };
  const heedAll = async (): Promise<void> => {
    for (const { key, value } of await store.list(requestPrefix, { limit: 100 }))
      end(key.slice(requestPrefix.length), value);
  };
  return store.watch(requestPrefix, (change) => {
    if (change?.version === 0) return;
    // The store counts its own failures; the caller sees that the run goes on.
    void (change === undefined ? heedAll() : heed(change.key)).catch(() => {});
  });
}

const cancelledBy = (by: string): FedwayError =>
  by === "owner"
    ? new FedwayError("CANCELLED", "The client that sent the query cancelled it.")
    : new FedwayError("CANCELLED", "An operator of this service cancelled the query.", {
        next: "Ask the operator why, or send a query that asks endpoints for less.",
      });

const foreign = (): FedwayError =>
  new FedwayError("RUN_FOREIGN", "Only the client that sent a query, or an operator, may cancel it.", {
    next: "Send Authorization: Bearer with the admin token, or the key with which the query was sent.",
  });

const runFinished = ({ id, status }: RunRecord): FedwayError =>
  new FedwayError("RUN_FINISHED", `The run ended before it could be cancelled: ${status}.`, {
    next: `GET /api/runs/${id} gives its record.`,
  });
