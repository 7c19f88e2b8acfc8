import type { Embedder } from "../../embeddings/embedder.ts";
import { type GraphSources, KnownGraphs } from "./known-graphs.ts";
import type { ValueHit, ValueIndex } from "../values/value-index.ts";
import { questionWords } from "../words/question-words.ts";
import type { SchemaGraph } from "./schema-graph.ts";
import { byScore, type RankedEndpoint } from "./rank-endpoints.ts";
import { type RankedNode, rankTerms, scaled } from "./rank-terms.ts";
import type { Nearness } from "./term-vectors.ts";

/** What ranking works with. */
export interface RankingSources extends Omit<GraphSources, "embed"> {
  readonly search: { endpointsFound(q: string): Iterable<string> };
  /** Without one, ranking is by words alone. */
  readonly embedder?: Pick<Embedder, "embed"> | undefined;
  /** Names and values that were read from endpoints. */
  readonly values?: Pick<ValueIndex, "find" | "isComplete"> | undefined;
}

/** A question, ranked over what is known now. */
export interface QuestionRanking {
  /** Best first. */
  readonly endpoints: readonly Pick<RankedEndpoint, "id" | "score">[];
  /** By words and schemas alone, or by meaning too. */
  readonly ranking: "lexical" | "fused";
  /** Classes and properties of an endpoint, best first; none when it is not known yet. */
  termsOf(id: string): readonly RankedNode[];
  /** Values and entities of an endpoint that the question names, best first. */
  mentionsOf(id: string): readonly ValueHit[];
  /** Words of the question that an endpoint has, in its name or its schema. */
  wordsOf(id: string): readonly string[];
}

/** A model that is slower is not waited for. */
const embedMs = 2_000;

/** Ranks questions over graphs and vectors that are kept up to date in the background. */
export function createQuestionRanking({ embedder, values, ...sources }: RankingSources) {
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
      const words = questionWords(question);
      const vector = await vectorOf(question, signal);
      const lexical = known.words.rank(words);
      const hits = (await values?.find({ texts: [question], limit: mostMentions })) ?? [];
      const mentioned = mentionsByEndpoint(hits, lexical.length === 0);
      const mentionsOf = (id: string): readonly ValueHit[] => mentioned.get(id) ?? [];
      const near = vector === undefined ? noMeaning : nearestEndpoints(known, vector, lexical);
      const fused = known.complete && near.size > 0;
      return {
        // Before all endpoints have been looked at, those that were would come first.
        endpoints: known.complete
          ? withEvidence({ lexical, near, mentioned })
          : inOrder(search.endpointsFound(question)),
        ranking: fused ? "fused" : "lexical",
        termsOf(id) {
          const graph = known.graph(id);
          if (graph === undefined) return [];
          const meaning = vector && known.nearness(id, vector)?.nodes;
          return rankTerms(graph, words, { meaning, values: placesOf(graph, mentionsOf(id)) });
        },
        mentionsOf,
        wordsOf: (id) => lexical.find((each) => each.id === id)?.words ?? [],
      };
    },
    settled: (): Promise<void> => known.settled(),
    close: (): Promise<void> => known.close(),
  };
}

const inOrder = (ids: Iterable<string>): QuestionRanking["endpoints"] =>
  [...ids].map((id, at) => ({ id, score: 1 / (1 + at) }));

const noMeaning: ReadonlyMap<string, number> = new Map();

/** Endpoints whose terms are compared one by one: the best by words, and as many by what they are about. */
const mostCompared = 100;

/** How near endpoints are to a question, by id. */
function nearestEndpoints(
  known: KnownGraphs,
  vector: Float32Array,
  lexical: readonly RankedEndpoint[],
): ReadonlyMap<string, number> {
  const about = new Map(known.about(vector));
  const nearest = [...about].toSorted(([, left], [, right]) => right - left).slice(0, mostCompared);
  const compared = new Set(nearest.map(([id]) => id));
  for (const { id } of lexical.slice(0, mostCompared)) compared.add(id);
  for (const id of compared) {
    const found = known.nearness(id, vector);
    if (found !== undefined) about.set(id, withTerms(found));
  }
  return about;
}

const nearTerms = 3;
/** What the text on an endpoint weighs beside the mean of its nearest terms. */
const aboutShare = 0.5;

/** The mean of its three nearest terms and, less, of what it is about; of an endpoint without terms that alone. */
function withTerms({ about, nodes }: Nearness): number {
  const best = nodes.filter((value) => !Number.isNaN(value)).toSorted((left, right) => right - left);
  const nearest = best.slice(0, nearTerms);
  if (nearest.length === 0) return about;
  const mean = nearest.reduce((sum, value) => sum + value, 0) / nearTerms;
  return (mean + aboutShare * about) / (1 + aboutShare);
}

/** Values and entities that a question names. */
const mostMentions = 100;
/** Of a mention, which is less than the same text: a name that only looks alike says little. */
const leastMention = { exact: 0.6, folded: 0.55, words: 0.6, spelling: 0.6, meaning: Infinity } as const;
/** What a value or entity that is named adds to its property, whose best by words is 1, and what of that to its class. */
const mentionShare = 0.5;
const classShare = 0.5;

/** Where no endpoint has a word of the question, and none what it names, labels that are a little like it must do. */
function mentionsByEndpoint(hits: readonly ValueHit[], isLast: boolean): ReadonlyMap<string, readonly ValueHit[]> {
  const telling = hits.filter(({ score, why }) => score >= leastMention[why]);
  return Map.groupBy(telling.length > 0 || !isLast ? telling : hits, ({ endpoint }) => endpoint);
}

/** The properties that have what the question names, and the classes of it, by their places. */
function placesOf({ nodes }: SchemaGraph, hits: readonly ValueHit[]): ReadonlyMap<number, number> {
  const scores = new Map<string, number>();
  for (const { class: type, property, score, kind } of hits) {
    const add = (key: string, value: number): void => void scores.set(key, Math.max(scores.get(key) ?? 0, value));
    add(`property ${property}`, score);
    if (type !== undefined) add(`class ${type}`, kind === "entity" ? score : score * classShare);
  }
  return new Map(
    nodes.flatMap(({ kind, iri }, at) => {
      const score = scores.get(`${kind} ${iri}`);
      return score === undefined ? [] : [[at, mentionShare * score] as const];
    }),
  );
}
/** What meaning weighs beside words, whose best is 1. */
const meaningWeight = 3;
/** What the best value or entity weighs that a question names. */
const mentionWeight = 0.5;
/** Of one that is the whole question: words that only begin alike must not come before it. */
const wholeWeight = 1.5;
const leastWhole = 0.95;
const weightOf = ({ score }: ValueHit): number => score * (score >= leastWhole ? wholeWeight : mentionWeight);

interface EndpointEvidence {
  readonly lexical: readonly RankedEndpoint[];
  readonly near: ReadonlyMap<string, number>;
  readonly mentioned: ReadonlyMap<string, readonly ValueHit[]>;
}

function withEvidence({ lexical, near, mentioned }: EndpointEvidence): QuestionRanking["endpoints"] {
  const scores = new Map(lexical.map(({ id, score }) => [id, score]));
  const add = (id: string, score: number): void => void scores.set(id, (scores.get(id) ?? 0) + score);
  const ids = [...near.keys()];
  for (const [at, value] of scaled([...near.values()]).entries()) add(ids[at] ?? "", meaningWeight * value);
  for (const [id, hits] of mentioned) add(id, Math.max(...hits.map(weightOf)));
  return [...scores].map(([id, score]) => ({ id, score })).toSorted(byScore);
}
