import type { ErrorCode } from "../errors/codes.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { HealthSign } from "./breaker.ts";
import type { ExchangeReport } from "./options.ts";
import type { AnswerEnd } from "./sparql-client.ts";

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
 * What the end of a query says about its endpoint. Connection faults, 5xx and silence are faults; rate limits,
 * malformed answers and cancellations say nothing.
 * @param slow the request waited so long for its response head that its own deadline speaks against the endpoint
 */
export function healthSign(outcome: AnswerEnd | FedwayError, slow: boolean): HealthSign {
  if (!(outcome instanceof FedwayError) || signsOfLife.has(outcome.code)) return "good";
  return faults[outcome.code]?.(outcome, slow) === true ? "fault" : "none";
}

/** How a query ended, as a metric label. @param interrupted by its signal or its deadline */
export function outcomeName(outcome: AnswerEnd | FedwayError, interrupted: boolean): ExchangeReport["outcome"] {
  if (!(outcome instanceof FedwayError)) return outcome.partial === undefined ? "ok" : "partial";
  if (outcome.code === "DEADLINE_EXCEEDED" || outcome.code === "ENDPOINT_TIMEOUT") return "timeout";
  if (interrupted || outcome.code === "CANCELLED") return "cancelled";
  // Endpoints inside this process fail without a fault kind of the network.
  return outcome.details.fault ?? "http-5xx";
}
