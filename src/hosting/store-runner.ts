import { setTimeout as sleep } from "node:timers/promises";
import { toFedwayError, FedwayError } from "../errors/fedway-error.ts";
import type { HostedJob } from "./hosted-endpoint.ts";
import { lostWorker, refusedQuery, tooLarge } from "./store-errors.ts";
import {
  type StoreWorker,
  WorkerLost,
  workerScript,
  type StoreWorkerOptions,
  startStoreWorker,
  type HostedSource,
  type StoreReply,
} from "./store-worker.ts";
import { performance } from "node:perf_hooks";

/** Runs the jobs of one endpoint, one at a time. */
export interface StoreRunner {
  /** What the worker's store holds while it is idle; 0 when there is no worker. */
  readonly memoryBytes: number;
  /** Loads the data where that is not done, then runs a job. Never fails: every outcome is the job's. */
  run(job: HostedJob): Promise<void>;
  /** Ends the worker; the next job starts another one. */
  release(): Promise<void>;
  /** Ends the worker for good. */
  close(): Promise<void>;
}

/** Options of `createStoreRunner`. */
export interface StoreRunnerOptions {
  readonly id: string;
  readonly source: HostedSource;
  /** Memory of the store: data, intermediate results and the answer under construction. */
  readonly memoryMb: number;
  readonly maxAnswerBytes: number;
  /** How the worker is run; the defaults suit everything but tests. */
  readonly worker?: Partial<WorkerSettings> | undefined;
}

/** How a worker is run. */
export interface WorkerSettings {
  readonly script: URL;
  /** A query that was given up may run on for this long before its worker is ended. */
  readonly graceMs: number;
  readonly startTimeoutMs: number;
  readonly restart: RestartPolicy;
}

const defaults = {
  graceMs: 100,
  startTimeoutMs: 60_000,
  restart: { attempts: 5, delayMs: 100, cooldownMs: 30_000 },
};

/** Memory that a worker may keep of what its queries needed, beside as much again as its data. */
const keptBytes = 67_108_864;

/**
 * Runs jobs on an Oxigraph store in a worker thread. A query that is over its time or its memory, is cancelled or crashes
 * the store costs that worker; so does one that leaves it much larger, since the memory of WebAssembly never shrinks.
 */
export function createStoreRunner(options: StoreRunnerOptions): StoreRunner {
  const settings: WorkerSettings = { script: workerScript(), ...defaults, ...options.worker };
  const supervisor = createWorkerSupervisor({
    id: options.id,
    script: settings.script,
    startTimeoutMs: settings.startTimeoutMs,
    restart: settings.restart,
    boot: {
      source: options.source,
      memoryBytes: options.memoryMb * 1_048_576,
      maxAnswerBytes: options.maxAnswerBytes,
    },
  });
  return {
    get memoryBytes() {
      return supervisor.memoryBytes;
    },
    async run(job) {
      const worker = await workerFor(job, supervisor);
      if (worker === undefined || job.settled) return;
      const loadedBytes = worker.memoryBytes;
      const alive = await ask(worker, job, { ...options, graceMs: settings.graceMs });
      if (!alive || worker.memoryBytes > loadedBytes * 2 + keptBytes) await supervisor.release();
    },
    release: () => supervisor.release(),
    close: () => supervisor.close(),
  };
}

/** Undefined when the data cannot be loaded, which the job is told. */
async function workerFor(job: HostedJob, supervisor: WorkerSupervisor): Promise<StoreWorker | undefined> {
  try {
    return await supervisor.worker();
  } catch (failure) {
    job.fail(toFedwayError(failure));
    return undefined;
  }
}

type AskOptions = StoreRunnerOptions & Pick<WorkerSettings, "graceMs">;

let lastQueryId = 0;

/** False when the worker cannot take another query. */
async function ask(worker: StoreWorker, job: HostedJob, options: AskOptions): Promise<boolean> {
  const { query, defaultGraphs = [], namedGraphs = [] } = job.request;
  lastQueryId += 1;
  job.begin();
  const reply = worker.ask({ id: lastQueryId, query, mediaType: job.mediaType, defaultGraphs, namedGraphs });
  const delivered = reply.then(
    (message) => deliver(message, job, options),
    (lost: unknown) => loseWorker(lost, job, options),
  );
  await Promise.race([delivered, job.done]);
  return withinGrace(delivered, options.graceMs);
}

/** Whether the worker can take the next query: it has replied, or does so within the grace. */
async function withinGrace(delivered: Promise<boolean>, graceMs: number): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([delivered, sleep(graceMs, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

function deliver(message: StoreReply, job: HostedJob, { id, maxAnswerBytes }: AskOptions): boolean {
  if (message.kind === "answer") {
    const { buffer, byteOffset, byteLength } = message.body;
    job.succeed({ mediaType: job.mediaType, body: Buffer.from(buffer, byteOffset, byteLength) });
  } else if (message.kind === "too-large") {
    job.fail(tooLarge(message.bytes, maxAnswerBytes, id));
  } else {
    job.fail(refusedQuery(message.message, { endpoint: id, query: job.request.query }));
  }
  return true;
}

function loseWorker(lost: unknown, job: HostedJob, { id, memoryMb }: AskOptions): boolean {
  job.fail(lost instanceof WorkerLost ? lostWorker(lost, id, memoryMb) : toFedwayError(lost));
  return false;
}

/** How often and how fast a worker is started again. */
interface RestartPolicy {
  /** Attempts before the endpoint counts as down. */
  readonly attempts: number;
  /** Pause before the second attempt; it doubles with every further one. */
  readonly delayMs: number;
  /** How long the endpoint stays down before the next query may cause new attempts. */
  readonly cooldownMs: number;
}

/** Keeps at most one loaded worker. */
interface WorkerSupervisor {
  /** What the worker's store holds; 0 when there is no worker. */
  readonly memoryBytes: number;
  /** The loaded worker, which is started when there is none. @throws FedwayError `ENDPOINT_FAILED` while it is down */
  worker(): Promise<StoreWorker>;
  /** Ends the worker. */
  release(): Promise<void>;
  close(): Promise<void>;
}

/** Options of `createWorkerSupervisor`. */
interface SupervisorOptions extends StoreWorkerOptions {
  readonly id: string;
  readonly restart: RestartPolicy;
}

/** Starts and ends the workers of one hosted endpoint, one after the other: `worker` is not asked again meanwhile. */
function createWorkerSupervisor(options: SupervisorOptions): WorkerSupervisor {
  const closing = new AbortController();
  let current: StoreWorker | undefined;
  let starting: Promise<unknown> = Promise.resolve();
  let downUntilMs = 0;

  const start = async (): Promise<StoreWorker> => {
    try {
      return await startWithRetries(options, closing.signal);
    } catch (cause) {
      downUntilMs = performance.now() + options.restart.cooldownMs;
      throw downError(options, options.restart.cooldownMs, cause);
    }
  };
  const release = async (): Promise<void> => {
    const last = current;
    await last?.terminate();
    // Only now: until then its memory is there.
    if (current === last) current = undefined;
  };
  return {
    get memoryBytes() {
      return current?.alive === true ? current.memoryBytes : 0;
    },
    async worker() {
      if (closing.signal.aborted) throw closedError(options.id);
      if (current?.alive === true) return current;
      const restMs = downUntilMs - performance.now();
      if (restMs > 0) throw downError(options, restMs, undefined);
      const started = start();
      starting = started.catch(() => undefined);
      current = await started;
      return current;
    },
    release,
    async close() {
      closing.abort();
      await starting;
      await release();
    },
  };
}

/** The error of every query at an endpoint that is closed. */
export function closedError(id: string): FedwayError {
  return new FedwayError("ENDPOINT_FAILED", `The hosted endpoint ${id} is shutting down.`, { where: { endpoint: id } });
}

async function startWithRetries(options: SupervisorOptions, closing: AbortSignal): Promise<StoreWorker> {
  const { attempts, delayMs } = options.restart;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const worker = await startStoreWorker({ ...options, signal: closing });
      if (!closing.aborted) return worker;
      await worker.terminate();
      throw closedError(options.id);
    } catch (failure) {
      if (attempt >= attempts || closing.aborted) throw failure;
      await sleep(delayMs * 2 ** (attempt - 1), undefined, { signal: closing });
    }
  }
}

function downError({ id, restart }: SupervisorOptions, retryAfterMs: number, cause: unknown): FedwayError {
  return new FedwayError(
    "ENDPOINT_FAILED",
    `The hosted endpoint ${id} could not be started in ${restart.attempts} attempts.`,
    { where: { endpoint: id }, retryAfterMs: Math.ceil(retryAfterMs), ...(cause !== undefined && { cause }) },
  );
}
