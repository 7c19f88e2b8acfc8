import { decodedName } from "../../../src/rdf/display-text.ts";

/** A question as the checks read it. */
export interface QuestionText {
  /** In lower case, quotation marks made plain. */
  readonly text: string;
  readonly words: readonly string[];
  /** Parts that a query has to name: numbers, texts in quotation marks, capitalised words inside a sentence. */
  readonly named: readonly NamedText[];
}

/** A number, or a text. */
interface NamedText {
  readonly kind: "number" | "quoted" | "name";
  readonly text: string;
}

const numberWords = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
/** "one" is a pronoun but for these. */
const comparing = "(?:more|less|fewer|greater|older|younger) than|at least|at most|over";
const dates = /^(?:january|february|march|april|may|june|july|august|september|october|november|december|\w+day|i)$/u;
const aNumber = new RegExp(`\\b(${numberWords.slice(2).join("|")})\\b|(?<=\\b(?:${comparing}) )(one)\\b`, "gu");
/** Quotation marks, also as UTF-8 that was read as Mac OS Roman. */
const quotes = /‚Äò|‚Äô|‚Äú|‚Äù|[‘’“”`]/gu;
const quoted = /(?<=^|[\s(,])(['"])(?<inner>[^'"]+|.{1,80}?)\1(?=$|[\s.,;:?!)])/gu;
const digits = /(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?![\w])/gu;
/** Behind the first word of a sentence. */
const capitalised = /[A-Z](?<!(?:[.?!:]\s{0,3}|^\s*|[\w']).)[\w&-]*(?:\s+[A-Z][\w&-]*)*/gu;

/** Reads a question in English. */
export function readQuestion(written: string): QuestionText {
  const plain = written.replaceAll(quotes, "'").replaceAll(/\s+/gu, " ").trim();
  const named: NamedText[] = [];
  const rest = plain.replaceAll(quoted, (all: string, _mark: string, inner: string) => {
    named.push({ kind: "quoted", text: inner.trim() });
    return " ".repeat(all.length);
  });
  for (const [name] of rest.matchAll(capitalised))
    if (!dates.test(name.toLowerCase())) named.push({ kind: "name", text: name });
  const text = plain.toLowerCase();
  for (const [number] of rest.matchAll(digits)) named.push({ kind: "number", text: number.replaceAll(",", "") });
  for (const [, counted, one] of rest.toLowerCase().matchAll(aNumber)) {
    named.push({ kind: "number", text: String(numberWords.indexOf(counted ?? one ?? "")) });
  }
  return { text, words: text.match(/[\p{L}\p{N}]+/gu) ?? [], named };
}

/** The number that a word or digits stand for. */
export const numberOf = (text: string): number =>
  numberWords.includes(text) ? numberWords.indexOf(text) : Number(text.replaceAll(",", ""));

/** Words that mean the same in names of properties and in questions. */
const synonyms: readonly (readonly string[])[] = [
  ["country", "nation", "state"],
  ["age", "old", "young", "birth"],
  ["name", "who", "called", "title"],
  ["killed", "death", "die", "dead", "fatal"],
  ["sex", "gender", "female", "male"],
  ["date", "when", "time", "day", "year"],
  ["location", "where", "place", "live"],
  ["number", "count", "how"],
  ["cost", "price", "charge", "expensive", "cheap", "amount", "paid"],
  ["population", "people", "populace", "inhabitant", "live"],
  ["weight", "heavy", "weigh"],
  ["area", "size", "land", "large"],
  ["type", "kind", "sort", "form"],
  ["head", "leader", "chief", "president"],
  ["like", "friend"],
];

/** Whether two words of English have one stem, or mean the same. */
export function sameWord(left: string, right: string): boolean {
  const [a, b] = [singular(left), singular(right)];
  if (a === b || synonyms.some((group) => group.includes(a) && group.includes(b))) return true;
  const shorter = Math.min(a.length, b.length);
  let common = 0;
  while (common < shorter && a[common] === b[common]) common++;
  return shorter >= 4 && common >= Math.max(4, shorter - 2) && Math.abs(a.length - b.length) <= 5;
}

/** The words of the local name of an IRI, or of the name of a variable. */
export function wordsOf(name: string): readonly string[] {
  const local = decodedName(localName(name));
  const split = local.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, " ").toLowerCase();
  return (split.match(/\p{L}+/gu) ?? []).filter(
    (word) => !["ref", "has", "is", "of", "the", "in", "by"].includes(word),
  );
}

/** What stands behind the last # or / of an IRI. */
export const localName = (iri: string): string => iri.slice(Math.max(iri.lastIndexOf("#"), iri.lastIndexOf("/")) + 1);

/** Whether a question has a word of a name; names such as `pettype` are searched for the question's words. */
export const mentions = (words: readonly string[], name: string): boolean =>
  words.some((word) => {
    const one = singular(word);
    return sameWord(word, name) || (one.length >= 4 && name.includes(one)) || (one === "id" && name.endsWith(one));
  });

const singular = (word: string): string =>
  word
    .replace(/(?<=\w{2})ies$/u, "y")
    .replace(/(?<=s|x|ch|sh)es$/u, "")
    .replace(/(?<=\w[^su])s$/u, "");
