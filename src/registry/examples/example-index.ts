import type { Embedder } from "../../embeddings/embedder.ts";
import { iriParts } from "../schema/text.ts";
import { type TextDocument, TextIndex } from "../search/text-index.ts";
import { queryWords } from "../words/question-words.ts";
import type { Example, ExampleOutcome } from "./example.ts";

/** What is looked for. */
export interface ExampleQuery {
  readonly question: string;
  /** Only examples that ask at least one of these endpoints (URLs). */
  readonly targets?: readonly string[] | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** An example that was found; `score` is from 0 to 1 and compares hits of one search. */
export interface ExampleHit {
  readonly example: Example;
  readonly score: number;
}

interface ExampleIndexOptions {
  readonly embedder?: Pick<Embedder, "embed"> | undefined;
  /** Called with why the model was not of use; the search goes on by words. */
  readonly onFault: (error: unknown) => void;
}

/** Constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009). */
const fusion = 60;
/** Hits of each ranking that are fused. */
const depth = 100;
/** Longest wait for the vector of a question. */
const embedMs = 2_000;
/** Texts that are embedded before questions have their turn. */
const chunk = 64;
/** What is known to fail is worth seeing after what may work. */
const worth: Readonly<Record<ExampleOutcome, number>> = { ok: 1, unknown: 1, partial: 0.9, empty: 0.6, failed: 0.5 };

/** Examples by question: by words (BM25 over question and terms of the query), and by meaning where there is a model. */
export class ExampleIndex {
  readonly #options: ExampleIndexOptions;
  readonly #words = new TextIndex({ question: 4, terms: 1 });
  readonly #examples = new Map<string, Example>();
  readonly #vectors = new Map<string, Float32Array>();
  /** Ids whose vectors are to be made. */
  readonly #pending = new Set<string>();
  #embedding: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: ExampleIndexOptions) {
    this.#options = options;
  }

  /** Adds an example, or puts it in the place of the one with its id. */
  add(example: Example): void {
    const { id, question } = example;
    const isKnown = this.#examples.get(id)?.question === question;
    this.#takeOut(id);
    this.#examples.set(id, example);
    this.#words.add(documentOf(example));
    if (this.#options.embedder !== undefined && !isKnown) this.#pending.add(id);
  }

  remove(id: string): void {
    this.#takeOut(id);
    this.#vectors.delete(id);
    this.#pending.delete(id);
  }

  #takeOut(id: string): void {
    const example = this.#examples.get(id);
    if (example === undefined) return;
    this.#words.remove(documentOf(example));
    this.#examples.delete(id);
  }

  /** Best first. */
  async find({ question, targets, limit, signal }: ExampleQuery): Promise<readonly ExampleHit[]> {
    const fits = ({ targets: has }: Example): boolean =>
      targets === undefined || has.some((url) => targets.includes(url));
    const byWords = this.#words
      .find({ words: queryWords(question), how: "beginnings" })
      .flatMap(({ key }) => this.#examples.get(key) ?? [])
      .filter(fits);
    const byMeaning = await this.#nearest(question, fits, signal);
    const scores = new Map<Example, number>();
    const rankings = byMeaning.length === 0 ? [byWords] : [byWords, byMeaning];
    for (const ranking of rankings) {
      for (const [rank, example] of ranking.slice(0, depth).entries()) {
        scores.set(example, (scores.get(example) ?? 0) + (fusion + 1) / (fusion + 1 + rank) / rankings.length);
      }
    }
    return [...scores]
      .map(([example, score]) => ({ example, score: score * worth[example.outcome] }))
      .toSorted((one, other) => other.score - one.score || (one.example.id < other.example.id ? -1 : 1))
      .slice(0, limit);
  }

  /** Makes the vectors that are missing, in the background; resolves when that is done, or given up until asked again. */
  embedAll(): Promise<void> {
    this.#embedding ??= this.#embedPending().finally(() => {
      this.#embedding = undefined;
    });
    return this.#embedding;
  }

  async #embedPending(): Promise<void> {
    const { embedder, onFault } = this.#options;
    if (embedder === undefined) return;
    try {
      while (this.#pending.size > 0) {
        const ids = [...this.#pending].slice(0, chunk);
        const texts = ids.map((id) => this.#examples.get(id)?.question ?? "");
        // Questions are compared with questions, so both are marked as such.
        const vectors = await embedder.embed(texts, { as: "query", signal: this.#closing.signal });
        for (const [at, id] of ids.entries()) {
          const vector = vectors[at];
          if (vector !== undefined && this.#pending.delete(id)) this.#vectors.set(id, vector);
        }
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) onFault(error);
    }
  }

  /** By meaning, nearest first; none without a model, and when it does not answer in time. */
  async #nearest(question: string, fits: (example: Example) => boolean, signal: AbortSignal) {
    const { embedder, onFault } = this.#options;
    if (embedder === undefined || this.#examples.size === 0) return [];
    void this.embedAll();
    const inTime = AbortSignal.any([signal, this.#closing.signal, AbortSignal.timeout(embedMs)]);
    try {
      const [vector] = await embedder.embed([question], { as: "query", signal: inTime });
      return vector === undefined ? [] : this.#byNearness(vector, fits);
    } catch (error) {
      signal.throwIfAborted();
      onFault(error);
      return [];
    }
  }

  #byNearness(vector: Float32Array, fits: (example: Example) => boolean): readonly Example[] {
    const near: { readonly example: Example; readonly cosine: number }[] = [];
    for (const [id, other] of this.#vectors) {
      const example = this.#examples.get(id);
      if (example === undefined || other.length !== vector.length || !fits(example)) continue;
      near.push({ example, cosine: vector.reduce((sum, value, at) => sum + value * other[at]!, 0) });
    }
    return near.toSorted((one, other) => other.cosine - one.cosine).map(({ example }) => example);
  }

  close(): void {
    this.#closing.abort();
  }
}

const iris = /<([^<>\s]{1,500})>/g;
const names = /[\w.-]{0,40}:([\w-]{2,80})/g;

/** Names of the terms of a query: those of the schema tell what a question is about, too. */
function documentOf({ id, question, query }: Example): TextDocument {
  const locals = Array.from(query.matchAll(iris), ([, iri = ""]) => iriParts(iri).local);
  const prefixed = Array.from(query.replaceAll(iris, " ").matchAll(names), ([, name = ""]) => name);
  return { key: id, fields: { question, terms: [...new Set([...locals, ...prefixed])].slice(0, 100).join(" ") } };
}
