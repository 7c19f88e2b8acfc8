/** Time as the store sees it; passed in so that tests own it. */
export interface StoreClock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The process's own clock. */
export const systemClock: StoreClock = { now: () => Date.now() };

/** How often a write also removes what has expired. */
export const sweepEveryMs = 60_000;
