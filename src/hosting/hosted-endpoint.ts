import type { Readable } from "node:stream";
import type { AnswerKind } from "../results/model.ts";
import { performance } from "node:perf_hooks";
import { FedwayError } from "../errors/fedway-error.ts";

/** A query for a hosted endpoint. */
export interface HostedQuery {
  readonly query: string;
  readonly kind: AnswerKind;
  /** Accept header. */
  readonly accept: string;
  readonly defaultGraphs?: readonly string[];
  readonly namedGraphs?: readonly string[];
  /** Whose query it is; clients take turns. Absent: the service's own. */
  readonly client?: string | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A whole answer, serialised in the worker. */
export interface HostedAnswer {
  readonly mediaType: string;
  readonly body: Buffer;
  /**
   * The same bytes for who sends them on, absent when they are few: whoever has the answer reads or destroys it. It fails
   * when too much waits to be read.
   */
  readonly stream?: Readable;
}

/** An Oxigraph store in a worker thread. A query never blocks the event loop; one that exceeds its time ends the worker. */
export interface HostedEndpoint {
  readonly id: string;
  /** @throws FedwayError `QUERY_SYNTAX`, `ENDPOINT_TIMEOUT`, `ENDPOINT_FAILED`, `ENDPOINT_BUSY`, `ANSWER_TOO_LARGE`, `CANCELLED`, `UPDATE_REFUSED` */
  query(request: HostedQuery): Promise<HostedAnswer>;
  close(): Promise<void>;
}

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
interface HostedJobOptions {
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
