import { FedwayError } from "../errors/fedway-error.ts";

/** A `STORE_FAILED` whose message names no path, address or value. */
export function storeFailed(message: string, cause?: unknown, next?: string): FedwayError {
  return new FedwayError("STORE_FAILED", message, {
    ...(cause !== undefined && { cause }),
    ...(next !== undefined && { next }),
  });
}

/** What every method of a closed store rejects with. */
export function storeClosed(): FedwayError {
  return storeFailed("The store is closed.");
}
