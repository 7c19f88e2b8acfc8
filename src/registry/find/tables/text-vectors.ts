import { setImmediate } from "node:timers/promises";
import { sleep, systemClock } from "../../../clock.ts";
import type { Embedder, TextRole } from "../../../embeddings/embedder.ts";

/** A text by its place in a list. */
export interface PlacedText {
  readonly at: number;
  readonly text: string;
}

interface VectorOptions {
  readonly embedder: Pick<Embedder, "embed">;
  /** Called when the model failed; what it was to embed is tried again after a minute. */
  readonly onFault: (error: unknown) => void;
  /** Vectors of all lists together; 384 numbers are 400 bytes. */
  readonly most: number;
  /** Role of the texts; passages when absent. */
  readonly as?: TextRole;
}

/** A vector in a byte a number, which changes a cosine by less than 0.01. */
interface SmallVector {
  readonly bytes: Int8Array;
  readonly scale: number;
}

/** Texts that are embedded at once. */
const batchSize = 64;
const retryMs = 60_000;
/** A model that is slower with a question is not waited for. */
const questionMs = 2_000;

/** Vectors of lists of texts, made in the background, in a bounded memory. */
export class TextVectors {
  readonly #options: VectorOptions;
  readonly #lists = new Map<string, ReadonlyMap<number, SmallVector>>();
  readonly #wanted = new Map<string, () => readonly PlacedText[]>();
  readonly #closing = new AbortController();
  #work: Promise<void> | undefined;
  /** The model has failed lately. */
  #isResting = false;

  constructor(options: VectorOptions) {
    this.#options = options;
  }

  /** Replaces a list, soon; undefined removes it. */
  set(id: string, texts: (() => readonly PlacedText[]) | undefined): void {
    this.#lists.delete(id);
    this.#wanted.delete(id);
    if (texts === undefined) return;
    this.#wanted.set(id, texts);
    this.#begin();
  }

  /**
   * Vectors of what is looked for; undefined while there is nothing to compare them with, and when the model fails or takes over
   * two seconds. @throws the signal's reason
   */
  async questions(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[] | undefined> {
    if (this.#lists.size === 0) return undefined;
    const slow = AbortSignal.timeout(questionMs);
    const ends = AbortSignal.any([slow, this.#closing.signal, ...(signal ? [signal] : [])]);
    try {
      return await this.#options.embedder.embed(texts, { signal: ends, as: "query" });
    } catch (error) {
      signal?.throwIfAborted();
      if (!ends.aborted) this.#options.onFault(error);
      return undefined;
    }
  }

  /** Ids of the lists that have vectors. */
  ids(): Iterable<string> {
    return this.#lists.keys();
  }

  /** Cosine of a text with a question; NaN where there is no vector, or one of another model. */
  cosine(id: string, at: number, question: Float32Array): number {
    const { bytes, scale } = this.#lists.get(id)?.get(at) ?? {};
    if (bytes === undefined || scale === undefined || bytes.length !== question.length) return Number.NaN;
    let sum = 0;
    for (let place = 0; place < bytes.length; place++) sum += (bytes[place] ?? 0) * (question[place] ?? 0);
    return sum * scale;
  }

  /** Texts of a list with their cosines, nearest first. */
  nearest(id: string, question: Float32Array): readonly { readonly at: number; readonly cosine: number }[] {
    return [...(this.#lists.get(id)?.keys() ?? [])]
      .map((at) => ({ at, cosine: this.cosine(id, at, question) }))
      .filter(({ cosine }) => !Number.isNaN(cosine))
      .toSorted((left, right) => right.cosine - left.cosine);
  }

  /** Resolves when all that is wanted is there, or the model failed and is left alone for a minute. */
  async settled(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#work;
  }

  #begin(): void {
    if (!this.#isResting) this.#work ??= this.#run();
  }

  async #run(): Promise<void> {
    try {
      await this.#embedAll();
    } catch (error) {
      if (!this.#closing.signal.aborted) void this.#rest(error);
    } finally {
      this.#work = undefined;
    }
  }

  async #rest(error: unknown): Promise<void> {
    const { signal } = this.#closing;
    this.#isResting = true;
    this.#options.onFault(error);
    await sleep(retryMs, { clock: systemClock, signal });
    this.#isResting = false;
    if (!signal.aborted) this.#begin();
  }

  async #embedAll(): Promise<void> {
    // Texts set together are embedded together, and others have their turn between two batches.
    await setImmediate();
    while (this.#wanted.size > 0 && !this.#closing.signal.aborted) {
      await this.#embedSome(this.#closing.signal);
      await setImmediate();
    }
  }

  /** One list, or several short ones. */
  async #embedSome(signal: AbortSignal): Promise<void> {
    const { embedder, most, as = "passage" } = this.#options;
    const used = this.#lists.values().reduce((sum, { size }) => sum + size, 0);
    const taken = new Map<string, () => readonly PlacedText[]>();
    const texts: (PlacedText & { readonly id: string })[] = [];
    for (const [id, list] of this.#wanted) {
      taken.set(id, list);
      texts.push(...list().map(({ at, text }) => ({ id, at, text })));
      if (texts.length >= batchSize) break;
    }
    const made = new Map<string, Map<number, SmallVector>>();
    for (let start = 0; start < Math.min(texts.length, most - used); start += batchSize) {
      const batch = texts.slice(start, Math.min(start + batchSize, most - used));
      const vectors = await embedder.embed(
        batch.map(({ text }) => text),
        { signal, as },
      );
      for (const [place, { id, at }] of batch.entries()) {
        const vector = vectors[place];
        if (vector !== undefined) made.set(id, (made.get(id) ?? new Map()).set(at, smallVector(vector)));
      }
    }
    for (const [id, list] of taken) {
      if (this.#wanted.get(id) !== list) continue;
      this.#wanted.delete(id);
      const vectors = made.get(id);
      if (vectors !== undefined) this.#lists.set(id, vectors);
    }
  }
}

function smallVector(vector: Float32Array): SmallVector {
  const scale = vector.reduce((most, value) => Math.max(most, Math.abs(value)), Number.MIN_VALUE) / 127;
  return { bytes: Int8Array.from(vector, (value) => Math.round(value / scale)), scale };
}
