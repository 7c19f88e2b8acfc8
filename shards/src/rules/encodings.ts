import { readFileSync } from "node:fs";
import { itemAt } from "../../../src/values.ts";
import type { CoverInstance } from "./set-cover.ts";

/** The answer-set programs, one file a concern (`shards/README.md`). */
export type Encoding =
  | "domain"
  | "choice"
  | "coverage"
  | "precedence"
  | "federation"
  | "impossible"
  | "objectives"
  | "targets"
  | "canonical"
  | "answer"
  | "show";

const folder = new URL("../../", import.meta.url);
const texts = new Map<Encoding, string>();

function encodingText(name: Encoding): string {
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = readFileSync(new URL(`${name}.lp`, folder), "utf8");
  texts.set(name, text);
  return text;
}

/** A program: the facts and the encodings that give them a meaning, its first line says which. */
export function composeProgram(facts: readonly string[], encodings: readonly Encoding[]): string {
  const files = encodings.map((name) => `shards/${name}.lp`).join(" ");
  return [`% with ${files}`, ...facts, ...encodings.map(encodingText)].join("\n");
}

/**
 * A problem in paper mode as facts. Rules are numbered by their place in the instance, which is in canonical order.
 * @param names what the rules stand for, for whoever reads the program
 */
export const coverFacts = (instance: CoverInstance, names: readonly string[]): readonly string[] => [
  ...instance.rules.flatMap((covers, rule) => [
    `rule(${rule}). name(rule,${rule},${quote(itemAt(names, rule))}).`,
    covers.map((query) => `covers(${rule},${query}).`).join(" "),
  ]),
  ...Array.from({ length: instance.queries }, (_, query) => `query(${query}).`),
];

/** Paper mode: minimum set cover and the canonical choice in one program; the parameters are those of `coverFacts`. */
export function coverProgram(instance: CoverInstance, names: readonly string[]): string {
  const rules = instance.rules.length;
  const facts = [...coverFacts(instance, names), `level(fewest_rules,${rules + 1}). canonical(${rules}).`];
  return composeProgram(facts, ["domain", "choice", "coverage", "objectives", "canonical", "show"]);
}

/** Numbers of the atoms `predicate(number)`, ascending. */
export function numbersOf(atoms: readonly string[], predicate: "choose" | "unfederated"): readonly number[] {
  const prefix = `${predicate}(`;
  return atoms
    .filter((atom) => atom.startsWith(prefix))
    .map((atom) => Number(atom.slice(prefix.length, -1)))
    .toSorted((left, right) => left - right);
}

/**
 * A text as a string of an answer-set program: the one way in which text from outside enters one. clingo knows only the
 * escapes \\, \" and \n, and its input ends at a NUL; so the text is first written as in JSON (control characters and lone
 * surrogates as \uXXXX), then quoted.
 */
export function quote(text: string): string {
  const json = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[\u007f-\u009f\u2028\u2029]/gu, escapeUnit);
  return `"${json.replaceAll("\\", String.raw`\\`).replaceAll('"', String.raw`\"`)}"`;
}

const escapeUnit = (unit: string): string => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
