import type { Bindings } from "../../results/model.ts";
import { termsText } from "../clause-query.ts";
import { isTrace } from "../provenance.ts";

/** The solution that two compatible ones make together; undefined where they differ in a variable. */
export function merged(row: Bindings, other: Bindings): Bindings | undefined {
  const terms = new Map(row);
  for (const [name, term] of other) {
    const own = terms.get(name);
    if (own === undefined) terms.set(name, term);
    else if (own !== term && !own.equals(term)) return undefined;
  }
  return terms;
}

/** A text that no other terms of these variables have, bound or not (SPARQL 1.1 Query, section 18.5.1). */
export const rowText = (row: Bindings, names: readonly string[]): string =>
  termsText(names.map((name) => row.get(name)));

/** The same of all variables of a row. */
export function wholeRowText(row: Bindings, isCompared: (name: string) => boolean = () => true): string {
  const names = [...row.keys()].filter((name) => !isTrace(name) && isCompared(name)).toSorted();
  return `${names.join(" ")} ${rowText(row, names)}`;
}
