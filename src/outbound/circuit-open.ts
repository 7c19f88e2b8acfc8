import { FedwayError } from "../errors/fedway-error.ts";
import type { Breaker } from "./breaker.ts";

/** Why a breaker lets nothing through, as an error. */
export function circuitOpen(breaker: Breaker): FedwayError {
  const { reason } = breaker;
  const message =
    reason === undefined
      ? "The endpoint failed several times in a row and is left alone for a while."
      : `The endpoint is left alone for a while: ${reason}.`;
  return new FedwayError("CIRCUIT_OPEN", message, {
    fault: "circuit-open",
    retryAfterMs: breaker.waitMs(),
    next: "Try again later, or use another endpoint with the same data.",
  });
}
