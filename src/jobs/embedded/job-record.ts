import { type Static, type TSchema, Type } from "typebox";
import { childError, childId, type PublicError } from "../bounds.ts";
import type { Job, JobProgress } from "../job-queue.ts";

const orNone = <Schema extends TSchema>(schema: Schema) => Type.Unsafe<Static<Schema> | undefined>(schema);
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
  /** The job that waits for this one; the order tells it from later jobs of the same id. */
  parent: Type.Optional(orNone(Type.Object({ id: Type.String(), order: Type.Number() }))),
  /** Names of the jobs that this one waits for. */
  children: Type.Optional(orNone(Type.Array(Type.String()))),
});

/** A job, one document each; its result has another. Moments are milliseconds since the epoch. */
export interface JobRecord extends Readonly<Static<typeof fields>> {
  readonly payload: unknown;
  readonly startedAtMs?: number | undefined;
  readonly finishedAtMs?: number | undefined;
  readonly progress?: JobProgress | undefined;
  /** Key of the document with the result. */
  readonly resultKey?: string | undefined;
  readonly resultBytes?: number | undefined;
  readonly error?: PublicError | undefined;
}

/** Schema of a stored job. Fields that it does not name are kept. */
export const recordSchema = Type.Unsafe<JobRecord>(fields);

/** True when the job can still come to run or to an end. */
export const isOpen = ({ state }: JobRecord): boolean => state === "waiting" || state === "running";

/** Why a job fails that waits for these children; undefined when they can still all be done. */
export function brokenBy({ children = [] }: JobRecord, found: readonly (JobRecord | undefined)[]) {
  const errors = children.map((name, index): PublicError | undefined => {
    const child = found[index];
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
  const [createdAt = "", startedAt, finishedAt] = [createdAtMs, startedAtMs, finishedAtMs].map((ms) =>
    ms === undefined ? undefined : new Date(ms).toISOString(),
  );
  const parent = record.parent?.id;
  const children = record.children?.map((name) => childId(id, name));
  return {
    id,
    kind,
    state,
    payload,
    attempts,
    createdAt,
    startedAt,
    finishedAt,
    progress,
    result,
    error,
    parent,
    children,
  };
}
