import { inspect } from "node:util";
import type { ErrorCode } from "../errors/codes.ts";
import { type ErrorDetails, FedwayError } from "../errors/fedway-error.ts";

/** A `FedwayError` as it crosses from one process to another. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails;
}

/** The cause, which is only ever logged, goes along as its text. */
export function toFailure({ code, message, details: { cause, ...details } }: FedwayError): Failure {
  if (cause === undefined) return { code, message, details };
  return { code, message, details: { ...details, cause: cause instanceof Error ? cause.stack : inspect(cause) } };
}

/** The error in this process. */
export function fromFailure({ code, message, details }: Failure): FedwayError {
  return new FedwayError(code, message, details);
}
