import { fold, queryWords, singular } from "../search/words.ts";
import { foldedWords, type LabelMatch, type LabelTable } from "./label-table.ts";

/** Words in a row that may be a name. */
const longestName = 6;
const mostWords = 60;
/** A text of more words is not compared as a whole: it is a question. */
const mostWordsOfLabel = 8;
const mostSimilar = 40;
/** A single word of a question must be this much like a label. */
const likeWord = 0.7;
const likeWhole = 0.75;
/** The least that a word must have to be looked for with typing errors. */
const leastLetters = 4;

/**
 * Labels that a text is, nearly is, or mentions. A mention scores the higher the more of the text it is and the more it
 * looks like a name there: in quotation marks, capital letters, several words.
 */
export function mentionsIn(table: LabelTable, text: string): readonly LabelMatch[] {
  const words = wordsOf(text);
  const whole = words.length <= mostWordsOfLabel ? table.similar(text, mostSimilar) : [];
  // A text that is nearly a label as it stands mentions no other.
  if (words.length < 2 || (whole[0]?.score ?? 0) >= likeWhole) return whole;
  const telling = new Set(queryWords(text).map((word) => word.whole));
  const parts = spansOf(words).flatMap((span) => spanMatches(table, span, telling));
  return [...table.equal(text), ...whole, ...parts];
}

interface TextWord {
  /** As written, without signs around it. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** Stands in quotation marks. */
  readonly quoted: boolean;
}

const quotedParts = /"([^"]{1,100})"|“([^”]{1,100})”|(?<![\p{L}\p{N}])['‘]([^'’]{1,100})['’](?![\p{L}\p{N}])/gu;

function wordsOf(text: string): readonly TextWord[] {
  const quotes = [...text.matchAll(quotedParts)].map((match) => [match.index, match.index + match[0].length] as const);
  return [...text.matchAll(/[\p{L}\p{N}]+/gu)].slice(0, mostWords).map((match) => {
    const [start, end] = [match.index, match.index + match[0].length];
    return { word: match[0], start, end, quoted: quotes.some(([from, to]) => start > from && end < to) };
  });
}

/** Every run of up to six words. */
function* spanWords(words: readonly TextWord[]): Generator<readonly TextWord[]> {
  for (let length = Math.min(longestName, words.length); length > 0; length -= 1) {
    for (let from = 0; from + length <= words.length; from += 1) yield words.slice(from, from + length);
  }
}

const spansOf = (words: readonly TextWord[]): readonly (readonly TextWord[])[] => [...spanWords(words)];

function spanMatches(
  table: LabelTable,
  span: readonly TextWord[],
  telling: ReadonlySet<string>,
): readonly LabelMatch[] {
  const names = span.filter(({ word }) => telling.has(fold(word)));
  const isQuoted = span.every(({ quoted }) => quoted);
  if (names.length === 0 && !isQuoted) return [];
  const looks = 0.6 + 0.05 * Math.min(4, span.length - 1) + (isQuoted ? 0.15 : 0) + (looksLikeName(span) ? 0.08 : 0);
  const text = span.map(({ word }) => word).join(" ");
  const found = table.equal(text).map(({ at, how }) => ({ at, how, score: looks }));
  const [only] = span;
  if (found.length > 0 || only === undefined) return found;
  if (!isQuoted && (span.length > 1 || only.word.length < leastLetters)) return [];
  return inflected(table, text, looks);
}

/** Capitals inside a sentence are names; at its beginning they are not. */
const looksLikeName = (span: readonly TextWord[]): boolean =>
  span.some(({ word, start }) => start > 0 && /^\p{Lu}/u.test(word)) || span.some(({ word }) => /\d/.test(word));

/** Labels like a word: plurals ("republics"), adjectives ("Asian"), typing errors. */
function inflected(table: LabelTable, text: string, looks: number): readonly LabelMatch[] {
  const single = singular(foldedWords(text));
  const plural = single === undefined ? [] : table.equal(single);
  if (plural.length > 0) return plural.map(({ at }) => ({ at, how: "spelling", score: looks - 0.02 }));
  return table
    .similar(text, mostSimilar)
    .filter(({ score }) => score >= likeWord)
    .map(({ at, how, score }) => ({ at, how, score: looks * score }));
}
