import { type Static, Type } from "typebox";
import type { PublicError } from "../bounds.ts";
import type { Job, JobProgress } from "../job-queue.ts";

const fields = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  state: Type.Enum(["waiting", "running", "done", "failed", "cancelled"]),
  priority: Type.Number(),
  /** Grows from job to job: the order of enqueuing. */
  order: Type.Number(),
  createdAtMs: Type.Number(),
  /** Not to be run before. */
  runAtMs: Type.Number(),
  /** Runs started; of these, ended with an error, and ended with the process. */
  attempts: Type.Number(),
  failures: Type.Number(),
  interruptions: Type.Number(),
});

/** A job, one document each; its result has another. Moments are milliseconds since the epoch. */
export interface JobRecord extends Readonly<Static<typeof fields>> {
  readonly payload: unknown;
  readonly startedAtMs?: number | undefined;
  readonly finishedAtMs?: number | undefined;
  readonly progress?: JobProgress | undefined;
  /** Key of the document with the result. */
  readonly resultKey?: string | undefined;
  readonly error?: PublicError | undefined;
}

/** Schema of a stored job. Fields that it does not name are kept. */
export const recordSchema = Type.Unsafe<JobRecord>(fields);

/** True when the job can still come to run or to an end. */
export const isOpen = ({ state }: JobRecord): boolean => state === "waiting" || state === "running";

/** A job as the port shows it. */
export function jobOf(record: JobRecord, result?: unknown): Job {
  const { id, kind, state, payload, attempts, createdAtMs, startedAtMs, finishedAtMs, progress, error } = record;
  const [createdAt = "", startedAt, finishedAt] = [createdAtMs, startedAtMs, finishedAtMs].map((ms) =>
    ms === undefined ? undefined : new Date(ms).toISOString(),
  );
  return { id, kind, state, payload, attempts, createdAt, startedAt, finishedAt, progress, result, error };
}
