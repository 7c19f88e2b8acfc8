import { iriParts, plainText } from "../../../rdf/display-text.ts";
import type { Match } from "../answers.ts";
import { type AskedWord, comparedStem, isSureLikeness, likeness } from "../words/likeness.ts";
import type { SchemaGraph, SchemaNode } from "../tables/schema-graph.ts";
import { itemAt, valueFor } from "../../../values.ts";

/** A class or property of an endpoint for a question. */
export interface RankedNode {
  readonly node: SchemaNode;
  readonly score: number;
  /** Words of the question that its name has, or like ones. */
  readonly words: readonly string[];
  /** Those of them that its name has as they are, but for their form. */
  readonly sure: readonly string[];
  /** These, and those that it has much alike. */
  readonly alike: readonly string[];
  /** How near its name is to the question in meaning, 0 to 1 among the endpoint's; absent without a model. */
  readonly meaning?: number | undefined;
  /** The question names a value that it has, or an entity of it. */
  readonly isMentioned: boolean;
  /** The matched class or property that it is a neighbour of, when it did not match itself. */
  readonly near?: SchemaNode | undefined;
}

/** Evidence about nodes other than their words, by position in the graph. */
export interface Evidence {
  /** Cosines with the question. */
  readonly meaning?: readonly number[] | undefined;
  /** 0 to 1: the question names a value that the property has, or an entity of the class. */
  readonly values?: ReadonlyMap<number, number> | undefined;
}

interface Own {
  readonly score: number;
  readonly words: readonly string[];
  readonly sure: readonly string[];
  readonly alike: readonly string[];
}

/**
 * How much of a score goes to a neighbour: to a class from the best property it has, and a little from each of the next
 * three; from the class at the other end of a property that leads to it; to a property from its classes.
 */
const shares = { bestProperty: 0.35, property: 0.1, linked: 0.2, domain: 0.3, range: 0.3, bothEnds: 0.1 } as const;

/**
 * The classes and properties of an endpoint for a question, best first, ties by their number of instances or triples. A
 * name counts by the part of it that the question has, rare words more; meaning, scaled to 0 to 1 within the endpoint, and
 * values add to that. Then neighbours in the schema raise each other.
 */
export function rankTerms(
  graph: SchemaGraph,
  question: readonly AskedWord[],
  { meaning, values }: Evidence = {},
): readonly RankedNode[] {
  const { nodes } = graph;
  const lexical = lexicalScores(nodes, question);
  const best = Math.max(...lexical.map(({ score }) => score), Number.MIN_VALUE);
  const near = meaning === undefined ? undefined : scaled(meaning);
  const own = lexical.map(({ score }, at) => score / best + (near?.[at] ?? 0) ** 2 + (values?.get(at) ?? 0));
  const scores = withNeighbours(nodes, own);
  return nodes
    .map((node, at): RankedNode => {
      const { words, sure, alike } = itemAt(lexical, at);
      const isMentioned = values?.has(at) ?? false;
      const neighbour = words.length > 0 || isMentioned ? undefined : bestNeighbour(node, nodes, own);
      return { node, score: itemAt(scores, at), words, sure, alike, meaning: near?.[at], isMentioned, near: neighbour };
    })
    .filter(({ score }) => score > 0)
    .toSorted((left, right) => right.score - left.score || right.node.count - left.node.count);
}

function lexicalScores(nodes: readonly SchemaNode[], question: readonly AskedWord[]): readonly Own[] {
  const having = new Map<string, number>();
  for (const { names } of nodes) {
    for (const stem of new Set(names.flat())) having.set(stem, (having.get(stem) ?? 0) + 1);
  }
  const known = new Map<string, WeighedStem>();
  const nearest = new Map<string, number>();
  for (const [stem, count] of having) {
    const { word, like } = bestMatch(stem, question);
    known.set(stem, { word, like, weight: rarity(count, nodes.length) });
    nearest.set(word, Math.max(nearest.get(word) ?? 0, like));
  }
  const joined = new Map(question.map(({ stem, word }) => [stem, word]));
  return nodes.map(({ names }) => {
    const scored = names.map((stems) => nameScore(stems, { known, nearest, joined }));
    return scored.toSorted((left, right) => right.score - left.score)[0] ?? unnamed;
  });
}

const unnamed: Own = { score: 0, words: [], sure: [], alike: [] };

/** Inverse document frequency as in BM25. */
export const rarity = (having: number, all: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5));

/** The word of the question that a stem is most like. */
function bestMatch(stem: string, question: readonly AskedWord[]): { readonly word: string; readonly like: number } {
  let found = { word: "", like: 0 };
  const compared = comparedStem(stem);
  for (const asked of question) {
    const like = likeness(asked, compared);
    if (like > found.like) found = { word: asked.word, like };
  }
  return found;
}

/** A stem with its rarity, and the word of the question that it is most like. */
interface WeighedStem {
  readonly word: string;
  readonly like: number;
  readonly weight: number;
}

interface Matching {
  readonly known: ReadonlyMap<string, WeighedStem>;
  /** How like each word of the question its nearest stem is. */
  readonly nearest: ReadonlyMap<string, number>;
  /** Words of the question by their stems. */
  readonly joined: ReadonlyMap<string, string>;
}

/** A word names what is at least half as like it as the nearest stem is. */
const namedShare = 0.5;
/** Less is chance where the question means something else. */
const leastAlike = 0.45;

/** The rarity of what is matched, less where other words of the name are not. */
function nameScore(stems: readonly string[], { known, nearest, joined }: Matching): Own {
  const weighed = stems.map((stem) => valueFor(known, stem));
  const all = weighed.reduce((sum, { weight }) => sum + weight, 0);
  const whole = joined.get(stems.join(""));
  if (whole !== undefined) return { score: all, words: [whole], sure: [whole], alike: [whole] };
  const got = weighed.reduce((sum, { weight, like }) => sum + weight * like, 0);
  const named = weighed.filter(({ word, like }) => like > 0 && like >= namedShare * valueFor(nearest, word));
  if (all === 0) return unnamed;
  const wordsOf = (matched: readonly WeighedStem[]): readonly string[] => [...new Set(matched.map(({ word }) => word))];
  const sure = named.filter(({ like }) => isSureLikeness(like));
  const alike = named.filter(({ like }) => like >= leastAlike);
  return { score: got * Math.sqrt(got / all), words: wordsOf(named), sure: wordsOf(sure), alike: wordsOf(alike) };
}

/** The least is 0, the greatest 1: cosines of one model lie closer together than those of another. */
export function scaled(values: readonly number[]): readonly number[] {
  const known = values.filter((value) => !Number.isNaN(value));
  const least = Math.min(...known);
  const range = Math.max(...known) - least;
  return values.map((value) => (range > 0 && !Number.isNaN(value) ? (value - least) / range : 0));
}

const most = (places: readonly number[], scores: readonly number[]): number =>
  places.reduce((best, place) => Math.max(best, scores[place] ?? 0), 0);

function withNeighbours(nodes: readonly SchemaNode[], own: readonly number[]): readonly number[] {
  const classes = nodes.map(({ kind, properties }, at) => {
    if (kind !== "class") return 0;
    const [best = 0, ...next] = properties.map((place) => own[place] ?? 0).toSorted((left, right) => right - left);
    const others = next.slice(0, 3).reduce((sum, score) => sum + score, best);
    return (own[at] ?? 0) + shares.bestProperty * best + shares.property * others;
  });
  const linked = new Map<number, number>();
  for (const { domains, ranges } of nodes) {
    const from = most(domains, own);
    for (const place of ranges) linked.set(place, Math.max(linked.get(place) ?? 0, from));
  }
  return nodes.map(({ kind, domains, ranges }, at) => {
    if (kind === "class") return (classes[at] ?? 0) + shares.linked * (linked.get(at) ?? 0);
    const domain = most(domains, classes);
    const others = ranges.filter((place) => !domains.includes(place));
    const range = most(others, classes);
    const ends = ranges.length > 0 ? shares.range * range + shares.bothEnds * Math.min(domain, range) : 0;
    return (own[at] ?? 0) + shares.domain * domain + ends;
  });
}

function bestNeighbour(
  { domains, ranges, properties }: SchemaNode,
  nodes: readonly SchemaNode[],
  own: readonly number[],
): SchemaNode | undefined {
  let best = -1;
  for (const place of [...domains, ...ranges, ...properties]) {
    if (itemAt(own, place) > (own[best] ?? 0)) best = place;
  }
  return nodes[best];
}

/** Why a class or property was found: which word of the question met its name. */
export const reason = (field: string, term: string, { iri }: RankedNode["node"]): Match => ({
  field,
  term,
  matched: plainText(iriParts(iri).local || iri, 60),
});
