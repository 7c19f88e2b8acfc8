import { isErrorCode } from "../../errors/codes.ts";
import { type ErrorDetails, FedwayError } from "../../errors/fedway-error.ts";
import type { Progress } from "../load/read-statements.ts";

/** What a thread says of the task that it was given. */
export type ThreadReply<Result> =
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly error: ToldError };

/** An error as a message: what threads send each other loses its class and its code. */
export interface ToldError {
  readonly message: string;
  /** Of a `FedwayError`, or of the file system. */
  readonly code?: string;
  /** Of a `FedwayError`. */
  readonly details?: ErrorDetails;
  readonly stack?: string;
}

/** Puts an error into a message. */
export function tellError(error: unknown): ToldError {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, stack } = error;
  const told = { message, ...(stack !== undefined && { stack }) };
  if (error instanceof FedwayError) {
    const { cause, ...details } = error.details;
    return { ...told, code: error.code, details: cause instanceof Error ? { ...details, cause } : details };
  }
  return "code" in error ? { ...told, code: String(error.code) } : told;
}

/** The error that a message tells of. */
export function errorOf({ message, code, details, stack }: ToldError): Error {
  if (details !== undefined && code !== undefined && isErrorCode(code)) return new FedwayError(code, message, details);
  return Object.assign(new Error(message), code !== undefined && { code }, stack !== undefined && { stack });
}
