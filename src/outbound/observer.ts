import type { ErrorCode } from "../errors/codes.ts";
import { FedwayError, type FaultKind } from "../errors/fedway-error.ts";
import type { BreakerState, BreakerSource, HealthSign } from "./breaker.ts";
import type { AnswerEnd } from "./sparql-client.ts";

/** How one query ended, for metrics. */
export interface ExchangeReport {
  /** Catalogue id, or "unlisted". */
  readonly endpoint: string;
  readonly outcome: "ok" | "partial" | "cancelled" | FaultKind;
  /** HTTP status of an answer that was a failure. */
  readonly status?: number | undefined;
  /** Milliseconds from the query to the last byte of its answer, queueing included. */
  readonly ms: number;
  /** Body bytes received, content-encoded. */
  readonly wireBytes: number;
  /** HTTP requests sent. */
  readonly requests: number;
  /** A probe of the monitor, which goes past the circuit breaker: no traffic. */
  readonly probe?: true | undefined;
}

/** One HTTP request that is sent to an endpoint. */
interface RequestStart {
  /** Catalogue id, or "unlisted". */
  readonly endpoint: string;
  /** 1 for the first request of a query or document; retries, other methods and redirects count on. */
  readonly attempt: number;
  /** `SparqlRequest.trace` or `DocumentRequest.trace`. */
  readonly trace: unknown;
}

/** How one HTTP request ended. */
export type RequestOutcome = ExchangeReport["outcome"];

/** The end of one HTTP request. */
export interface RequestEnd {
  readonly outcome: RequestOutcome;
  /** Undefined when no response head came. */
  readonly status: number | undefined;
  /** Body bytes received, content-encoded. */
  readonly wireBytes: number;
}

/** A circuit breaker that has changed its state. */
export interface BreakerReport {
  /** Catalogue id, or "unlisted". */
  readonly endpoint: string;
  /** Catalogue id, where the endpoint has one. */
  readonly id?: string | undefined;
  /** Origin and path, which is what a breaker belongs to. */
  readonly url: string;
  readonly state: BreakerState;
  /** When its cool-down ends, on the client's clock; only of an open one. */
  readonly openUntilMs?: number | undefined;
  /** "own": requests of this process showed it. "outside": `holdOpen` or `close` did. */
  readonly by: BreakerSource;
}

/** Notified of every query, every HTTP request and every circuit breaker; must not throw. */
export interface OutboundObserver {
  onExchange?(report: ExchangeReport): void;
  /** A request is sent; the returned function is called once when it is over, its body included. */
  onRequest?(request: RequestStart): (end: RequestEnd) => void;
  onBreaker?(report: BreakerReport): void;
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

type Judge = (error: FedwayError, slow: boolean) => boolean;
const always: Judge = () => true;

/** Errors that speak against the endpoint, and when. */
const faults: Readonly<Partial<Record<ErrorCode, Judge>>> = {
  ENDPOINT_UNREACHABLE: always,
  ENDPOINT_FAILED: always,
  ENDPOINT_BROKE_OFF: ({ details }) => details.fault === "reset",
  // With a status the engine itself has reported the time-out: it is alive.
  ENDPOINT_TIMEOUT: ({ details }) => details.upstreamStatus === undefined,
  DEADLINE_EXCEEDED: (_error, slow) => slow,
};

/** Errors that only an endpoint in good health causes. */
const signsOfLife: ReadonlySet<ErrorCode> = new Set([
  "ENDPOINT_REJECTED_QUERY",
  "ENDPOINT_REFUSED",
  "ENDPOINT_PARTIAL",
  "ANSWER_TOO_LARGE",
]);

/**
 * Sign of a query's end about its endpoint. Connection faults, 5xx and silence are faults; rate limits,
 * malformed answers and cancellations say nothing.
 * @param slow the request waited so long for its response head that its own deadline speaks against the endpoint
 */
export function healthSign(outcome: AnswerEnd | FedwayError, slow: boolean): HealthSign {
  if (!(outcome instanceof FedwayError) || signsOfLife.has(outcome.code)) return "good";
  return faults[outcome.code]?.(outcome, slow) === true ? "fault" : "none";
}
