import { itemAt } from "../../values.ts";
import type * as RDF from "@rdfjs/types";
import { xsd } from "../../rdf/vocabularies.ts";
import { literalFromParts, termToText } from "../../results/terms.ts";
import { type TextEdit, type TokenRange, type Query } from "../../sparql/query.ts";
import { isNumeric, textAs } from "../typed-text.ts";
import { differences, isSameMeant, type Likeness, likeness } from "./alike.ts";
import { bounding, type Comparison, comparing, comparisonsOf, nearestEnd, searching } from "./comparisons.ts";
import { type Finding, type Inquiry, repairOf, shownPart, shownTerm, writtenTerm } from "./inquiry.ts";
import { mending } from "./mending.ts";
import type { TermsWanted } from "./prober.ts";
import { type QueryPart, renderParts } from "./query-parts.ts";
import { answered, type Claim, none, some } from "./statements.ts";

/** Conditions of one FILTER that are looked at. */
const mostConditions = 4;

/**
 * Which condition of a FILTER leaves nothing, and what values there are. A condition is part of the question: it is mended
 * where it is written in another way than the data, and never offered to be left out.
 * @param known the query has solutions without this one; claims that hold otherwise
 */
export async function explainFilter(
  inquiry: Inquiry,
  filter: QueryPart,
  { isSole, claims }: { readonly isSole: boolean; readonly claims: readonly Claim[] },
): Promise<Finding> {
  const { query, parts, prober } = inquiry;
  const rest = parts.filter((part) => part !== filter && (isSole || part.kind !== "filter"));
  const whole = none([...rest, filter]);
  const conditions = conditionsOf(query, filter);
  const asked = conditions.slice(0, mostConditions).map((each) => questionsOf(query, each, renderParts(rest)));
  await prober.ask([whole.question, ...asked.map(({ holds }) => holds)]);
  const failing = asked.find(({ holds }) => prober.evidence(holds)?.count === 0);
  const isWhole = prober.evidence(whole.question)?.count === 0;
  const without = `The query has solutions without ${isSole ? shownPart(filter) : "its FILTERs"}`;
  const leaving = (): Claim => {
    if (failing)
      return { text: `${failing.text} holds for nothing`, grounds: [{ question: failing.holds, has: false }] };
    const isKnown = asked.every(({ holds }) => prober.evidence(holds) !== undefined);
    if (!isKnown || asked.length === 1 || asked.length < conditions.length)
      return { text: `${shownPart(filter)} holds for nothing`, grounds: [whole] };
    return {
      text: "its conditions exclude each other",
      grounds: [whole, ...asked.map(({ holds }) => answered(holds))],
    };
  };
  const finding: Finding = {
    code: "EMPTY_FILTER",
    // Where it leaves something alone, several FILTERs exclude each other.
    claims: failing || isWhole ? [{ text: without, grounds: [some(rest)] }, leaving()] : claims,
    part: filter,
    next: "Compare the condition with the data. Perhaps there is no answer: another condition asks another question.",
  };
  const [shown] = failing ? [failing] : isWhole ? asked : [];
  return shown?.comparison ? withValues(inquiry, finding, { ...shown, filter, comparison: shown.comparison }) : finding;
}

/** The finding of a comparison with the values that there are. @throws BudgetSpent */
async function withValues(
  inquiry: Inquiry,
  finding: Finding,
  shown: ReturnType<typeof questionsOf> & Pick<FailingCondition, "filter" | "comparison">,
): Promise<Finding> {
  const { values, end } = shown;
  const [found = [], ends = []] = await inquiry.prober.terms([values, end]);
  return compared(inquiry, { ...shown, finding }, { values, end, found, ends });
}

/** Values of an operand that are looked at. */
const mostValues = 100;

/** The question for a group's solutions that fulfil a condition, and those for the values that it is about. */
function questionsOf(query: Query, { text, comparison }: Condition, group: string) {
  const of = comparison ? shownOperand(query, comparison) : "1";
  const end = comparison && bounding.has(comparison.operator) ? `${nearestEnd(comparison).aggregate}(${of})` : "1";
  return {
    text,
    comparison,
    holds: { group: `${group} FILTER(${text})` },
    values: { group, of, most: mostValues },
    end: { group, of: end, most: 1 },
  };
}

interface FailingCondition {
  readonly filter: QueryPart;
  readonly comparison: Comparison;
  readonly finding: Finding;
}

interface FoundValues {
  readonly values: TermsWanted;
  /** The largest or smallest, where the comparison is with a bound. */
  readonly end: TermsWanted;
  readonly found: readonly RDF.Term[];
  readonly ends: readonly RDF.Term[];
}

/** The finding of a comparison that holds for nothing, with the values that there are. */
async function compared(
  inquiry: Inquiry,
  { filter, comparison, finding }: FailingCondition,
  { values, end, found, ends }: FoundValues,
): Promise<Finding> {
  const { query } = inquiry;
  const { operator, operand, constant, term } = comparison;
  // Numbers are near each other by their distance, texts by their letters.
  const alike = found
    .map((value) => ({ value, like: likeness(term, value), distance: distanceOf(term, value) }))
    .toSorted((left, right) => right.like.score - left.like.score || left.distance - right.distance);
  const suggestions = alike.slice(0, 3).map(({ value, like: { score, kind } }) => ({
    term: termToText(value),
    score: rounded(score),
    why: differences[kind],
  }));
  const type = otherType(comparison, found);
  const all = comparisonsOf(query, filter.range);
  const ways = type === undefined ? [mendingEdits(inquiry, comparison, alike[0])] : typedWays(inquiry, all, type);
  const [way] = await mending(
    inquiry,
    ways.map((edits) => ({ edits })),
  );
  const mended = way && repairOf(inquiry, "filter-value", way.edits);
  const repairs = mended ? [mended] : [];
  const [extreme] = bounding.has(operator) ? ends : [];
  const claims = [...finding.claims];
  if (extreme) {
    const text = `the ${nearestEnd(comparison).name} ${query.textOf(operand)} is ${shownTerm(inquiry.query, extreme)}`;
    claims.push({ text, grounds: [answered(end)] });
  }
  const next = mended ? `Write ${mended.after}; the query then has solutions (checked).` : finding.next;
  const change = { suggestions, repairs, edits: way?.edits };
  if (type === undefined) return { ...finding, claims, next, ...change };
  const name = type.startsWith(xsd.namespace) ? `xsd:${type.slice(xsd.namespace.length)}` : `<${type}>`;
  const text = `${query.textOf(operand)} is ${name}, which ${query.textOf(constant)} cannot be compared with`;
  return {
    ...finding,
    claims: [...claims, { text, grounds: [answered(values)] }],
    next: mended ? next : `Compare with a value of ${name}.`,
    ...change,
  };
}

interface Condition {
  readonly text: string;
  readonly comparison: Comparison | undefined;
}

/** Conditions that a FILTER joins by `&&`, each with its first comparison. */
function conditionsOf(query: Query, { range }: QueryPart): readonly Condition[] {
  const { tokens } = query;
  const inner =
    tokens[range.from + 1]?.text === "("
      ? { from: range.from + 2, to: range.to - 1 }
      : { ...range, from: range.from + 1 };
  const ends: number[] = [];
  let depth = 0;
  for (let at = inner.from; at < inner.to; at++) {
    const { text } = itemAt(tokens, at);
    if (text === "(" || text === "{") depth++;
    if (text === ")" || text === "}") depth--;
    // | is one condition.|Alternatives joined by || are one condition.|| is one condition.
    if (text === "||" && depth === 0) return [conditionAt(query, inner)];
    if (text === "&&" && depth === 0) ends.push(at);
  }
  const starts = [inner.from, ...ends.map((at) => at + 1)];
  return starts.map((from, index) => conditionAt(query, { from, to: ends[index] ?? inner.to }));
}

const conditionAt = (query: Query, range: TokenRange): Condition => ({
  text: query.textOf(range),
  comparison: comparisonsOf(query, range)[0],
});

/** Operand whose values are shown: those in the data, not their lower case, when a text is searched. */
function shownOperand(query: Query, { operator, operand }: Comparison): string {
  const text = query.textOf(operand);
  return (searching.has(operator) && /^[LU]CASE\s*\(([^()]+)\)$/i.exec(text)?.[1]) || text;
}

const dated: ReadonlySet<string> = new Set(["date", "dateTime", "gYear"].map((name) => xsd.namespace + name));

/** The datatype of the values, where the constant is of one that does not compare with it. */
function otherType({ operator, term }: Comparison, values: readonly RDF.Term[]): string | undefined {
  const [value] = values;
  if (!comparing.has(operator) || term.termType !== "Literal" || value?.termType !== "Literal") return undefined;
  const [written, type] = [term.datatype.value, value.datatype.value];
  const isNumber = isNumeric(written);
  const isOther = dated.has(type) ? isNumber || written === xsd.string : isNumeric(type) && written === xsd.string;
  const isUniform = values.every((each) => each.termType === "Literal" && each.datatype.value === type);
  return isOther && isUniform ? type : undefined;
}

/** The ways of the first comparison, with the others of the same operand changed alike. */
function typedWays(inquiry: Inquiry, comparisons: readonly Comparison[], type: string) {
  const [first = [], ...others] = comparisons
    .filter(
      ({ operand }, _, [{ operand: wanted } = { operand }]) =>
        inquiry.query.textOf(operand) === inquiry.query.textOf(wanted),
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
  const value = textAs(term.value, type) ?? term.value;
  const typed = [{ range: constant, replacement: termToText(literalFromParts(value, undefined, type)) }];
  const isYear = dated.has(type) && /^\d{4}$/.test(term.value);
  if (!isYear) return [typed];
  const text = query.textOf(operand);
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
      { range: operand, replacement: `LCASE(STR(${query.textOf(operand)}))` },
      { range: constant, replacement: lower },
    ];
  }
  if (
    nearest === undefined ||
    !isSameMeant(term, nearest.value, nearest.like) ||
    (operator !== "=" && operator !== "IN")
  )
    return [];
  return [{ range: constant, replacement: writtenTerm(inquiry.query, nearest.value) }];
}
