import { LRUCache } from "lru-cache";
import { FedwayError } from "../errors/fedway-error.ts";
import { FairQueue } from "../workers/fair-queue.ts";

/** Role of a text: models of the E5 and BGE families need questions marked as such. */
export type TextRole = "query" | "passage";

/** How texts are embedded. */
interface EmbedOptions {
  readonly signal: AbortSignal;
  /** Default `passage`: a label or a description that is to be found. */
  readonly as?: TextRole;
}

/** Turns texts into vectors whose nearness is nearness of meaning. */
export interface Embedder {
  /** Of the model; vectors of models with different names cannot be compared. */
  readonly name: string;
  /**
   * One vector of length 1 for each text, in the same order, so that the dot product is the cosine. Texts are cut to 2,000
   * UTF-16 units. Questions go ahead of long lists of passages.
   * @throws FedwayError `MODEL_FAILED`, `CONFIG_INVALID` when the model cannot be loaded, `SERVICE_BUSY`,
   *   `DEADLINE_EXCEEDED`; the signal's reason when that is aborted
   */
  embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}

/** A model behind an `Embedder`. */
export interface Model {
  readonly name: string;
  /** Texts that are sent at once. */
  readonly batchSize: number;
  /** Batches under way at once. */
  readonly concurrency: number;
  /** One vector for each text, of any length. @throws FedwayError as `Embedder.embed` */
  run(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}

const maxTextLength = 2_000;
/** Calls of one role that may wait for the model. */
const maxWaiting = 256;
/** Vectors that are remembered, in bytes: some 20,000 of 384 numbers. */
const cacheBytes = 32 * 1024 * 1024;

/** Marks texts for the family of models that a name shows; `undefined`: another family, which needs no marks. */
const families: readonly { readonly name: RegExp; readonly prefixes: Readonly<Record<TextRole, string>> }[] = [
  { name: /(?:^|[^a-z])e5(?:$|[^a-z0-9])/i, prefixes: { query: "query: ", passage: "passage: " } },
  {
    name: /(?:^|[^a-z])bge-(?:small|base|large)-en/i,
    prefixes: { query: "Represent this sentence for searching relevant passages: ", passage: "" },
  },
];

/** Prefixes of texts in each role, for a model of this name. */
export const prefixesOf = (model: string): Readonly<Record<TextRole, string>> =>
  families.find(({ name }) => name.test(model))?.prefixes ?? { query: "", passage: "" };

/**
 * An embedder over a model: batches in turn, in a bounded queue, with a bounded memory of vectors.
 * @param prefixes prefixes that the model expects before texts; default: those of its family
 */
export function createEmbedder(model: Model, prefixes = prefixesOf(model.name)): Embedder {
  const cache = new LRUCache<string, Float32Array>({
    maxSize: cacheBytes,
    sizeCalculation: (vector, text) => vector.byteLength + 2 * text.length + 100,
  });
  const turns = new Turns(model.concurrency);

  /** The model keeps its turn until it has finished, also when the result is not needed any more. */
  async function runBatch(texts: readonly string[], role: TextRole, signal: AbortSignal): Promise<void> {
    const done = await turns.take(role, signal);
    const vectors = await unlessAborted(signal, model.run(texts, signal).finally(done));
    texts.forEach((text, place) => cache.set(text, unitVector(vectors[place])));
  }

  return {
    name: model.name,
    async embed(texts, { signal, as = "passage" }) {
      signal.throwIfAborted();
      const inputs = texts.map((text) => prefixes[as] + tidy(text));
      // Held here too, as later batches may push earlier ones out of the cache.
      const found = new Map<string, Float32Array>();
      const keep = (wanted: Iterable<string>): void => {
        for (const text of wanted) {
          const vector = cache.get(text);
          if (vector !== undefined) found.set(text, vector);
        }
      };
      keep(new Set(inputs));
      const missing = [...new Set(inputs)].filter((text) => !found.has(text));
      // Texts of like length side by side: a batch is as slow as its longest text.
      missing.sort((one, other) => one.length - other.length);
      for (let start = 0; start < missing.length; start += model.batchSize) {
        const batch = missing.slice(start, start + model.batchSize);
        await runBatch(batch, as, signal);
        keep(batch);
      }
      return inputs.map((text) => found.get(text) ?? new Float32Array());
    },
    close: () => model.close(),
  };
}

/** Foreign text without control characters and halves of characters; never empty, which some APIs refuse. */
function tidy(text: string): string {
  const plain = text
    .slice(0, maxTextLength)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return plain === "" ? "." : plain;
}

function unitVector(vector: Float32Array | undefined): Float32Array {
  const length = Math.hypot(...(vector ?? []));
  if (vector === undefined || !(length > 0) || length === Number.POSITIVE_INFINITY) {
    throw new FedwayError("MODEL_FAILED", "The embedding model gave a vector without a direction.");
  }
  return vector.map((value) => value / length);
}

async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Lets batches of both roles have their turns, so that one question waits for one batch of a long list at most. */
class Turns {
  readonly #queue = new FairQueue<{ begin(done: () => void): void }>({
    maxWaiting: 2 * maxWaiting,
    maxPerClient: maxWaiting,
  });
  #free: number;

  constructor(concurrency: number) {
    this.#free = concurrency;
  }

  /** Waits for a turn. @returns what ends it @throws FedwayError `SERVICE_BUSY`; the signal's reason */
  take(role: TextRole, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        if (this.#queue.remove(order)) reject(signal.reason);
      };
      const order = {
        begin(done: () => void): void {
          signal.removeEventListener("abort", abort);
          resolve(done);
        },
      };
      if (signal.aborted) return reject(signal.reason);
      if (this.#queue.push(role, order) !== "waiting") return reject(tooBusy());
      signal.addEventListener("abort", abort, { once: true });
      this.#next();
    });
  }

  #next(): void {
    const turn = this.#free > 0 ? this.#queue.take() : undefined;
    if (turn === undefined) return;
    this.#free -= 1;
    turn.item.begin(() => {
      turn.done();
      this.#free += 1;
      this.#next();
    });
  }
}

const tooBusy = (): FedwayError =>
  new FedwayError("SERVICE_BUSY", "Too many texts are waiting for the embedding model.", {
    next: "Ask again in a few seconds; search without vectors goes on meanwhile.",
    retryAfterMs: 5_000,
  });
