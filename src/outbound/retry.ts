import type { FedwayError } from "../errors/fedway-error.ts";

/** How often and how soon a request is sent again. */
export interface RetryOptions {
  /** Attempts after the first one. */
  readonly limit: number;
  /** First back-off after a connection fault or a 503; it doubles each time. */
  readonly baseMs: number;
  /** First back-off after a 429 without Retry-After. */
  readonly rateLimitedBaseMs: number;
}

/** A Retry-After longer than this is cut: no endpoint can shut itself out for days by one header. */
export const maxRetryAfterMs = 15 * 60_000;

/** Retry-After (RFC 9110, section 10.2.3) as milliseconds from `nowMs`; undefined when absent or unreadable. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim();
  if (text === undefined || text === "" || text.length > 40) return undefined;
  if (/^\d{1,12}$/.test(text)) return Math.min(Number(text) * 1000, maxRetryAfterMs);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : Math.min(Math.max(0, moment - nowMs), maxRetryAfterMs);
}

/** Exponential back-off with jitter: between half of and the whole of `baseMs * 2^attempt`. */
export function backOffMs(baseMs: number, attempt: number, random: () => number): number {
  return Math.round(baseMs * 2 ** attempt * (0.5 + random() / 2));
}

/** A connection fault after which the same request may be sent again: the endpoint has not begun to answer. */
export function isRetryableFault(error: FedwayError): boolean {
  return (
    error.code === "ENDPOINT_UNREACHABLE" && (error.details.fault === "connect" || error.details.fault === "reset")
  );
}
