/** How work is repeated. */
export interface RepeatOptions {
  readonly everyMs: number;
  /** Told of each failure, but not of those after `close`. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Runs `work` every `everyMs` until `close`. A turn is left out while the one before it is still running. Does not keep the
 * process alive.
 */
export function repeat(work: () => Promise<void>, { everyMs, onFault }: RepeatOptions): { close(): void } {
  let isRunning = false;
  let isClosed = false;
  const run = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    try {
      await work();
    } catch (error) {
      if (!isClosed) onFault(error);
    } finally {
      isRunning = false;
    }
  };
  const timer = setInterval(() => void run(), everyMs);
  timer.unref();
  return {
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
