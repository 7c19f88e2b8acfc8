import { type Clock, sleep } from "../../clock.ts";
import type { EditableCatalog } from "./catalog.ts";
import { itemAt } from "../../values.ts";

/** Parts to clean up after endpoints leave the catalogue. */
interface RemovalOptions {
  readonly catalog: Pick<EditableCatalog, "entries" | "byId" | "onChange">;
  /** Drops the stored data of an endpoint; called again when it has failed, also half-way. */
  readonly remove: (id: string) => Promise<unknown>;
  readonly clock: Clock;
  /** Called with every failure, and with abandoned work. */
  readonly onFault: (error: unknown) => void;
}

/** Waits before the next tries; the last one is repeated, for somewhat more than an hour in all. */
const retryMs = [250, 1_000, 5_000, 30_000, 120_000];
const mostTries = 40;
/** Endpoints whose removal waits to be tried again. */
const mostWaiting = 1_000;

/**
 * Calls `remove` for every endpoint that leaves the catalogue, until `close`. While that fails it is tried again, unless
 * the endpoint is back.
 */
export function followRemovals({ catalog, remove, clock, onFault }: RemovalOptions): { close(): void } {
  const closing = new AbortController();
  const { signal } = closing;
  /** The removals under way; a later one of the same endpoint takes the place of an earlier one. */
  const open = new Map<string, AbortController>();

  /** Returns true if the removal is done or must be given up. */
  const attempt = async (id: string): Promise<boolean> => {
    try {
      await remove(id);
      return true;
    } catch (error) {
      if (!signal.aborted) onFault(error);
      return signal.aborted;
    }
  };

  const removeUntilDone = async (id: string): Promise<void> => {
    open.get(id)?.abort();
    const own = new AbortController();
    open.set(id, own);
    for (let tries = 1; !(await attempt(id)) && !own.signal.aborted; tries++) {
      if (tries === mostTries || open.size > mostWaiting) {
        onFault(new Error(`The stored data of the removed endpoint "${id}" could not be deleted, and stay.`));
        break;
      }
      await sleep(itemAt(retryMs, Math.min(tries, retryMs.length) - 1), { clock, signal: own.signal });
      // The present data may be newer, of an endpoint that has returned.
      if (own.signal.aborted || catalog.byId(id) !== undefined) break;
    }
    if (open.get(id) === own) open.delete(id);
  };

  let known = catalog.entries;
  const ignore = catalog.onChange(() => {
    const before = known;
    known = catalog.entries;
    for (const { id } of before) if (catalog.byId(id) === undefined) void removeUntilDone(id);
  });
  return {
    close() {
      ignore();
      closing.abort();
      for (const own of open.values()) own.abort();
    },
  };
}
