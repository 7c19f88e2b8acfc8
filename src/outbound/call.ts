import { FedwayError } from "../errors/fedway-error.ts";
import type { Admission } from "./breaker.ts";
import { circuitOpen } from "./circuit-open.ts";
import type { Clock } from "../clock.ts";
import type { Deadlines, Expiring } from "./deadlines.ts";
import { healthSign, outcomeName } from "./health.ts";
import type { HostRates } from "./host-rates.ts";
import { type Lane, metricName } from "./lanes.ts";
import type { BreakerLimits, TransportObserver } from "./options.ts";
import type { RequestEnd, RequestOutcome } from "./request-watch.ts";
import type { Waiter } from "./scheduler.ts";
import type { AnswerEnd, SparqlRequest } from "./sparql-client.ts";
import { endpointBusy, heldBack, hostBusy } from "./waiting-errors.ts";

/** Something that can be ended before its time. */
interface Abortable {
  abort(error: FedwayError): void;
}

/** What all calls of one client share. */
export interface CallContext {
  readonly clock: Clock;
  /** Watches all calls that are under way. */
  readonly deadlines: Deadlines<Call>;
  readonly observer?: TransportObserver | undefined;
  readonly breaker: BreakerLimits;
  readonly hostRates: HostRates | undefined;
}

/**
 * One query from its beginning to the last byte of its answer: its deadline, its cancellation, its slot at the
 * endpoint and its accounts. A class, because one is made for every query.
 */
export class Call implements Expiring, Waiter {
  readonly request: SparqlRequest;
  readonly lane: Lane;
  readonly deadlineMs: number;
  /** The host whose rate the next request counts for; undefined when it has none. */
  host: string | undefined;
  /**
   * What is ended when the call is interrupted in its present phase. No closure on the hot path: measured, one for each
   * request makes the garbage collector carry 3 KB a request from the young generation into the old one.
   */
  underWay: Abortable | undefined;
  /** HTTP requests sent. */
  requests = 0;
  wireBytes = 0;
  place = -1;
  /** The request is sent and its response head has not arrived since this moment. */
  waitingSinceMs: number | undefined;
  /** Of the latest response head. */
  status: number | undefined;
  readonly #context: CallContext;
  readonly #startedMs: number;
  #interruption: FedwayError | undefined;
  #admission: Admission | undefined;
  #holdsSlot = false;
  /** Waits for a slot. */
  #queued: { resolve(): void; reject(error: FedwayError): void } | undefined;
  #finished = false;
  #requestOver: ((end: RequestEnd) => void) | undefined;
  #bytesBefore = 0;

  constructor(request: SparqlRequest, lane: Lane, context: CallContext) {
    this.request = request;
    this.lane = lane;
    this.deadlineMs = request.deadlineMs;
    this.#context = context;
    this.#startedMs = context.clock.now();
    context.deadlines.add(this);
    request.signal.addEventListener("abort", this);
    if (request.signal.aborted) this.handleEvent();
    else if (this.deadlineMs <= this.#startedMs) this.expire();
  }

  /** The signal or the deadline has ended the call. */
  get interrupted(): boolean {
    return this.#interruption !== undefined;
  }

  /** The error of a call that was interrupted. @throws FedwayError that error */
  check(): void {
    if (this.#interruption !== undefined) throw this.#interruption;
  }

  /** The signal fired. */
  handleEvent(): void {
    const reason: unknown = this.request.signal.reason;
    this.interrupt(
      reason instanceof FedwayError
        ? reason
        : new FedwayError("CANCELLED", "The request was cancelled.", { cause: reason }),
    );
  }

  /** The deadline has passed. */
  expire(): void {
    this.interrupt(
      new FedwayError("DEADLINE_EXCEEDED", "The endpoint did not finish its answer before the query's deadline.", {
        fault: "timeout",
        where: { endpoint: this.endpointName },
        next: "Allow more time, or ask for less: add LIMIT or name more terms.",
      }),
    );
  }

  /** Ends the call in whatever phase it is. */
  interrupt(error: FedwayError): void {
    if (this.#finished || this.#interruption !== undefined) return;
    this.#interruption = error;
    this.underWay?.abort(error);
  }

  /** Catalogue id or URL, for messages. */
  get endpointName(): string {
    return this.request.endpoint.id ?? this.request.endpoint.url;
  }

  /** Milliseconds left. */
  get leftMs(): number {
    return this.deadlineMs - this.#context.clock.now();
  }

  /**
   * Waits for a slot at the endpoint; undefined when there is one at once. `admit` comes next.
   * @throws FedwayError `ENDPOINT_BUSY`, `CIRCUIT_OPEN`, `ENDPOINT_RATE_LIMITED`
   */
  enter(): Promise<void> | undefined {
    this.check();
    const { scheduler, breaker } = this.lane;
    if (this.request.pastBreaker !== true && breaker.waitMs() > 0) throw circuitOpen(breaker);
    const heldMs = scheduler.heldMs();
    if (heldMs > this.leftMs) throw heldBack(heldMs);
    const taken = scheduler.take(this);
    if (taken === "now") {
      this.#holdsSlot = true;
      return undefined;
    }
    if (taken === "full") throw endpointBusy();
    // Those that are queued here will all want a turn at the host before this one.
    const hostMs = this.#hostWaitMs(scheduler.waiting() - 1);
    if (hostMs >= this.leftMs) {
      scheduler.drop(this);
      throw hostBusy(hostMs);
    }
    return new Promise<void>((resolve, reject) => {
      this.#queued = { resolve, reject };
      const abort = (error: FedwayError): void => {
        scheduler.drop(this);
        reject(error);
      };
      this.underWay = { abort };
    });
  }

  /** The slot that was waited for. */
  granted(): void {
    this.#holdsSlot = true;
    this.#queued?.resolve();
  }

  /** The endpoint wants no request before the deadline. */
  heldBack(retryAfterMs: number): void {
    this.#queued?.reject(heldBack(retryAfterMs));
  }

  /** Takes the breaker's permission, once the slot is there. @throws FedwayError `CIRCUIT_OPEN` */
  admit(): void {
    this.check();
    const { breaker } = this.lane;
    this.#admission = this.request.pastBreaker === true ? breaker.pass() : breaker.enter();
    if (this.#admission === undefined) throw circuitOpen(breaker);
  }

  /**
   * Waits until `host` may be sent another request.
   * @throws FedwayError `ENDPOINT_BUSY`, or `ENDPOINT_RATE_LIMITED` when the endpoint has objected meanwhile
   */
  async awaitTurn(): Promise<void> {
    for (;;) {
      const queued = this.#takeTurn();
      if (queued === undefined) return;
      await queued;
      const heldMs = this.lane.scheduler.heldMs();
      if (heldMs === 0) return;
      if (heldMs >= this.leftMs) throw heldBack(heldMs);
      await this.pause(heldMs);
    }
  }

  /** Waits. @throws FedwayError when the call is interrupted meanwhile */
  pause(ms: number): Promise<void> {
    this.check();
    this.waitingSinceMs = undefined;
    const { clock } = this.#context;
    return new Promise((resolve, reject) => {
      const timer = clock.setTimeout(resolve, ms);
      const abort = (error: FedwayError): void => {
        clock.clearTimeout(timer);
        reject(error);
      };
      this.underWay = { abort };
    });
  }

  /** Counts a request that is sent now. */
  sent(): void {
    this.requests += 1;
    const { observer } = this.#context;
    if (observer?.onRequest === undefined) return;
    this.status = undefined;
    this.#bytesBefore = this.wireBytes;
    const { endpoint, trace } = this.request;
    this.#requestOver = observer.onRequest({ endpoint: metricName(endpoint), attempt: this.requests, trace });
  }

  /** Somebody wants to hear how the request under way ends. */
  get watched(): boolean {
    return this.#requestOver !== undefined;
  }

  /** The request under way has ended. */
  over(outcome: RequestOutcome): void {
    this.#requestOver?.({ outcome, status: this.status, wireBytes: this.wireBytes - this.#bytesBefore });
    this.#requestOver = undefined;
  }

  /** The same error with the endpoint's name; interruptions stay the very value they are. */
  located(error: FedwayError): FedwayError {
    if (error === this.#interruption || error.code === "CANCELLED") return error;
    if (error.details.where?.endpoint !== undefined) return error;
    const where = { ...error.details.where, endpoint: this.endpointName };
    return new FedwayError(error.code, error.message, { ...error.details, where });
  }

  /** Settles the accounts; later calls do nothing. */
  finish(outcome: AnswerEnd | FedwayError): void {
    if (this.#finished) return;
    this.#finished = true;
    this.underWay = undefined;
    const { deadlines, observer, clock, breaker } = this.#context;
    deadlines.delete(this);
    this.request.signal.removeEventListener("abort", this);
    const now = clock.now();
    if (this.#admission !== undefined) {
      const waitedMs = this.waitingSinceMs === undefined ? 0 : now - this.waitingSinceMs;
      this.lane.breaker.leave(this.#admission, healthSign(outcome, waitedMs >= breaker.slowMs));
    }
    if (this.#holdsSlot) this.lane.scheduler.release();
    this.#reviewRowCap(outcome);
    const name = outcomeName(outcome, outcome === this.#interruption);
    this.over(name);
    observer?.onExchange?.({
      endpoint: metricName(this.request.endpoint),
      outcome: name,
      ms: now - this.#startedMs,
      wireBytes: this.wireBytes,
      requests: this.requests,
      probe: this.request.pastBreaker === true || undefined,
    });
  }

  /** An answer with more rows than the cap that an earlier one named: the cap has been raised. */
  #reviewRowCap(outcome: AnswerEnd | FedwayError): void {
    const { lane, request } = this;
    if (lane.rowCap === undefined || request.kind !== "bindings" || outcome instanceof FedwayError) return;
    if (outcome.partial === undefined && (outcome.rows ?? 0) > lane.rowCap) lane.rowCap = undefined;
  }

  /** Takes a turn at the host; undefined when there is one at once. */
  #takeTurn(): Promise<void> | undefined {
    this.check();
    this.waitingSinceMs = undefined;
    const { host } = this;
    const { hostRates } = this.#context;
    if (host === undefined || hostRates === undefined) return undefined;
    let settle: (() => void) | undefined;
    const waiter = { deadlineMs: this.deadlineMs, granted: (): void => settle?.() };
    const taken = hostRates.take(host, waiter);
    if (taken === "now") return undefined;
    if (taken === "refused") throw hostBusy(hostRates.waitMs(host, 0));
    return new Promise((resolve, reject) => {
      settle = resolve;
      const abort = (error: FedwayError): void => {
        hostRates.drop(host, waiter);
        reject(error);
      };
      this.underWay = { abort };
    });
  }

  #hostWaitMs(ahead: number): number {
    return this.host === undefined ? 0 : (this.#context.hostRates?.waitMs(this.host, ahead) ?? 0);
  }
}
