import { singular } from "../words/forms.ts";
import { isStopWord } from "../words/question-words.ts";
import { fold, foldedWords } from "../words/words.ts";
import type { LabelMatch, LabelTable } from "../tables/label-table.ts";

/** Words in a row that may be a name. */
const longestName = 6;
const mostWords = 60;
/** A text of more words is not compared as a whole: it is a question. */
const mostWordsOfLabel = 8;
const mostSimilar = 40;
/** A single word of a question must be this much like a label. */
const likeWord = 0.7;
const likeWhole = 0.75;
/** The least that a word must have to be looked for in longer labels. */
const leastLetters = 3;
/** Labels that have one word of a longer text among others. */
const mostPartial = 5;

/**
 * Labels that a text is, nearly is, or mentions. A mention scores the higher the more of the text it is and the more it
 * looks like a name there: in quotation marks, capital letters, several words.
 */
export function mentionsIn(table: LabelTable, text: string): readonly LabelMatch[] {
  const words = wordsOf(text);
  const all = words.map(({ word }) => fold(word));
  const alikeWhole = words.length <= mostWordsOfLabel ? table.similar(text, mostSimilar) : [];
  const whole = [...otherNumber(table, text, 0.98), ...alikeWhole].map((match) => foundFor(all, match));
  // A text that is nearly a label as it stands mentions no other.
  if (words.length < 2 || whole.some(({ score }) => score >= likeWhole)) return whole;
  const spans = spansOf(words);
  const equal = spans.flatMap((span) => equalTo(table, span));
  const met = new Set(equal.flatMap(({ span }) => span.words));
  const open = spans.filter((span) => mayBeMisspelt(span) && !span.words.some((word) => met.has(word)));
  const alike = open
    .toSorted(mostTellingFirst)
    .slice(0, mostCompared)
    .flatMap((span) => inflected(table, span));
  return [...table.equal(text), ...whole, ...equal.map(({ match }) => match), ...alike];
}

/** Words in capitals, with small words between them: "University of Basel". */
const capitalised =
  /\p{Lu}[\p{L}\p{N}\p{M}'’.-]*(?:\s+(?:(?:an|and|d|da|de|del|den|der|des|di|du|el|et|for|in|la|le|of|the|und|van|von|zu)\s+){0,2}[\p{Lu}\p{N}][\p{L}\p{N}\p{M}'’.-]*)*/gu;
const mostWordsOfName = 4;

/** Most likely name in a text: its quoted part, all of a short text, or a question's longest run of capitalised words. */
export function nameIn(text: string): string | undefined {
  const [quoted] = text.matchAll(quotedParts);
  if (quoted !== undefined) return quoted.slice(1).find((part) => part !== undefined);
  const [first = "", ...rest] = text.trim().split(/\s+/);
  const isQuestion = isStopWord(fold(first));
  const telling = wordsOf(text).filter(({ word }) => !isStopWord(fold(word)));
  if (telling.length === 0 || (!isQuestion && telling.length <= mostWordsOfName)) return text;
  const names = (isQuestion ? rest.join(" ") : text).match(capitalised) ?? [];
  return names.toSorted((one, other) => other.length - one.length)[0];
}

interface TextWord {
  /** As written, without signs around it. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** Stands in quotation marks. */
  readonly quoted: boolean;
}

const quotedParts = /"([^"]{1,100})"|“([^“”]{1,100})”|(?<![\p{L}\p{N}])['‘]([^'’]{1,100})['’](?![\p{L}\p{N}])/gu;

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
  /** Score of an equal label. */
  readonly score: number;
}

/** Every run of up to six words with at least one that is no stop word. */
function spansOf(words: readonly TextWord[]): readonly Span[] {
  const spans: Span[] = [];
  for (let length = Math.min(longestName, words.length); length > 0; length -= 1) {
    for (let from = 0; from + length <= words.length; from += 1) {
      const run = words.slice(from, from + length);
      const quoted = run.every((word) => word.quoted);
      if (!quoted && run.every(({ word }) => isStopWord(fold(word)))) continue;
      const score = 0.6 + 0.05 * Math.min(4, length - 1) + (quoted ? 0.15 : 0) + (looksLikeName(run) ? 0.08 : 0);
      spans.push({ words: run, text: run.map(({ word }) => word).join(" "), quoted, score });
    }
  }
  return spans;
}

const equalTo = (table: LabelTable, span: Span): readonly { span: Span; match: LabelMatch }[] =>
  table.equal(span.text).map(({ at, how }) => ({ span, match: { at, how, score: span.score, words: foldedOf(span) } }));

const foldedOf = ({ words }: Span): readonly string[] => words.map(({ word }) => fold(word));

/** Comparing letters costs a thousand times what looking up equal texts does. */
const mostCompared = 6;
const mayBeMisspelt = ({ words, text, quoted }: Span): boolean =>
  quoted || (words.length === 1 && text.length >= leastLetters);
const mostTellingFirst = (left: Span, right: Span): number =>
  right.score - left.score || right.text.length - left.text.length;

/** Capitals inside a sentence are names; at its beginning they are not. */
const looksLikeName = (span: readonly TextWord[]): boolean =>
  span.some(({ word, start }) => start > 0 && /^\p{Lu}/u.test(word)) || span.some(({ word }) => /\d/.test(word));

const foundFor = (words: readonly string[], { at, how, score }: LabelMatch, looks = 1): LabelMatch => ({
  at,
  how,
  score: looks * score,
  words,
});

/** Labels that are the singular of a text. */
function otherNumber(table: LabelTable, text: string, score: number): readonly LabelMatch[] {
  const single = singular(foldedWords(text));
  return single === undefined ? [] : table.equal(single).map(({ at }) => ({ at, how: "folded", score }));
}

/** Labels like a word: plurals ("republics"), adjectives ("Asian"), typing errors; a few that have it among other words. */
function inflected(table: LabelTable, span: Span): readonly LabelMatch[] {
  const { text, score: looks } = span;
  const words = foldedOf(span);
  const plural = otherNumber(table, text, looks - 0.02);
  if (plural.length > 0) return plural.map((match) => foundFor(words, match));
  const similar = table.similar(text, mostSimilar);
  const partial = similar.filter(({ how, score }) => how === "words" && score < likeWord).slice(0, mostPartial);
  return [...similar.filter(({ score }) => score >= likeWord), ...partial].map((match) =>
    foundFor(words, match, looks),
  );
}
