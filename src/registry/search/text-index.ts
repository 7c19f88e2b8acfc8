import MiniSearch, { type Options, type Query, type SearchOptions, type SearchResult } from "minisearch";
import type { Match } from "./search-index.ts";
import { iriParts, nameWords } from "../schema/text.ts";

/** A document: its key and the text of each field. */
export interface TextDocument {
  readonly key: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** A document that was found. */
export interface TextHit {
  readonly key: string;
  readonly score: number;
  /** Words of the query that it has, each at least loosely. */
  readonly terms: readonly string[];
  /** Indexed words that were met, with the fields they were met in. */
  readonly match: Readonly<Record<string, readonly string[]>>;
}

/** How words are looked for: as they are; also as singulars and beginnings of words; also with typing errors. */
export interface Looking {
  readonly words: readonly Word[];
  readonly how: "whole" | "beginnings" | "errors";
  /** Fields to look in; all when absent. */
  readonly fields?: readonly string[] | undefined;
}

/** Weight of each field. */
type FieldWeights = Readonly<Record<string, number>>;

function optionsFor(weights: FieldWeights): Options<TextDocument> {
  return {
    fields: Object.keys(weights),
    idField: "key",
    extractField: (document: TextDocument, field: string): string =>
      field === "key" ? document.key : (document.fields[field] ?? ""),
    tokenize: indexWords,
    processTerm: (term) => term,
    // Documents are taken out with their text, which leaves nothing behind to clean up.
    autoVacuum: false,
    logger: () => undefined,
    searchOptions: { boost: { ...weights }, tokenize: (text) => [text], processTerm: (term) => term },
  };
}

/** Ranked full-text search (BM25+) over documents of a few fields; the only user of MiniSearch. */
export class TextIndex {
  readonly #index: MiniSearch<TextDocument>;

  constructor(weights: FieldWeights) {
    this.#index = new MiniSearch(optionsFor(weights));
  }

  add(document: TextDocument): void {
    this.#index.add(document);
  }

  /** Takes out a document, given as it was added. */
  remove(document: TextDocument): void {
    this.#index.remove(document);
  }

  /** Documents with at least one of the words, best first. */
  find(looking: Looking): readonly TextHit[] {
    if (looking.words.length === 0) return [];
    return this.#index.search(queryOf(looking), howToLook(looking)).map(hitOf);
  }
}

function queryOf({ words, how }: Looking): Query {
  return { combineWith: "OR", queries: words.map((word) => wordQuery(word, how)) };
}

/** The document has every one of the words, a compound also by all of its parts. */
export function hasAllWords({ terms }: TextHit, words: readonly Word[]): boolean {
  const met = new Set(terms);
  return words.every(
    ({ whole, parts }) =>
      met.has(whole) || met.has(singular(whole) ?? whole) || (parts.length > 0 && parts.every((part) => met.has(part))),
  );
}

/** A compound is met as one word or by all of its parts. */
function wordQuery({ whole, parts }: Word, how: Looking["how"]): Query {
  const queries: Query[] = [whole];
  const single = how === "whole" ? undefined : singular(whole);
  if (single !== undefined) queries.push(single);
  if (parts.length > 0) queries.push({ combineWith: "AND", queries: [...parts] });
  return queries.length === 1 ? whole : { combineWith: "OR", queries };
}

function howToLook({ how, fields }: Looking): SearchOptions {
  return {
    ...(fields !== undefined && { fields: [...fields] }),
    prefix: (term) => how !== "whole" && term.length > 2,
    fuzzy: (term) => how === "errors" && typingErrors(term),
  };
}

/** How many letters may differ; codes are close to each other without meaning the same. */
function typingErrors(term: string): number | false {
  if (term.length < 5 || /\d/.test(term)) return false;
  return term.length < 7 ? 1 : 2;
}

function hitOf({ id, score, queryTerms, match }: SearchResult): TextHit {
  return { key: String(id), score, terms: queryTerms, match };
}

const mostReasons = 8;

/** The reasons of a hit: for each indexed word the query word that met it, whole words before beginnings and near ones. */
export function reasonsOf(hit: TextHit, words: readonly Word[]): readonly Match[] {
  const terms = words.flatMap(({ whole, parts }) => [whole, ...parts, singular(whole) ?? []].flat());
  return Object.entries(hit.match)
    .map(([matched, fields]) => {
      const { term, rank } = meetingTerm(matched, terms);
      return { matched, fields, term, rank };
    })
    .toSorted((left, right) => left.rank - right.rank || (left.matched < right.matched ? -1 : 1))
    .flatMap(({ matched, fields, term }) => fields.map((field) => ({ field, term, matched })))
    .slice(0, mostReasons);
}

function meetingTerm(matched: string, terms: readonly string[]): { term: string; rank: number } {
  if (terms.includes(matched)) return { term: matched, rank: 0 };
  const beginning = terms.find((term) => matched.startsWith(term));
  if (beginning !== undefined) return { term: beginning, rank: 1 };
  const closest = terms
    .map((term) => ({ term, shared: sharedLetters(term, matched) - Math.abs(term.length - matched.length) }))
    .toSorted((left, right) => right.shared - left.shared)[0];
  return { term: closest?.term ?? "", rank: 2 };
}

/** Letters that two words have at the same place, from the front and from the back: enough to tell typing errors apart. */
function sharedLetters(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  let shared = 0;
  for (let at = 0; at < length; at++) {
    if (left[at] === right[at]) shared++;
    if (left.at(-1 - at) === right.at(-1 - at)) shared++;
  }
  return shared;
}

const marks = /\p{Mn}+/gu;
const letters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ł: "l",
  ı: "i",
  þ: "th",
};
const special = /[ßæœøđłıþ]/g;

/** Lower case without accents and compatibility forms, so that `Übersee`, `UBERSEE` and `übersee` are one word. */
export function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replace(marks, "")
    .toLowerCase()
    .replace(special, (letter) => letters[letter] ?? letter);
}

const longestWord = 64;
const separators = /[^\p{L}\p{N}\p{M}]+/u;
const isAscii = /^[\p{ASCII}]*$/u;
const asciiWords = /[A-Za-z0-9]+/g;
const maybeCompound = /[a-z][A-Z]|[A-Z]{2}[a-z]|\d[A-Za-z]|[A-Za-z]\d/;

/** One word as written, folded, and its parts when it is a compound (`hasPart2`: has, part, 2). */
export interface Word {
  readonly whole: string;
  readonly parts: readonly string[];
}

const noParts: readonly string[] = [];

/** The words of a text, in order. */
function wordsOf(text: string): readonly Word[] {
  // Nearly all names and most texts are ASCII, which needs no folding but of case.
  if (isAscii.test(text)) return (text.match(asciiWords) ?? []).map(asciiWord);
  return text
    .normalize("NFC")
    .split(separators)
    .filter((word) => word !== "")
    .map((word) => word.slice(0, longestWord))
    .map((word) => ({ whole: fold(word), parts: compoundParts(word).map(fold) }))
    .filter(({ whole }) => whole !== "");
}

function asciiWord(written: string): Word {
  const word = written.slice(0, longestWord);
  const parts = maybeCompound.test(word) ? compoundParts(word).map((part) => part.toLowerCase()) : noParts;
  return { whole: word.toLowerCase(), parts };
}

function compoundParts(word: string): readonly string[] {
  const parts = nameWords(word);
  return parts.length > 1 ? parts : noParts;
}

/** What a text is indexed under: its words and the parts of its compounds. */
export function indexWords(text: string): string[] {
  return wordsOf(text).flatMap(({ whole, parts }) =>
    parts.length === 0 ? whole : [whole].concat(parts.filter((part) => part.length > 1)),
  );
}

const longestQuery = 500;
const longestIri = 2_048;
const mostQueryWords = 12;
/** Words of questions rather than of descriptions; searched for only when a query has no others. */
const stopWords = new Set(
  "a about all an and any are at be by can do does endpoint endpoints find for from has have how i in into is it list many me of on or show that the their them there these this to was were what when where which who whose with".split(
    " ",
  ),
);

const iriPattern = /^<?[a-z][a-z0-9+.-]{0,20}:(?:\/\/|[^\s/:]{1,100}:)/i;

/** The query is one IRI, not words. */
export const isIri = (q: string): boolean => iriPattern.test(q.trim().slice(0, 200)) && !/\s/.test(q.trim());

/** The singular of an English plural, by its ending; undefined for other words. */
export function singular(word: string): string | undefined {
  if (word.length < 4 || !/[^su]s$/.test(word)) return undefined;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.replace(/(?<=s|x|z|ch|sh)es$|s$/, "");
}

/** The distinct words to search for, of an IRI those of its local name; input beyond the bounds is not looked at. */
export function queryWords(q: string): readonly Word[] {
  const text = isIri(q) ? iriParts(q.trim().slice(0, longestIri).replace(/>$/, "")).local : q;
  const distinct = new Map(wordsOf(text.slice(0, longestQuery)).map((word) => [word.whole, word]));
  const all = [...distinct.values()];
  const telling = all.filter(({ whole }) => !stopWords.has(whole));
  return (telling.length > 0 ? telling : all).slice(0, mostQueryWords);
}
