import { setImmediate as nextTurn } from "node:timers/promises";
/** Result of `setTimeout`; opaque. */
export type Timer = NodeJS.Timeout;

/** Time, passed in so that tests own it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now: () => number;
  setTimeout(run: () => void, ms: number): Timer;
  clearTimeout(timer: Timer | undefined): void;
}

/** The calendar, which jumps when somebody sets it: for what is dated, and compared with other machines. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer),
};

// Read once: the property is computed anew each time.
const startedMs = performance.timeOrigin;

/** Milliseconds since the epoch, with fractions and never going back: for deadlines and durations. */
export const steadyClock: Clock = { ...systemClock, now: () => startedMs + performance.now() };

/** The longest delay a Node timer can hold (2^31 - 1 ms); longer ones would fire at once. */
export const longestTimerMs = 2_147_483_647;

/** Resolves after `ms` milliseconds, or as soon as the signal aborts. */
export function sleep(
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}

/** How work is repeated. */
export interface EveryOptions {
  readonly clock: Clock;
  /** Called with failures before `stop`: the first of several in a row, then at most one a minute. */
  readonly onFault: (error: unknown) => void;
  /** Milliseconds before the first turn; none when left out. */
  readonly firstAfterMs?: number;
}

const tellAgainMs = 60_000;

/**
 * Runs `work` again and again, never twice at once: `ms` milliseconds pass between the end of one turn and the beginning of the
 * next. Does not keep the process alive. `stop` resolves when a turn under way has ended.
 */
export function every(
  ms: number,
  work: () => Promise<void>,
  { clock, onFault, firstAfterMs = 0 }: EveryOptions,
): { stop(): Promise<void> } {
  let timer: Timer | undefined;
  let turn: Promise<void> = Promise.resolve();
  let toldMs: number | undefined;
  let isStopped = false;

  const once = async (): Promise<void> => {
    try {
      await work();
      toldMs = undefined;
    } catch (error) {
      if (!isStopped && (toldMs === undefined || Math.abs(clock.now() - toldMs) >= tellAgainMs)) {
        toldMs = clock.now();
        onFault(error);
      }
    }
    if (!isStopped) schedule(ms);
  };
  const begin = (): void => {
    turn = once();
  };
  const schedule = (delayMs: number): void => {
    timer = clock.setTimeout(begin, delayMs);
    timer.unref();
  };
  if (firstAfterMs > 0) schedule(firstAfterMs);
  else begin();
  return {
    async stop() {
      isStopped = true;
      clock.clearTimeout(timer);
      await turn;
    },
  };
}

/** Milliseconds of work between two turns of the event loop. */
const sliceMs = 10;

/** Runs steps to their end, with turns of the event loop for others between them. */
export async function inTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (let endsMs = performance.now() + sliceMs; ; ) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() < endsMs) continue;
    await nextTurn();
    endsMs = performance.now() + sliceMs;
  }
}

/** Runs steps to their end at once. */
export function atOnce<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
