import type { ErrorCode } from "../../errors/codes.ts";
import type { FedwayError } from "../../errors/fedway-error.ts";
import type { MeasurementRecord } from "../void/void-description.ts";

/** What an error of one query means for the description. */
export interface Failure {
  readonly why: "timeout" | "refused" | "failed" | "too-large";
  readonly outcome: MeasurementRecord["outcome"];
  /** Nothing is wrong with the query: the same one is asked again after a wait. */
  readonly postpone: boolean;
  /** The endpoint cannot be reached at all. */
  readonly gone: boolean;
}

const query = (why: Failure["why"]): Failure => ({
  why,
  outcome: why === "too-large" ? "failed" : why,
  postpone: false,
  gone: false,
});
const later = (gone: boolean): Failure => ({ why: "failed", outcome: "failed", postpone: true, gone });

const meanings: Partial<Record<ErrorCode, Failure>> = {
  ENDPOINT_TIMEOUT: query("timeout"),
  DEADLINE_EXCEEDED: query("timeout"),
  ENDPOINT_REJECTED_QUERY: query("refused"),
  ENDPOINT_REFUSED: query("refused"),
  ENDPOINT_NOT_SPARQL: query("refused"),
  ENDPOINT_REDIRECT: query("refused"),
  ANSWER_TOO_LARGE: query("too-large"),
  ENDPOINT_RATE_LIMITED: later(false),
  ENDPOINT_BUSY: later(false),
  CIRCUIT_OPEN: later(true),
  ENDPOINT_UNREACHABLE: later(true),
};

/** What an error means: about this query, or about the endpoint as a whole. */
export function failureOf(error: FedwayError): Failure {
  return meanings[error.code] ?? query("failed");
}
