import { baseForm, isStopWord, wordsOf } from "../search/words.ts";

/** Stems of a question with the words that they were made of. */
export type QuestionWords = ReadonlyMap<string, string>;

const longestQuestion = 2_000;
const mostStems = 40;

/** What stands for all forms of a folded word: `countries` and `country` have one stem, `born` and `birth` too. */
export const stemOf = baseForm;

/** The stems of a text, each once, those of stop words left out. */
export function stemsOf(text: string): readonly string[] {
  return [...new Set(partsOf(text).map(stemOf))].filter((stem) => !isStopWord(stem));
}

/** All single words of a text, compounds taken apart (`hasPart`: has, part). */
function partsOf(text: string): readonly string[] {
  return wordsOf(text).flatMap(({ whole, parts }) => (parts.length > 0 ? parts : [whole]));
}

/**
 * What a question is searched by: its words but for stop words, and each two neighbours as one ("high schooler" for
 * `highschooler`). Of a question of stop words alone, those.
 */
export function questionWords(question: string): QuestionWords {
  const words = partsOf(question.slice(0, longestQuestion));
  const telling = words.filter((word) => !isStopWord(word));
  const found = new Map<string, string>();
  for (const word of telling.length > 0 ? telling : words) found.set(stemOf(word), word);
  for (const [at, word] of words.entries()) {
    const next = words[at + 1];
    if (next !== undefined && !isStopWord(word) && !isStopWord(next)) {
      found.set(stemOf(word + next), `${word} ${next}`);
    }
  }
  return new Map([...found].slice(0, mostStems));
}

const shortestPrefix = 3;
const shortestStem = 5;

/** How alike two stems are, 0 to 1: the same; one the beginning of the other; of one family (`departing`, `departure`). */
export function likeness(left: string, right: string): number {
  if (left === right) return 1;
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  if (short.length < shortestPrefix) return 0;
  if (long.startsWith(short)) return (0.6 * short.length) / long.length;
  let shared = 0;
  while (shared < short.length && short[shared] === long[shared]) shared++;
  return shared >= shortestStem && shared >= long.length * 0.7 ? (0.5 * shared) / long.length : 0;
}
