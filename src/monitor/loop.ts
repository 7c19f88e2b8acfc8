import type { Clock, Timer } from "../outbound/clock.ts";

/** Work that is done again and again, never twice at once. */
export interface Loop {
  start(): void;
  /** Resolves when a turn under way has ended. */
  stop(): Promise<void>;
}

/** How a loop turns. */
export interface LoopOptions {
  readonly clock: Clock;
  /** Milliseconds from the end of one turn to the beginning of the next. */
  readonly everyMs: number;
  readonly run: () => Promise<void>;
  /** Hears of failures: the first of several in a row, and one a minute after that. */
  readonly onFault: (error: unknown) => void;
}

const againMs = 60_000;

/** A loop; its first turn comes at once when it is started. */
export function createLoop({ clock, everyMs, run, onFault }: LoopOptions): Loop {
  let timer: Timer | undefined;
  let turn: Promise<void> = Promise.resolve();
  let toldMs: number | undefined;
  let stopped = false;

  const once = async (): Promise<void> => {
    try {
      await run();
      toldMs = undefined;
    } catch (error) {
      if (toldMs === undefined || Math.abs(clock.now() - toldMs) >= againMs) {
        toldMs = clock.now();
        onFault(error);
      }
    }
    if (!stopped) timer = clock.setTimeout(begin, everyMs);
  };
  const begin = (): void => {
    turn = once();
  };
  return {
    start: begin,
    async stop() {
      stopped = true;
      if (timer !== undefined) clock.clearTimeout(timer);
      await turn;
    },
  };
}
