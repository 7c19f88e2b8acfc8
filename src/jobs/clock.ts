/** What `setTimeout` gave; opaque. */
export type Timer = NodeJS.Timeout;

/** Time as the queue sees it; passed in so that tests own it. */
export interface JobClock {
  /** Milliseconds since the epoch. */
  now(): number;
  setTimeout(run: () => void, ms: number): Timer;
  clearTimeout(timer: Timer | undefined): void;
}

/** The process's own clock. */
export const systemClock: JobClock = {
  now: () => Date.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer),
};
