import type { Clock } from "../../../src/clock.ts";

/** Timers of the transport up to this are pauses and pass at once; longer ones are deadlines and run on real time. */
const longestPauseMs = 5_000;

/** A clock that simulated engines move on: nobody waits for the seconds that they say a query took. */
export interface VirtualClock {
  /** For the transport. */
  readonly transport: Clock;
  /** For those whose timers are all pauses. */
  readonly describer: Clock;
  /** Handed to the engines; holds the milliseconds by which this clock is ahead of the system's. */
  readonly aheadMs: SharedArrayBuffer;
}

export function createVirtualClock(): VirtualClock {
  const aheadMs = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const ahead = new Int32Array(aheadMs);
  const clock = (pausesUpToMs: number): Clock => ({
    now: () => Date.now() + Atomics.load(ahead, 0),
    setTimeout(run, ms) {
      if (ms > pausesUpToMs) return setTimeout(run, ms);
      return setTimeout(() => {
        advance(aheadMs, ms);
        run();
      }, 0);
    },
    clearTimeout: (timer) => clearTimeout(timer),
  });
  return { aheadMs, transport: clock(longestPauseMs), describer: clock(Number.POSITIVE_INFINITY) };
}

/** Lets time pass. */
export function advance(aheadMs: SharedArrayBuffer, ms: number): void {
  Atomics.add(new Int32Array(aheadMs), 0, Math.round(ms));
}
