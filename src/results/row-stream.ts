/** Where the items of a stream come from. */
export interface ItemSource<T> {
  /** The next items (none: ask again), or undefined after the last one. */
  next(): Promise<readonly T[] | undefined>;
  /** Lets go of what feeds the stream; called exactly once, at the end, on failure or when the consumer leaves. */
  release(): Promise<void>;
}

/**
 * A single-use stream of items that arrive in batches. Unlike an async generator it releases its source also when
 * `return` comes before the first `next`; a `return` while a `next` is under way ends that one, too.
 */
export function createItemStream<T>(source: ItemSource<T>): AsyncIterableIterator<T> {
  return new ItemStream(source);
}

class ItemStream<T> implements AsyncIterableIterator<T> {
  readonly #source: ItemSource<T>;
  #batch: readonly T[] = [];
  #at = 0;
  #done = false;
  /** Ends the `next` that is waiting for the source. */
  #leave: () => void = () => undefined;

  constructor(source: ItemSource<T>) {
    this.#source = source;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#at < this.#batch.length) {
      this.#at += 1;
      return Promise.resolve({ done: false, value: this.#batch[this.#at - 1]! });
    }
    if (this.#done) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#leave = () => resolve({ done: true, value: undefined });
      this.#refill().then(resolve, reject);
    });
  }

  async return(): Promise<IteratorResult<T>> {
    this.#leave();
    await this.#finish();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #refill(): Promise<IteratorResult<T>> {
    try {
      for (let items = await this.#source.next(); items !== undefined; items = await this.#source.next()) {
        if (this.#done) break;
        if (items.length === 0) continue;
        this.#batch = items;
        this.#at = 1;
        return { done: false, value: items[0]! };
      }
    } catch (error) {
      await this.#finish().catch(() => undefined);
      throw error;
    }
    await this.#finish();
    return { done: true, value: undefined };
  }

  async #finish(): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    this.#batch = [];
    await this.#source.release();
  }
}
