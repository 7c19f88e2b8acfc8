import { Type } from "typebox";
import { childError, childId, type PublicError } from "../bounds.ts";
import type { Job, JobProgress, JobState } from "../job-queue.ts";

/** A job as it is stored, one document each. Moments are milliseconds since the epoch. */
export interface JobRecord {
  readonly id: string;
  readonly kind: string;
  readonly state: JobState;
  readonly payload: unknown;
  readonly priority: number;
  /** Grows from job to job: the order of enqueuing. */
  readonly order: number;
  readonly createdAtMs: number;
  /** Not to be run before. */
  readonly runAtMs: number;
  /** Runs started. */
  readonly attempts: number;
  /** Runs that ended with an error. */
  readonly failures: number;
  /** Runs that ended with the process. */
  readonly interruptions: number;
  readonly startedAtMs?: number | undefined;
  readonly finishedAtMs?: number | undefined;
  readonly progress?: JobProgress | undefined;
  /** Key of the document with the result. */
  readonly resultKey?: string | undefined;
  readonly resultBytes?: number | undefined;
  readonly error?: PublicError | undefined;
  /** The job that waits for this one; the order tells it from later jobs of the same id. */
  readonly parent?: { readonly id: string; readonly order: number } | undefined;
  /** Names of the jobs that this one waits for. */
  readonly children?: readonly string[] | undefined;
}

const states = ["waiting", "running", "done", "failed", "cancelled"] as const;
/** Schema of a stored job. Fields that it does not name are kept. */
export const recordSchema = Type.Unsafe<JobRecord>(
  Type.Object({
    id: Type.String(),
    kind: Type.String(),
    state: Type.Union(states.map((state) => Type.Literal(state))),
    priority: Type.Number(),
    order: Type.Number(),
    createdAtMs: Type.Number(),
    runAtMs: Type.Number(),
    attempts: Type.Number(),
    failures: Type.Number(),
    interruptions: Type.Number(),
    parent: Type.Optional(Type.Object({ id: Type.String(), order: Type.Number() })),
    children: Type.Optional(Type.Array(Type.String())),
  }),
);

/** True when the job can still come to run or to an end. */
export const isOpen = ({ state }: JobRecord): boolean => state === "waiting" || state === "running";

/** Why a job fails that waits for these children; undefined when they can still all be done. */
export function brokenBy(
  names: readonly string[],
  children: readonly (JobRecord | undefined)[],
): PublicError | undefined {
  const errors = names.map((name, index): PublicError | undefined => {
    const child = children[index];
    if (child === undefined) return { code: "INTERNAL", message: `The part ${name} of the job was lost.` };
    if (child.state === "cancelled") return childError(name, { code: "CANCELLED", message: "" });
    return child.state === "failed" ? childError(name, child.error ?? unknownError) : undefined;
  });
  return errors.find((error) => error !== undefined);
}

const unknownError: PublicError = { code: "INTERNAL", message: "Nothing is known of why." };

/** A job as the port shows it. */
export function jobOf(record: JobRecord, result?: unknown): Job {
  const { id, kind, state, payload, attempts, createdAtMs, startedAtMs, finishedAtMs, progress, error } = record;
  return {
    id,
    kind,
    state,
    payload,
    attempts,
    createdAt: new Date(createdAtMs).toISOString(),
    startedAt: isoOf(startedAtMs),
    finishedAt: isoOf(finishedAtMs),
    progress,
    result,
    error,
    parent: record.parent?.id,
    children: record.children?.map((name) => childId(id, name)),
  };
}

const isoOf = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();
