import MiniSearch, { type Options, type Query, type SearchOptions, type SearchResult } from "minisearch";
import type { Match } from "../answers.ts";
import { editDistance } from "../../../errors/nearest.ts";
import { otherForms } from "../words/forms.ts";
import { mistakesIn } from "../words/likeness.ts";
import { indexWords } from "../words/question-words.ts";
import type { Word } from "../words/words.ts";
import { itemAt } from "../../../values.ts";

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

/** How words are looked for: as they are; also in the other number and as beginnings of words; also with typing errors. */
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
      met.has(whole) ||
      otherForms(whole).some((form) => met.has(form)) ||
      (parts.length > 0 && parts.every((part) => met.has(part))),
  );
}

/** A compound is met as one word or by all of its parts. */
function wordQuery({ whole, parts }: Word, how: Looking["how"]): Query {
  const queries: Query[] = how === "whole" ? [whole] : [whole, ...otherForms(whole)];
  if (parts.length > 0) queries.push({ combineWith: "AND", queries: [...parts] });
  return queries.length === 1 ? whole : { combineWith: "OR", queries };
}

function howToLook({ how, fields }: Looking): SearchOptions {
  return {
    ...(fields !== undefined && { fields: [...fields] }),
    prefix: (term) => how !== "whole" && term.length > 2,
    fuzzy: (term) => how === "errors" && mistakesIn(term),
  };
}

function hitOf({ id, score, queryTerms, match }: SearchResult): TextHit {
  return { key: String(id), score, terms: queryTerms, match };
}

const mostReasons = 8;
const mostMistakes = 2;

/** The reasons of a hit: for each indexed word the query word that met it, whole words before beginnings and near ones. */
export function reasonsOf(hit: TextHit, words: readonly Word[]): readonly Match[] {
  const terms = words.flatMap(({ whole, parts }) => [whole, ...parts, ...otherForms(whole)]);
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
  const distances = terms.map((term) => ({ term, distance: editDistance(term, matched, mostMistakes) }));
  const closest = itemAt(
    distances.toSorted((left, right) => left.distance - right.distance),
    0,
  );
  return { term: closest.term, rank: 2 };
}
