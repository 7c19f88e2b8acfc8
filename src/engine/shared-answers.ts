import { LRUCache } from "lru-cache";
import { inBatches, itemsOf } from "../results/item-reader.ts";
import type { Bindings } from "../results/model.ts";
import { type HeldBytes, keyBytes, rowBytes } from "./held-bytes.ts";

// A larger answer is not kept, but asked for again.
const LARGEST_BYTES = 256 * 1024;
const MOST_BYTES = 2 * 1024 * 1024;

/**
 * The answers of one execution: equal requests are sent once, also while the first one is under way. Stored bytes are counted.
 */
export class SharedAnswers {
  readonly #held: HeldBytes;
  readonly #open = new Map<string, SharedRows>();
  readonly #kept = new LRUCache<string, SharedRows>({
    maxSize: MOST_BYTES,
    sizeCalculation: (rows, request) => keyBytes(request) + rows.bytes,
    dispose: (rows) => rows.letGo(),
  });

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  /** The rows of the request's answer. It is sent when it has not been, or when its answer was not kept. */
  rows(request: string, send: () => AsyncIterable<Bindings>): AsyncIterable<Bindings> {
    return itemsOf(this.#batches(request, send));
  }

  async *#batches(request: string, send: () => AsyncIterable<Bindings>): AsyncIterable<readonly Bindings[]> {
    const known = this.#kept.get(request) ?? this.#open.get(request);
    const rows = known?.isShared ? known : this.#start(request, send());
    try {
      yield* rows.read();
    } finally {
      const isOver = rows.isDone || !rows.isRead;
      if (this.#open.get(request) === rows && isOver) {
        this.#open.delete(request);
        if (rows.isDone && rows.isShared) this.#kept.set(request, rows);
      }
    }
  }

  #start(request: string, source: AsyncIterable<Bindings>): SharedRows {
    const rows = new SharedRows(source, this.#held);
    this.#open.set(request, rows);
    return rows;
  }
}

/** Rows in batches for several readers. Whoever needs the next one pulls it, so that none waits for another to go on. */
class SharedRows {
  bytes = 0;
  isDone = false;
  /** All rows so far are here: one more may read them. */
  isShared = true;
  readonly #source: AsyncIterator<readonly Bindings[]>;
  readonly #holding: ReturnType<HeldBytes["open"]>;
  #batches: (readonly Bindings[])[] = [];
  #readers = 0;
  #pulling: Promise<void> | undefined;

  constructor(source: AsyncIterable<Bindings>, held: HeldBytes) {
    this.#source = inBatches(source)[Symbol.asyncIterator]();
    this.#holding = held.open();
  }

  get isRead(): boolean {
    return this.#readers > 0;
  }

  async *read(): AsyncIterable<readonly Bindings[]> {
    this.#readers++;
    try {
      for (let at = 0; ; at++) {
        while (at === this.#batches.length && !this.isDone) await this.#pull();
        const rows = this.#batches[at];
        if (!rows) return;
        yield rows;
        if (this.bytes > LARGEST_BYTES && this.#readers === 1) {
          yield* this.#alone(at + 1);
          return;
        }
      }
    } finally {
      this.#readers--;
      if (this.#readers === 0 && !this.isDone) {
        this.letGo();
        await this.#source.return?.();
      }
    }
  }

  letGo(): void {
    this.#holding.release();
  }

  /** The rest for the only reader; nothing is kept any more. */
  async *#alone(from: number): AsyncIterable<readonly Bindings[]> {
    const rest = this.#batches.slice(from);
    this.isShared = false;
    this.#batches = [];
    this.letGo();
    yield* rest;
    if (this.isDone) return;
    for (let next = await this.#source.next(); !next.done; next = await this.#source.next()) yield next.value;
    this.isDone = true;
  }

  /** Every reader receives a failure. */
  #pull(): Promise<void> {
    this.#pulling ??= this.#take();
    return this.#pulling;
  }

  async #take(): Promise<void> {
    const next = await this.#source.next();
    this.#pulling = undefined;
    if (next.done) {
      this.isDone = true;
      return;
    }
    const bytes = next.value.reduce((sum, row) => sum + rowBytes(row), 0);
    this.bytes += bytes;
    this.#holding.add(bytes);
    this.#batches.push(next.value);
  }
}
