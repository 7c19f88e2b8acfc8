import { FedwayError } from "../errors/fedway-error.ts";

/** The endpoint's Retry-After lasts longer than the query may. */
export function heldBack(retryAfterMs: number): FedwayError {
  return new FedwayError("ENDPOINT_RATE_LIMITED", "The endpoint has asked to be left alone for a while.", {
    fault: "http-429",
    retryAfterMs,
    next: "Wait before sending another query to this endpoint.",
  });
}

/** A turn at the host would come after the deadline. */
export function hostBusy(waitMs: number): FedwayError {
  const message = "Too many requests are waiting for the endpoint's host, which is sent only so many a second.";
  return new FedwayError("ENDPOINT_BUSY", message, {
    fault: "busy",
    retryAfterMs: Math.max(1, Math.ceil(waitMs)),
    next: "Try again later, allow more time, or send fewer queries; the operator can change FEDWAY_HOST_RATE.",
  });
}

/** The endpoint's queue is full. */
export function endpointBusy(): FedwayError {
  return new FedwayError("ENDPOINT_BUSY", "Too many queries are already waiting for the endpoint.", {
    fault: "busy",
    next: "Try again in a moment, or send fewer queries at once.",
  });
}
