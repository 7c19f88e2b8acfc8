import { errorCatalog, type ErrorCode, type ErrorKind } from "./codes.ts";
import type { Problem } from "./problem.ts";

export type { Problem } from "./problem.ts";

/** How an endpoint can fail, in the words of the monitoring literature; a closed set, fit for a metric label. */
const faultKinds = [
  "address",
  "dns",
  "connect",
  "tls",
  "timeout",
  "reset",
  "http-3xx",
  "http-4xx",
  "http-429",
  "http-5xx",
  "wrong-media-type",
  "malformed",
  "wrong-answer",
  "partial",
  "too-large",
  "busy",
  "circuit-open",
] as const;

/** How an endpoint failed. */
export type FaultKind = (typeof faultKinds)[number];

/** Fields of a problem that come from its error. */
type Shown =
  | "where"
  | "next"
  | "fault"
  | "upstreamStatus"
  | "retryAfterMs"
  | "endpoints"
  | "repairs"
  | "statements"
  | "suggested";

/** Everything an error may carry beside its code and message; `next` is one sentence. */
export interface ErrorDetails extends Partial<Pick<Problem, Shown | "suggestions">> {
  /** Moments between which the endpoint is not asked (ISO 8601). */
  readonly coolingDown?: { readonly since: string; readonly until: string } | undefined;
  readonly cause?: unknown;
}

export type ErrorWhere = NonNullable<Problem["where"]>;
export type Repair = NonNullable<Problem["repairs"]>[number];
export type Statement = NonNullable<Problem["statements"]>[number];
export type Evidence = Statement["evidence"][number];
export type Suggestion = NonNullable<Problem["suggestions"]>[number];

/**
 * The one error type that crosses folder borders. `message` is public: it never holds credentials, internal
 * addresses or stack traces; those go into `cause`, which is logged and never sent.
 */
export class FedwayError extends Error {
  override readonly name = "FedwayError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.details = details;
  }

  /** Status, title and policy shared by all errors of this code. */
  get kind(): ErrorKind {
    return errorCatalog[this.code];
  }
}

/** Any thrown value as a `FedwayError`; unknown ones become `INTERNAL` and keep the original as `cause`. */
export function toFedwayError(thrown: unknown): FedwayError {
  if (thrown instanceof FedwayError) return thrown;
  return new FedwayError("INTERNAL", "An unexpected error occurred; the log of the service has the details.", {
    cause: thrown,
  });
}

/** Why a signal was aborted: whoever did it says so, or the client has left. */
export const cancellation = ({ reason }: AbortSignal): FedwayError =>
  reason instanceof FedwayError ? reason : new FedwayError("CANCELLED", "The client closed the request.");

/** Message of a library's error; undefined for JavaScript's own errors, which are defects and no news for a reader. */
export function libraryMessage(thrown: unknown): string | undefined {
  const isDefect = thrown instanceof TypeError || thrown instanceof RangeError || thrown instanceof ReferenceError;
  return thrown instanceof Error && !isDefect ? thrown.message.replaceAll(/\s+/g, " ") : undefined;
}

/** The problem document of any thrown value; as JSON it has only what is known. */
export function toProblem(thrown: unknown, run?: string): Problem {
  const error = toFedwayError(thrown);
  const { where, next, fault, upstreamStatus, retryAfterMs, endpoints, repairs, statements, suggested, suggestions } =
    error.details;
  return {
    type: `urn:fedway:problem:${error.code.toLowerCase().replaceAll("_", "-")}`,
    title: error.kind.title,
    status: error.kind.status,
    code: error.code,
    detail: error.message,
    retryable: error.kind.retryable,
    where,
    next,
    fault,
    upstreamStatus,
    retryAfterMs: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs),
    endpoints,
    repairs,
    statements,
    suggested,
    suggestions,
    run,
  };
}
