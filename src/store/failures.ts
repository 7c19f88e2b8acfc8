import { FedwayError } from "../errors/fedway-error.ts";

const usualNext =
  "Try again in a while, and look first whether the change was made. Queries are answered all the same.";

/** A `STORE_FAILED` whose message names no path, address or value. */
export function storeFailed(message: string, cause?: unknown, next = usualNext): FedwayError {
  return new FedwayError("STORE_FAILED", message, { ...(cause !== undefined && { cause }), next });
}

/** What every method of a closed store rejects with. */
export function storeClosed(): FedwayError {
  return storeFailed("The store is closed.");
}
