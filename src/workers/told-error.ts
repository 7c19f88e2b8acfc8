import { inspect } from "node:util";
import { isErrorCode } from "../errors/codes.ts";
import { type ErrorDetails, FedwayError } from "../errors/fedway-error.ts";

/** An error as a message to another thread or process: there it would lose its class and its code. */
export interface ToldError {
  readonly message: string;
  /** Code of a `FedwayError` or of a file system error. */
  readonly code: string | undefined;
  /** Details of a `FedwayError`; its cause, which is only logged, as text. */
  readonly details: ErrorDetails | undefined;
  readonly stack: string | undefined;
}

/** Puts an error into a message. */
export function tellError(error: unknown): ToldError {
  if (!(error instanceof Error))
    return { message: String(error), code: undefined, details: undefined, stack: undefined };
  const { message, stack } = error;
  if (error instanceof FedwayError)
    return { message, stack, code: error.code, details: withCauseAsText(error.details) };
  return { message, stack, code: "code" in error ? String(error.code) : undefined, details: undefined };
}

function withCauseAsText({ cause, ...details }: ErrorDetails): ErrorDetails {
  if (cause === undefined) return details;
  return { ...details, cause: cause instanceof Error ? cause.stack : inspect(cause) };
}

/** The error in a message. */
export function errorOf({ message, code, details, stack }: ToldError): Error {
  if (details !== undefined && code !== undefined && isErrorCode(code)) return new FedwayError(code, message, details);
  return Object.assign(new Error(message), code !== undefined && { code }, stack !== undefined && { stack });
}
