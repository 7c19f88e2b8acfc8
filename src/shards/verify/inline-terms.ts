import { iriText, stringText } from "../../rdf/term-text.ts";
import type { SolutionRow } from "../../sparql/closed-subselects.ts";

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);

/** IRIs that every parser of queries takes as they are: absolute, no forbidden character, nothing that BASE could resolve. */
const plainIri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\p{Cc}\p{Cs} <>"{}|^`\\]*$/u;
const dotSegment = /\/\.{1,2}(?:[/?#]|$)/u;
const plainTag = /^[A-Za-z]+(?:-[A-Za-z0-9]+)*$/u;
/** Parsers differ in whether `\\u` begins an escape of a code point (SPARQL 1.1 Query, section 19.2); U+FFFD may stand for what was lost. */
const doubtful = /\\u|[\p{Cs}\uFFFD]/iu;
const known = new Set(["type", "value", "datatype", "xml:lang"]);

const undef = "UNDEF";
/** Characters that the rows of one subselect may add to a query. */
const mostCharacters = 1_000_000;

/**
 * Solutions in SPARQL results JSON as rows of inline data, in the order of `variables`: what is not bound is UNDEF.
 * Undefined when a term cannot be written such that it is the same term, as blank nodes cannot, or there is too much of it.
 * Also when a variable is bound nowhere: Oxigraph 0.5.11 takes what is empty in any case out of a query, and then gives no
 * row where COUNT is to give 0.
 */
export function rowsOfTerms(
  variables: readonly string[],
  solutions: readonly unknown[],
): readonly SolutionRow[] | undefined {
  const rows: SolutionRow[] = [];
  const bound = new Set<string>();
  let characters = 0;
  for (const solution of solutions) {
    if (!isNode(solution)) return undefined;
    const row: string[] = [];
    for (const name of variables) {
      const text = Object.hasOwn(solution, name) ? termText(solution[name]) : undef;
      if (text === undefined) return undefined;
      if (text !== undef) bound.add(name);
      characters += text.length;
      row.push(text);
    }
    if (characters > mostCharacters) return undefined;
    rows.push(row);
  }
  return bound.size === variables.length ? rows : undefined;
}

const iri = (value: string): string | undefined =>
  plainIri.test(value) && !dotSegment.test(value) ? iriText(value) : undefined;

function termText(term: unknown): string | undefined {
  if (!isNode(term) || Object.keys(term).some((key) => !known.has(key))) return undefined;
  const { type, value } = term;
  if (typeof value !== "string") return undefined;
  if (type === "uri") return iri(value);
  return type === "literal" || type === "typed-literal" ? literalText(value, term) : undefined;
}

function literalText(value: string, { datatype, "xml:lang": language }: Node): string | undefined {
  if (doubtful.test(value)) return undefined;
  const text = stringText(value);
  if (language !== undefined) {
    return typeof language === "string" && plainTag.test(language) ? `${text}@${language}` : undefined;
  }
  if (datatype === undefined) return text;
  const name = typeof datatype === "string" ? iri(datatype) : undefined;
  return name === undefined ? undefined : `${text}^^${name}`;
}
