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
  const spans = spansOf(words, tellingWords(words));
  const equal = spans.flatMap((span) => equalTo(table, span));
  const met = new Set(equal.flatMap(({ span }) => span.words));
  const open = spans.filter((span) => mayBeMisspelt(span) && !span.words.some((word) => met.has(word)));
  const alike = open
    .toSorted(mostTellingFirst)
    .slice(0, mostCompared)
    .flatMap((span) => inflected(table, span));
  return [...table.equal(text), ...whole, ...equal.map(({ match }) => match), ...alike];
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

/** A run of words. */
interface Span {
  readonly words: readonly TextWord[];
  readonly text: string;
  readonly quoted: boolean;
  /** What a label scores that is equal to it. */
  readonly score: number;
}

/** Words that are no stop words; a search looks at twelve of a text, a question may have more. */
function tellingWords(words: readonly TextWord[]): ReadonlySet<string> {
  const telling = new Set<string>();
  for (let from = 0; from < words.length; from += 10) {
    const part = words.slice(from, from + 10).map(({ word }) => word);
    for (const { whole } of queryWords(part.join(" "))) telling.add(whole);
  }
  return telling;
}

/** Every run of up to six words with a word that tells something. */
function spansOf(words: readonly TextWord[], telling: ReadonlySet<string>): readonly Span[] {
  const spans: Span[] = [];
  for (let length = Math.min(longestName, words.length); length > 0; length -= 1) {
    for (let from = 0; from + length <= words.length; from += 1) {
      const run = words.slice(from, from + length);
      const quoted = run.every((word) => word.quoted);
      if (!quoted && !run.some(({ word }) => telling.has(fold(word)))) continue;
      const score = 0.6 + 0.05 * Math.min(4, length - 1) + (quoted ? 0.15 : 0) + (looksLikeName(run) ? 0.08 : 0);
      spans.push({ words: run, text: run.map(({ word }) => word).join(" "), quoted, score });
    }
  }
  return spans;
}

const equalTo = (table: LabelTable, span: Span): readonly { span: Span; match: LabelMatch }[] =>
  table.equal(span.text).map(({ at, how }) => ({ span, match: { at, how, score: span.score } }));

/** Comparing letters costs a thousand times what looking up equal texts does. */
const mostCompared = 6;
const mayBeMisspelt = ({ words, text, quoted }: Span): boolean =>
  quoted || (words.length === 1 && text.length >= leastLetters);
const mostTellingFirst = (left: Span, right: Span): number =>
  right.score - left.score || right.text.length - left.text.length;

/** Capitals inside a sentence are names; at its beginning they are not. */
const looksLikeName = (span: readonly TextWord[]): boolean =>
  span.some(({ word, start }) => start > 0 && /^\p{Lu}/u.test(word)) || span.some(({ word }) => /\d/.test(word));

/** Labels like a word: plurals ("republics"), adjectives ("Asian"), typing errors. */
function inflected(table: LabelTable, { text, score: looks }: Span): readonly LabelMatch[] {
  const single = singular(foldedWords(text));
  const plural = single === undefined ? [] : table.equal(single);
  if (plural.length > 0) return plural.map(({ at }) => ({ at, how: "spelling", score: looks - 0.02 }));
  return table
    .similar(text, mostSimilar)
    .filter(({ score }) => score >= likeWord)
    .map(({ at, how, score }) => ({ at, how, score: looks * score }));
}
