import { Readable } from "node:stream";
import type { ItemEncoder } from "./encoder.ts";

/** Items are collected up to about this many UTF-16 code units before they become a chunk. */
const batchLength = 16 * 1024;

/**
 * A byte stream of encoded items. The first chunk goes out with the first item (nothing before it: a source that
 * fails at once leaves no half answer), later ones when a batch is full or the source keeps the stream waiting. It
 * takes no item that nobody has room for. A failing source destroys the stream with its error; destroying the stream
 * returns the source's iterator.
 */
export function createEncodedStream<T>(items: AsyncIterable<T>, encoder: ItemEncoder<T>): Readable {
  const pump = new Pump(items, encoder);
  return pump.stream;
}

class Pump<T> {
  readonly stream: Readable;
  readonly #iterator: AsyncIterator<T>;
  readonly #encoder: ItemEncoder<T>;
  #text: string;
  #first = true;
  #running = false;
  #hungry = false;
  #ended = false;
  #flushing: NodeJS.Immediate | undefined;

  constructor(items: AsyncIterable<T>, encoder: ItemEncoder<T>) {
    this.#iterator = items[Symbol.asyncIterator]();
    this.#encoder = encoder;
    this.#text = encoder.open();
    this.stream = new Readable({
      read: () => {
        this.#hungry = true;
        if (!this.#running) void this.#run();
      },
      destroy: (error, callback) => {
        this.#leave();
        callback(error);
      },
    });
  }

  /** Never rejects: whatever fails destroys the stream. */
  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#hungry && !this.#ended) await this.#take();
    } catch (error) {
      this.stream.destroy(error instanceof Error ? error : new Error("The result failed.", { cause: error }));
    }
    this.#running = false;
  }

  async #take(): Promise<void> {
    const result = await this.#iterator.next();
    if (this.#ended) return;
    if (result.done === true) {
      this.#ended = true;
      this.#text += this.#encoder.close();
      this.#flush();
      this.stream.push(null);
      return;
    }
    this.#text += this.#encoder.item(result.value);
    if (this.#first || this.#text.length >= batchLength) this.#flush();
    else this.#flushing ??= setImmediate(() => this.#flush());
    this.#first = false;
  }

  #flush(): void {
    if (this.#flushing !== undefined) clearImmediate(this.#flushing);
    this.#flushing = undefined;
    const text = this.#text;
    this.#text = "";
    if (text !== "" && !this.stream.destroyed) this.#hungry = this.stream.push(Buffer.from(text));
  }

  #leave(): void {
    if (this.#flushing !== undefined) clearImmediate(this.#flushing);
    if (this.#ended) return;
    this.#ended = true;
    // Not awaited: a source that hangs must not keep the stream from closing.
    this.#iterator.return?.().catch(() => undefined);
  }
}
