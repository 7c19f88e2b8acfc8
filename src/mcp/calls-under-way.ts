/** Calls of HTTP clients that are being answered, by who asked and the id of the request. */
export type CallsUnderWay = ReturnType<typeof createCallsUnderWay>;

/**
 * Clients of 2025 cancel by a message of its own, and without sessions nothing but its sender and the id of the request ties it to
 * the call. Where two calls have both in common, neither is cancelled: clients behind one address count from the same number.
 */
export function createCallsUnderWay() {
  const calls = new Map<string, Set<AbortController>>();
  return {
    /** Runs a call with a signal that aborts when its client cancels it. */
    async run<T>(owner: string, id: unknown, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const key = keyOf(owner, id);
      const aborter = new AbortController();
      const same = calls.get(key) ?? new Set();
      calls.set(key, same.add(aborter));
      try {
        return await call(aborter.signal);
      } finally {
        same.delete(aborter);
        if (same.size === 0) calls.delete(key);
      }
    },
    cancel(owner: string, id: unknown): void {
      const [only, another] = calls.get(keyOf(owner, id)) ?? [];
      if (another === undefined) only?.abort();
    },
  };
}

const keyOf = (owner: string, id: unknown): string => JSON.stringify([owner, id]);
