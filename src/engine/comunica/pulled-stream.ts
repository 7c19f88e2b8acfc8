import { BufferedIterator } from "asynciterator";

/**
 * An async iterable as an asynciterator: nothing runs before the first read, and leaving early ends the source. A failure
 * goes to `fail` and the stream then stays silent: an operator above it must neither miss the error nor take the
 * solutions it has seen for all of them.
 */
export class PulledStream<T> extends BufferedIterator<T> {
  readonly #open: () => AsyncIterable<T>;
  readonly #fail: (error: unknown) => void;
  #source: AsyncIterator<T> | undefined;

  constructor(open: () => AsyncIterable<T>, fail: (error: unknown) => void) {
    super({ autoStart: false, maxBufferSize: 64 });
    this.#open = open;
    this.#fail = fail;
  }

  override _read(count: number, done: () => void): void {
    void this.#pullOrFail(count, done);
  }

  async #pullOrFail(count: number, done: () => void): Promise<void> {
    try {
      await this.#pull(count);
    } catch (error) {
      this.#fail(error);
      return;
    }
    done();
  }

  async #pull(count: number): Promise<void> {
    this.#source ??= this.#open()[Symbol.asyncIterator]();
    for (let pulled = 0; pulled < count; pulled++) {
      const next = await this.#source.next();
      if (next.done) return this.close();
      this._push(next.value);
    }
  }

  protected override _destroy(_cause: Error | undefined, callback: (error?: Error) => void): void {
    void this.#source?.return?.().catch(() => {});
    callback();
  }
}
