import type { FaultKind } from "../errors/fedway-error.ts";
import type { AnswerScanner } from "../results/scanner.ts";
import type { BreakerReport } from "./breakers.ts";
import type { Clock } from "../clock.ts";
import type { ResolveHost } from "./connector.ts";
import type { HostRate } from "./host-rates.ts";
import type { RequestEnd, RequestStart } from "./request-watch.ts";
import type { RetryOptions } from "./retry.ts";
import type { LocalDispatch } from "./sparql-client.ts";

/** How one query ended, for metrics. */
export interface ExchangeReport {
  /** Catalogue id, or "unlisted". */
  readonly endpoint: string;
  readonly outcome: "ok" | "partial" | "cancelled" | FaultKind;
  /** Milliseconds from the query to the last byte of its answer, queueing included. */
  readonly ms: number;
  /** Body bytes received, content-encoded. */
  readonly wireBytes: number;
  /** HTTP requests sent. */
  readonly requests: number;
  /** A probe of the monitor, which goes past the circuit breaker: no traffic. */
  readonly probe?: true | undefined;
}

/** Hears of every query, every HTTP request and every circuit breaker; must not throw. */
export interface TransportObserver {
  onExchange?(report: ExchangeReport): void;
  /** A request is sent; what is returned is called once when it is over, its body included. */
  onRequest?(request: RequestStart): (end: RequestEnd) => void;
  onBreaker?(report: BreakerReport): void;
}

/** Timers of one HTTP exchange, in milliseconds. Those above one second fire up to a second late. */
export interface TransportTimeouts {
  readonly connectMs: number;
  /** Longest wait for the response head. */
  readonly headersMs: number;
  /** Longest wait between two pieces of the body; a pause for a slow reader does not count. */
  readonly idleMs: number;
}

/** Thresholds of the circuit breakers. */
export interface BreakerLimits {
  readonly faults: number;
  readonly coolDownMs: number;
  readonly maxCoolDownMs: number;
  /** A query's own deadline that passes before the response head counts as a fault after this long. */
  readonly slowMs: number;
}

/** Everything a SPARQL client is built from; only `version` has no default. */
export interface SparqlClientOptions {
  /** Version in the User-Agent. */
  readonly version: string;
  /** Contact (address or URL) in the User-Agent; some public endpoints refuse requests without one. */
  readonly contact?: string | undefined;
  /** CIDR ranges that may be dialled although they are not global. */
  readonly allowAddresses?: readonly string[] | undefined;
  /** Decoded bytes of one answer; default 1 GiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** Requests under way at once per endpoint; default 16. */
  readonly endpointConcurrency?: number | undefined;
  /** Requests that may wait per endpoint; default 256. */
  readonly endpointQueue?: number | undefined;
  /**
   * Requests sent per URL host (retries, fallbacks and redirects count); absent or 0: no limit. Exempt are `localhost`
   * and literal addresses that are not global: they are the operator's own.
   */
  readonly hostRate?: HostRate | undefined;
  /** Idle endpoints that are remembered, and hosts with their rates; default 1,000 of each. */
  readonly maxEndpoints?: number | undefined;
  /** Connections per origin; default 64, or `endpointConcurrency` when that is more. */
  readonly connections?: number | undefined;
  readonly timeouts?: Partial<TransportTimeouts> | undefined;
  readonly retry?: Partial<RetryOptions> | undefined;
  readonly breaker?: Partial<BreakerLimits> | undefined;
  /** Makes the scanner that judges one answer; default `createAnswerScanner` of `results/`. */
  readonly scanner?: ((mediaType: string) => AnswerScanner) | undefined;
  /** Resolves host names; the result is vetted before it is dialled. */
  readonly resolveHost?: ResolveHost | undefined;
  /** Certificate authorities beside the system's, PEM. */
  readonly ca?: string | undefined;
  readonly local?: LocalDispatch | undefined;
  readonly observer?: TransportObserver | undefined;
  readonly clock?: Clock | undefined;
  /** Jitter of back-offs, in [0, 1); default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

export const defaultTimeouts: TransportTimeouts = { connectMs: 10_000, headersMs: 120_000, idleMs: 60_000 };
export const defaultRetry: RetryOptions = { limit: 2, baseMs: 150, rateLimitedBaseMs: 1_000 };
export const defaultBreaker: BreakerLimits = { faults: 5, coolDownMs: 1_000, maxCoolDownMs: 60_000, slowMs: 10_000 };

const headerText = (text: string): string => text.replaceAll(/[^\x20-\x7e]|[()\\]/g, "").trim();

/** `Fedway/<version> (<contact>)`, without characters that a header cannot hold. */
export function userAgent(version: string, contact: string | undefined): string {
  const comment = contact === undefined ? "" : headerText(contact);
  return comment === "" ? `Fedway/${headerText(version)}` : `Fedway/${headerText(version)} (${comment})`;
}
