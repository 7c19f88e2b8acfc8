import { FedwayError } from "../errors/fedway-error.ts";

/** One time limit and one way to stop for everything that a query starts. */
export interface Deadline {
  /** Moment on the clock, milliseconds. */
  readonly atMs: number;
  /** Aborted by the client's leaving, by the deadline or by `cancel`, with a `FedwayError` as reason. */
  readonly signal: AbortSignal;
  /** Takes back the timer; call when the query is over. */
  clear(): void;
}

/** A deadline that the transport alone keeps: of a plan whose only work is one request. Costs no timer. */
export function transportDeadline(client: AbortSignal, timeoutMs: number, now: () => number): Deadline {
  return { atMs: now() + timeoutMs, signal: client, clear: () => {} };
}

/** Starts the clock of a query; `client` is aborted when its client has gone. */
export function startDeadline(client: AbortSignal, timeoutMs: number, now: () => number): Deadline {
  const controller = new AbortController();
  const leave = () => controller.abort(new FedwayError("CANCELLED", "The client closed the request."));
  const timer = setTimeout(() => {
    controller.abort(
      new FedwayError("DEADLINE_EXCEEDED", `The query did not finish within ${timeoutMs} ms.`, {
        fault: "timeout",
        next: "Narrow the query, raise the timeout (up to the service's limit), or ask with partial=true.",
      }),
    );
  }, timeoutMs);
  if (client.aborted) leave();
  else client.addEventListener("abort", leave, { once: true });
  return {
    atMs: now() + timeoutMs,
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      client.removeEventListener("abort", leave);
    },
  };
}
