import { FedwayError } from "../errors/fedway-error.ts";
import type { Admission, Breaker } from "./breaker.ts";
import { type EndpointState, metricName } from "./endpoint-states.ts";
import type { Network } from "./network.ts";
import { healthSign, outcomeName, type OutboundObserver } from "./observer.ts";
import type { AnswerEnd, SparqlRequest } from "./sparql-client.ts";
import { hostBusy, Task } from "./task.ts";

/** What all calls of one client share. */
export interface CallContext {
  readonly network: Network;
  readonly observer: OutboundObserver | undefined;
  /** A query's own deadline that passes before the response head counts as a fault after this long. */
  readonly slowMs: number;
}

/**
 * One query from its beginning to the last byte of its answer: a task that takes a slot at its endpoint and the
 * breaker's permission, and reports to both what became of it.
 */
export class Call extends Task {
  readonly request: SparqlRequest;
  readonly state: EndpointState;
  /** Accept header of the next request. */
  accept = "";
  /** The request is sent and its response head has not arrived since this moment. */
  waitingSinceMs: number | undefined;
  readonly #context: CallContext;
  #admission: Admission | undefined;
  #holdsSlot = false;
  /** Waits for a slot. */
  #queued: { resolve(): void; reject(error: FedwayError): void } | undefined;

  constructor(request: SparqlRequest, state: EndpointState, context: CallContext) {
    const { endpoint, signal, deadlineMs, trace } = request;
    const queried = endpoint.id ?? endpoint.url;
    super(
      { signal, deadlineMs, trace, queried, endpoint: metricName(endpoint), observer: context.observer },
      context.network,
    );
    this.request = request;
    this.state = state;
    this.#context = context;
  }

  /** Catalogue id or URL, for messages. */
  get endpointName(): string {
    return this.request.endpoint.id ?? this.request.endpoint.url;
  }

  /**
   * Waits for a slot at the endpoint; undefined when there is one at once. `admit` comes next.
   * @throws FedwayError `ENDPOINT_BUSY`, `CIRCUIT_OPEN`, `ENDPOINT_RATE_LIMITED`
   */
  enter(): Promise<void> | undefined {
    this.check();
    const { scheduler, breaker } = this.state;
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
    const hostMs =
      this.host === undefined ? 0 : (this.network.hostRates?.waitMs(this.host, scheduler.waiting() - 1) ?? 0);
    if (hostMs >= this.leftMs) {
      scheduler.drop(this);
      throw hostBusy(hostMs);
    }
    return this.wait((resolve: (value: void) => void, reject) => {
      this.#queued = { resolve, reject };
      return () => void scheduler.drop(this);
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
    const { breaker } = this.state;
    this.#admission = this.request.pastBreaker === true ? breaker.pass() : breaker.enter();
    if (this.#admission === undefined) throw circuitOpen(breaker);
  }

  /**
   * Waits until `host` may be sent another request.
   * @throws FedwayError `ENDPOINT_BUSY`, or `ENDPOINT_RATE_LIMITED` when the endpoint has objected meanwhile
   */
  async awaitTurn(): Promise<void> {
    for (;;) {
      this.waitingSinceMs = undefined;
      const queued = this.hostTurn();
      if (queued === undefined) return;
      await queued;
      const heldMs = this.state.scheduler.heldMs();
      if (heldMs === 0) return;
      if (heldMs >= this.leftMs) throw heldBack(heldMs);
      await this.pause(heldMs);
    }
  }

  override pause(ms: number): Promise<void> {
    this.waitingSinceMs = undefined;
    return super.pause(ms);
  }

  /** The same error with the endpoint's name; interruptions stay the very value they are. */
  located(error: FedwayError): FedwayError {
    if (error === this.interrupted || error.code === "CANCELLED") return error;
    if (error.details.where?.endpoint !== undefined) return error;
    const where = { ...error.details.where, endpoint: this.endpointName };
    return new FedwayError(error.code, error.message, { ...error.details, where });
  }

  /** Settles the accounts; later calls do nothing. */
  finish(outcome: AnswerEnd | FedwayError): void {
    if (!this.end()) return;
    const { observer, slowMs } = this.#context;
    const { scheduler, breaker } = this.state;
    const now = this.clock.now();
    if (this.#admission !== undefined) {
      const waitedMs = this.waitingSinceMs === undefined ? 0 : now - this.waitingSinceMs;
      breaker.leave(this.#admission, healthSign(outcome, waitedMs >= slowMs));
    }
    if (this.#holdsSlot) scheduler.release();
    this.#reviewRowCap(outcome);
    const name = outcomeName(outcome, outcome === this.interrupted);
    this.over(name);
    observer?.onExchange?.({
      endpoint: metricName(this.request.endpoint),
      outcome: name,
      ms: now - this.startedMs,
      wireBytes: this.wireBytes,
      requests: this.requests,
      probe: this.request.pastBreaker === true || undefined,
    });
  }

  /** An answer with more rows than the cap that an earlier one named: the cap has been raised. */
  #reviewRowCap(outcome: AnswerEnd | FedwayError): void {
    const { state, request } = this;
    if (state.rowCap === undefined || request.kind !== "bindings" || outcome instanceof FedwayError) return;
    if (outcome.partial === undefined && (outcome.rows ?? 0) > state.rowCap) state.rowCap = undefined;
  }
}

/** Why a breaker lets nothing through. */
function circuitOpen(breaker: Breaker): FedwayError {
  const { reason } = breaker;
  const message =
    reason === undefined
      ? "The endpoint failed several times in a row and is left alone for a while."
      : `The endpoint is left alone for a while: ${reason}.`;
  return new FedwayError("CIRCUIT_OPEN", message, {
    fault: "circuit-open",
    retryAfterMs: breaker.waitMs(),
    next: "Try again later, or use another endpoint with the same data.",
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
