import type { ErrorCode } from "./codes.ts";
import { type FedwayError, toFedwayError } from "./fedway-error.ts";

/** A problem document (RFC 9457) with Fedway's extension members. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly retryable: boolean;
  readonly where?: FedwayError["details"]["where"];
  readonly next?: string;
  readonly fault?: string;
  readonly upstreamStatus?: number;
  readonly retryAfterMs?: number;
  readonly endpoints?: readonly string[];
  readonly run?: string;
}

/** The problem document of any thrown value; `run` is the id under which the run record is kept. */
export function toProblem(thrown: unknown, run?: string): Problem {
  const error = toFedwayError(thrown);
  const { where, next, fault, upstreamStatus, retryAfterMs, endpoints } = error.details;
  return {
    type: `urn:fedway:problem:${error.code.toLowerCase().replaceAll("_", "-")}`,
    title: error.kind.title,
    status: error.kind.status,
    code: error.code,
    detail: error.message,
    retryable: error.kind.retryable,
    ...(where && { where }),
    ...(next !== undefined && { next }),
    ...(fault && { fault }),
    ...(upstreamStatus !== undefined && { upstreamStatus }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(endpoints && { endpoints }),
    ...(run !== undefined && { run }),
  };
}
