import { Readable } from "node:stream";
import { FedwayError } from "../errors/fedway-error.ts";
import { type AnswerDecoder, asMalformed, type Pause } from "./answer-reader.ts";

/** Caps of one answer. */
export interface ParseLimits {
  /** Rows or triples; default unlimited. */
  readonly maxRows?: number;
  /** Bytes that may pass without completing a row or triple, so the largest one that is accepted; default 16 MiB. */
  readonly maxTermBytes?: number;
}

const defaultMaxTermBytes = 16 * 1024 * 1024;
/** Larger chunks are cut up, so that one chunk never becomes very many rows at once. */
const sliceBytes = 64 * 1024;

/** The chunks of an answer, in pieces of bounded size; released exactly once. */
export class ByteSource {
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #iterator: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #at = 0;
  #reading = false;
  #released = false;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#bytes = bytes;
    this.#iterator = bytes[Symbol.asyncIterator]();
  }

  get released(): boolean {
    return this.#released;
  }

  async next(): Promise<Uint8Array | undefined> {
    while (this.#at >= this.#chunk.length) {
      this.#reading = true;
      const result = await this.#iterator.next().finally(() => {
        this.#reading = false;
      });
      if (result.done === true) return undefined;
      this.#chunk = result.value;
      this.#at = 0;
    }
    const piece = this.#chunk.subarray(this.#at, this.#at + sliceBytes);
    this.#at += piece.length;
    return piece;
  }

  /** @param cause why reading failed: whoever sends the bytes learns it as the end of the answer */
  async release(cause?: unknown): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    if (this.#bytes instanceof Readable) {
      this.#bytes.once("error", () => {});
      // An iterator that is waiting for a silent endpoint would not return before its next chunk.
      this.#bytes.destroy(cause instanceof FedwayError ? cause : undefined);
    }
    const returned = this.#iterator.return?.().catch(() => undefined);
    if (!this.#reading) await returned;
  }
}

/**
 * The pause between two steps of parsing what `source` brings.
 * @param check throws when the parse is to end, for instance because its deadline has passed
 */
export function createPause(source: ByteSource, check: () => void = () => undefined): Pause {
  return () => {
    if (source.released) throw new FedwayError("CANCELLED", "The answer is not needed any more.");
    check();
    return nextTurn();
  };
}

/** How the bytes of an answer become items. */
interface ItemReaderOptions<T> {
  readonly source: ByteSource;
  readonly decoder: AnswerDecoder<T>;
  readonly pause: Pause;
  readonly limits?: ParseLimits | undefined;
}

/** Feeds a decoder in small steps and holds the limits. */
export class ItemReader<T> {
  readonly #options: ItemReaderOptions<T>;
  readonly #maxRows: number;
  readonly #maxTermBytes: number;
  #rows = 0;
  #idleBytes = 0;
  #ended = false;

  constructor(options: ItemReaderOptions<T>) {
    this.#options = options;
    this.#maxRows = options.limits?.maxRows ?? Number.POSITIVE_INFINITY;
    this.#maxTermBytes = options.limits?.maxTermBytes ?? defaultMaxTermBytes;
  }

  async next(): Promise<readonly T[] | undefined> {
    if (this.#ended) return undefined;
    const { source, pause } = this.#options;
    const piece = await source.next();
    this.#ended = piece === undefined;
    await pause();
    const items = await this.#decode(piece);
    this.#idleBytes = items.length > 0 ? 0 : this.#idleBytes + (piece?.length ?? 0);
    if (this.#idleBytes > this.#maxTermBytes) {
      throw tooLarge(`The endpoint sent ${this.#maxTermBytes} bytes that hold no whole row or triple.`);
    }
    this.#rows += items.length;
    if (this.#rows > this.#maxRows) throw tooLarge(`The endpoint sent more than ${this.#maxRows} rows or triples.`);
    return items;
  }

  async #decode(piece: Uint8Array | undefined): Promise<readonly T[]> {
    const { decoder } = this.#options;
    try {
      return piece === undefined ? await decoder.end() : await decoder.push(piece);
    } catch (error) {
      throw asMalformed("SPARQL", error);
    }
  }
}

const tooLarge = (message: string): FedwayError => new FedwayError("ANSWER_TOO_LARGE", message, { fault: "too-large" });

/** Where the items of a stream come from. */
interface ItemSource<T> {
  /** The next items (none: ask again), or undefined after the last one. */
  next(): Promise<readonly T[] | undefined>;
  /** Lets go of what feeds the stream; called exactly once: at the end, on failure (with its cause) or when the consumer leaves. */
  release(cause?: unknown): Promise<void>;
}

/**
 * A single-use stream of items that arrive in batches. Unlike an async generator it releases its source also when
 * `return` comes before the first `next`; a `return` while a `next` is under way ends that one, too.
 */
export function createItemStream<T>(source: ItemSource<T>): AsyncIterableIterator<T> {
  return new ItemStream(source);
}

/**
 * The items of batches as a stream, which gives the batches back to `inBatches`. Leaving it early ends them.
 * @param over called once, when the stream ends, however it does
 */
export function itemsOf<T>(
  batches: AsyncIterable<readonly T[]>,
  over: () => void = () => {},
): AsyncIterableIterator<T> {
  const iterator = batches[Symbol.asyncIterator]();
  return createItemStream({
    async next() {
      const { done, value } = await iterator.next();
      return done === true ? undefined : value;
    },
    async release() {
      over();
      await iterator.return?.();
    },
  });
}

/** The items in the batches in which they arrive; other streams give each item alone. */
export const inBatches = <T>(items: AsyncIterable<T>): AsyncIterable<readonly T[]> =>
  isItemStream(items) ? items.batches() : alone(items);

const isItemStream = <T>(items: AsyncIterable<T>): items is ItemStream<T> => items instanceof ItemStream;

/** No generator: one that waits for its next item cannot be left. */
function alone<T>(items: AsyncIterable<T>): AsyncIterable<readonly T[]> {
  const iterator = items[Symbol.asyncIterator]();
  const next = async (): Promise<IteratorResult<readonly T[]>> => {
    const { done, value } = await iterator.next();
    return done === true ? { done, value: undefined } : { done: false, value: [value] };
  };
  const leave = async (): Promise<IteratorResult<readonly T[]>> => {
    await iterator.return?.();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
}

class ItemStream<T> implements AsyncIterableIterator<T> {
  readonly #source: ItemSource<T>;
  #batch: readonly T[] = [];
  #at = 0;
  #done = false;
  /** Ends the wait for the source. */
  #leave: () => void = () => undefined;

  constructor(source: ItemSource<T>) {
    this.#source = source;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#at < this.#batch.length) return Promise.resolve({ done: false, value: this.#batch[this.#at++]! });
    return this.#filled().then((isFilled) =>
      isFilled ? { done: false, value: this.#batch[this.#at++]! } : { done: true, value: undefined },
    );
  }

  batches(): AsyncIterable<readonly T[]> {
    const next = async (): Promise<IteratorResult<readonly T[]>> => {
      if (this.#at >= this.#batch.length && !(await this.#filled())) return { done: true, value: undefined };
      const value = this.#at === 0 ? this.#batch : this.#batch.slice(this.#at);
      this.#at = this.#batch.length;
      return { done: false, value };
    };
    const leave = async (): Promise<IteratorResult<readonly T[]>> => {
      await this.return();
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
  }

  async return(): Promise<IteratorResult<T>> {
    this.#leave();
    await this.#finish();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** True if there is another batch. */
  #filled(): Promise<boolean> {
    if (this.#done) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      this.#leave = () => resolve(false);
      this.#refill().then(resolve, reject);
    });
  }

  async #refill(): Promise<boolean> {
    try {
      for (let items = await this.#source.next(); items !== undefined; items = await this.#source.next()) {
        if (this.#done) break;
        if (items.length === 0) continue;
        this.#batch = items;
        this.#at = 0;
        return true;
      }
    } catch (error) {
      await this.#finish(error).catch(() => undefined);
      throw error;
    }
    await this.#finish();
    return false;
  }

  async #finish(cause?: unknown): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    this.#batch = [];
    await this.#source.release(cause);
  }
}

/** Milliseconds that all parsers together may hold one turn of the event loop. */
const shareMs = 10;

/** When parsers began to work in this turn; undefined before. */
let beganMs: number | undefined;
/** Those whose turn comes, one in each turn of the loop. */
const waiting: (() => void)[] = [];

/**
 * Lets the event loop have its turn between two steps of a long piece of work. Gives undefined while this turn has time
 * left, so that the work goes on at once; else a promise of a later turn. Those that wait are served in order, so
 * many parsers at once hold the loop no longer than one.
 */
function nextTurn(): Promise<void> | undefined {
  const nowMs = performance.now();
  if (beganMs === undefined) {
    beganMs = nowMs;
    setImmediate(begin);
    return undefined;
  }
  if (nowMs - beganMs < shareMs) return undefined;
  return new Promise((resolve) => {
    waiting.push(resolve);
  });
}

function begin(): void {
  const first = waiting.shift();
  beganMs = first === undefined ? undefined : performance.now();
  if (first === undefined) return;
  setImmediate(begin);
  first();
}
