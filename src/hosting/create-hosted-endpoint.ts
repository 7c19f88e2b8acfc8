import { setTimeout as sleep } from "node:timers/promises";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { answerMediaType } from "./answer-media-type.ts";
import type { HostedAnswer, HostedEndpoint, HostedQuery } from "./hosted-endpoint.ts";
import { createHostedJob, type HostedJob } from "./hosted-job.ts";
import { lostWorker, refusedQuery, tooLarge } from "./store-errors.ts";
import { type StoreReply, type StoreWorker, WorkerLost, workerScript } from "./store-worker.ts";
import type { HostedSource } from "./worker-protocol.ts";
import { closedError, createWorkerSupervisor, type RestartPolicy, type WorkerSupervisor } from "./worker-supervisor.ts";

/** Caps of one hosted endpoint. */
export interface HostedLimits {
  /** Running time of one query; waiting in the queue does not count. */
  readonly timeoutMs: number;
  /** Memory of the store, intermediate results and the answer under construction included. */
  readonly memoryMb: number;
  readonly maxAnswerBytes: number;
  /** Queries that may wait while one is running. */
  readonly maxQueue: number;
}

/** Options of `createHostedEndpoint`. */
export interface HostedEndpointOptions {
  readonly id: string;
  readonly source: HostedSource;
  readonly limits: HostedLimits;
  /** How the worker is run; the defaults suit everything but tests. */
  readonly worker?: Partial<WorkerSettings>;
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

/**
 * Hosts RDF data behind a SPARQL query endpoint: an Oxigraph store in a worker thread that works on one query at a
 * time. A query that is over its time or its memory, is cancelled or crashes the store costs that worker; a new one
 * loads the source again and goes on with the queries that were waiting.
 * @throws FedwayError `ENDPOINT_FAILED` when the data cannot be loaded
 */
export async function createHostedEndpoint(options: HostedEndpointOptions): Promise<HostedEndpoint> {
  const { id, limits } = options;
  const settings: WorkerSettings = { script: workerScript(), ...defaults, ...options.worker };
  const supervisor = createWorkerSupervisor({
    id,
    script: settings.script,
    startTimeoutMs: settings.startTimeoutMs,
    restart: settings.restart,
    boot: {
      source: options.source,
      memoryBytes: limits.memoryMb * 1_048_576,
      maxAnswerBytes: limits.maxAnswerBytes,
    },
  });
  const queue = createJobQueue({ id, limits, supervisor, graceMs: settings.graceMs });
  const { triples } = await supervisor.worker();
  return {
    id,
    triples,
    query: (request) => queue.query(request),
    async close() {
      queue.close();
      await supervisor.close();
    },
  };
}

interface JobQueueOptions {
  readonly id: string;
  readonly limits: HostedLimits;
  readonly supervisor: WorkerSupervisor;
  readonly graceMs: number;
}

/** Serves queries one after the other; a full queue refuses, it never grows. */
function createJobQueue(options: JobQueueOptions) {
  const { id, limits } = options;
  const jobs = new Set<HostedJob>();
  let closed = false;
  let serving = false;

  const serve = async (): Promise<void> => {
    if (serving) return;
    serving = true;
    // A Set's iteration also visits what is added while it goes on.
    for (const job of jobs) await runJob(job, options);
    serving = false;
  };
  return {
    async query(request: HostedQuery): Promise<HostedAnswer> {
      if (closed) throw closedError(id);
      const mediaType = answerMediaType(request.kind, request.accept);
      if (jobs.size > limits.maxQueue) throw busyError(id, limits.maxQueue);
      const job = createHostedJob({ endpointId: id, request, mediaType, runLimitMs: limits.timeoutMs });
      if (!job.settled) {
        jobs.add(job);
        void job.done.then(() => jobs.delete(job));
        void serve();
      }
      return job.answer;
    },
    close(): void {
      closed = true;
      for (const job of jobs) job.fail(closedError(id));
    },
  };
}

let lastQueryId = 0;

/** Runs one job to its end; never throws, every outcome is the job's. */
async function runJob(job: HostedJob, options: JobQueueOptions): Promise<void> {
  if (job.settled) return;
  const worker = await workerFor(job, options.supervisor);
  if (worker === undefined) return;
  const { query, defaultGraphs = [], namedGraphs = [] } = job.request;
  lastQueryId += 1;
  job.begin();
  const reply = worker.ask({ id: lastQueryId, query, mediaType: job.mediaType, defaultGraphs, namedGraphs });
  const delivered = reply.then(
    (message) => deliver(message, job, options),
    (lost: unknown) => loseWorker(lost, job, options),
  );
  await Promise.race([delivered, job.done]);
  const alive = await withinGrace(delivered, options.graceMs);
  if (!alive) await options.supervisor.replace(worker);
}

/** The loaded worker, or undefined when the job was settled before there was one. */
async function workerFor(job: HostedJob, supervisor: WorkerSupervisor): Promise<StoreWorker | undefined> {
  try {
    const worker = await Promise.race([supervisor.worker(), job.done]);
    return job.settled || worker === undefined ? undefined : worker;
  } catch (failure) {
    job.fail(toFedwayError(failure));
    return undefined;
  }
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

function deliver(message: StoreReply, job: HostedJob, { id, limits }: JobQueueOptions): boolean {
  if (message.kind === "answer") {
    const { buffer, byteOffset, byteLength } = message.body;
    job.succeed({ mediaType: job.mediaType, body: Buffer.from(buffer, byteOffset, byteLength) });
  } else if (message.kind === "too-large") {
    job.fail(tooLarge(message.bytes, limits.maxAnswerBytes, id));
  } else {
    job.fail(refusedQuery(message.message, { endpoint: id, query: job.request.query }));
  }
  return true;
}

function loseWorker(lost: unknown, job: HostedJob, { id, limits }: JobQueueOptions): boolean {
  job.fail(lost instanceof WorkerLost ? lostWorker(lost, id, limits.memoryMb) : toFedwayError(lost));
  return false;
}

function busyError(id: string, maxQueue: number): FedwayError {
  return new FedwayError("ENDPOINT_BUSY", `More than ${maxQueue} queries are waiting for the hosted endpoint ${id}.`, {
    where: { endpoint: id },
    fault: "busy",
  });
}
