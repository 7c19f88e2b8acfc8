import { type Clock, longestTimerMs, type Timer } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { RetryOptions } from "./conversation.ts";
import type { Credentials, Signer } from "./credentials.ts";
import { type Permission, type EndpointState, healthSign, metricName } from "./endpoint-states.ts";
import type { LocalDispatch } from "./local-answer.ts";
import type { Network, Route } from "./network.ts";
import type { ExchangeReport, OutboundObserver, RequestEnd, RequestOutcome } from "./observer.ts";
import { reviewRowCap } from "./partial-answers.ts";
import type { Scheduler, Waiter } from "./scheduler.ts";
import type {
  AnswerEnd,
  EndpointTarget,
  LearnedFacts,
  RequestMethod,
  SparqlAnswer,
  SparqlRequest,
} from "./sparql-request.ts";

/** For whom something is fetched, and until when. */
interface TaskOptions {
  readonly signal: AbortSignal;
  /** Moment on the network's clock, milliseconds. */
  readonly deadlineMs: number;
  /** Name of the endpoint in metrics; default "unlisted". */
  readonly endpoint?: string | undefined;
  /** Name of the endpoint in messages, where the task is a query. */
  readonly queried?: string | undefined;
  /** Trace context of the requests, passed to the observer unchanged. */
  readonly trace?: unknown;
  /** Notified of each HTTP request. */
  readonly observer?: OutboundObserver | undefined;
}

/**
 * Something that goes out, from its beginning to the last byte of its answer: its deadline, its cancellation, its turns
 * at hosts and the account of its HTTP requests. Queries (`QueryTask`), documents and messages to webhooks are tasks.
 */
export class Task {
  readonly network: Network;
  readonly deadlineMs: number;
  readonly startedMs: number;
  /** The host whose rate the next request counts for; undefined when it has none. */
  host: string | undefined;
  /** The route of the next request. */
  route: Route;
  /** Work to abort when the task is interrupted in its present phase: an exchange, or a wait. */
  underWay: { abort(error: FedwayError): void } | undefined;
  /** The network, the signal or the deadline has ended the task. */
  interrupted: FedwayError | undefined;
  /** HTTP requests sent. */
  requests = 0;
  /** Body bytes received, content-encoded. */
  wireBytes = 0;
  /** A request is sent and its response head has not arrived since this moment. */
  waitingSinceMs: number | undefined;
  readonly #options: TaskOptions;
  readonly #timer: Timer;
  #ended = false;
  /** HTTP status of the latest response. */
  #status: number | undefined;
  #requestOver: ((end: RequestEnd) => void) | undefined;
  #bytesBefore = 0;

  constructor(options: TaskOptions, network: Network) {
    this.#options = options;
    this.network = network;
    this.route = network;
    this.deadlineMs = options.deadlineMs;
    const { clock } = network;
    this.startedMs = clock.now();
    const leftMs = Math.max(0, Math.ceil(this.deadlineMs - this.startedMs));
    this.#timer = clock.setTimeout(() => this.#expire(), Math.min(longestTimerMs, leftMs));
    network.tasks.add(this);
    options.signal.addEventListener("abort", this);
    if (options.signal.aborted) this.handleEvent();
    else if (leftMs === 0) this.#expire();
  }

  get clock(): Clock {
    return this.network.clock;
  }

  get leftMs(): number {
    return this.deadlineMs - this.clock.now();
  }

  /** Body bytes of the latest request, content-encoded. */
  get requestBytes(): number {
    return this.wireBytes - this.#bytesBefore;
  }

  /** @throws FedwayError why the task was interrupted */
  check(): void {
    if (this.interrupted !== undefined) throw this.interrupted;
  }

  /** The signal fired. */
  handleEvent(): void {
    const cause: unknown = this.#options.signal.reason;
    this.interrupt(
      cause instanceof FedwayError ? cause : new FedwayError("CANCELLED", "The request was cancelled.", { cause }),
    );
  }

  /** Ends the task in whatever phase it is. */
  interrupt(error: FedwayError): void {
    if (this.#ended || this.interrupted !== undefined) return;
    this.interrupted = error;
    this.underWay?.abort(error);
  }

  /**
   * A promise that also rejects when the task is interrupted.
   * @param start begins the wait; the returned function ends it when the task is interrupted first
   */
  wait<T>(
    start: (resolve: (value: T) => void, reject: (error: FedwayError) => void) => (error: FedwayError) => void,
  ): Promise<T> {
    this.check();
    return new Promise((resolve, reject) => {
      const stop = start(resolve, reject);
      this.underWay = {
        abort(error) {
          stop(error);
          reject(error);
        },
      };
    });
  }

  pause(ms: number): Promise<void> {
    const { clock } = this;
    this.waitingSinceMs = undefined;
    return this.wait((resolve) => {
      const timer = clock.setTimeout(resolve, ms);
      return () => clock.clearTimeout(timer);
    });
  }

  /** Counts a request that is sent now. */
  sent(): void {
    this.requests += 1;
    this.waitingSinceMs = this.clock.now();
    this.#status = undefined;
    this.#bytesBefore = this.wireBytes;
    const { observer, endpoint = "unlisted", trace } = this.#options;
    this.#requestOver = observer?.onRequest?.({ endpoint, attempt: this.requests, trace });
  }

  /** The response head has arrived. */
  headed(status: number): void {
    this.#status = status;
    this.waitingSinceMs = undefined;
  }

  /** The request under way has ended; only the first end counts. */
  over(outcome: RequestOutcome): void {
    this.#requestOver?.({ outcome, status: this.#status, wireBytes: this.requestBytes });
    this.#requestOver = undefined;
  }

  /** The task is over; timer and listener go. False when it was so before. */
  end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    this.underWay = undefined;
    this.clock.clearTimeout(this.#timer);
    this.network.tasks.delete(this);
    this.#options.signal.removeEventListener("abort", this);
    return true;
  }

  #expire(): void {
    const { queried } = this.#options;
    this.interrupt(queried === undefined ? answerTooLate() : queryTooLate(queried));
  }
}

const answerTooLate = (): FedwayError =>
  new FedwayError("DEADLINE_EXCEEDED", "The answer did not arrive before its deadline.", { fault: "timeout" });

const queryTooLate = (endpoint: string): FedwayError =>
  new FedwayError("DEADLINE_EXCEEDED", "The endpoint did not finish its answer before the query's deadline.", {
    fault: "timeout",
    where: { endpoint },
    next: "Allow more time, or ask for less: add LIMIT or name more terms.",
  });

/** Parts shared by all queries of one client. */
export interface ClientContext {
  readonly network: Network;
  readonly observer: OutboundObserver | undefined;
  readonly local: LocalDispatch | undefined;
  readonly credentials?: Credentials | undefined;
  readonly maxAnswerBytes: number;
  readonly retry: RetryOptions;
  readonly onLearned?: ((endpoint: EndpointTarget, learned: LearnedFacts) => void) | undefined;
  /** Sends a further query. */
  readonly query: (request: SparqlRequest) => Promise<SparqlAnswer>;
  /** A query's own deadline that passes before the response head counts as a fault after this long. */
  readonly slowMs: number;
  /** Jitter of back-offs, in [0, 1). */
  readonly random: () => number;
}

/**
 * One query from its beginning to the last byte of its answer: a task that takes a slot at its endpoint and the
 * breaker's permission, and reports its outcome to both.
 */
export class QueryTask extends Task {
  readonly request: SparqlRequest;
  readonly state: EndpointState;
  readonly context: ClientContext;
  /** Method of the next request. */
  method: RequestMethod = "post-form";
  /** Accept header of the next request. */
  accept = "";
  /** Absent: the endpoint has no credentials. */
  signer: Signer | undefined;
  #permission: Permission | undefined;
  #holdsSlot = false;

  constructor(request: SparqlRequest, state: EndpointState, context: ClientContext) {
    const { endpoint, signal, deadlineMs, trace } = request;
    const { network, observer } = context;
    const queried = endpoint.id ?? endpoint.url;
    super({ signal, deadlineMs, trace, queried, endpoint: metricName(endpoint), observer }, network);
    this.request = request;
    this.state = state;
    this.context = context;
  }

  /** Decoded bytes that the answer may have. */
  get maxBytes(): number {
    return Math.min(this.context.maxAnswerBytes, this.request.maxBytes ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Waits for a slot at the endpoint; undefined when there is one at once. `admit` comes next.
   * @throws FedwayError `ENDPOINT_BUSY`, `CIRCUIT_OPEN`, `ENDPOINT_RATE_LIMITED`
   */
  enter(): Promise<void> | undefined {
    this.check();
    const { scheduler, breaker } = this.state;
    const { pastBreaker, partOf } = this.request;
    if (pastBreaker !== true && breaker.waitMs(partOf) > 0) throw breaker.refusal();
    const heldMs = scheduler.heldMs();
    if (heldMs > this.leftMs) throw heldBack(heldMs);
    return takeSlot(this, scheduler, this.host);
  }

  /** Takes the breaker's permission, now that the slot is there. @throws FedwayError `CIRCUIT_OPEN` */
  admit(): void {
    this.#holdsSlot = true;
    this.check();
    const { breaker } = this.state;
    const { pastBreaker, partOf } = this.request;
    this.#permission = pastBreaker === true ? breaker.pass() : breaker.enter(partOf);
    if (this.#permission === undefined) throw breaker.refusal();
  }

  /** The same error with the endpoint's name; interruptions stay the very value they are. */
  located(given: FedwayError): FedwayError {
    if (given === this.interrupted || given.code === "CANCELLED") return given;
    const error = this.signer?.errorWithoutSecrets(given) ?? given;
    if (error.details.where?.endpoint !== undefined) return error;
    const { endpoint } = this.request;
    const where = { ...error.details.where, endpoint: endpoint.id ?? endpoint.url };
    return new FedwayError(error.code, error.message, { ...error.details, where });
  }

  /** Settles the accounts; later calls do nothing. */
  finish(outcome: AnswerEnd | FedwayError): void {
    if (!this.end()) return;
    const { observer, slowMs } = this.context;
    const { scheduler, breaker } = this.state;
    const now = this.clock.now();
    if (this.#permission !== undefined) {
      const waitedMs = this.waitingSinceMs === undefined ? 0 : now - this.waitingSinceMs;
      const error = outcome instanceof FedwayError ? outcome : undefined;
      breaker.leave(this.#permission, healthSign(outcome, waitedMs >= slowMs), { run: this.request.partOf, error });
    }
    if (this.#holdsSlot) scheduler.release();
    if (this.state.rowCap !== undefined) reviewRowCap(this, outcome);
    const status = outcome instanceof FedwayError ? outcome.details.upstreamStatus : undefined;
    const name = outcomeName(outcome, outcome === this.interrupted);
    this.over(name);
    observer?.onExchange?.({
      endpoint: metricName(this.request.endpoint),
      outcome: name,
      status,
      ms: now - this.startedMs,
      wireBytes: this.wireBytes,
      requests: this.requests,
      probe: this.request.pastBreaker === true || undefined,
    });
  }
}

/**
 * Waits for a slot at an endpoint; undefined when there is one at once.
 * @param host where a turn is taken next
 * @throws FedwayError `ENDPOINT_BUSY`; `ENDPOINT_RATE_LIMITED` when the endpoint objects meanwhile
 */
export function takeSlot(task: Task, scheduler: Scheduler, host?: string): Promise<void> | undefined {
  let settle: { resolve(): void; reject(error: FedwayError): void } | undefined;
  const waiter: Waiter = {
    deadlineMs: task.deadlineMs,
    granted: () => settle?.resolve(),
    heldBack: (ms) => settle?.reject(heldBack(ms)),
  };
  const taken = scheduler.take(waiter);
  if (taken === "now") return undefined;
  if (taken === "full") throw endpointBusy();
  // Those that are queued here will all want a turn at the host before this one.
  const { hostRates } = task.network;
  const hostMs = host === undefined ? 0 : (hostRates?.waitMs(host, scheduler.waiting() - 1) ?? 0);
  if (hostMs >= task.leftMs) {
    scheduler.drop(waiter);
    throw hostBusy(hostMs);
  }
  return task.wait((resolve: (value: void) => void, reject) => {
    settle = { resolve, reject };
    return () => void scheduler.drop(waiter);
  });
}

/** Takes a turn at the host of a task's next request; undefined when there is one at once. @throws FedwayError `ENDPOINT_BUSY` */
export function hostTurn(task: Task): Promise<void> | undefined {
  task.check();
  task.waitingSinceMs = undefined;
  const { host, deadlineMs, network } = task;
  const { hostRates } = network;
  if (host === undefined || hostRates === undefined) return undefined;
  let settle: (() => void) | undefined;
  const waiter = { deadlineMs, granted: (): void => settle?.() };
  const taken = hostRates.take(host, waiter);
  if (taken === "now") return undefined;
  if (taken === "refused") throw hostBusy(hostRates.waitMs(host, 0));
  return task.wait((resolve) => {
    settle = resolve;
    return () => hostRates.drop(host, waiter);
  });
}

/**
 * Waits for the turn of a query's next request.
 * @throws FedwayError `ENDPOINT_BUSY`, or `ENDPOINT_RATE_LIMITED` when the endpoint has objected meanwhile
 */
export async function awaitTurn(task: QueryTask): Promise<void> {
  for (;;) {
    const queued = hostTurn(task);
    if (queued === undefined) return;
    await queued;
    const heldMs = task.state.scheduler.heldMs();
    if (heldMs === 0) return;
    if (heldMs >= task.leftMs) throw heldBack(heldMs);
    await task.pause(heldMs);
  }
}

/** A turn at the host would come after the deadline. */
function hostBusy(waitMs: number): FedwayError {
  const message = "Too many requests are waiting for the endpoint's host, which has a limit of requests a second.";
  return new FedwayError("ENDPOINT_BUSY", message, {
    fault: "busy",
    retryAfterMs: Math.max(1, Math.ceil(waitMs)),
    next: "Try again later, allow more time, or send fewer queries; the operator can change FEDWAY_HOST_RATE.",
  });
}

/** The endpoint's Retry-After lasts longer than the query may. */
function heldBack(retryAfterMs: number): FedwayError {
  return new FedwayError("ENDPOINT_RATE_LIMITED", "The endpoint has asked to be left alone for a while.", {
    fault: "http-429",
    retryAfterMs,
    next: "Wait before sending another query to this endpoint.",
  });
}

/** The endpoint's queue is full. */
function endpointBusy(): FedwayError {
  return new FedwayError("ENDPOINT_BUSY", "Too many queries are already waiting for the endpoint.", {
    fault: "busy",
    next: "Try again in a moment, or send fewer queries at once.",
  });
}

/** How a query ended, as a metric label. @param interrupted by its signal or its deadline */
export function outcomeName(outcome: AnswerEnd | FedwayError, interrupted: boolean): ExchangeReport["outcome"] {
  if (!(outcome instanceof FedwayError)) return outcome.partial === undefined ? "ok" : "partial";
  if (outcome.code === "DEADLINE_EXCEEDED" || outcome.code === "ENDPOINT_TIMEOUT") return "timeout";
  if (interrupted || outcome.code === "CANCELLED") return "cancelled";
  // Endpoints inside this process fail without a fault kind of the network.
  return outcome.details.fault ?? "http-5xx";
}

/** How a request ended whose response has this status and is no answer. */
export function refusalOutcome(status: number): RequestOutcome {
  if (status < 300) return "wrong-media-type";
  if (status < 400) return "http-3xx";
  if (status === 429) return "http-429";
  return status < 500 ? "http-4xx" : "http-5xx";
}
