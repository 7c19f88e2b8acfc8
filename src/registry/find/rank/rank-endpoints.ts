import { editDistance } from "../../../errors/nearest.ts";
import {
  type AskedWord,
  askedWords,
  type ComparedStem,
  comparedStem,
  isSureLikeness,
  likeness,
  mistakesIn,
} from "../words/likeness.ts";
import type { QuestionWords } from "../words/question-words.ts";
import { type KnownFederations, withFederations } from "../tables/known-federations.ts";
import { rarity } from "./rank-terms.ts";
import type { SchemaGraph } from "../tables/schema-graph.ts";
import { itemAt } from "../../../values.ts";

/** An endpoint, or a federation by its key, with its score. */
export interface ScoredEndpoint {
  readonly id: string;
  readonly score: number;
}

/** An endpoint for a question; the best one's score is 1. */
export interface RankedEndpoint extends ScoredEndpoint {
  /** Words of the question that it has, or like ones. */
  readonly words: readonly string[];
  /** Those of them that it has as they are, but for their form. */
  readonly sure: readonly string[];
}

interface WordMatch {
  /** The endpoint's own. */
  readonly stem: string;
  /** 0 to 1, weight included. */
  readonly like: number;
  readonly isSure: boolean;
}

/** Endpoints that are looked at class by class. */
const mostInContext = 50;

/** Inputs of ranking by words. */
interface WordSources {
  /** Classes and properties of an endpoint or federation. */
  readonly graphOf: (id: string) => SchemaGraph | undefined;
  /** They have the words of all their members. */
  readonly federations: KnownFederations;
}

/** The words of all endpoints, for questions. */
export function createWordIndex({ graphOf, federations }: WordSources) {
  const byStem = new Map<string, Map<string, number>>();
  const stems = new Map<string, readonly string[]>();
  /** Of all of these stems; made anew when one comes or goes. */
  let compared: readonly ComparedStem[] | undefined;
  return {
    /** Sets the words of an endpoint with their weights, or, with undefined, removes them. */
    set(id: string, words: ReadonlyMap<string, number> | undefined): void {
      for (const stem of stems.get(id) ?? []) {
        const having = byStem.get(stem);
        having?.delete(id);
        if (having?.size === 0) byStem.delete(stem);
      }
      compared = undefined;
      if (words === undefined) stems.delete(id);
      else stems.set(id, [...words.keys()]);
      for (const [stem, weight] of words ?? []) {
        const having = byStem.get(stem) ?? new Map<string, number>();
        byStem.set(stem, having.set(id, weight));
      }
    },
    /** Words of a question, to be ranked by. */
    asked: (question: QuestionWords): readonly AskedWord[] => askedWords(question, byStem),
    /** Endpoints and federations that have anything of the question, best first, ties by id; with turns for others. */
    *rank(question: readonly AskedWord[]): Generator<void, readonly RankedEndpoint[]> {
      compared ??= Array.from(byStem.keys(), comparedStem);
      const matched: MatchedWord[] = [];
      for (const asked of question)
        matched.push(yield* matchedWord(asked, { byStem, compared, endpoints: stems.size }));
      const scores = wordScores(
        matched.map(({ word, weight, best }) => ({ word, weight, best: withFederations(best, federations, better) })),
      );
      for (const each of scores.toSorted(byScore).slice(0, mostInContext)) {
        each.score += contextScore(graphOf(each.id)?.nodes ?? [], each.weights);
        yield;
      }
      const sorted = scores.toSorted(byScore);
      const best = sorted[0]?.score ?? 1;
      return sorted.map(({ id, score, words, sure }) => ({ id, score: score / best, words, sure }));
    },
  };
}

/** A federation has of each word what the best of its members has. */
const better = (one: WordMatch, other: WordMatch): WordMatch => {
  const best = other.like > one.like ? other : one;
  return one.isSure || other.isSure ? { ...best, isSure: true } : best;
};

/** Ties by id. */
export const byScore = (left: ScoredEndpoint, right: ScoredEndpoint): number =>
  right.score - left.score || (left.id < right.id ? -1 : 1);

interface MatchedWord {
  readonly word: string;
  readonly weight: number;
  /** By endpoint. */
  readonly best: ReadonlyMap<string, WordMatch>;
}

/** The words of all endpoints. */
interface KnownWords {
  /** Weights by endpoint. */
  readonly byStem: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly compared: readonly ComparedStem[];
  readonly endpoints: number;
}

/** A word of the question with the endpoints that have it or a like one; typing errors only where none has it. */
function* matchedWord(asked: AskedWord, { byStem, compared, endpoints }: KnownWords): Generator<void, MatchedWord> {
  const { word } = asked;
  const best = new Map<string, WordMatch>();
  const take = (stem: string, like: number): void => {
    for (const [id, weight] of byStem.get(stem) ?? []) {
      const match = { stem, like: like * weight, isSure: isSureLikeness(like) };
      const before = best.get(id) ?? { ...match, like: 0, isSure: false };
      best.set(id, better(before, match));
    }
  };
  for (const each of compared) {
    const like = likeness(asked, each);
    if (like === 0) continue;
    take(each.stem, like);
    yield;
  }
  if (best.size === 0 && !word.includes(" ")) for (const stem of misspelt(asked.stem, byStem.keys())) take(stem, 0.5);
  yield;
  const having = best.values().reduce((sum, { like }) => sum + like, 0);
  return { word, weight: rarity(having, endpoints), best };
}

/** Known words that differ in a letter or two; few people mistype the first. */
function misspelt(wanted: string, known: Iterable<string>): readonly string[] {
  const cap = mistakesIn(wanted);
  if (cap === 0) return [];
  return [...known].filter((stem) => stem[0] === wanted[0] && editDistance(wanted, stem, cap) <= cap);
}

interface WordScore extends RankedEndpoint {
  score: number;
  readonly words: string[];
  readonly sure: string[];
  /** By the endpoint's stems. */
  readonly weights: Map<string, number>;
}

/** The endpoints with the words that they have, rare ones more. */
function wordScores(words: readonly MatchedWord[]): readonly WordScore[] {
  const scores = new Map<string, WordScore>();
  for (const { word, weight, best } of words) {
    for (const [id, { stem, like, isSure }] of best) {
      const score: WordScore = scores.get(id) ?? { id, score: 0, words: [], sure: [], weights: new Map() };
      scores.set(id, score);
      score.score += weight * like;
      score.words.push(word);
      if (isSure) score.sure.push(word);
      score.weights.set(stem, weight * like);
    }
  }
  return [...scores.values()];
}

/** The class that has most of the words together with its properties: words that stand together mean more. */
function contextScore(nodes: SchemaGraph["nodes"], weights: ReadonlyMap<string, number>): number {
  const own = nodes.map(({ names }) => bestWeight(names, weights));
  let context = 0;
  for (const [at, { kind, properties }] of nodes.entries()) {
    if (kind !== "class") continue;
    const [first, second, third] = properties
      .map((place) => itemAt(own, place))
      .filter((weight) => weight > 0)
      .toSorted(descending);
    const ofProperties = (first ?? 0) + (second ?? 0) + (third ?? 0);
    context = Math.max(context, (own[at] ?? 0) + 0.5 * ofProperties);
  }
  return context;
}

const descending = (left: number, right: number): number => right - left;

function bestWeight(names: readonly (readonly string[])[], weights: ReadonlyMap<string, number>): number {
  let best = 0;
  for (const stems of names) {
    let sum = 0;
    for (const stem of stems) sum += weights.get(stem) ?? 0;
    best = Math.max(best, sum / Math.sqrt(stems.length));
  }
  return best;
}
