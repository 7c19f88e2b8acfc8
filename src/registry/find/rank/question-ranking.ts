import { setImmediate as nextTurn } from "node:timers/promises";
import { atOnce, inTurns } from "../../../clock.ts";
import { type KnownFederations, withFederations } from "../tables/known-federations.ts";
import { aboutPlace, type EndpointTables } from "../tables/endpoint-tables.ts";
import type { ValueHit } from "../tables/value-index.ts";
import type { TextVectors } from "../tables/text-vectors.ts";
import { type AskedWord, isForeign } from "../words/likeness.ts";
import { questionWords } from "../words/question-words.ts";
import type { SchemaGraph } from "../tables/schema-graph.ts";
import { byScore, type RankedEndpoint, type ScoredEndpoint } from "./rank-endpoints.ts";
import { type RankedNode, rankTerms, scaled } from "./rank-terms.ts";
import { rankedEndpoints } from "./run-search.ts";
import { itemAt } from "../../../values.ts";

/** A question, ranked over present knowledge. */
export interface QuestionRanking {
  /** Endpoints, and federations by their keys, best first. */
  readonly endpoints: readonly ScoredEndpoint[];
  /** False while the words of some endpoints are not known: the order may be wrong. */
  readonly complete: boolean;
  readonly federations: KnownFederations;
  graph(id: string): SchemaGraph | undefined;
  /** By words and schemas alone, or by meaning too. */
  readonly ranking: "lexical" | "fused";
  /** The question seems not to be in English, which words alone do not understand. */
  readonly isForeign: boolean;
  /** Classes and properties of an endpoint, best first; none when it is not known yet. */
  termsOf(id: string): readonly RankedNode[];
  /** Values and entities of an endpoint that the question names, best first. */
  mentionsOf(id: string): readonly ValueHit[];
  /** Words of the question that an endpoint has, in its name or its schema, or like ones. */
  wordsOf(id: string): readonly string[];
  /** Those that it has as they are, but for their form. */
  sureWordsOf(id: string): readonly string[];
  /** Words of the question. */
  readonly words: readonly AskedWord[];
}

const keyOf = ({ kind, iri }: SchemaGraph["nodes"][number]): string => `${kind} ${iri}`;

/** Of a federation, the largest cosine that a member has of each term. */
function mergedCosines(meant: Meaning, merged: SchemaGraph, members: readonly (SchemaGraph | undefined)[]) {
  const best = new Map<string, number>();
  for (const graph of members) {
    const cosines = (graph && cosinesIn(meant, graph)) ?? [];
    for (const [at, value] of cosines.entries()) {
      const node = graph?.nodes[at];
      if (node !== undefined && !Number.isNaN(value))
        best.set(keyOf(node), Math.max(value, best.get(keyOf(node)) ?? value));
    }
  }
  return best.size === 0 ? undefined : merged.nodes.map((node) => best.get(keyOf(node)) ?? Number.NaN);
}

/** Ranks endpoints and their terms for a question, over present knowledge. @throws the signal's reason when that is aborted */
export async function rankQuestion(
  tables: EndpointTables,
  question: string,
  signal?: AbortSignal,
): Promise<QuestionRanking> {
  await tables.soonComplete(signal);
  const words = tables.words.asked(questionWords(question));
  const { complete, federations } = tables;
  const meant = await meaningOf(question, tables.vectors, signal);
  // Each of the two looks through the words of all endpoints.
  const lexical = await inTurns(tables.words.rank(words));
  await nextTurn();
  const hits = await tables.values.find({ texts: [question], limit: mostMentions });
  const own = mentionsByEndpoint(hits, lexical.length === 0);
  const mentioned = withFederations(own, federations, (one, other) => [...one, ...other]);
  const mentionsOf = (id: string): readonly ValueHit[] => mentioned.get(id) ?? [];
  const nearest = meant === undefined ? new Map<string, number>() : nearestEndpoints(meant, lexical);
  const near = withFederations(nearest, federations, Math.max);
  const lexicalById = new Map(lexical.map((each) => [each.id, each]));
  const terms = new Map<string, readonly RankedNode[]>();
  const rankedTerms = (id: string): readonly RankedNode[] => {
    const graph = tables.graph(id);
    if (graph === undefined) return [];
    const members = federations.model(id)?.known.map((member) => tables.graph(member));
    const meaning = meant && (members ? mergedCosines(meant, graph, members) : cosinesIn(meant, graph));
    return rankTerms(graph, words, { meaning, values: placesOf(graph, mentionsOf(id)) });
  };
  return {
    complete,
    federations,
    graph: (id) => tables.graph(id),
    // Before all endpoints have been looked at, those that were would come first.
    endpoints: complete
      ? withEvidence({ lexical, near, mentioned })
      : inOrder(atOnce(rankedEndpoints(tables.texts, question)).keys()),
    ranking: complete && near.size > 0 ? "fused" : "lexical",
    isForeign: complete && near.size === 0 && isForeign(words),
    words,
    termsOf(id) {
      const known = terms.get(id) ?? rankedTerms(id);
      terms.set(id, known);
      return known;
    },
    mentionsOf,
    wordsOf: (id) => lexicalById.get(id)?.words ?? [],
    sureWordsOf: (id) => lexicalById.get(id)?.sure ?? [],
  };
}

const inOrder = (ids: Iterable<string>): QuestionRanking["endpoints"] =>
  [...ids].map((id, at) => ({ id, score: 1 / (1 + at) }));

/** A question's vector, and those that it is compared with. */
interface Meaning {
  readonly question: Float32Array;
  readonly vectors: TextVectors;
}

async function meaningOf(
  question: string,
  vectors: TextVectors | undefined,
  signal: AbortSignal | undefined,
): Promise<Meaning | undefined> {
  const [vector] = (await vectors?.questions([question], signal)) ?? [];
  return vector && vectors && { question: vector, vectors };
}

/** Cosines with the nodes of a graph; NaN where there is no vector, undefined where the endpoint has none. */
function cosinesIn({ question, vectors }: Meaning, { id, nodes }: SchemaGraph): readonly number[] | undefined {
  if (Number.isNaN(vectors.cosine(id, aboutPlace, question))) return undefined;
  return nodes.map((_, at) => vectors.cosine(id, at, question));
}

/** Endpoints whose terms are compared one by one: the best by words, and as many by their topic. */
const mostCompared = 100;

/** How near endpoints are to a question, by id. */
function nearestEndpoints({ question, vectors }: Meaning, lexical: readonly RankedEndpoint[]): Map<string, number> {
  const about = new Map(Array.from(vectors.ids(), (id) => [id, vectors.cosine(id, aboutPlace, question)]));
  const nearest = [...about].toSorted(([, left], [, right]) => right - left).map(([id]) => id);
  const byWords = lexical.map(({ id }) => id);
  for (const id of new Set([...nearest.slice(0, mostCompared), ...byWords.slice(0, mostCompared)])) {
    const own = about.get(id);
    if (own !== undefined) about.set(id, withTerms(own, vectors.nearest(id, question)));
  }
  return about;
}

const nearTerms = 3;
/** Weight of the text about an endpoint, beside the mean of its nearest terms. */
const aboutShare = 0.5;

/** The mean of its three nearest terms and, with less weight, of its topic; of an endpoint without terms that alone. */
function withTerms(about: number, near: ReturnType<TextVectors["nearest"]>): number {
  const nearest = near.filter(({ at }) => at !== aboutPlace).slice(0, nearTerms);
  if (nearest.length === 0) return about;
  const mean = nearest.reduce((sum, { cosine }) => sum + cosine, 0) / nearTerms;
  return (mean + aboutShare * about) / (1 + aboutShare);
}

/** Values and entities that a question names. */
const mostMentions = 100;
/** Of a mention, which is less than the same text: a name that only looks alike says little. */
const leastMention = { exact: 0.6, folded: 0.55, words: 0.6, spelling: 0.6, meaning: Infinity } as const;
/** Share that a named value or entity adds to its property, whose best by words is 1, and the part of that for its class. */
const mentionShare = 0.5;
const classShare = 0.5;

/** Where no endpoint has a word of the question, and none what it names, labels that are a little like it must do. */
function mentionsByEndpoint(hits: readonly ValueHit[], isLast: boolean): ReadonlyMap<string, readonly ValueHit[]> {
  const telling = hits.filter(({ score, why }) => score >= leastMention[why]);
  return Map.groupBy(telling.length > 0 || !isLast ? telling : hits, ({ endpoint }) => endpoint);
}

/** The properties that have what the question names, and the classes of it, by their places. */
function placesOf({ nodes }: SchemaGraph, hits: readonly ValueHit[]): ReadonlyMap<number, number> {
  if (hits.length === 0) return new Map();
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
/** Weight of meaning beside words, whose best is 1. */
const meaningWeight = 3;
/** Weight of the best value or entity that a question names. */
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
  for (const [at, value] of scaled([...near.values()]).entries()) add(itemAt(ids, at), meaningWeight * value);
  for (const [id, hits] of mentioned) add(id, Math.max(...hits.map(weightOf)));
  return [...scores].map(([id, score]) => ({ id, score })).toSorted(byScore);
}

/** Most hits of one answer. */
export const mostHits = 100;

/** A limit of hits within bounds. */
export const clamped = (limit: number): number => Math.min(mostHits, Math.max(1, Math.floor(limit) || 1));
