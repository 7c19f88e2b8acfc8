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

/** Keeps one loaded worker at hand. */
export interface WorkerSupervisor {
  /** The loaded worker, waiting for a start that is under way. @throws FedwayError `ENDPOINT_FAILED` while it is down */
  worker(): Promise<StoreWorker>;
  /** Ends this worker and starts the next one in the background. */
  replace(worker: StoreWorker): Promise<void>;
  close(): Promise<void>;
}

/** Options of `createWorkerSupervisor`. */
export interface SupervisorOptions extends StoreWorkerOptions {
  readonly id: string;
  readonly restart: RestartPolicy;
}

/** Starts, replaces and ends the workers of one hosted endpoint; there is at most one loaded worker at a time. */
export function createWorkerSupervisor(options: SupervisorOptions): WorkerSupervisor {
  const closing = new AbortController();
  let current: Promise<StoreWorker> | undefined;
  let downUntilMs = 0;

  const start = async (): Promise<StoreWorker> => {
    try {
      return await startWithRetries(options, closing.signal);
    } catch (cause) {
      current = undefined;
      downUntilMs = performance.now() + options.restart.cooldownMs;
      throw downError(options, options.restart.cooldownMs, cause);
    }
  };
  const worker = async (): Promise<StoreWorker> => {
    if (closing.signal.aborted) throw closedError(options.id);
    const restMs = downUntilMs - performance.now();
    if (current === undefined && restMs > 0) throw downError(options, restMs, undefined);
    current ??= start();
    const loaded = await current;
    if (loaded.alive) return loaded;
    // It crashed while it was idle: nobody has replaced it yet.
    current = undefined;
    return worker();
  };
  return {
    worker,
    async replace(lost) {
      current = undefined;
      await lost.terminate();
      // Whoever asks next sees a failure again; nobody waits for this one.
      if (!closing.signal.aborted) worker().catch(() => undefined);
    },
    async close() {
      closing.abort();
      const last = await current?.catch(() => undefined);
      current = undefined;
      await last?.terminate();
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
