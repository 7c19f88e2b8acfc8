import type { Embedder } from "../../embeddings/embedder.ts";
import { type GraphSources, KnownGraphs } from "./known-graphs.ts";
import { questionWords } from "./question-words.ts";
import type { RankedEndpoint } from "./rank-endpoints.ts";
import { type RankedNode, rankTerms } from "./rank-terms.ts";

/** What ranking works with. */
export interface RankingSources extends Omit<GraphSources, "embed" | "search"> {
  readonly search: GraphSources["search"] & { endpointsFound(q: string): Iterable<string> };
  /** Without one, ranking is by words alone. */
  readonly embedder?: Pick<Embedder, "embed"> | undefined;
}

/** A question, ranked over what is known now. */
export interface QuestionRanking {
  /** Best first. */
  readonly endpoints: readonly Pick<RankedEndpoint, "id" | "score">[];
  /** By words and schemas alone, or by meaning too. */
  readonly ranking: "lexical" | "fused";
  /** Classes and properties of an endpoint, best first; none when it is not known yet. */
  termsOf(id: string): readonly RankedNode[];
  /** Words of the question that an endpoint has, in its name or its schema. */
  wordsOf(id: string): readonly string[];
}

/** A model that is slower is not waited for. */
const embedMs = 2_000;

/** Ranks questions over graphs and vectors that are kept up to date in the background. */
export function createQuestionRanking({ embedder, ...sources }: RankingSources) {
  const { search, onFault } = sources;
  const embed = embedder && ((texts: readonly string[], signal: AbortSignal) => embedder.embed(texts, { signal }));
  const known = new KnownGraphs({ ...sources, embed });

  /** The question's vector; undefined without a model, or when that is slow or fails. */
  async function vectorOf(question: string, signal: AbortSignal | undefined): Promise<Float32Array | undefined> {
    if (embedder === undefined) return undefined;
    const slow = AbortSignal.timeout(embedMs);
    try {
      const within = signal === undefined ? slow : AbortSignal.any([signal, slow]);
      return (await embedder.embed([question], { signal: within, as: "query" }))[0];
    } catch (error) {
      signal?.throwIfAborted();
      if (!slow.aborted) onFault(error);
      return undefined;
    }
  }

  return {
    /** @throws the signal's reason when that is aborted */
    async rank(question: string, signal?: AbortSignal): Promise<QuestionRanking> {
      known.follow();
      const words = questionWords(question);
      const vector = await vectorOf(question, signal);
      const nearness = (id: string) => vector && known.nearness(id, vector);
      const near = new Map([...known.ids()].map((id) => [id, endpointNearness(nearness(id))]));
      const isFused = near.values().some((value) => !Number.isNaN(value));
      const meaning = isFused ? (id: string): number => near.get(id) ?? Number.NaN : undefined;
      const ranked = known.words.rank(words, { meaning });
      const byWords = new Map(ranked.map((each) => [each.id, each.words.map(({ word }) => word)]));
      return {
        // Before all endpoints have been looked at, those that were would come first.
        endpoints: known.complete ? ranked : inOrder(search.endpointsFound(question)),
        ranking: known.complete && isFused ? "fused" : "lexical",
        termsOf(id) {
          const graph = known.graph(id);
          return graph === undefined ? [] : rankTerms(graph, words, { meaning: nearness(id)?.nodes });
        },
        wordsOf: (id) => byWords.get(id) ?? [],
      };
    },
    settled: (): Promise<void> => known.settled(),
    close: (): Promise<void> => known.close(),
  };
}

const inOrder = (ids: Iterable<string>): QuestionRanking["endpoints"] =>
  [...ids].map((id, at) => ({ id, score: 1 / (1 + at) }));

const nearTerms = 3;
/** What the text on an endpoint weighs beside the mean of its nearest terms. */
const aboutShare = 0.5;

/** The mean of its three nearest terms and, less, of what it is about; of an endpoint without terms that alone. */
function endpointNearness(found: { readonly about: number; readonly nodes: readonly number[] } | undefined): number {
  if (found === undefined) return Number.NaN;
  const best = found.nodes.filter((value) => !Number.isNaN(value)).toSorted((left, right) => right - left);
  const nearest = best.slice(0, nearTerms);
  if (nearest.length === 0) return found.about;
  const mean = nearest.reduce((sum, value) => sum + value, 0) / nearTerms;
  return (mean + aboutShare * found.about) / (1 + aboutShare);
}
