import type { Embedder } from "../../../embeddings/embedder.ts";
import { iriParts } from "../../../rdf/display-text.ts";
import { type TextDocument, TextIndex } from "./text-index.ts";
import { queryWords } from "../words/question-words.ts";
import { TextVectors } from "./text-vectors.ts";
import type { Example, ExampleOutcome } from "../read/example.ts";
import { valueFor } from "../../../values.ts";

/** A search for examples. */
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
/** Questions that get vectors: 8 MB. */
const mostVectors = 20_000;
/** Examples known to fail rank after those that may work. */
const worth: Readonly<Record<ExampleOutcome, number>> = { ok: 1, unknown: 1, partial: 0.9, empty: 0.6, failed: 0.5 };

/** Examples by question: by words (BM25 over question and terms of the query), and by meaning where there is a model. */
export class ExampleIndex {
  readonly #words = new TextIndex({ question: 4, terms: 1 });
  readonly #examples = new Map<string, Example>();
  readonly #vectors: TextVectors | undefined;

  constructor({ embedder, onFault }: ExampleIndexOptions) {
    // Questions are compared with questions, so both are marked as such.
    this.#vectors = embedder && new TextVectors({ embedder, onFault, most: mostVectors, as: "query" });
  }

  /** Adds an example, or puts it in the place of the one with its id. */
  add(example: Example): void {
    const { id, question } = example;
    const isKnown = this.#examples.get(id)?.question === question;
    this.#takeOut(id);
    this.#examples.set(id, example);
    this.#words.add(documentOf(example));
    if (!isKnown) this.#vectors?.set(id, () => [{ at: 0, text: question }]);
  }

  remove(id: string): void {
    this.#takeOut(id);
    this.#vectors?.set(id, undefined);
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
    const words = queryWords(question);
    const found = this.#words
      .find({ words, how: "beginnings" })
      .map(({ key }) => valueFor(this.#examples, key))
      .filter(fits)
      .slice(0, depth);
    // A word that is a beginning of several in one question counts for each of them.
    const isSame = (example: Example): boolean => wholeWords(example.question) === wholeWords(question);
    const byWords = found.toSorted((one, other) => Number(isSame(other)) - Number(isSame(one)));
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

  /** By meaning, nearest first; none without a model, and when it does not answer in time. */
  async #nearest(question: string, fits: (example: Example) => boolean, signal: AbortSignal) {
    const [vector] = (await this.#vectors?.questions([question], signal)) ?? [];
    if (vector === undefined) return [];
    return [...this.#examples.values()]
      .filter(fits)
      .map((example) => ({ example, cosine: this.#vectors?.cosine(example.id, 0, vector) ?? Number.NaN }))
      .filter(({ cosine }) => !Number.isNaN(cosine))
      .toSorted((one, other) => other.cosine - one.cosine)
      .map(({ example }) => example);
  }

  close(): Promise<void> | undefined {
    return this.#vectors?.close();
  }
}

const wholeWords = (question: string): string =>
  queryWords(question)
    .map(({ whole }) => whole)
    .join(" ");

const iris = /<([^<>\s]{1,500})>/g;
const names = /[\w.-]{0,40}:([\w-]{2,80})/g;

/** Names of the terms of a query: those of the schema tell what a question is about, too. */
function documentOf({ id, question, query }: Example): TextDocument {
  const locals = Array.from(query.matchAll(iris), ([, iri = ""]) => iriParts(iri).local);
  const prefixed = Array.from(query.replaceAll(iris, " ").matchAll(names), ([, name = ""]) => name);
  return { key: id, fields: { question, terms: [...new Set([...locals, ...prefixed])].slice(0, 100).join(" ") } };
}
