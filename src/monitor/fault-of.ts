import type { ErrorCode } from "../errors/codes.ts";
import { type FaultKind, toFedwayError } from "../errors/fedway-error.ts";

/** How a look at an endpoint failed. */
export interface Fault {
  readonly fault: FaultKind;
  /** HTTP status, where one came. */
  readonly status?: number;
  /** Public text, at most 300 characters. */
  readonly detail: string;
}

/** What an error of the transport speaks of when it names no kind itself. */
const byCode: Readonly<Partial<Record<ErrorCode, FaultKind>>> = {
  ADDRESS_REFUSED: "address",
  ENDPOINT_UNREACHABLE: "connect",
  ENDPOINT_TIMEOUT: "timeout",
  DEADLINE_EXCEEDED: "timeout",
  ENDPOINT_BROKE_OFF: "reset",
  ENDPOINT_REJECTED_QUERY: "http-4xx",
  ENDPOINT_REFUSED: "http-4xx",
  ENDPOINT_RATE_LIMITED: "http-429",
  ENDPOINT_FAILED: "http-5xx",
  ENDPOINT_NOT_SPARQL: "wrong-media-type",
  ENDPOINT_MALFORMED: "malformed",
  ENDPOINT_PARTIAL: "partial",
  ENDPOINT_REDIRECT: "http-3xx",
  ANSWER_TOO_LARGE: "too-large",
};

const mostDetail = 300;

/** Text that may be shown, of bounded length. */
export const publicDetail = (text: string): string => text.slice(0, mostDetail).toWellFormed();

/**
 * What a thrown value says of the endpoint that was asked. Undefined when it says nothing: the probe was cancelled,
 * never left this process (queue full, breaker open, an earlier Retry-After still holds), or failed by a fault of our own.
 */
export function faultOf(thrown: unknown): Fault | undefined {
  const { code, details, message } = toFedwayError(thrown);
  const usual = byCode[code];
  if (usual === undefined) return undefined;
  const { fault = usual, upstreamStatus: status } = details;
  if (fault === "busy" || fault === "circuit-open") return undefined;
  // Without a status nothing was asked: the transport still keeps the pause that the endpoint called for before.
  if (fault === "http-429" && status === undefined) return undefined;
  return { fault, ...(status !== undefined && { status }), detail: publicDetail(message) };
}
