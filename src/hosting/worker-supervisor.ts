import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { FedwayError } from "../errors/fedway-error.ts";
import { type StoreWorker, type StoreWorkerOptions, startStoreWorker } from "./store-worker.ts";

/** How often and how fast a worker is started again. */
export interface RestartPolicy {
  /** Attempts before the endpoint counts as down. */
  readonly attempts: number;
  /** Pause before the second attempt; it doubles with every further one. */
  readonly delayMs: number;
  /** How long the endpoint stays down before the next query may cause new attempts. */
  readonly cooldownMs: number;
}

/** Keeps at most one loaded worker. */
export interface WorkerSupervisor {
  /** What the worker's store holds; 0 when there is no worker. */
  readonly memoryBytes: number;
  /** The loaded worker, which is started when there is none. @throws FedwayError `ENDPOINT_FAILED` while it is down */
  worker(): Promise<StoreWorker>;
  /** Ends the worker. */
  release(): Promise<void>;
  close(): Promise<void>;
}

/** Options of `createWorkerSupervisor`. */
export interface SupervisorOptions extends StoreWorkerOptions {
  readonly id: string;
  readonly restart: RestartPolicy;
}

/** Starts and ends the workers of one hosted endpoint, one after the other: `worker` is not asked again meanwhile. */
export function createWorkerSupervisor(options: SupervisorOptions): WorkerSupervisor {
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
