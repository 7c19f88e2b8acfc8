import type { JobDocuments } from "./job-documents.ts";
import { createJobMirror, type JobMirror } from "./job-mirror.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Clock } from "../../clock.ts";
import type { JobKind, JobState } from "../job-queue.ts";
import type { JobRecord, VersionedRecord } from "./job-record.ts";

/** What the parts of one queue share. */
export interface JobCore {
  readonly clock: Clock;
  readonly documents: JobDocuments;
  readonly mirror: JobMirror;
  /** False: running jobs and the turns of schedules are left to other processes. Settled by the start. */
  working: boolean;
  /** Looks for jobs to run, now and when the next one is due. */
  dispatch: () => void;
  /** Names this queue in leases and records; different in every process. */
  readonly owner: string;
  readonly kinds: Map<string, JobKind>;
  readonly leaseMs: number;
  /** How often progress is written. */
  readonly progressMs: number;
  /** Wait before the next run after this many failures. */
  readonly backoffMs: (failures: number) => number;
  /** Lost workers after which a job is given up. */
  readonly mostInterruptions: number;
  /** Set once the queue closes. */
  closing: boolean;
  /** Takes in a job's new state and tells who watches it. */
  changed: (held: VersionedRecord) => void;
  /** Ends the run of a job that has just been ended, if it runs in this process. */
  endRun: (record: JobRecord) => void;
  /** A job shows new progress, which is not written yet. */
  progressed: (id: string) => void;
  /** Reports what went wrong inside the queue itself. */
  readonly fault: (error: unknown) => void;
}

/** Times and numbers that every adapter lets its callers set; all times in milliseconds. */
export interface JobQueueTimes {
  readonly clock?: Clock;
  /** Names this process in leases; default: a random one. */
  readonly owner?: string;
  /** How long a job stays with a worker that gives no sign of life; default 30,000. */
  readonly leaseMs?: number;
  /** How often progress is written; default 1,000. */
  readonly progressMs?: number;
  /** Shortest time between two calls of a watcher; default 250. */
  readonly watchMs?: number;
  /** Finished jobs that are kept; default 1,000. */
  readonly keepFinished?: number;
  /** How long they are kept; default 7 days. */
  readonly keepFinishedMs?: number;
  /** Wait before the next run after so many failures; default 1 s, doubled with each, at most 5 minutes. */
  readonly backoffMs?: (failures: number) => number;
  /** Lost workers after which a job is given up; default 20. */
  readonly mostInterruptions?: number;
  /** Hears what goes wrong inside the queue and is tried again, e.g. a store that fails for a while. */
  readonly onFault?: (error: unknown) => void;
}

const longestBackoffMs = 300_000;
const nothing = (): void => {};

/** The core of a queue that has not started. */
export function createJobCore(
  documents: JobDocuments,
  times: JobQueueTimes & Required<Pick<JobQueueTimes, "clock" | "owner">>,
): JobCore {
  return {
    clock: times.clock,
    documents,
    mirror: createJobMirror(),
    working: true,
    dispatch: nothing,
    owner: times.owner,
    kinds: new Map(),
    leaseMs: times.leaseMs ?? 30_000,
    progressMs: times.progressMs ?? 1_000,
    backoffMs: times.backoffMs ?? ((failures) => Math.min(1_000 * 2 ** (failures - 1), longestBackoffMs)),
    mostInterruptions: times.mostInterruptions ?? 20,
    closing: false,
    changed: nothing,
    endRun: nothing,
    progressed: nothing,
    fault: (error) => times.onFault?.(error),
  };
}

/** Why a job failed, as it stands in its document. */
export type PublicError = NonNullable<JobRecord["error"]>;

/** Whether a record shows this run of a job, still under way. */
export function isRun(record: JobRecord, owner: string, attempts: number): boolean {
  return record.state === "running" && record.owner === owner && record.attempts === attempts;
}

/** The record without what belongs to a run under way. */
export function withoutOwner(record: JobRecord): Omit<JobRecord, "owner"> {
  const { owner: _, ...rest } = record;
  return rest;
}

/** The record of a job that waits to be run again. */
export function waitingAgain(record: JobRecord, runAtMs: number): JobRecord {
  return { ...withoutOwner(record), state: "waiting", runAtMs };
}

/** The record of a job that has ended; a child's result is needed as long as its parent is open. */
export function endedRecord(
  record: JobRecord,
  state: Exclude<JobState, "waiting" | "running">,
  nowMs: number,
): JobRecord {
  return { ...withoutOwner(record), state, finishedAtMs: nowMs, ...(record.parent && { kept: true }) };
}

/** The record of a job that failed for good. */
export function failedRecord(record: JobRecord, { code, message }: PublicError, nowMs: number): JobRecord {
  return { ...endedRecord(record, "failed", nowMs), error: { code, message } };
}

/** The record of a job that was running when its worker was lost: it waits again, unless that happens time and again. */
export function interruptedRecord(core: JobCore, record: JobRecord): JobRecord {
  const interruptions = record.interruptions + 1;
  const now = core.clock.now();
  if (interruptions < core.mostInterruptions) return waitingAgain({ ...record, interruptions }, now);
  const message = `The job was given up: its worker ended ${interruptions} times while it ran.`;
  return failedRecord({ ...record, interruptions }, new FedwayError("INTERNAL", message), now);
}

/** The record of a job that nothing here can run. */
export function unknownKindRecord(core: JobCore, record: JobRecord): JobRecord {
  const message = `This version of the service has no jobs of the kind ${record.kind}.`;
  return failedRecord(record, new FedwayError("REQUEST_INVALID", message), core.clock.now());
}
