import { DelayedError, Job as BullmqJob, UnrecoverableError, Worker } from "bullmq";
import { type FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { reconnecting } from "../../store/redis/redis-connection.ts";
import { boundedProgress, resultText, stopped } from "../bounds.ts";
import { Handover } from "../job-kind.ts";
import type { JobKind, JobProgress } from "../job-queue.ts";
import { type Failure, isEnded, type JobData, publicId, type QueuedJob } from "./bullmq-job.ts";
import type { JobTable } from "./job-table.ts";
import { inTime, isConnectionError, jobsFailed, queuePrefix } from "./redis-link.ts";

/** Runs jobs: one BullMQ worker for each kind, as each has its own limit. */
export type Workers = ReturnType<typeof startWorkers>;

/** How jobs are run; all times in milliseconds. */
interface WorkerOptions {
  readonly url: string;
  readonly prefix: string;
  readonly leaseMs: number;
  readonly stalledMs: number;
  readonly mostInterruptions: number;
  readonly progressMs: number;
  readonly backoffMs: (failures: number) => number;
  readonly table: JobTable;
  /** Adds the job that a job goes on as. */
  readonly handOver: (job: QueuedJob, next: Handover) => Promise<unknown>;
  readonly changed: (id: string) => void;
  readonly fault: (error: unknown) => void;
}

interface Run {
  readonly job: QueuedJob;
  /** The job as it is in Redis now; waits for Redis while that is away. */
  readonly read: () => Promise<QueuedJob | undefined>;
  readonly token: string;
  readonly kind: JobKind;
  readonly controller: AbortController;
  readonly ended: Promise<unknown>;
}

type JobWorker = Worker<JobData, readonly unknown[]>;

/** A failed run, in the form that BullMQ keeps. */
class RunError extends Error {
  readonly retryAfterMs: number;
  constructor({ code, message }: FedwayError, retryAfterMs: number) {
    super(JSON.stringify({ code, message } satisfies Failure));
    this.retryAfterMs = retryAfterMs;
  }
}

const finalError = (failure: Failure): UnrecoverableError => new UnrecoverableError(JSON.stringify(failure));
const cancelled = "The job was cancelled.";
const closeMs = 2_000;

/** Workers that take jobs from now on. */
export function startWorkers(kinds: Iterable<JobKind>, options: WorkerOptions) {
  const runs = new Map<string, Run>();
  let closing = false;
  const isClosing = (): boolean => closing;
  const workers = Array.from(kinds, (kind) =>
    openWorker(kind, options, (worker, job, token) => {
      const controller = new AbortController();
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      const read = (): Promise<QueuedJob | undefined> => BullmqJob.fromId(worker, job.id ?? "");
      const run: Run = { job, read, token, kind, controller, ended };
      const id = publicId(job);
      runs.set(id, run);
      options.changed(id);
      return attend(run, { ...options, isClosing }).finally(() => {
        // A job that goes on as one of another kind may be running already.
        if (runs.get(id) === run) runs.delete(id);
        resolve();
      });
    }),
  );
  const end = (id: string, why = cancelled): void => runs.get(id)?.controller.abort(stopped(why));
  for (const worker of workers) {
    worker.on("lockRenewalFailed", (ids) => {
      for (const id of ids) end(publicId({ id }), "Another worker has taken the job over.");
    });
    for (const event of ["completed", "failed"] as const) {
      worker.on(event, (job: { readonly id?: string } | undefined) => {
        if (job?.id !== undefined) options.changed(publicId({ id: job.id }));
      });
    }
  }
  return {
    /** Ends a run of this process whose job was ended by somebody else. */
    end,
    /** Ends runs whose jobs were ended, or are gone. @throws FedwayError `STORE_FAILED` */
    async check(): Promise<void> {
      for (const id of Array.from(runs.keys())) {
        const now = await options.table.find(id);
        if (now === undefined || isEnded(now)) end(id);
      }
    },
    /** Ends all runs: they get `graceMs`, what has not ended by then is put back. */
    async stop(graceMs: number): Promise<void> {
      closing = true;
      await Promise.all(workers.map((worker) => worker.pause(true)));
      for (const id of runs.keys()) end(id, "The service is shutting down.");
      await inTime(Promise.all(Array.from(runs.values(), ({ ended }) => ended)), graceMs).catch(() => {});
      const stuck = Array.from(runs.values());
      await Promise.all(stuck.map((run) => inTime(putBack(run), closeMs).catch(options.fault)));
      await Promise.all(workers.map((worker) => closeWorker(worker, stuck)));
    },
  };
}

function openWorker(
  kind: JobKind,
  { url, prefix, leaseMs, stalledMs, mostInterruptions, backoffMs, fault }: WorkerOptions,
  run: (worker: JobWorker, job: QueuedJob, token: string) => Promise<readonly unknown[]>,
): JobWorker {
  const worker: JobWorker = new Worker(kind.name, (job: QueuedJob, token = "") => run(worker, job, token), {
    connection: { url, ...reconnecting, maxRetriesPerRequest: null },
    prefix: queuePrefix(prefix),
    concurrency: kind.concurrency ?? 1,
    lockDuration: leaseMs,
    stalledInterval: stalledMs,
    maxStalledCount: mostInterruptions - 1,
    runRetryDelay: 1_000,
    settings: {
      backoffStrategy: (failures, _type, error) =>
        Math.max(backoffMs(failures), error instanceof RunError ? error.retryAfterMs : 0),
    },
  });
  worker.on("error", (error) => {
    // The link reports that Redis is away; ten workers repeating it are noise.
    if (!isConnectionError(error)) fault(jobsFailed(error));
  });
  return worker;
}

/** Ends a worker in a time that does not depend on Redis; one with runs that do not end does not wait for them. */
async function closeWorker(worker: JobWorker, stuck: readonly Run[]): Promise<void> {
  const force = stuck.some(({ kind }) => kind.name === worker.name);
  // A connection that is away ends without saying so.
  await inTime(worker.close(force), closeMs).catch(() => void worker.disconnect().catch(() => {}));
}

/** Gives a job back, for a worker that comes at once. */
const putBack = ({ job, token }: Run): Promise<void> => job.moveToDelayed(Date.now(), token);

type Attending = WorkerOptions & { readonly isClosing: () => boolean };

/** One run of a job. @throws errors that make BullMQ try again, give up, or leave the job where it was put */
async function attend(run: Run, options: Attending): Promise<readonly unknown[]> {
  try {
    return await attempt(run, options);
  } catch (thrown) {
    if (thrown instanceof UnrecoverableError) throw thrown;
    // A handler that was stopped because the queue closes has not failed.
    if (options.isClosing() && run.controller.signal.aborted) {
      await putBack(run);
      throw new DelayedError();
    }
    const error = toFedwayError(thrown);
    const { code, message, details } = error;
    throw error.kind.retryable ? new RunError(error, details.retryAfterMs ?? 0) : finalError({ code, message });
  }
}

async function attempt(run: Run, options: Attending): Promise<readonly unknown[]> {
  const { job, kind, controller } = run;
  refuseEnded(await run.read(), { notRun: true });
  // The turn before this one is not done yet: jobs must not pile up. Or a worker was killed right after it handed over.
  if ((await options.table.isOverlapping(job)) || (await options.table.isHandedOver(job))) return leave(job);
  kind.validate(job.data.payload);
  const progress = startProgress(run, options);
  let result: unknown;
  try {
    const context = { id: publicId(job), attempt: job.attemptsStarted, signal: controller.signal };
    result = await kind.run(job.data.payload, { ...context, progress: (told) => progress.report(told) });
  } catch (thrown) {
    refuseEnded(await run.read(), {});
    throw thrown;
  } finally {
    await progress.end();
  }
  refuseEnded(await run.read(), {});
  if (!(result instanceof Handover)) return storable(result);
  await options.handOver(job, result);
  return leave(job);
}

/** Ends a job so that nothing is left of it. */
function leave(job: QueuedJob): readonly unknown[] {
  job.opts.removeOnComplete = true;
  return [];
}

/** @throws UnrecoverableError for a job that somebody has ended, or that is gone */
function refuseEnded(job: QueuedJob | undefined, more: { readonly notRun?: true }): void {
  if (job === undefined || isEnded(job)) throw finalError({ code: "CANCELLED", message: cancelled, ...more });
}

function storable(result: unknown): readonly unknown[] {
  try {
    return resultText(result) === undefined ? [] : [result];
  } catch (thrown) {
    const { code, message } = toFedwayError(thrown);
    throw finalError({ code, message });
  }
}

/** Reports progress a few times a second at most; the last report is written before the end. */
function startProgress({ job }: Run, { progressMs, changed, fault }: Attending) {
  let timer: NodeJS.Timeout | undefined;
  let latest: JobProgress | undefined;
  let isOpen = true;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const told = latest;
    latest = undefined;
    if (told === undefined) return;
    try {
      await job.updateProgress({ ...told });
      changed(publicId(job));
    } catch (error) {
      if (!isConnectionError(error)) fault(jobsFailed(error));
    }
  };
  return {
    report(progress: JobProgress): void {
      if (!isOpen) return;
      latest = boundedProgress(progress);
      timer ??= setTimeout(() => void flush(), progressMs);
    },
    async end(): Promise<void> {
      isOpen = false;
      await flush();
    },
  };
}
