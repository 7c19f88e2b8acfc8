import { FedwayError } from "../errors/fedway-error.ts";
import type { Admission } from "./breaker.ts";
import type { RetryOptions } from "./conversation.ts";
import { type EndpointState, metricName } from "./endpoint-states.ts";
import type { LocalDispatch } from "./local-answer.ts";
import type { Network } from "./network.ts";
import { healthSign, outcomeName, type OutboundObserver } from "./observer.ts";
import type { Credentials, Signer } from "./credentials.ts";
import { reviewRowCap } from "./partial-answers.ts";
import type { AnswerEnd, EndpointTarget, LearnedFacts, SparqlAnswer, SparqlRequest } from "./sparql-client.ts";
import { Task } from "./task.ts";
import { heldBack, takeSlot } from "./waiting.ts";

/** Parts shared by all calls of one client. */
export interface CallContext {
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
export class Call extends Task {
  readonly request: SparqlRequest;
  readonly state: EndpointState;
  readonly context: CallContext;
  /** Accept header of the next request. */
  accept = "";
  /** Absent: the endpoint has no credentials. */
  signer: Signer | undefined;
  #admission: Admission | undefined;
  #holdsSlot = false;

  constructor(request: SparqlRequest, state: EndpointState, context: CallContext) {
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
    this.#admission = pastBreaker === true ? breaker.pass() : breaker.enter(partOf);
    if (this.#admission === undefined) throw breaker.refusal();
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
    if (this.#admission !== undefined) {
      const waitedMs = this.waitingSinceMs === undefined ? 0 : now - this.waitingSinceMs;
      const error = outcome instanceof FedwayError ? outcome : undefined;
      breaker.leave(this.#admission, healthSign(outcome, waitedMs >= slowMs), { run: this.request.partOf, error });
    }
    if (this.#holdsSlot) scheduler.release();
    reviewRowCap(this, outcome);
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
