import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock, Timer } from "../../src/clock.ts";

/** A clock that stands still until it is told to go on. */
export interface SimulatedClock extends Clock {
  /** Goes on by so much; timers fire in their order, each with everything that follows from it without waiting. */
  advance(ms: number): Promise<void>;
  /** Sets the clock, as an operator does: timers keep what is left of their time. */
  set(nowMs: number): void;
}

interface Waiting {
  readonly run: () => void;
  /** On the scale of the time that has passed, which no setting changes. */
  readonly dueMs: number;
}

/** A clock that shows `startMs`. */
export function createSimulatedClock(startMs: number): SimulatedClock {
  const timers = new Map<Timer, Waiting>();
  let passedMs = 0;
  let offsetMs = startMs;
  const nextDue = (): number => Math.min(...Array.from(timers.values(), ({ dueMs }) => dueMs));
  const fire = (): void => {
    for (const [timer, { run, dueMs }] of timers) {
      if (dueMs > passedMs || !timers.delete(timer)) continue;
      run();
    }
  };
  return {
    now: () => offsetMs + passedMs,
    setTimeout(run, ms) {
      // Opaque to whoever gets it; a real one only so that it has the type.
      const timer = setTimeout(() => {}, 0).unref();
      clearTimeout(timer);
      timers.set(timer, { run, dueMs: passedMs + Math.max(0, ms) });
      return timer;
    },
    clearTimeout(timer) {
      if (timer !== undefined) timers.delete(timer);
    },
    set(nowMs) {
      offsetMs = nowMs - passedMs;
    },
    async advance(ms) {
      const endMs = passedMs + ms;
      await nextTurn();
      for (let dueMs = nextDue(); dueMs <= endMs; dueMs = nextDue()) {
        passedMs = Math.max(passedMs, dueMs);
        fire();
        await nextTurn();
      }
      passedMs = endMs;
    },
  };
}
