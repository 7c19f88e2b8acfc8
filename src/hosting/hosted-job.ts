import { performance } from "node:perf_hooks";
import { FedwayError } from "../errors/fedway-error.ts";
import type { HostedAnswer, HostedQuery } from "./hosted-endpoint.ts";

/** A query between its arrival and its answer. Settles exactly once; later outcomes are dropped. */
export interface HostedJob {
  readonly request: HostedQuery;
  readonly mediaType: string;
  /** What the caller gets. */
  readonly answer: Promise<HostedAnswer>;
  readonly settled: boolean;
  /** Resolves when the job is settled, however. */
  readonly done: Promise<void>;
  /** The job has got the worker: from now on the endpoint's own time cap holds as well. */
  begin(): void;
  succeed(answer: HostedAnswer): void;
  fail(error: FedwayError): void;
}

/** Options of `createHostedJob`. */
export interface HostedJobOptions {
  readonly endpointId: string;
  readonly request: HostedQuery;
  readonly mediaType: string;
  /** The endpoint's cap of one query's running time. */
  readonly runLimitMs: number;
}

/** Starts the clock of a query: the caller's time runs from now on, in the queue too, and the caller may give up. */
export function createHostedJob(options: HostedJobOptions): HostedJob {
  const { request, endpointId, runLimitMs } = options;
  const { promise, resolve, reject } = Promise.withResolvers<HostedAnswer>();
  const done = Promise.withResolvers<undefined>();
  const arrivedMs = performance.now();
  let settled = false;
  let running = false;

  const settle = (deliver: () => void): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    request.signal.removeEventListener("abort", abandon);
    deliver();
    done.resolve(undefined);
  };
  const fail = (error: FedwayError): void => settle(() => reject(error));
  const abandon = (): void => fail(cancelled(request.signal.reason, endpointId));
  const expire = (limitMs: number): void => fail(timeout(endpointId, limitMs, running));
  let timer = setTimeout(() => expire(request.timeoutMs), request.timeoutMs);
  request.signal.addEventListener("abort", abandon, { once: true });
  if (request.signal.aborted) abandon();

  return {
    request,
    mediaType: options.mediaType,
    answer: promise,
    done: done.promise,
    get settled() {
      return settled;
    },
    begin() {
      if (settled) return;
      running = true;
      const restMs = arrivedMs + request.timeoutMs - performance.now();
      const limitMs = Math.min(restMs, runLimitMs);
      clearTimeout(timer);
      timer = setTimeout(() => expire(restMs < runLimitMs ? request.timeoutMs : runLimitMs), Math.max(limitMs, 0));
    },
    succeed: (answer) => settle(() => resolve(answer)),
    fail,
  };
}

function cancelled(reason: unknown, endpoint: string): FedwayError {
  if (reason instanceof FedwayError) return reason;
  return new FedwayError("CANCELLED", "The query was cancelled.", { where: { endpoint }, cause: reason });
}

function timeout(endpoint: string, limitMs: number, running: boolean): FedwayError {
  const message = running
    ? `The hosted endpoint ${endpoint} ended the query after ${Math.round(limitMs)} ms.`
    : `The hosted endpoint ${endpoint} was busy with other queries for ${Math.round(limitMs)} ms.`;
  return new FedwayError("ENDPOINT_TIMEOUT", message, {
    where: { endpoint },
    fault: "timeout",
    ...(running && { next: "Make the query more selective, or add a LIMIT." }),
  });
}
