import type { Pattern, Term } from "sparqljs";
import { certainVariables } from "./certain-variables.ts";
import type { Element, Group } from "../parse/outline.ts";

/** A value that a SERVICE variable can have; a literal is no endpoint and is refused later. */
export interface KnownValue {
  readonly iri?: string;
  readonly text: string;
}

/** A group around a clause, and how the element at `at`, in which the clause stands, is combined with the others. */
export interface Enclosing extends Pick<Group, "elements" | "patterns"> {
  readonly at: number;
  readonly through: "join" | "left" | "filter";
}

/**
 * All values that a variable can have where a clause stands, from VALUES and `BIND(<iri> AS ?var)` of the groups
 * around it. A join may be restricted by what is joined later; the right side of OPTIONAL and MINUS only by what
 * stands before it, and nothing outside of that group restricts it any more. Undefined: not known.
 */
export function knownValues(variable: string, enclosing: readonly Enclosing[]): readonly KnownValue[] | undefined {
  for (const { elements, patterns, at, through } of enclosing.toReversed()) {
    for (const [index, element] of elements.entries()) {
      if (index === at || (through === "left" && index > at)) continue;
      const values = assignedTerms(variable, element, patterns[index]);
      if (values) return [...new Map(values.map(knownValue).map((value) => [value.text, value])).values()];
    }
    if (through !== "join") return undefined;
  }
  return undefined;
}

/** The terms that VALUES or BIND assign to a variable; an expression is not evaluated here. */
function assignedTerms(variable: string, element: Element, pattern: Pattern | undefined): readonly Term[] | undefined {
  if (element.kind === "values") {
    const cells = element.rows.map((row) => row[`?${variable}`]);
    return element.variables.includes(variable) && cells.every((cell) => cell !== undefined) ? cells : undefined;
  }
  if (pattern?.type !== "bind" || pattern.variable.value !== variable) return undefined;
  return "termType" in pattern.expression ? [pattern.expression] : undefined;
}

const knownValue = (term: Term): KnownValue =>
  term.termType === "NamedNode" ? { iri: term.value, text: `<${term.value}>` } : { text: term.value };

/**
 * True if the elements before a clause in its group, or before an OPTIONAL around it, bind a variable in each solution.
 * A solution that the clause is joined with has a value for it then.
 */
export function isBoundBefore(variable: string, enclosing: readonly Enclosing[]): boolean {
  const [own, outer] = enclosing.toReversed();
  const isOptional = outer?.elements[outer.at]?.kind === "optional";
  const before = [own, isOptional ? outer : undefined].flatMap((group) => group?.patterns.slice(0, group.at) ?? []);
  return certainVariables(before).has(variable);
}
