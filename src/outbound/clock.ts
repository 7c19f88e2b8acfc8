/** What `setTimeout` gave; opaque. */
export type Timer = NodeJS.Timeout;

/** Time as the transport sees it; passed in so that tests own it. */
export interface Clock {
  /** Milliseconds, on the scale of `SparqlRequest.deadlineMs`. */
  now(): number;
  setTimeout(run: () => void, ms: number): Timer;
  clearTimeout(timer: Timer): void;
}

/** The process's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer),
};

/** The longest delay a Node timer can hold (2^31 - 1 ms); longer ones would fire at once. */
export const longestTimerMs = 2_147_483_647;
