import { errorCatalog, type ErrorCode, type ErrorKind } from "./codes.ts";

/** How an endpoint can fail, in the words of the monitoring literature; a closed set, fit for a metric label. */
export const faultKinds = [
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

/** Where in the query, or at which endpoint, the failure lies. */
export interface ErrorWhere {
  /** 1-based line of the query text. */
  readonly line?: number;
  /** 1-based column, in UTF-16 code units, of that line. */
  readonly column?: number;
  /** Catalogue id or IRI of the endpoint. */
  readonly endpoint?: string;
  /** The triple pattern or group, as SPARQL. */
  readonly pattern?: string;
}

/** A change of a query that mends it. */
export interface Repair {
  /** Kind of the fault, such as `prefix-missing`; stable. */
  readonly kind: string;
  /** Text of the query that is replaced; empty where something is added. */
  readonly before: string;
  readonly after: string;
  /** False: it is only offered, as it may change what the query means. */
  readonly applied: boolean;
  /** One sentence: how it has to be written. */
  readonly why?: string | undefined;
}

/** Something known that was probably meant. */
export interface Suggestion {
  /** IRI or literal in N-Triples syntax, or the id of an endpoint. */
  readonly term: string;
  /** From 0 to 1; larger is better. */
  readonly score: number;
  readonly why: string;
}

/** Everything an error may carry beside its code and message. */
export interface ErrorDetails {
  readonly where?: ErrorWhere | undefined;
  /** One sentence with the reader's next step. */
  readonly next?: string | undefined;
  readonly fault?: FaultKind | undefined;
  /** HTTP status that the endpoint gave. */
  readonly upstreamStatus?: number | undefined;
  /** How long to wait before trying again, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Moments between which the endpoint is not asked (ISO 8601). */
  readonly leftAlone?: { readonly since: string; readonly until: string } | undefined;
  /** Catalogue ids that would fit, best first. */
  readonly endpoints?: readonly string[] | undefined;
  readonly repairs?: readonly Repair[] | undefined;
  /** The query with all that is offered; parsed, never run unasked. */
  readonly suggested?: string | undefined;
  /** Best first. */
  readonly suggestions?: readonly Suggestion[] | undefined;
  readonly cause?: unknown;
}

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

/** A problem document (RFC 9457) with Fedway's extension members. */
export interface Problem extends Omit<ErrorDetails, "cause"> {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly retryable: boolean;
  /** The id under which the run record is kept. */
  readonly run?: string | undefined;
}

/** The problem document of any thrown value; as JSON it has only what is known. */
export function toProblem(thrown: unknown, run?: string): Problem {
  const error = toFedwayError(thrown);
  const { where, next, fault, upstreamStatus, retryAfterMs, endpoints, repairs, suggested, suggestions } =
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
    suggested,
    suggestions,
    run,
  };
}
