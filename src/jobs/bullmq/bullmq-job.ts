import type { Job as BullmqJob, JobsOptions } from "bullmq";
import type { PublicError } from "../bounds.ts";
import type { EnqueueOptions, Job, JobKind, JobProgress, JobState } from "../job-queue.ts";

/** Data of a job in BullMQ. */
export interface JobData {
  readonly payload: unknown;
  /** Grows from job to job: the order of enqueuing. Turns of schedules have none. */
  readonly order?: number;
  /** Ended before its handler said so; a worker then moves it to BullMQ's failed jobs without running it. */
  readonly end?: JobEnd;
}

/** An end that was not the handler's. */
interface JobEnd {
  readonly state: "cancelled";
  readonly atMs: number;
  readonly error?: PublicError;
}

/** Content of BullMQ's `failedReason`, as JSON. */
export interface Failure extends PublicError {
  /** The worker that took the job did not run its handler. */
  readonly notRun?: true;
}

/** A BullMQ job of this queue. The result is an array of one value, or none where the handler gave none. */
export type QueuedJob = BullmqJob<JobData, readonly unknown[]>;

/** How long and how many finished jobs of a kind are kept. */
export interface Keeping {
  readonly keepFinishedMs: number;
  readonly keepFinished: number;
}

/** In BullMQ a lower number comes first, and 0 before all others. */
const middlePriority = 1_048_576;

/** BullMQ's id of a job: no number, which BullMQ refuses. */
export const bullmqId = (id: string): string => `~${id}`;

/** BullMQ's id of a schedule's turn, when the id looks like one. */
export function turnId(id: string): string | undefined {
  const [, name, atMs] = /^(.+)\.(\d{10,})$/.exec(id) ?? [];
  return name === undefined ? undefined : `repeat:${name}:${atMs}`;
}

/** The id that the port shows. */
export function publicId({ id = "" }: { readonly id?: string | undefined }): string {
  if (id.startsWith("~")) return id.slice(1);
  const [, name, atMs] = id.split(":");
  return `${name}.${atMs}`;
}

/** BullMQ's options for each job of a kind. */
export function kindOptions(kind: JobKind, { keepFinishedMs, keepFinished }: Keeping): JobsOptions {
  const keep = { age: Math.ceil(keepFinishedMs / 1_000), count: keepFinished };
  return {
    attempts: kind.maxAttempts ?? 3,
    backoff: { type: "fedway" },
    removeOnComplete: keep,
    removeOnFail: keep,
    stackTraceLimit: 0,
  };
}

/** BullMQ's options for one job. */
export function jobOptions(
  kind: JobKind,
  keeping: Keeping,
  { id, priority = 0 }: EnqueueOptions & { readonly id: string },
): JobsOptions {
  return {
    ...kindOptions(kind, keeping),
    jobId: bullmqId(id),
    priority: middlePriority - priority,
  };
}

/** The priority that the port was given. */
export const priorityOf = ({ opts }: QueuedJob): number => middlePriority - (opts.priority ?? middlePriority);

/** A scheduled turn becomes a job when it begins. */
export const isToCome = (job: QueuedJob): boolean => job.repeatJobKey !== undefined && job.attemptsStarted === 0;

/** Grows with the time of enqueuing. */
export const orderOf = (job: QueuedJob): number => job.data.order ?? job.timestamp * 1_000;

/** The handler's result, in an array; undefined for a job that is not done. */
export const resultOf = ({ returnvalue }: QueuedJob): readonly unknown[] | undefined =>
  Array.isArray(returnvalue) ? returnvalue : undefined;

/** A job as the port shows it, without its result; `running` says where BullMQ has it when it is not finished. */
export function jobOf(job: QueuedJob, running: boolean): Job {
  const id = publicId(job);
  const state = stateOf(job, running);
  const error = errorOf(job, state);
  return {
    id,
    kind: job.queueName,
    state,
    payload: job.data.payload,
    attempts: runsOf(job),
    ...timesOf(job),
    progress: isProgress(job.progress) ? job.progress : undefined,
    error: error && { code: error.code, message: error.message },
  };
}

function runsOf({ attemptsStarted, failedReason }: QueuedJob): number {
  return attemptsStarted - (failureOf(failedReason)?.notRun ? 1 : 0);
}

function timesOf(job: QueuedJob) {
  const finishedAtMs = isEnded(job) ? job.data.end?.atMs : job.finishedOn;
  return {
    createdAt: iso(job.timestamp),
    startedAt: job.processedOn !== undefined && runsOf(job) > 0 ? iso(job.processedOn) : undefined,
    finishedAt: finishedAtMs === undefined ? undefined : iso(finishedAtMs),
  } satisfies Partial<Job>;
}

function errorOf(job: QueuedJob, state: JobState): PublicError | undefined {
  if (isEnded(job)) return job.data.end?.error;
  return state === "done" ? undefined : failureOf(job.failedReason);
}

/** True if the job was ended from outside before its handler ended. */
export function isEnded({ data, finishedOn = Number.POSITIVE_INFINITY }: QueuedJob): boolean {
  return data.end !== undefined && data.end.atMs <= finishedOn;
}

function stateOf(job: QueuedJob, running: boolean): JobState {
  if (isEnded(job)) return job.data.end?.state ?? "failed";
  if (job.finishedOn === undefined) return running ? "running" : "waiting";
  return resultOf(job) === undefined ? "failed" : "done";
}

/** A failure in BullMQ's `failedReason`; undefined where there is none. */
function failureOf(reason: string | undefined): Failure | undefined {
  if (!reason) return undefined;
  // BullMQ's own words: its workers were lost too often.
  if (!reason.startsWith("{")) return { code: "INTERNAL", message: lostTooOften, notRun: true };
  const { code, message, notRun }: Partial<Failure> = JSON.parse(reason);
  return { code: String(code), message: String(message), ...(notRun && { notRun }) };
}

const lostTooOften = "The job was given up: its worker ended again and again.";

const isProgress = (value: unknown): value is JobProgress =>
  typeof value === "object" && value !== null && "stage" in value;

const iso = (ms: number): string => new Date(ms).toISOString();
