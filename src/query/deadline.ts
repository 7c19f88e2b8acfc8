import { type Clock, systemClock } from "../clock.ts";
import { cancellation, FedwayError } from "../errors/fedway-error.ts";

interface DeadlineOptions {
  readonly timeoutMs: number;
  readonly message?: string;
  /** Advice against it. */
  readonly next?: string;
  readonly clock?: Clock;
}

/** One signal for everything that a query starts: aborted, with a `FedwayError`, by the client's leaving or the deadline. */
export function startDeadline(client: AbortSignal, { timeoutMs, message, next, clock = systemClock }: DeadlineOptions) {
  const controller = new AbortController();
  const leave = (): void => controller.abort(cancellation(client));
  const late = message ?? `The query did not finish within ${timeoutMs} ms.`;
  const timer = clock.setTimeout(
    () => controller.abort(new FedwayError("DEADLINE_EXCEEDED", late, { fault: "timeout", ...(next && { next }) })),
    timeoutMs,
  );
  if (client.aborted) leave();
  else client.addEventListener("abort", leave, { once: true });
  return {
    signal: controller.signal,
    stop(): void {
      clock.clearTimeout(timer);
      client.removeEventListener("abort", leave);
    },
  };
}
