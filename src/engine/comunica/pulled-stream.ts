import type * as RDF from "@rdfjs/types";
import { BufferedIterator } from "asynciterator";
import { type HeldBytes, rowBytes } from "../held-bytes.ts";

/** What a stream must know of the execution it belongs to. */
export interface RunControl {
  /** Ends the execution with an error. */
  readonly fail: (error: unknown) => void;
  /** Aborted when the execution is over. */
  readonly signal: AbortSignal;
  /** Counts a solution that was made; throws when there are too many. */
  readonly count: () => void;
  /** Of the whole evaluation. */
  readonly held: HeldBytes;
}

// Solutions can be made of what is at hand for seconds on end; timers and other queries must have their turn.
const ITEMS_BETWEEN_TURNS = 256;
const MOST_BUFFERED = 64;
// A row beyond this waits alone: a query has many streams.
const LARGE_ROW_BYTES = 64 * 1024;

/**
 * An async iterable as an asynciterator: nothing runs before the first read, and leaving early ends the source. After a
 * failure, and when the execution is over, the stream stays silent: an operator above it must neither go on working nor
 * take the solutions it has seen for all of them.
 */
export class PulledStream<T> extends BufferedIterator<T> {
  readonly #open: () => AsyncIterable<T>;
  readonly #control: RunControl;
  #source: AsyncIterator<T> | undefined;
  #pulled = 0;

  constructor(open: () => AsyncIterable<T>, control: RunControl) {
    super({ autoStart: false, maxBufferSize: MOST_BUFFERED });
    this.#open = open;
    this.#control = control;
  }

  override _read(count: number, done: () => void): void {
    void this.#pullOrFail(count, done);
  }

  async #pullOrFail(count: number, done: () => void): Promise<void> {
    try {
      await this.#pull(count);
    } catch (error) {
      this.#control.fail(error);
      return;
    }
    if (!this.#control.signal.aborted) done();
  }

  async #pull(count: number): Promise<void> {
    this.#source ??= this.#open()[Symbol.asyncIterator]();
    for (let pulled = 0; pulled < count && !this.#control.signal.aborted; pulled++) {
      const next = await this.#source.next();
      if (next.done) return this.close();
      this.#control.count();
      this._push(next.value);
      this.#pulled++;
      this.maxBufferSize = isLarge(next.value) ? 1 : MOST_BUFFERED;
      if (this.maxBufferSize === 1) return;
      if (this.#pulled % ITEMS_BETWEEN_TURNS === 0) await new Promise(setImmediate);
    }
  }

  protected override _destroy(_cause: Error | undefined, callback: (error?: Error) => void): void {
    void this.#source?.return?.().catch(() => {});
    callback();
  }
}

function isLarge(item: unknown): boolean {
  const row = item as { readonly forEach?: unknown };
  return typeof row.forEach === "function" && rowBytes(item as RDF.Bindings) > LARGE_ROW_BYTES;
}
