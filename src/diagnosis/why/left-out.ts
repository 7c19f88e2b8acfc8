import { type TokenRange, isWord, type Token } from "../../sparql/query.ts";
import { comparisonsOf, nearestEnd } from "./comparisons.ts";
import { type Finding, type Inquiry, shownTerm } from "./inquiry.ts";
import { headOf } from "./query-parts.ts";
import { answered, type Claim, some } from "./statements.ts";

/**
 * Rows that HAVING, OFFSET or LIMIT 0 leaves out of a SELECT whose patterns have solutions, with the largest group's value or the
 * number of rows; null when the query has rows. No repair: a condition is part of the question, and none may be the answer.
 * @throws BudgetSpent
 */
export async function leftOut(inquiry: Inquiry): Promise<Finding | null> {
  const { query, prober } = inquiry;
  const { having, offset, limit, none } = modifiersOf(query);
  const clause = none ?? having ?? offset;
  if (query.form !== "SELECT" || clause === undefined) return null;
  if ((await prober.rows(query.text, 1))?.length !== 0) return null;
  if (none) return finding(inquiry, none);
  const rows = offset && (await rowsBefore(inquiry, [offset, limit]));
  if (offset && rows) return finding(inquiry, offset, rows);
  return finding(inquiry, clause, having && (await nearestGroup(inquiry, having)));
}

/** Solution modifiers after WHERE; `none` is LIMIT 0. */
function modifiersOf({ tokens, outline: { tail } }: Inquiry["query"]) {
  const [having, offset, limit] = ["HAVING", "OFFSET", "LIMIT"].map((word) => clauseOf(tokens, tail, word));
  const none = limit && tokens[limit.from + 1]?.text === "0" ? limit : undefined;
  return { having, offset, limit, none };
}

function finding({ query, all }: Inquiry, range: TokenRange, known?: Claim): Finding {
  const text = `${query.textOf(range).slice(0, 200)} leaves none of them`;
  const own = { question: { query: query.text }, has: false };
  return {
    code: "EMPTY_MODIFIER",
    claims: [
      { text: "The patterns of the query have solutions", grounds: [some(all)] },
      { text, grounds: [own] },
      ...(known ? [known] : []),
    ],
    next: "Perhaps there is no answer: another condition asks another question.",
  };
}

/** A clause behind WHERE, as far as the next one. */
function clauseOf(tokens: readonly Token[], { from, to }: TokenRange, word: string): TokenRange | undefined {
  let depth = 0;
  const outer: number[] = [];
  for (let at = from; at < to; at++) {
    depth += nesting.get(tokens[at]?.text ?? "") ?? 0;
    if (depth === 0) outer.push(at);
  }
  const start = outer.find((at) => isWord(tokens[at], word));
  if (start === undefined) return undefined;
  const isNext = (at: number): boolean =>
    at > start && isWord(tokens[at], "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES");
  return { from: start, to: outer.find(isNext) ?? to };
}

const nesting: ReadonlyMap<string, number> = new Map([
  ["(", 1],
  ["{", 1],
  [")", -1],
  ["}", -1],
]);

/** How many rows the query has without some clauses; undefined when it has none, or that cannot be asked. */
async function rowsBefore(
  { query, prober }: Inquiry,
  clauses: readonly (TokenRange | undefined)[],
): Promise<Claim | undefined> {
  const { prologue, dataset } = headOf(query);
  const cut = { from: query.prologue.length, to: query.tokens.length };
  const without = clauses.flatMap((range) => (range ? [{ range, replacement: "" }] : []));
  const select = query.cutRange(cut, [...query.datasetEdits, ...without]);
  const counting = `${prologue}SELECT (COUNT(*) AS ?value) ${dataset} WHERE { { ${select} } }`;
  const rows = await prober.rows(counting, 1);
  const count = Number(rows?.[0]?.get("value")?.value);
  if (!(count > 0)) return undefined;
  return {
    text: `without it the query has ${count} ${count === 1 ? "row" : "rows"}`,
    grounds: [answered({ query: counting })],
  };
}

/** "The largest COUNT(?x) of a group is 12.", of what HAVING compares. */
async function nearestGroup({ query, prober }: Inquiry, having: TokenRange): Promise<Claim | undefined> {
  const { outline, tokens } = query;
  const [comparison] = comparisonsOf(query, { from: having.from + 1, to: having.to });
  if (comparison === undefined || outline.where === undefined) return undefined;
  const text = query.textOf(comparison.operand);
  const isName = tokens[comparison.operand.from]?.kind === "var";
  const of = isName ? aliased(query.textOf(outline.head), text) : text;
  const { prologue, dataset } = headOf(query);
  const groups = query.textOf({ from: outline.tail.from, to: having.from });
  const { name, order } = nearestEnd(comparison);
  const select = `SELECT (${of} AS ?value) ${dataset} WHERE ${query.textOf(outline.where)} ${groups}`;
  const asked = { query: `${prologue}${select} ORDER BY ${order}(?value) LIMIT 1` };
  const value = (await prober.rows(asked.query, 1))?.[0]?.get("value");
  return value && { text: `the ${name} ${text} of a group is ${shownTerm(query, value)}`, grounds: [answered(asked)] };
}

/** The expression that SELECT gives a name; the variable where it gives none. */
function aliased(head: string, name: string): string {
  const ends = head.matchAll(/(?<!\s)\s+AS\s+[?$]([^\s)]+)\s*\)/gi);
  const end = ends.find(([, alias]) => alias === name.slice(1))?.index;
  if (end === undefined) return name;
  let depth = 1;
  let start = end;
  while (start > 0 && depth > 0) {
    start--;
    if (head[start] === ")") depth++;
    if (head[start] === "(") depth--;
  }
  return head.slice(start + 1, end);
}
