import type { FaultKind } from "../errors/fedway-error.ts";
import type { BreakerSource, BreakerState } from "./endpoint-states.ts";

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
