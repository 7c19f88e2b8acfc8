import { editDistance } from "../../errors/nearest.ts";
import { likeness, type QuestionWords } from "./question-words.ts";
import { rarity, scaled } from "./rank-terms.ts";
import type { SchemaGraph } from "./schema-graph.ts";

/** An endpoint for a question. */
export interface RankedEndpoint {
  readonly id: string;
  readonly score: number;
  /** Words of the question, with the endpoint's word that is most like each. */
  readonly words: readonly WordMatch[];
}

interface WordMatch {
  readonly word: string;
  readonly stem: string;
  /** 0 to 1, weight included. */
  readonly like: number;
}

/** What is known of endpoints beside their words. */
export interface EndpointEvidence {
  /** How near an endpoint is to the question in meaning; NaN where that is not known. */
  readonly meaning?: ((id: string) => number) | undefined;
  /** 0 to 1: the question names values or entities that it has. */
  readonly values?: ReadonlyMap<string, number> | undefined;
}

/** What meaning weighs beside words, whose best sum is 1. */
const meaningWeight = 3;
const classContext = 0.3;
/** Endpoints that are looked at class by class. */
const mostInContext = 100;

/** The words of all endpoints, for questions. */
export function createWordIndex() {
  const byStem = new Map<string, Map<string, number>>();
  const graphs = new Map<string, SchemaGraph>();
  const remove = (id: string): void => {
    for (const stem of graphs.get(id)?.words.keys() ?? []) {
      const having = byStem.get(stem);
      having?.delete(id);
      if (having?.size === 0) byStem.delete(stem);
    }
    graphs.delete(id);
  };
  return {
    remove,
    /** Adds an endpoint or replaces it. */
    set(graph: SchemaGraph): void {
      remove(graph.id);
      graphs.set(graph.id, graph);
      for (const [stem, weight] of graph.words) {
        const having = byStem.get(stem) ?? new Map<string, number>();
        byStem.set(stem, having.set(graph.id, weight));
      }
    },
    /** Endpoints that have anything of the question, best first, ties by id. */
    rank(question: QuestionWords, { meaning, values }: EndpointEvidence = {}): readonly RankedEndpoint[] {
      const words = matchedWords(byStem, question, graphs.size);
      const lexical = graphs
        .keys()
        .map((id) => wordScore(id, words))
        .toArray();
      for (const each of lexical.toSorted((left, right) => right.score - left.score).slice(0, mostInContext)) {
        each.score += classContext * contextScore(graphs.get(each.id)?.nodes ?? [], each.weights);
      }
      const best = Math.max(...lexical.map(({ score }) => score), Number.MIN_VALUE);
      const near = meaning === undefined ? [] : scaled(lexical.map(({ id }) => meaning(id)));
      return lexical
        .map(({ id, score, words: met }, at) => ({
          id,
          score: score / best + meaningWeight * (near[at] ?? 0) + (values?.get(id) ?? 0),
          words: met,
        }))
        .filter(({ score }) => score > 0)
        .toSorted((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1));
    },
  };
}

interface MatchedWord {
  readonly stem: string;
  readonly word: string;
  readonly weight: number;
  /** By endpoint. */
  readonly best: ReadonlyMap<string, WordMatch>;
}

/** Each word of the question with the endpoints that have it or a like one; typing errors only where nobody has it. */
function matchedWords(
  byStem: ReadonlyMap<string, ReadonlyMap<string, number>>,
  question: QuestionWords,
  endpoints: number,
): readonly MatchedWord[] {
  return [...question].map(([wanted, word]) => {
    const best = new Map<string, WordMatch>();
    const take = (stem: string, like: number): void => {
      for (const [id, weight] of byStem.get(stem) ?? []) {
        if (like * weight > (best.get(id)?.like ?? 0)) best.set(id, { word, stem, like: like * weight });
      }
    };
    for (const stem of byStem.keys()) {
      const like = likeness(wanted, stem);
      if (like > 0) take(stem, like);
    }
    if (best.size === 0 && !word.includes(" ")) for (const stem of misspelt(wanted, byStem.keys())) take(stem, 0.5);
    const having = best.values().reduce((sum, { like }) => sum + (like > 0.5 ? 1 : 0.5), 0);
    return { stem: wanted, word, weight: rarity(having, endpoints), best };
  });
}

const shortestMisspelt = 5;

/** Known words that differ in one letter, in long ones in two; few people mistype the first. */
function misspelt(wanted: string, known: Iterable<string>): readonly string[] {
  if (wanted.length < shortestMisspelt || /\d/.test(wanted)) return [];
  const cap = wanted.length < 8 ? 1 : 2;
  return [...known].filter((stem) => stem[0] === wanted[0] && editDistance(wanted, stem, cap) <= cap);
}

interface LexicalScore extends Omit<RankedEndpoint, "score"> {
  score: number;
  readonly weights: ReadonlyMap<string, number>;
}

/** The words that it has, rare ones more. */
function wordScore(id: string, words: readonly MatchedWord[]): LexicalScore {
  const met = words.flatMap(({ best, weight }) => {
    const match = best.get(id);
    return match === undefined ? [] : [{ match, weight: match.like * weight }];
  });
  return {
    id,
    score: met.reduce((sum, { weight }) => sum + weight, 0),
    words: met.map(({ match }) => match),
    weights: new Map(met.map(({ match, weight }) => [match.stem, weight])),
  };
}

/** The class that has most of the words together with its properties: words that stand together mean more. */
function contextScore(nodes: SchemaGraph["nodes"], weights: ReadonlyMap<string, number>): number {
  const own = nodes.map(({ names }) => Math.max(0, ...names.map((stems) => meanWeight(stems, weights))));
  let context = 0;
  for (const [at, { kind, properties }] of nodes.entries()) {
    if (kind !== "class") continue;
    const best = properties.map((place) => own[place] ?? 0).toSorted((left, right) => right - left);
    const ofProperties = best.slice(0, 3).reduce((sum, score) => sum + score, 0);
    context = Math.max(context, (own[at] ?? 0) + 0.5 * ofProperties);
  }
  return context;
}

const meanWeight = (stems: readonly string[], weights: ReadonlyMap<string, number>): number =>
  stems.reduce((sum, stem) => sum + (weights.get(stem) ?? 0), 0) / Math.sqrt(stems.length);
