import type * as RDF from "@rdfjs/types";
import { editDistance } from "../../errors/nearest.ts";
import { fold, likenessOfIris as likenessOfNames, termDifferences } from "../../registry/find.ts";

/** Difference between a term and the one that was probably meant, for the reader. */
export const differences = {
  ...termDifferences,
  language: "another language tag",
  datatype: "another datatype",
  blanks: "other blank space",
  accents: "other accents",
  number: "another way to write the number",
  node: "an IRI instead of a literal, or the other way round",
  hint: "the name of the variable",
  direction: "the other direction",
  other: "one of the values there are",
} as const;

/** How a term differs, in one word, and how probable it is that it was meant, from 0 to 1. */
export interface Likeness {
  readonly kind: keyof typeof differences;
  readonly score: number;
}

/** Compares the terms at one place of a pattern: the one that is written, and one that would have solutions. */
export function likeness(written: RDF.Term, found: RDF.Term): Likeness {
  if (written.termType === "Literal" && found.termType === "Literal") return literalLikeness(written, found);
  if (written.termType === "NamedNode" && found.termType === "NamedNode")
    return likenessOfIris(written.value, found.value);
  const [left, right] = [wordsOf(nameOf(written)), wordsOf(nameOf(found))];
  const isSame = left !== "" && left === right;
  return isSame ? { kind: "node", score: 0.85 } : capped(spelling(left, right), 0.7);
}

const sameMeaning: ReadonlySet<Likeness["kind"]> = new Set([
  "language",
  "datatype",
  "blanks",
  "case",
  "accents",
  "number",
  "scheme",
  "slash",
  "node",
]);
const fewestLetters = 5;

/**
 * True if a value can replace the written one without changing the question: it is the same, written in
 * another way, or a text with a letter or two mistaken. Codes that are nearly alike name other things.
 */
export function isSameMeant(written: RDF.Term, found: RDF.Term, { kind }: Likeness): boolean {
  if (sameMeaning.has(kind)) return true;
  const [left, right] = [written, found].map((term) => folded(wordsOf(nameOf(term))).slice(0, 128));
  if (kind !== "spelling" || left === undefined || right === undefined) return false;
  const shortest = Math.min(left.length, right.length);
  const most = shortest < 8 ? 1 : 2;
  return shortest >= fewestLetters && !/\p{N}/u.test(left + right) && editDistance(left, right, most + 1) <= most;
}

function literalLikeness(written: RDF.Literal, found: RDF.Literal): Likeness {
  const [left, right] = [written.value, found.value];
  if (left === right) return { kind: written.language === found.language ? "datatype" : "language", score: 0.98 };
  if (squeezed(left) === squeezed(right)) return { kind: "blanks", score: 0.97 };
  if (squeezed(left).toLowerCase() === squeezed(right).toLowerCase()) return { kind: "case", score: 0.96 };
  if (isNumber(left) && isNumber(right)) return numberLikeness(Number(left), Number(right));
  if (folded(left) === folded(right)) return { kind: "accents", score: 0.93 };
  return spelling(folded(left), folded(right));
}

/** Another number is another value, however like it looks. */
const numberLikeness = (left: number, right: number): Likeness =>
  left === right ? { kind: "number", score: 0.95 } : { kind: "other", score: 0.1 };

function likenessOfIris(left: string, right: string): Likeness {
  if (left === right) return { kind: "other", score: 0 };
  return likenessOfNames(left, right) ?? spelling(wordsOf(localName(left)), wordsOf(localName(right)));
}

function spelling(left: string, right: string): Likeness {
  const [a, b] = [left.slice(0, 128), right.slice(0, 128)];
  const longest = Math.max(a.length, b.length);
  if (longest === 0) return { kind: "other", score: 0 };
  const letters = 1 - editDistance(a, b, longest) / longest;
  if (letters >= 0.6) return { kind: "spelling", score: 0.9 * letters };
  const [some, others] = [wordSet(a), wordSet(b)];
  const shared = [...some].filter((word) => others.has(word)).length;
  const words = shared / Math.max(1, Math.max(some.size, others.size));
  if (words > 0 && words >= letters - 0.2) return { kind: "words", score: 0.3 + 0.4 * words };
  return { kind: "other", score: 0.4 * letters };
}

const capped = ({ kind, score }: Likeness, most: number): Likeness => ({ kind, score: Math.min(score, most) });
const squeezed = (text: string): string => text.trim().replaceAll(/\s+/gu, " ");
const folded = (text: string): string => fold(squeezed(text));
const isNumber = (text: string): boolean => /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/iu.test(text);
const wordSet = (text: string): ReadonlySet<string> =>
  new Set(text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== ""));

/** Behind the last `#` or `/`; of an IRI that ends with one, the name before it. */
export const localName = (iri: string): string => /(?<![^/#])([^/#]*)[/#]?$/u.exec(iri)?.[1] ?? "";

const nameOf = (term: RDF.Term): string => (term.termType === "NamedNode" ? localName(term.value) : term.value);

/** A name with blanks between its words, in lower case. */
export const wordsOf = (name: string): string =>
  name
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replaceAll(/[\s_.-]+/gu, " ")
    .trim()
    .toLowerCase();
