import { FedwayError } from "../errors/fedway-error.ts";
import { type Clock, longestTimerMs } from "../clock.ts";

/** Deadline and cancellation of one piece of work. */
export interface Stopwatch {
  readonly deadlineMs: number;
  elapsedMs(): number;
  /** @throws FedwayError when the work was stopped */
  check(): void;
  /**
   * A promise that also rejects when the work is stopped.
   * @param start begins the waiting; what it returns ends it when the work is stopped first
   */
  wait<T>(
    start: (resolve: (value: T) => void, reject: (error: FedwayError) => void) => (error: FedwayError) => void,
  ): Promise<T>;
  /** Stops the work. */
  stop(error: FedwayError): void;
  /** The work is over; timer and listener go. */
  end(): void;
}

/** Starts now; stops by itself after `timeoutMs` and when `signal` aborts. */
export function createStopwatch(
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
  clock: Clock,
): Stopwatch {
  const startedMs = clock.now();
  let stopped: FedwayError | undefined;
  let onStop: ((error: FedwayError) => void) | undefined;
  const stop = (error: FedwayError): void => {
    stopped ??= error;
    onStop?.(stopped);
  };
  const aborted = (): void => stop(cancelled(signal));
  const timer = clock.setTimeout(() => stop(tooLate()), Math.min(longestTimerMs, Math.max(0, timeoutMs)));
  signal.addEventListener("abort", aborted);
  if (signal.aborted) aborted();
  return {
    deadlineMs: startedMs + timeoutMs,
    elapsedMs: () => clock.now() - startedMs,
    check() {
      if (stopped !== undefined) throw stopped;
    },
    wait: (start) =>
      new Promise((resolve, reject) => {
        if (stopped !== undefined) {
          reject(stopped);
          return;
        }
        const release = start(resolve, reject);
        onStop = (error) => {
          onStop = undefined;
          release(error);
          reject(error);
        };
      }),
    stop,
    end() {
      onStop = undefined;
      clock.clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
    },
  };
}

function cancelled(signal: AbortSignal): FedwayError {
  const reason: unknown = signal.reason;
  return reason instanceof FedwayError ? reason : new FedwayError("CANCELLED", "The request was cancelled.");
}

function tooLate(): FedwayError {
  const message = "The document did not arrive before its deadline.";
  return new FedwayError("DEADLINE_EXCEEDED", message, { fault: "timeout" });
}
