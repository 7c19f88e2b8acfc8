/** Calls of HTTP clients that are being answered, by the session or connection that asked and the id of the request. */
export type CallsUnderWay = ReturnType<typeof createCallsUnderWay>;

/**
 * Clients of 2025 cancel by a message of its own. It counts within the session, else the connection, of the call: ids of requests
 * are easily guessed, and an address is that of many. Where two calls have both in common, neither is cancelled.
 */
export function createCallsUnderWay() {
  const calls = new Map<string, Set<AbortController>>();
  return {
    /** Runs a call with a signal that aborts when its client cancels it. */
    async run<T>(peer: string, id: unknown, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const key = keyOf(peer, id);
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
    cancel(peer: string, id: unknown): void {
      const [only, another] = calls.get(keyOf(peer, id)) ?? [];
      if (another === undefined) only?.abort();
    },
  };
}

const keyOf = (peer: string, id: unknown): string => JSON.stringify([peer, id]);
