import { FedwayError } from "../errors/fedway-error.ts";
import type { Store } from "./store.ts";

/** That documents cannot be written. */
export interface WriteFault {
  readonly sinceMs: number;
  /** A sentence. */
  readonly reason: string;
}

interface WatchOptions {
  readonly now: () => number;
  /** Between two tries while writes fail; default 5,000. */
  readonly everyMs?: number;
}

const probe = "state/probe";
/** Characters beyond which the size of a document makes no difference here. */
const largest = 65_536;

/**
 * The same store, and whether its writes fail: a full disk or a Redis without memory answers what is read, and may take
 * deletes, as if nothing were wrong. A full disk may still have room for small documents, so only one as large as the one that
 * failed ends the fault. While writes fail, such a document is tried, so that room is noticed without a client.
 */
export function watchWrites(store: Store, { now, everyMs = 5_000 }: WatchOptions) {
  let fault: WriteFault | undefined;
  let failedSize = 0;
  let onChange = (_fault: WriteFault | undefined): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const set = (next: WriteFault | undefined): void => {
    if ((fault === undefined) === (next === undefined)) return;
    fault = next;
    onChange(next);
  };
  const followed = async <Result>(work: Promise<Result>, characters: number): Promise<Result> => {
    const size = Math.min(characters, largest);
    try {
      const result = await work;
      // A document that has another version than expected was not written.
      if (result !== undefined && size >= failedSize) {
        failedSize = 0;
        set(undefined);
      }
      return result;
    } catch (error) {
      if (error instanceof FedwayError && error.code === "STORE_FAILED") {
        failedSize = Math.max(failedSize, size);
        set({ sinceMs: now(), reason: error.message });
        schedule();
      }
      throw error;
    }
  };
  const put: Store["put"] = (key, value, options) => followed(store.put(key, value, options), value.length);
  const remove: Store["delete"] = (key, options) => followed(store.delete(key, options), 0);
  const schedule = (): void => {
    if (closed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      put(probe, JSON.stringify({ filler: "x".repeat(failedSize) }), { ttlMs: 60_000 }).catch(() => undefined);
    }, everyMs).unref();
  };
  return {
    store: { ...store, put, delete: remove } satisfies Store,
    fault: (): WriteFault | undefined => fault,
    /** Calls back when writes begin to fail, and with undefined when they work again. */
    listen(listener: typeof onChange): void {
      onChange = listener;
    },
    close(): void {
      closed = true;
      clearTimeout(timer);
    },
  };
}
