import { cancellation } from "../../errors/fedway-error.ts";

interface Shared<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/** Work that several callers wait for: done once, and given up when the last of them has left. */
export function shareWork<T>() {
  const running = new Map<string, Shared<T>>();
  const start = (key: string, work: (signal: AbortSignal) => Promise<T>): Shared<T> => {
    const controller = new AbortController();
    const shared: Shared<T> = { result: work(controller.signal), controller, waiting: 0 };
    running.set(key, shared);
    return shared;
  };
  return {
    /** @throws FedwayError `CANCELLED` when `signal` is aborted, and what `work` throws */
    async join(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      if (signal.aborted) throw cancellation(signal);
      const shared = running.get(key) ?? start(key, work);
      shared.waiting++;
      const { promise: left, reject } = Promise.withResolvers<never>();
      const leave = (): void => reject(cancellation(signal));
      signal.addEventListener("abort", leave, { once: true });
      try {
        return await Promise.race([shared.result, left]);
      } finally {
        signal.removeEventListener("abort", leave);
        shared.waiting--;
        if (shared.waiting === 0) {
          if (running.get(key) === shared) running.delete(key);
          shared.controller.abort(cancellation(signal));
          // Whoever waited for it has gone.
          shared.result.catch(() => {});
        }
      }
    },
  };
}
