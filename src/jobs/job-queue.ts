import { type Static, Type } from "typebox";
import { type Given, integer, number, text } from "../shapes.ts";

/** Which jobs a process runs: all, none, or those of some kinds. */
export type Work = boolean | readonly string[];

/** Where a job is. `waiting` includes jobs that are to be tried again later. */
const jobStates = ["waiting", "running", "done", "failed", "cancelled"] as const;
export type JobState = (typeof jobStates)[number];

/** How far a running job is. */
const JobProgress = Type.Object({
  stage: text("Present stage, in a few words."),
  done: number("Units done; of `total`, where that is known."),
  total: Type.Optional(Type.Number()),
  figures: Type.Optional(Type.Record(Type.String(), Type.Number(), { description: "Any other figures, by name." })),
});
export type JobProgress = Given<Static<typeof JobProgress>>;

/** A job as everybody sees it. Payload and result are JSON values. */
export const Job = Type.Object({
  id: Type.String(),
  kind: text("Name of its kind, e.g. describe-endpoint."),
  state: Type.Enum([...jobStates]),
  payload: Type.Unknown({ description: "Of some kinds for the operator only, as the result." }),
  attempts: integer("Runs started so far; more than one after a failure or a killed worker."),
  createdAt: text("ISO 8601."),
  startedAt: Type.Optional(Type.String()),
  finishedAt: Type.Optional(Type.String()),
  progress: Type.Optional(JobProgress),
  result: Type.Optional(Type.Unknown({ description: "The handler's result, once done." })),
  error: Type.Optional(
    Type.Object({ code: Type.String(), message: Type.String() }, { description: "Why it failed last: public text." }),
  ),
});
export type Job = Given<Static<typeof Job>>;

/** Context of a handler beside the payload. */
export interface JobContext {
  readonly id: string;
  /** 1 for the first run. */
  readonly attempt: number;
  /** Aborted when the job is cancelled, its lease is lost, or the queue closes; the handler then ends soon. */
  readonly signal: AbortSignal;
  /** Reports progress; cheap, batched by the queue. */
  readonly progress: (progress: JobProgress) => void;
}

/** Everything about one kind of job. */
export interface JobKind {
  readonly name: string;
  /** Checks a payload before it is enqueued and before it is run. @throws FedwayError `REQUEST_INVALID` */
  readonly validate: (payload: unknown) => void;
  /** Does the work; resolves to a JSON value, or to the `Handover` that the job goes on with. May run again after a crash, so local effects are idempotent by job id. */
  readonly run: (payload: unknown, context: JobContext) => Promise<unknown>;
  /** Runs under way at once in one worker; default 1. */
  readonly concurrency?: number;
  /** Runs before a failing job is given up; default 3. Errors that are not retryable end it at once. */
  readonly maxAttempts?: number;
}

/** How a job is enqueued. */
export interface EnqueueOptions {
  /** A job with this id that is waiting or running is returned instead of a new one; a finished one is replaced. */
  readonly id?: string | undefined;
  /** Higher runs first, from -1,000,000 to 1,000,000; default 0. Equals run in the order of enqueuing. */
  readonly priority?: number | undefined;
}

/** A job that comes again and again. */
export interface JobSchedule {
  /** Identifies the schedule; each of its turns runs once in the whole deployment. */
  readonly name: string;
  readonly kind: string;
  readonly payload: unknown;
  readonly everyMs: number;
}

/**
 * Background work. Jobs survive the end of the process; one whose worker was killed runs again. Ids are
 * `[A-Za-z0-9_.-]{1,128}`. Not in the port: what jobs do, and results larger than 1 MiB, which belong into the store.
 */
export interface JobQueue {
  readonly name: "embedded" | "bullmq";
  /**
   * Starts running jobs; every kind has exactly one handler, and all are given here. With `work: false` this process
   * enqueues, reads, cancels and watches jobs and leaves running them, and the turns of schedules, to others; with names
   * of kinds it runs jobs of these.
   */
  start(kinds: readonly JobKind[], options?: { readonly work?: Work }): Promise<void>;
  /** @throws FedwayError `REQUEST_INVALID`, `STORE_FAILED` */
  enqueue(kind: string, payload: unknown, options?: EnqueueOptions): Promise<Job>;
  get(id: string): Promise<Job | undefined>;
  /** Newest first, without results, which `get` gives. */
  list(options?: {
    readonly kind?: string | undefined;
    readonly state?: JobState | undefined;
    readonly limit?: number | undefined;
  }): Promise<readonly Job[]>;
  /** False when there is no such job or it is finished. */
  cancel(id: string): Promise<boolean>;
  /**
   * Calls back after every change of a job until the returned function is called; at most a few times a second, so that
   * changes in between may be skipped but never the last one. The first call may tell a state that was there before.
   */
  watch(id: string, listener: (job: Job) => void): () => void;
  /**
   * The first turn is at once. A schedule given again keeps its next turn; with another period, that comes within the
   * new one. Missed turns are made up for by one; a turn that comes while the job of the one before is open is left out.
   */
  schedule(schedule: JobSchedule): Promise<void>;
  unschedule(name: string): Promise<void>;
  /** Stops taking jobs; running ones get `graceMs` to end, then run again elsewhere or at the next start. */
  close(graceMs?: number): Promise<void>;
}
