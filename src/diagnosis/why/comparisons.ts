import { itemAt } from "../../values.ts";
import type * as RDF from "@rdfjs/types";
import { type TokenRange, isWord, type Query } from "../../sparql/query.ts";

/** A comparison with a constant. */
export interface Comparison {
  /** `=`, `<`, `IN`, `CONTAINS`, ... */
  readonly operator: string;
  /** The compared operand, as written. */
  readonly operand: TokenRange;
  readonly constant: TokenRange;
  readonly term: RDF.Term;
}

/** Functions that look for a text. */
export const searching: ReadonlySet<string> = new Set(["REGEX", "CONTAINS", "STRSTARTS", "STRENDS"]);
/** Operators between two values. */
export const comparing: ReadonlySet<string> = new Set(["=", "<", ">", "<=", ">=", "!="]);

/** Operators with a bound. */
export const bounding: ReadonlySet<string> = new Set(["<", ">", "<=", ">="]);

/** The end of the values that comes nearest to fulfilling a comparison with a bound. */
export const nearestEnd = ({ operator }: Comparison) =>
  operator.startsWith(">")
    ? ({ name: "largest", aggregate: "MAX", order: "DESC" } as const)
    : ({ name: "smallest", aggregate: "MIN", order: "ASC" } as const);

/** Comparisons with constants, in the order of the text; those with `!=` exclude little and are left out. */
export function comparisonsOf(query: Query, range: TokenRange): readonly Comparison[] {
  const found: Comparison[] = [];
  for (let at = range.from; at < range.to; at++) {
    const constant = constantAt(query, { from: at, to: range.to });
    if (constant === undefined) continue;
    const comparison = comparisonOf(query, constant, range);
    if (comparison && comparison.operator !== "!=") found.push(comparison);
    at = constant.range.to - 1;
  }
  return found;
}

interface Constant {
  readonly range: TokenRange;
  readonly term: RDF.Term;
}

/** The literal, or IRI, that begins with the first token of a range, with its own tokens. */
function constantAt({ places, tokens }: Query, { from, to }: TokenRange): Constant | undefined {
  if (!["string", "number", "iri", "pname"].includes(itemAt(tokens, from).kind)) return undefined;
  for (const [term, range] of places) {
    const isConstant = "termType" in term && (term.termType === "NamedNode" || term.termType === "Literal");
    if (isConstant && range.from === from && range.to <= to) return { range, term };
  }
  return undefined;
}

function comparisonOf(query: Query, constant: Constant, within: TokenRange): Comparison | undefined {
  const { from, to } = constant.range;
  const [before, after] = [query.tokens[from - 1]?.text ?? "", query.tokens[to]?.text ?? ""];
  if (comparing.has(before)) return comparisonWith(constant, before, operandBefore(query, from - 1, within));
  if (comparing.has(after)) return comparisonWith(constant, mirrored(after), operandFrom(query, to + 1, within));
  if (before === "(" && isWord(query.tokens[from - 2], "IN")) {
    return comparisonWith(constant, "IN", operandBefore(query, from - 2, within));
  }
  return before === "," ? searchOf(query, constant, within) : undefined;
}

/** The operator with its sides exchanged. */
const mirrored = (operator: string): string => operator.replace(/^[<>]/, (sign) => (sign === "<" ? ">" : "<"));

function comparisonWith(
  { range, term }: Constant,
  operator: string,
  operand: TokenRange | undefined,
): Comparison | undefined {
  return operand && { operator, operand, constant: range, term };
}

function searchOf(query: Query, { range, term }: Constant, within: TokenRange): Comparison | undefined {
  const operand = operandBefore(query, range.from - 1, within);
  const name = operand && query.tokens[operand.from - 2];
  if (operand === undefined || name?.kind !== "word" || !searching.has(name.text)) return undefined;
  return { operator: name.text, operand, constant: range, term };
}

/** The variable, or the function call, that ends before a token. */
function operandBefore({ tokens }: Query, at: number, { from }: TokenRange): TokenRange | undefined {
  const last = itemAt(tokens, at - 1);
  if (last.kind === "var") return { from: at - 1, to: at };
  if (last.text !== ")") return undefined;
  let depth = 0;
  for (let start = at - 1; start > from; start--) {
    const { text } = itemAt(tokens, start);
    if (text === ")") depth++;
    if (text === "(" && --depth === 0) {
      const name = itemAt(tokens, start - 1);
      return name.kind === "word" && start - 1 >= from ? { from: start - 1, to: at } : undefined;
    }
  }
  return undefined;
}

/** The variable, or the function call, that begins with a token. */
function operandFrom({ tokens }: Query, at: number, { to }: TokenRange): TokenRange | undefined {
  const first = itemAt(tokens, at);
  if (first.kind === "var") return { from: at, to: at + 1 };
  if (first.kind !== "word" || tokens[at + 1]?.text !== "(") return undefined;
  let depth = 0;
  for (let end = at + 1; end < to; end++) {
    const { text } = itemAt(tokens, end);
    if (text === "(") depth++;
    if (text === ")" && --depth === 0) return { from: at, to: end + 1 };
  }
  return undefined;
}
