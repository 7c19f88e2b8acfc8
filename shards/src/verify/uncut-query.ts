import { itemAt } from "../../../src/values.ts";
import { type TextEdit, type TokenRange, isWord, type Query, type Token } from "../../../src/sparql/query.ts";

/**
 * The text of a SELECT without its LIMIT and OFFSET, whose rows also have what they are ordered by. Data that gives it
 * the same multiset of rows gives the query itself the same possible answers, among which a store chooses where the
 * order has ties (SPARQL 1.1 Query, sections 15.1, 15.4 and 18.5: Slice, OrderBy): those are the slices of the rows in any
 * order that agrees with the keys. Undefined without LIMIT and OFFSET, and where `keyedQuery` is.
 */
export const uncutQuery = (query: Query): string | undefined =>
  slices(query).length === 0 ? undefined : keyedQuery(query)?.text;

/** Words that make an answer over part of the data wrong, or let it depend on more than the number of its rows. */
const wholeOnly = "ORDER GROUP HAVING COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT OPTIONAL MINUS EXISTS".split(" ");

/**
 * True for a SELECT whose LIMIT takes any of its rows, each of which is right over any part of the data: a part with as many rows
 * answers it.
 */
export const takesAnyRows = (query: Query): boolean =>
  query.form === "SELECT" &&
  slices(query).length > 0 &&
  query.tokens.filter((token) => isWord(token, "SELECT")).length === 1 &&
  !query.tokens.some((token) => isWord(token, ...wholeOnly));

/** A SELECT without its LIMIT and OFFSET, whose rows also have what they are ordered by. */
export interface KeyedQuery {
  readonly text: string;
  /** Variables with the values of the keys; those that the query itself does not project come last among its columns. */
  readonly keys: readonly string[];
  /** The query's own columns. */
  readonly columns: readonly string[];
  readonly offset: number;
  readonly limit: number | undefined;
}

/**
 * Undefined for other forms, and where a key would have to be added to the columns of DISTINCT, REDUCED or `*`, which would
 * be another query, or is an EXISTS.
 */
export function keyedQuery(query: Query): KeyedQuery | undefined {
  const { tokens, outline, form } = query;
  if (form !== "SELECT") return undefined;
  const keys = orderKeys(tokens, outline.tail);
  if (keys === undefined) return undefined;
  const columns = query.projected(outline);
  const isColumn = (key: TokenRange): boolean => columns.has(variableOf(tokens, key) ?? "");
  const more = keys.filter((key) => !isColumn(key));
  const isSet = isWord(tokens[outline.head.from + 1], "DISTINCT", "REDUCED") || outline.projectsAll;
  if (isSet && more.length > 0) return undefined;
  const last = { from: outline.head.to - 1, to: outline.head.to };
  const names = freshNames(query, more.length);
  const nameOf = (key: TokenRange): string =>
    (isColumn(key) ? variableOf(tokens, key) : undefined) ?? itemAt(names, more.indexOf(key));
  const added = more.map((key) => ` (${query.textOf(key)} AS ?${nameOf(key)})`).join("");
  const cuts = slices(query);
  const edits: TextEdit[] = cuts.map(({ range }) => ({ range, replacement: "" }));
  return {
    text: query.cut([...edits, { range: last, replacement: query.textOf(last) + added }]),
    keys: keys.map(nameOf),
    columns: [...columns],
    offset: cuts.find(({ word }) => word === "OFFSET")?.rows ?? 0,
    limit: cuts.find(({ word }) => word === "LIMIT")?.rows,
  };
}

/** LIMIT and OFFSET behind the query. */
const slices = ({ tokens, outline }: Query) =>
  [...bracketed(tokens, outline.tail)].flatMap(({ at, token, depth }) =>
    depth === 0 && isWord(token, "LIMIT", "OFFSET")
      ? [{ word: token.text, rows: Number(itemAt(tokens, at + 1).text), range: { from: at, to: at + 2 } }]
      : [],
  );

/** A token outside of inner brackets, with the number of brackets around it. */
interface BracketedToken {
  readonly at: number;
  readonly token: Token;
  readonly depth: number;
}

/** The tokens of a range with their depth in round brackets; a bracket has the depth of what is around it. */
function* bracketed(tokens: readonly Token[], range: TokenRange): Generator<BracketedToken> {
  let depth = 0;
  for (let at = range.from; at < range.to; at++) {
    const token = itemAt(tokens, at);
    if (token.kind === "punct" && token.text === ")") depth--;
    yield { at, token, depth };
    if (token.kind === "punct" && token.text === "(") depth++;
  }
}

/** The expressions behind ORDER BY; undefined when one has a group, whose brackets are not those of an expression. */
function orderKeys(tokens: readonly Token[], tail: TokenRange): readonly TokenRange[] | undefined {
  const keys: TokenRange[] = [];
  for (let at = behindOrderBy(tokens, tail); at < tail.to && !isWord(tokens[at], "LIMIT", "OFFSET"); ) {
    const from = isWord(tokens[at], "ASC", "DESC") ? at + 1 : at;
    const to = keyEnd(tokens, { from, to: tail.to });
    for (let inside = from; inside < to; inside++) if (tokens[inside]?.text === "{") return undefined;
    keys.push({ from, to });
    at = to;
  }
  return keys;
}

function behindOrderBy(tokens: readonly Token[], tail: TokenRange): number {
  for (const { at, token, depth } of bracketed(tokens, tail)) if (depth === 0 && isWord(token, "ORDER")) return at + 2;
  return tail.to;
}

/** A variable; otherwise everything up to the bracket that closes the first one. */
function keyEnd(tokens: readonly Token[], range: TokenRange): number {
  if (itemAt(tokens, range.from).kind === "var") return range.from + 1;
  for (const { at, token, depth } of bracketed(tokens, range)) {
    if (depth === 0 && token.kind === "punct" && token.text === ")") return at + 1;
  }
  return range.to;
}

/** The variable that is all of a key, in brackets or not. */
function variableOf(tokens: readonly Token[], { from, to }: TokenRange): string | undefined {
  const token = itemAt(tokens, to - from === 3 ? from + 1 : from);
  return token.kind === "var" && to - from <= 3 ? token.text.slice(1) : undefined;
}

function freshNames(query: Query, count: number): readonly string[] {
  const taken = query.variablesIn({ from: 0, to: query.tokens.length });
  const names: string[] = [];
  for (let number = 1; names.length < count; number++) if (!taken.has(`key${number}`)) names.push(`key${number}`);
  return names;
}
