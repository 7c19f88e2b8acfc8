import { setTimeout as sleep } from "node:timers/promises";
import { toFedwayError } from "../errors/fedway-error.ts";
import type { HostedJob } from "./hosted-job.ts";
import { lostWorker, refusedQuery, tooLarge } from "./store-errors.ts";
import { type StoreWorker, WorkerLost, workerScript } from "./store-worker.ts";
import type { HostedSource, StoreReply } from "./worker-protocol.ts";
import { createWorkerSupervisor, type RestartPolicy, type WorkerSupervisor } from "./worker-supervisor.ts";

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
