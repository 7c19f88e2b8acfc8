/** Delay of writing frequently changed data after a change; longer when there is much to write or the store is away. */
export const writeAfterMs = 200;
const writeLaterMs = 1_000;
const fewKeys = 4;

/** Writes a moment later what has changed, each key once. What the store does not take is written again. */
export function createWriteBehind<Key>(write: (key: Key) => Promise<unknown>) {
  const unwritten = new Set<Key>();
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  let closed = false;

  /** Returns the number of keys written. */
  const writeAll = async (): Promise<number> => {
    const keys = Array.from(unwritten);
    unwritten.clear();
    for (const [index, key] of keys.entries()) {
      try {
        await write(key);
      } catch (error) {
        for (const left of keys.slice(index)) unwritten.add(left);
        throw error;
      }
    }
    return keys.length;
  };
  const turn = async (): Promise<void> => {
    // The store counts its own failures.
    const written = await writeAll().catch(() => Number.POSITIVE_INFINITY);
    timer = undefined;
    if (unwritten.size > 0) wake(written > fewKeys ? writeLaterMs : writeAfterMs);
  };
  const wake = (afterMs: number): void => {
    if (closed) return;
    timer = setTimeout(() => {
      writing = turn();
    }, afterMs);
    timer.unref();
  };
  return {
    changed(key: Key): void {
      unwritten.add(key);
      if (timer === undefined) wake(writeAfterMs);
    },
    /** Writes what is not written yet. */
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      await writing;
      await writeAll().catch(() => {});
    },
  };
}
