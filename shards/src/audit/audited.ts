import type { DataFacts } from "./data-facts.ts";
import type { QueryFacts } from "./query-facts.ts";
import { mentions, type QuestionText, sameWord, wordsOf } from "./question-text.ts";

type FlagName =
  | "column-not-asked"
  | "condition-missing"
  | "constant-unmatched"
  | "duplicate"
  | "empty"
  | "grouped-otherwise"
  | "limit-cuts-ties"
  | "literal-missing"
  | "number-as-text";

/** A doubt about a gold query. */
export interface Flag {
  readonly name: FlagName;
  /** A sentence. */
  readonly evidence: string;
  /** The part of the query, as it is written or by its keyword. */
  readonly place: string;
}

/** A question with its query and, where it could be read, the data. */
export interface Audited {
  readonly question: QuestionText;
  readonly facts: QueryFacts;
  readonly data: DataFacts | undefined;
}

/** The words for what a variable holds: its own name, its classes, its properties without the words of their class. */
export function wordsOfVariable({ properties, classes, ...facts }: QueryFacts, name: string): readonly string[] {
  const words = [...(properties.get(name) ?? [])].flatMap(wordsOf);
  const around = [...(facts.subjects.get(name) ?? [])]
    .flatMap((each) => Array.from(classes.get(each) ?? []))
    .flatMap(wordsOf);
  const own = words.filter((word) => !around.some((each) => sameWord(each, word)));
  const itself = [...(classes.get(name) ?? [])].flatMap(wordsOf);
  return [
    ...(own.length > 0 ? own : words),
    ...itself,
    ...(words.length > 0 && name.includes("_") ? [] : wordsOf(name)),
  ];
}

/** The words of the classes that a variable is a property of, or of its own classes. */
export const classWordsOf = ({ subjects, classes }: QueryFacts, name: string): readonly string[] =>
  [name, ...(subjects.get(name) ?? [])].flatMap((each) => Array.from(classes.get(each) ?? [])).flatMap(wordsOf);

export const mentionsAny = (words: readonly string[], names: readonly string[]): boolean =>
  names.some((name) => mentions(words, name));

/** Names and numbers by which things are shown when a question names the things. */
export const isIdentifying = (words: readonly string[]): boolean =>
  words.some((word) => /name$|title$|label$|id$|code$|^number$/u.test(word));

/** The words of all classes and properties of the data. */
export const vocabularyOf = (data: DataFacts | undefined): readonly string[] =>
  [...(data?.classes ?? [])].flatMap(([name, properties]) => Array.from(properties).concat(name)).flatMap(wordsOf);
