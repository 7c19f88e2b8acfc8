import { FedwayError } from "../../errors/fedway-error.ts";
import type { JobClock } from "../clock.ts";
import type { JobKind } from "../job-queue.ts";
import type { JobDocuments } from "./job-documents.ts";
import type { JobMirror } from "./job-mirror.ts";
import type { JobRecord, VersionedRecord } from "./job-record.ts";

/** What the parts of one queue share. */
export interface QueueCore {
  readonly clock: JobClock;
  readonly documents: JobDocuments;
  readonly mirror: JobMirror;
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
  /** A job shows new progress, which is not written yet. */
  progressed: (id: string) => void;
  /** Looks for jobs to run, now and when the next one is due. */
  pump: () => void;
  /** Reports what went wrong inside the queue itself. */
  readonly fault: (error: unknown) => void;
}

/** What a handler sees as the reason of its signal. */
export function stopped(why: string): FedwayError {
  return new FedwayError("CANCELLED", why);
}

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

/** The record of a job that failed for good. */
export function failedRecord(record: JobRecord, error: FedwayError, nowMs: number): JobRecord {
  const { code, message } = error;
  return { ...withoutOwner(record), state: "failed", finishedAtMs: nowMs, error: { code, message } };
}
