import { certainVariables, parsedGroup } from "./certain-variables.ts";
import { textOf } from "./edit-text.ts";
import type { Element, ValuesElement } from "./outline.ts";
import type { ParsedQuery } from "./parse-query.ts";
import { afterPrologue, type Prologue, resolveIri } from "./resolve-iri.ts";
import { type Token, tokenAt } from "./tokens.ts";

/** A value that a SERVICE variable can have; a literal is no endpoint and is refused later. */
export interface KnownValue {
  readonly iri?: string;
  /** As written. */
  readonly text: string;
}

/** A group around a clause, and how the element at `at`, in which the clause stands, is combined with the others. */
export interface Enclosing {
  readonly elements: readonly Element[];
  readonly at: number;
  readonly through: "join" | "left" | "filter";
}

interface Source {
  readonly prologue: Prologue;
  readonly tokens: readonly Token[];
}

/**
 * All values that a variable can have where a clause stands, from VALUES and `BIND(<iri> AS ?var)` of the groups
 * around it. A join may be restricted by what is joined later; the right side of OPTIONAL and MINUS only by what
 * stands before it, and nothing outside of that group restricts it any more. Undefined: not known.
 */
export function knownValues(
  source: Source,
  variable: string,
  enclosing: readonly Enclosing[],
): readonly KnownValue[] | undefined {
  for (const { elements, at, through } of enclosing.toReversed()) {
    for (const [index, element] of elements.entries()) {
      if (index === at || (through === "left" && index > at)) continue;
      const values = assignedValues(source, variable, element);
      if (values) return values;
    }
    if (through !== "join") return undefined;
  }
  return undefined;
}

function assignedValues(source: Source, variable: string, element: Element): readonly KnownValue[] | undefined {
  if (element.kind === "values") return inlineValues(source, variable, element);
  // BIND ( iri AS ?var ) is six tokens; a longer expression is not evaluated here.
  if (element.kind !== "bind" || element.variable !== variable || element.to - element.from !== 6) return undefined;
  const token = tokenAt(source.tokens, element.from + 2);
  return [knownValue(source, token)];
}

function inlineValues(source: Source, variable: string, element: ValuesElement): readonly KnownValue[] | undefined {
  const column = element.variables.indexOf(variable);
  if (column < 0) return undefined;
  const byText = new Map<string, KnownValue>();
  for (const row of element.rows) {
    const token = source.tokens[row[column] ?? -1];
    if (!token || (token.kind === "word" && token.text === "UNDEF")) return undefined;
    const value = knownValue(source, token);
    byText.set(value.iri ?? value.text, value);
  }
  return [...byText.values()];
}

function knownValue(source: Source, token: Token): KnownValue {
  if (token.kind === "iri" || token.kind === "pname")
    return { iri: resolveIri(source.prologue, token), text: token.text };
  return { text: token.text };
}

/**
 * Whether what stands before a clause in its group, or before an OPTIONAL that it stands in, binds a variable in each solution.
 * A solution that the clause is joined with has a value for it then.
 */
export function isBoundBefore(parsed: ParsedQuery, variable: string, enclosing: readonly Enclosing[]): boolean {
  const [own, outer] = enclosing.toReversed();
  const isOptional = outer?.elements[outer.at]?.kind === "optional";
  return [own, isOptional ? outer : undefined].some((group) => group && binds(parsed, variable, group));
}

/** Whether the elements of a group that stand before one of them bind a variable in each solution. */
function binds(parsed: ParsedQuery, variable: string, { elements, at }: Enclosing): boolean {
  const [first] = elements;
  const last = elements[at - 1];
  if (!first || !last) return false;
  const { tokens, text } = parsed;
  const prologue = text.slice(0, tokenAt(tokens, afterPrologue(tokens)).start);
  const before = textOf(parsed, { from: first.from, to: last.to });
  return certainVariables(parsedGroup(prologue, `{ ${before} }`)).has(variable);
}
