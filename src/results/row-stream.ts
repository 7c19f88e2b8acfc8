/** Where the items of a stream come from. */
export interface ItemSource<T> {
  /** The next items (none: ask again), or undefined after the last one. */
  next(): Promise<readonly T[] | undefined>;
  /** Lets go of what feeds the stream; called exactly once, at the end, on failure or when the consumer leaves. */
  release(): Promise<void>;
}

/**
 * A single-use stream of items that arrive in batches. Unlike an async generator it releases its source also when
 * `return` comes before the first `next`, and when `return` comes while a `next` is under way.
 */
export function createItemStream<T>(source: ItemSource<T>): AsyncIterableIterator<T> {
  const state = { done: false };
  let batch: readonly T[] = [];
  let at = 0;
  const ended: IteratorResult<T> = { done: true, value: undefined };

  const finish = async (): Promise<void> => {
    if (state.done) return;
    state.done = true;
    batch = [];
    await source.release();
  };

  const refill = async (): Promise<IteratorResult<T>> => {
    try {
      while (!state.done) {
        const items = await source.next();
        if (items === undefined) break;
        if (items.length === 0 || state.done) continue;
        batch = items;
        at = 1;
        return { done: false, value: items[0]! };
      }
    } catch (error) {
      if (state.done) return ended;
      await finish().catch(() => undefined);
      throw error;
    }
    await finish();
    return ended;
  };

  return {
    next: () => {
      if (state.done) return Promise.resolve(ended);
      if (at >= batch.length) return refill();
      at += 1;
      return Promise.resolve({ done: false, value: batch[at - 1]! });
    },
    return: async () => {
      await finish();
      return ended;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
