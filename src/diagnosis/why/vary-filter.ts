import type * as RDF from "@rdfjs/types";
import type { Repair } from "../../errors/fedway-error.ts";
import { xsd } from "../../rdf/vocabularies.ts";
import { literalFromParts, termToText } from "../../results/terms.ts";
import { type TextEdit, textOf } from "../../sparql/edit-text.ts";
import type { TokenRange } from "../../sparql/outline.ts";
import type { ParsedQuery } from "../../sparql/parse-query.ts";
import { isWord, tokenAt } from "../../sparql/tokens.ts";
import { constantAt } from "../../sparql/triple-texts.ts";
import { differences, isSameMeant, type Likeness, likeness } from "./alike.ts";
import { type Finding, type Inquiry, repairOf, shownPart, writtenTerm } from "./inquiry.ts";
import { type QueryPart, renderParts } from "./query-parts.ts";
import { constantOf } from "./vary-triple.ts";

/** A comparison of a FILTER with a constant. */
interface Comparison {
  /** `=`, `<`, `IN`, `CONTAINS`, ... */
  readonly operator: string;
  /** What is compared, as it is written. */
  readonly operand: TokenRange;
  readonly constant: TokenRange;
  readonly term: RDF.Term;
}

const searching: ReadonlySet<string> = new Set(["REGEX", "CONTAINS", "STRSTARTS", "STRENDS"]);
const comparing: ReadonlySet<string> = new Set(["=", "<", ">", "<=", ">=", "!="]);

/** Why a FILTER leaves nothing. @param isSole the query has solutions without it, as was asked */
export async function explainFilter(inquiry: Inquiry, filter: QueryPart, isSole: boolean): Promise<Finding> {
  const { query, parts, prober } = inquiry;
  const without = parts.filter((part) => part !== filter);
  const drop = isSole ? [repairOf(inquiry, "filter-dropped", [{ range: filter.range, replacement: "" }])] : [];
  const finding: Finding = {
    code: "EMPTY_FILTER",
    message: `${shownPart(filter)} leaves nothing: ${isSole ? "the query has solutions without it" : "without the FILTERs there are solutions"}.`,
    part: filter,
    repairs: drop,
    suggestions: [],
    next: "Compare the condition with the suggested values, or leave it out.",
  };
  const comparisons = comparisonsOf(query, filter);
  const [first] = comparisons;
  if (first === undefined) return finding;
  const [values = []] = await prober.terms([
    { group: renderParts(without), of: shownOperand(query, first), most: 100 },
  ]);
  // Numbers are near each other by their distance, texts by their letters.
  const alike = values
    .map((value) => ({ value, like: likeness(first.term, value), distance: distanceOf(first.term, value) }))
    .toSorted((left, right) => right.like.score - left.like.score || left.distance - right.distance);
  const suggestions = alike.slice(0, 3).map(({ value, like: { score, kind } }) => ({
    term: termToText(value),
    score: rounded(score),
    why: differences[kind],
  }));
  const type = otherType(first, values);
  const ways = type === undefined ? [mendingEdits(inquiry, first, alike[0])] : typedWays(inquiry, comparisons, type);
  const mended = await firstVerified(inquiry, filter, ways);
  const repairs = mended ? [mended, ...drop] : drop;
  if (type === undefined) return { ...finding, suggestions, repairs };
  const name = type.startsWith(xsd.namespace) ? `xsd:${type.slice(xsd.namespace.length)}` : `<${type}>`;
  const told = ` ${textOf(query, first.operand)} is ${name}, which ${textOf(query, first.constant)} cannot be compared with.`;
  const next = mended
    ? `Write ${mended.after}; the query then has solutions (checked).`
    : `Compare with a value of ${name}.`;
  return { ...finding, message: finding.message + told, next, suggestions, repairs };
}

/** What values are shown for: those in the data, not their lower case, when a text is searched. */
function shownOperand(query: ParsedQuery, { operator, operand }: Comparison): string {
  const text = textOf(query, operand);
  return (searching.has(operator) && /^[LU]CASE\s*\(([^()]+)\)$/i.exec(text)?.[1]) || text;
}

const numeric: ReadonlySet<string> = new Set(
  ["integer", "decimal", "double", "float", "int", "long", "nonNegativeInteger"].map((name) => xsd.namespace + name),
);
const dated: ReadonlySet<string> = new Set(["date", "dateTime", "gYear"].map((name) => xsd.namespace + name));

/** The datatype of the values, where the constant is of one that does not compare with it. */
function otherType({ operator, term }: Comparison, values: readonly RDF.Term[]): string | undefined {
  const [value] = values;
  if (!comparing.has(operator) || term.termType !== "Literal" || value?.termType !== "Literal") return undefined;
  const [written, type] = [term.datatype.value, value.datatype.value];
  const isNumber = numeric.has(written);
  const isOther = dated.has(type) ? isNumber || written === xsd.string : numeric.has(type) && written === xsd.string;
  const isUniform = values.every((each) => each.termType === "Literal" && each.datatype.value === type);
  return isOther && isUniform ? type : undefined;
}

/** The ways of the first comparison, with the others of the same operand changed alike. */
function typedWays(inquiry: Inquiry, comparisons: readonly Comparison[], type: string) {
  const [first = [], ...others] = comparisons
    .filter(
      ({ operand }, _, [{ operand: wanted } = { operand }]) =>
        textOf(inquiry.query, operand) === textOf(inquiry.query, wanted),
    )
    .map((comparison) => typedEdits(inquiry, comparison, type));
  return first.map((edits, at) => edits.concat(others.flatMap((ways) => ways[at] ?? [])));
}

/** Ways to compare values of a type with a constant of another: by the year, else with the constant in that type. */
function typedEdits(
  { query }: Inquiry,
  { operand, constant, term }: Comparison,
  type: string,
): readonly (readonly TextEdit[])[] {
  const typed = [{ range: constant, replacement: termToText(literalFromParts(term.value, undefined, type)) }];
  const isYear = dated.has(type) && /^\d{4}$/.test(term.value);
  if (!isYear) return [typed];
  const text = textOf(query, operand);
  const years = [`YEAR(${text})`, `<${xsd.integer}>(SUBSTR(STR(${text}), 1, 4))`];
  const byYear = years.map((year) => [
    { range: operand, replacement: year },
    { range: constant, replacement: term.value },
  ]);
  return type.endsWith("gYear") ? [byYear[0] ?? [], typed, byYear[1] ?? []] : byYear;
}

const rounded = (score: number): number => Math.round(100 * score) / 100;

const distanceOf = (left: RDF.Term, right: RDF.Term): number => Math.abs(Number(left.value) - Number(right.value)) || 0;

function mendingEdits(
  inquiry: Inquiry,
  { operator, operand, constant, term }: Comparison,
  nearest: { readonly value: RDF.Term; readonly like: Likeness } | undefined,
): readonly TextEdit[] {
  const { query } = inquiry;
  if (searching.has(operator)) {
    const lower = termToText(literalFromParts(term.value.toLowerCase()));
    return [
      { range: operand, replacement: `LCASE(STR(${textOf(query, operand)}))` },
      { range: constant, replacement: lower },
    ];
  }
  if (
    nearest === undefined ||
    !isSameMeant(term, nearest.value, nearest.like) ||
    (operator !== "=" && operator !== "IN")
  )
    return [];
  return [{ range: constant, replacement: writtenTerm(inquiry, nearest.value) }];
}

async function firstVerified(
  inquiry: Inquiry,
  filter: QueryPart,
  ways: readonly (readonly TextEdit[])[],
): Promise<Repair | undefined> {
  for (const edits of ways) {
    const mended = edits.length > 0 ? await verified(inquiry, filter, edits) : undefined;
    if (mended) return mended;
  }
  return undefined;
}

async function verified(inquiry: Inquiry, filter: QueryPart, edits: readonly TextEdit[]): Promise<Repair | undefined> {
  const { query, parts, prober } = inquiry;
  const repair = repairOf(inquiry, "filter-value", edits);
  let text = filter.text;
  for (const { range, replacement } of edits.toSorted((left, right) => right.range.from - left.range.from)) {
    const start = tokenAt(query.tokens, range.from).start - tokenAt(query.tokens, filter.range.from).start;
    text = text.slice(0, start) + replacement + text.slice(start + textOf(query, range).length);
  }
  const [has] = await prober.anySolutions([renderParts(parts.with(parts.indexOf(filter), { ...filter, text }))]);
  return has === true ? repair : undefined;
}

/** Comparisons with constants, in the order of the text; those with `!=` exclude little and are left out. */
function comparisonsOf(query: ParsedQuery, { range }: QueryPart): readonly Comparison[] {
  const found: Comparison[] = [];
  for (let at = range.from; at < range.to; at++) {
    const constant = constantAt(query, { from: at, to: range.to });
    const term = constant && constantOf(constant);
    if (constant === undefined || term === undefined) continue;
    const comparison = comparisonOf(query, { range: constant.range, term }, range);
    if (comparison && comparison.operator !== "!=") found.push(comparison);
    at = constant.range.to - 1;
  }
  return found;
}

interface Constant {
  readonly range: TokenRange;
  readonly term: RDF.Term;
}

function comparisonOf(query: ParsedQuery, constant: Constant, within: TokenRange): Comparison | undefined {
  const { from, to } = constant.range;
  const [before, after] = [query.tokens[from - 1]?.text ?? "", query.tokens[to]?.text ?? ""];
  if (comparing.has(before)) return compared(constant, before, operandBefore(query, from - 1, within));
  if (comparing.has(after)) return compared(constant, after, operandFrom(query, to + 1, within));
  if (before === "(" && isWord(query.tokens[from - 2], "IN")) {
    return compared(constant, "IN", operandBefore(query, from - 2, within));
  }
  return before === "," ? searchOf(query, constant, within) : undefined;
}

function compared(
  { range, term }: Constant,
  operator: string,
  operand: TokenRange | undefined,
): Comparison | undefined {
  return operand && { operator, operand, constant: range, term };
}

function searchOf(query: ParsedQuery, { range, term }: Constant, within: TokenRange): Comparison | undefined {
  const operand = operandBefore(query, range.from - 1, within);
  const name = operand && query.tokens[operand.from - 2];
  if (operand === undefined || name?.kind !== "word" || !searching.has(name.text)) return undefined;
  return { operator: name.text, operand, constant: range, term };
}

/** The variable, or the function call, that ends before a token. */
function operandBefore({ tokens }: ParsedQuery, at: number, { from }: TokenRange): TokenRange | undefined {
  const last = tokenAt(tokens, at - 1);
  if (last.kind === "var") return { from: at - 1, to: at };
  if (last.text !== ")") return undefined;
  let depth = 0;
  for (let start = at - 1; start > from; start--) {
    const { text } = tokenAt(tokens, start);
    if (text === ")") depth++;
    if (text === "(" && --depth === 0) {
      const name = tokenAt(tokens, start - 1);
      return name.kind === "word" && start - 1 > from ? { from: start - 1, to: at } : undefined;
    }
  }
  return undefined;
}

/** The variable, or the function call, that begins with a token. */
function operandFrom({ tokens }: ParsedQuery, at: number, { to }: TokenRange): TokenRange | undefined {
  const first = tokenAt(tokens, at);
  if (first.kind === "var") return { from: at, to: at + 1 };
  if (first.kind !== "word" || tokens[at + 1]?.text !== "(") return undefined;
  let depth = 0;
  for (let end = at + 1; end < to; end++) {
    const { text } = tokenAt(tokens, end);
    if (text === "(") depth++;
    if (text === ")" && --depth === 0) return { from: at, to: end + 1 };
  }
  return undefined;
}
