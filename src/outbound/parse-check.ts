import { FedwayError } from "../errors/fedway-error.ts";

/** When the parse of an answer must end. */
export interface ParseBounds {
  readonly signal: AbortSignal;
  /** Moment on the clock, milliseconds. */
  readonly deadlineMs: number;
}

/**
 * What a parser asks between its steps. An answer may have arrived whole long before it is parsed, so that nothing else
 * would end its parse.
 */
export function parseCheck({ signal, deadlineMs }: ParseBounds, now: () => number): () => void {
  return () => {
    if (signal.aborted) throw reasonOf(signal);
    if (now() > deadlineMs) {
      const message = "The endpoint's answer took longer to read than the query has time.";
      throw new FedwayError("DEADLINE_EXCEEDED", message, { fault: "timeout" });
    }
  };
}

function reasonOf({ reason }: AbortSignal): FedwayError {
  return reason instanceof FedwayError ? reason : new FedwayError("CANCELLED", "The request was cancelled.");
}
