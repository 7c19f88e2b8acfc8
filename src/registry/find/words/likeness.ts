import type { QuestionWords } from "./question-words.ts";
import { likeMeaning, wordPlace } from "./word-vectors.ts";

/** A stem as all words of a question are compared with it. */
export interface ComparedStem {
  readonly stem: string;
  /** In the table of word vectors. */
  readonly place: number | undefined;
}

export const comparedStem = (stem: string): ComparedStem => ({ stem, place: wordPlace(stem) });

/** A word of a question as it is compared with the words of schemas. */
export interface AskedWord extends ComparedStem {
  /** As written; of two neighbours with a blank between them. */
  readonly word: string;
  /** Some endpoint has it. */
  readonly isKnown: boolean;
  /** How much the same meaning is, where the same word is 1. */
  readonly meaningShare: number;
}

/** The same meaning is less than the same word, and less still for a word that some endpoint has, and where endpoints have all of the question. */
const meaningShares = { all: 0.9, ofKnown: 0.8, allKnown: 0.75 } as const;

/** Words of a question, of which some are known to be stems of endpoints. */
export function askedWords(question: QuestionWords, stems: ReadonlyMap<string, unknown>): readonly AskedWord[] {
  const single = [...question].filter(([, word]) => isSingle(word));
  const known = single.filter(([stem]) => stems.has(stem)).length / single.length;
  const share = meaningShares.all * (1 - known * (1 - meaningShares.allKnown));
  return [...question].map(([stem, word]) => {
    const isKnown = stems.has(stem);
    const meaningShare = isKnown ? share * meaningShares.ofKnown : share;
    return { stem, place: wordPlace(stem) ?? wordPlace(word), word, isKnown, meaningShare };
  });
}

const isSingle = (word: string): boolean => !word.includes(" ");

/** Shorter words are often words of several languages. */
const longWord = /^\p{L}{4,}$/u;

/** True if most words are neither English nor words of an endpoint; a single name is no language. */
export function isForeign(question: readonly AskedWord[]): boolean {
  const long = question.filter((each) => longWord.test(each.word));
  const foreign = long.filter(({ isKnown, place }) => !isKnown && place === undefined);
  return foreign.length > 1 && foreign.length > long.length / 2;
}

/** How alike a stem is to a word of a question, 0 to 1, in spelling or in meaning. */
export function likeness(asked: AskedWord, { stem, place }: ComparedStem): number {
  const spelt = likeSpelling(asked.stem, stem);
  if (asked.place === undefined || place === undefined || spelt === 1) return spelt;
  return Math.max(spelt, asked.meaningShare * likeMeaning(asked.place, place));
}

/** True for words that are the same, not only alike in spelling or meaning. */
export const isSureLikeness = (like: number): boolean => like >= leastSure;

const leastSure = 0.95;
const shortestPrefix = 3;
const shortestStem = 5;

/** 0 to 1: the same; one the beginning of the other; of one family (`departing`, `departure`). */
function likeSpelling(left: string, right: string): number {
  if (left === right) return 1;
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  if (short.length < shortestPrefix) return 0;
  if (long.startsWith(short)) return (0.6 * short.length) / long.length;
  let shared = 0;
  while (shared < short.length && short[shared] === long[shared]) shared++;
  return shared >= shortestStem && shared >= long.length * 0.7 ? (0.5 * shared) / long.length : 0;
}

const leastLetters = 5;

/** How many letters of a word may be mistaken; short words and codes are close to others without meaning the same. */
export function mistakesIn(word: string): 0 | 1 | 2 {
  if (word.length < leastLetters || /\d/.test(word)) return 0;
  return word.length < 7 ? 1 : 2;
}
