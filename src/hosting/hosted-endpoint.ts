import type { Readable } from "node:stream";
import { steadyClock } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { AnswerKind } from "../results/model.ts";

/** A query for a store. */
interface StoreRequest {
  readonly query: string;
  readonly defaultGraphs?: readonly string[];
  readonly namedGraphs?: readonly string[];
  /** See `StoreQuery`. */
  readonly composed?: readonly string[] | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A query for a hosted endpoint. */
export interface HostedQuery extends StoreRequest {
  readonly kind: AnswerKind;
  /** Accept header. */
  readonly accept: string;
  /** Owner of the query; clients take turns. Absent: the service's own. */
  readonly client?: string | undefined;
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

/** An Oxigraph store in a thread. A query never blocks the event loop; one that exceeds its time ends the thread. */
export interface HostedEndpoint {
  readonly id: string;
  /** Checksums of its files, where each has one: its data are these or it does not answer. */
  readonly build?: string | undefined;
  /** How old its data may be, in milliseconds since the epoch; absent: they do not change. */
  readonly asOfMs?: (() => number) | undefined;
  /** @throws FedwayError `QUERY_SYNTAX`, `ENDPOINT_TIMEOUT`, `ENDPOINT_FAILED`, `ENDPOINT_BUSY`, `ANSWER_TOO_LARGE`, `CANCELLED`, `UPDATE_REFUSED` */
  query(request: HostedQuery): Promise<HostedAnswer>;
  close(): Promise<void>;
}

/** Options of `HostedJob`. */
interface HostedJobOptions {
  readonly endpointId: string;
  readonly request: StoreRequest;
  readonly mediaType: string;
  /** The endpoint's cap of one query's running time. */
  readonly runLimitMs: number;
}

/**
 * A query between its arrival and its answer: the caller's time runs from the start, in the queue too, and the caller may
 * give up. Settles exactly once; later outcomes are dropped.
 */
export class HostedJob {
  readonly request: StoreRequest;
  readonly mediaType: string;
  readonly #options: HostedJobOptions;
  readonly #answer = Promise.withResolvers<HostedAnswer>();
  readonly #done = Promise.withResolvers<void>();
  readonly #arrivedMs = steadyClock.now();
  readonly #abandon = (): void => this.fail(cancelled(this.request.signal.reason, this.#options.endpointId));
  #timer: NodeJS.Timeout;
  #settled = false;

  constructor(options: HostedJobOptions) {
    const { request } = options;
    this.#options = options;
    this.request = request;
    this.mediaType = options.mediaType;
    const late = (): void => this.fail(timeout(options.endpointId, request.timeoutMs, false));
    this.#timer = setTimeout(late, request.timeoutMs);
    request.signal.addEventListener("abort", this.#abandon, { once: true });
    if (request.signal.aborted) this.#abandon();
  }

  /** The answer for the caller. */
  get answer(): Promise<HostedAnswer> {
    return this.#answer.promise;
  }

  /** Resolves when the job is settled, however. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** The job has got the store: from now on the endpoint's own time cap holds as well. */
  begin(): void {
    if (this.#settled) return;
    const { runLimitMs, endpointId, request } = this.#options;
    const restMs = this.#arrivedMs + request.timeoutMs - steadyClock.now();
    const limitMs = restMs < runLimitMs ? request.timeoutMs : runLimitMs;
    clearTimeout(this.#timer);
    const late = (): void => this.fail(timeout(endpointId, limitMs, true));
    this.#timer = setTimeout(late, Math.max(Math.min(restMs, runLimitMs), 0));
  }

  succeed(answer: HostedAnswer): void {
    if (this.#settle()) this.#answer.resolve(answer);
  }

  fail(error: FedwayError): void {
    if (this.#settle()) this.#answer.reject(error);
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.request.signal.removeEventListener("abort", this.#abandon);
    this.#done.resolve();
    return true;
  }
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
