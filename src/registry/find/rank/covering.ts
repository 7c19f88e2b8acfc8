import { itemAt } from "../../../values.ts";
import type { EndpointModels } from "../../model/endpoint-models.ts";
import { comparedStem, likeness } from "../words/likeness.ts";
import { isCounting, stemsOf } from "../words/question-words.ts";
import type { QuestionRanking } from "./question-ranking.ts";

type Words = ReadonlySet<string>;

/** Single words of a question that an endpoint or federation has something for. */
export interface Reach {
  /** Words that its schema or a value has, but for their form; where it is not described, its entry or what others published. */
  readonly sure: Words;
  /** These, and words that it has something alike for. */
  readonly near: Words;
}

/** Of an endpoint by its id, of a federation by its key. */
export function reachOf(key: string, ranked: QuestionRanking, models: EndpointModels): Reach {
  const merged = ranked.federations.model(key);
  const { described } = merged ?? models.get(key) ?? {};
  const terms = described === undefined ? [] : ranked.termsOf(key);
  const isWhole = described !== undefined && merged?.known.length === merged?.members.length;
  const sure = [...terms.flatMap((term) => term.sure), ...(isWhole ? [] : ranked.sureWordsOf(key))];
  const near = [...terms.flatMap((term) => term.alike), ...(isWhole ? [] : ranked.wordsOf(key))];
  const valued = valuedWords(key, ranked);
  return { sure: tellingWords([...sure, ...valued]), near: tellingWords([...sure, ...near, ...valued]) };
}

/** Without numbers and words for how answers are counted and named, which are in schemas of any subject. */
const tellingWords = (words: readonly string[]): Words =>
  new Set(words.flatMap((word) => word.split(" ")).filter((word) => !isCounting(word)));

/** An adjective is the name that it was made of, and a few letters: Icelandic. */
const leastLike = 0.45;

/** Words of the question that the names have which it mentions. */
function valuedWords(key: string, ranked: QuestionRanking): readonly string[] {
  const stems = new Set(ranked.mentionsOf(key).flatMap(({ label }) => stemsOf(label)));
  const compared = Array.from(stems, comparedStem);
  return ranked.words
    .filter((asked) => compared.some((stem) => likeness(asked, stem) >= leastLike))
    .map(({ word }) => word);
}

const mostTogether = 4;

/**
 * Chooses the fewest of these, which come best first, that together have all words that any of them surely has. Each adds
 * one for which the others have nothing alike.
 * @param sizeOf how many endpoints one of them is
 * @returns places in their order; the smallest alone that has something for each word, none where several would not add up
 */
export function coveringSet(reaches: readonly Reach[], sizeOf: (at: number) => number): readonly number[] {
  const wanted = together(reaches.map(({ sure }) => sure));
  const [whole] = [...reaches.keys()]
    .filter((at) => wanted.isSubsetOf(itemAt(reaches, at).near))
    .toSorted((one, other) => sizeOf(one) - sizeOf(other));
  if (whole !== undefined) return [whole];
  const chosen: number[] = [];
  for (let left = wanted; left.size > 0 && chosen.length < mostTogether; ) {
    const gains = reaches.map(({ sure }) => sure.intersection(left).size);
    const most = Math.max(...gains);
    if (most === 0) break;
    const best = gains.indexOf(most);
    chosen.push(best);
    left = left.difference(itemAt(reaches, best).near);
  }
  const needed = chosen.filter((at) => {
    const others = together(chosen.filter((other) => other !== at).map((other) => itemAt(reaches, other).near));
    return !itemAt(reaches, at).sure.isSubsetOf(others);
  });
  return needed.length > 1 ? needed.toSorted((one, other) => one - other) : [];
}

const together = (all: readonly Words[]): Words => all.reduce((sum: Words, each) => sum.union(each), new Set<string>());
