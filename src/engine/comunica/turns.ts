/** Undefined while the work may go on; a promise when others must have their turn first. */
export type Turns = () => Promise<void> | undefined;

const CALLS_BETWEEN_LOOKS = 256;
const LONGEST_TURN_MS = 10;

/**
 * For loops that work for seconds on what is at hand: called once a step, it gives timers and other queries their turn
 * every few milliseconds. @param signal ends the loop when the execution is over
 */
export function createTurns(signal: AbortSignal): Turns {
  let calls = 0;
  let since = performance.now();
  return () => {
    calls++;
    if (calls % CALLS_BETWEEN_LOOKS > 0 || performance.now() - since < LONGEST_TURN_MS) return undefined;
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        since = performance.now();
        if (signal.aborted) reject(signal.reason as Error);
        else resolve();
      });
    });
  };
}
