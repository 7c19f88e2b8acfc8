import type { CoverInstance } from "../cover/cover-instance.ts";
import { composeProgram } from "./encodings.ts";
import { quote } from "./quote.ts";

/**
 * A problem in paper mode as facts. Rules are numbered by their place in the instance, which is in canonical order.
 * @param names what the rules stand for, for whoever reads the program
 */
export const coverFacts = (instance: CoverInstance, names: readonly string[]): readonly string[] => [
  ...instance.rules.flatMap((covers, rule) => [
    `rule(${rule}). name(rule,${rule},${quote(names[rule] ?? "")}).`,
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
