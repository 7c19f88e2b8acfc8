import { iriParts } from "../../../rdf/display-text.ts";
import { stemOf } from "./forms.ts";
import { type Word, wordsOf } from "./words.ts";

const listOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/** Words of questions rather than of descriptions; searched for only when a query has no others. */
const searchStopWords = listOf(
  "a about all an and any are at be by can do does endpoint endpoints find for from has have how i in into is it list many me of on or show that the their them there these this to was were what when where which who whose with",
);

/** Words that every question may have, whatever it is about; beside those, some that a description may be searched by. */
const questionStopWords = searchStopWords.union(
  listOf(
    "as been between both but could data dataset datasets did different distinct each either every gave give given had her his if its least more most much my no not one only other our out over please return s so some tell than then they those under up us we whether whom why will would you your",
  ),
);

/** True if a folded word of a question says nothing about its subject. */
export const isStopWord = (word: string): boolean => questionStopWords.has(word);

/** Words for how answers are counted, ordered and named. */
const countingWords = listOf(
  "amount average count fewest first highest id ids identifier identifiers last largest lowest maximum mean minimum name named names number numbers order per smallest sum title titles total",
);

/** True if a word of a question says how answers are counted or named, not what they are about; numbers too. */
export const isCounting = (word: string): boolean => /^\p{N}+$/u.test(word) || countingWords.has(word);

/** Index keys of a text: its words and the parts of its compounds. */
export const indexWords = (text: string): string[] =>
  wordsOf(text).flatMap(({ whole, parts }) =>
    parts.length === 0 ? whole : [whole].concat(parts.filter((part) => part.length > 1)),
  );

const iriPattern = /^<?[a-z][a-z0-9+.-]{0,20}:(?:\/\/|[^\s/:]{1,100}:)/i;

/** The query is one IRI, not words. */
export const isIri = (q: string): boolean => iriPattern.test(q.trim().slice(0, 200)) && !/\s/.test(q.trim());

const longestQuery = 500;
const longestIri = 2_048;
const mostQueryWords = 12;

/** The distinct words to search for, of an IRI those of its local name; input beyond the bounds is not looked at. */
export function queryWords(q: string): readonly Word[] {
  const text = isIri(q) ? iriParts(q.trim().slice(0, longestIri).replace(/>$/, "")).local : q;
  const distinct = new Map(wordsOf(text.slice(0, longestQuery)).map((word) => [word.whole, word]));
  const all = [...distinct.values()];
  const telling = all.filter(({ whole }) => !searchStopWords.has(whole));
  return (telling.length > 0 ? telling : all).slice(0, mostQueryWords);
}

/** All single words of a text, compounds taken apart (`hasPart`: has, part). */
const partsOf = (text: string): readonly string[] =>
  wordsOf(text).flatMap(({ whole, parts }) => (parts.length > 0 ? parts : [whole]));

/** The stems of a text, each once, those of stop words left out. */
export const stemsOf = (text: string): readonly string[] =>
  [...new Set(partsOf(text).map(stemOf))].filter((stem) => !isStopWord(stem));

/** Stems of a question with the words that they were made of. */
export type QuestionWords = ReadonlyMap<string, string>;

const longestQuestion = 2_000;
const mostStems = 40;

/**
 * Words to rank a question by: without stop words, and each two neighbours as one ("high schooler" for
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
