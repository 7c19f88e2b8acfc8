import { childId } from "../bounds.ts";
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
  /** Runs whose worker was lost. */
  readonly interruptions: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number;
  /** The queue that runs it now. */
  readonly owner?: string;
  readonly progress?: JobProgress;
  /** Key of the document with the result. */
  readonly resultKey?: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** The job that waits for this one. */
  readonly parent?: ParentRef;
  /** Names of the jobs that this one waits for. */
  readonly children?: readonly string[];
  /** Key of the document with what the children are to be, until all of them are there. */
  readonly planKey?: string;
  /** Finished, but kept whatever its age until its parent has ended. */
  readonly kept?: true;
  /** Size of the result of a job that has a parent. */
  readonly resultBytes?: number;
}

/** A job that others are parts of; the order tells it from later jobs of the same id. */
export interface ParentRef {
  readonly id: string;
  readonly order: number;
}

/** A job and the version of its document. */
export interface VersionedRecord {
  readonly record: JobRecord;
  readonly version: number;
}

/** States from which a job can still come to run or to an end. */
export function isOpen(state: JobState): boolean {
  return state === "waiting" || state === "running";
}

/** True when the job is final and may be pruned. */
export function isOver({ state, kept }: Pick<JobRecord, "state" | "kept">): boolean {
  return !isOpen(state) && kept !== true;
}

/** The record in a stored text; undefined for anything this queue did not write. */
export function readRecord(text: string): JobRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isRecord(value) ? value : undefined;
}

const states: ReadonlySet<unknown> = new Set<JobState>(["waiting", "running", "done", "failed", "cancelled"]);
const numbers = ["priority", "order", "createdAtMs", "runAtMs", "attempts", "failures", "interruptions"];

function isRecord(value: unknown): value is JobRecord {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map(Object.entries(value));
  if (typeof fields.get("id") !== "string" || typeof fields.get("kind") !== "string") return false;
  if (!areRelatives(fields.get("parent"), fields.get("children"))) return false;
  return states.has(fields.get("state")) && numbers.every((name) => typeof fields.get(name) === "number");
}

function areRelatives(parent: unknown, children: unknown): boolean {
  const isRef = typeof parent === "object" && parent !== null && "id" in parent && "order" in parent;
  return (parent === undefined || isRef) && (children === undefined || Array.isArray(children));
}

/** Whether a record shows a part of this very job. */
export function isChildOf(record: JobRecord, { id, order }: ParentRef): boolean {
  return record.parent?.id === id && record.parent.order === order;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** A job as the port shows it. */
export function jobOf(record: JobRecord, result?: unknown): Job {
  const { id, kind, state, payload, attempts, createdAtMs, startedAtMs, finishedAtMs, progress, error } = record;
  const { parent, children } = record;
  return {
    id,
    kind,
    state,
    payload,
    attempts,
    createdAt: iso(createdAtMs),
    ...(startedAtMs !== undefined && { startedAt: iso(startedAtMs) }),
    ...(finishedAtMs !== undefined && { finishedAt: iso(finishedAtMs) }),
    ...(progress && { progress }),
    ...(result !== undefined && { result }),
    ...(error && { error }),
    ...(parent && { parent: parent.id }),
    ...(children && { children: children.map((name) => childId(id, name)) }),
  };
}
