import type { FedwayError } from "../errors/fedway-error.ts";
import type { Group, QueryOutline, SelectOutline, TokenRange } from "./outline.ts";
import { groupsOf, groupsOfSelect } from "./scope.ts";
import { bracketed, type BracketedToken, isWord, syntaxError, type Token } from "./tokens.ts";

interface Checked {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly outline: QueryOutline;
}

const aggregates = ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"];

/**
 * A query with GROUP BY or an aggregate may project plain variables only if they are grouped, and not `*`
 * (SPARQL 1.1 Query, section 19.8 note 12). Undefined: all is well.
 */
export function illegalProjection(query: Checked): FedwayError | undefined {
  const pending: SelectOutline[] = [query.outline];
  for (let select = pending.pop(); select; select = pending.pop()) {
    const illegal = check(query, select);
    if (illegal) return illegal;
    const groups: Group[] = [...groupsOfSelect(select)];
    for (let group = groups.pop(); group; group = groups.pop()) {
      if (group.select) pending.push(group.select);
      groups.push(...group.elements.flatMap((element) => groupsOf(element)));
    }
  }
  return undefined;
}

function check(query: Checked, select: SelectOutline): FedwayError | undefined {
  const { tokens, text } = query;
  if (!isWord(tokens[select.head.from], "SELECT")) return undefined;
  const grouped = groupKeys(tokens, select);
  if (!grouped && !hasAggregate(tokens, select)) return undefined;
  const free = ungrouped(tokens, select, grouped ?? new Set());
  if (!free) return undefined;
  const all = free.text === "*";
  return syntaxError(text, free.start, {
    message: all
      ? "SELECT * cannot be combined with GROUP BY or aggregates."
      : `Projection of ungrouped variable (${free.text.slice(0, 60)}).`,
    next: all ? "Name the columns." : "Add the variable to GROUP BY or put it into an aggregate such as SAMPLE.",
  });
}

/** The first token of the projection that is neither grouped, aggregated nor an earlier column. */
function ungrouped(tokens: readonly Token[], select: SelectOutline, keys: ReadonlySet<string>): Token | undefined {
  const known = new Set(keys);
  const lenient = groupsExpression(tokens, select);
  for (const { at, token, depth } of outsideAggregates(tokens, { from: select.head.from + 1, to: select.head.to })) {
    // What EXISTS means in a grouped query is left to the endpoint.
    if (isWord(token, "EXISTS")) return undefined;
    if (depth === 0 && token.kind === "punct" && token.text === "*") return token;
    if (token.kind !== "var") continue;
    const name = token.text.slice(1);
    if (depth === 1 && isWord(tokens[at - 1], "AS")) known.add(name);
    else if (!known.has(name) && (depth === 0 || !lenient)) return token;
  }
  return undefined;
}

/** The tokens of a range without the calls of aggregates. */
function* outsideAggregates(tokens: readonly Token[], range: TokenRange): Generator<BracketedToken> {
  let inside = Number.POSITIVE_INFINITY;
  for (const entry of bracketed(tokens, range)) {
    const { token, depth } = entry;
    if (depth === inside && token.text === ")") inside = Number.POSITIVE_INFINITY;
    else if (depth <= inside && isWord(token, ...aggregates)) inside = depth;
    else if (inside === Number.POSITIVE_INFINITY) yield entry;
  }
}

/** `GROUP BY STR(?x)`: columns may repeat the expression, which some engines accept. */
function groupsExpression(tokens: readonly Token[], { tail }: SelectOutline): boolean {
  if (!isWord(tokens[tail.from], "GROUP")) return false;
  for (const { token, depth } of bracketed(tokens, { from: tail.from + 2, to: tail.to })) {
    if (depth === 0 && isWord(token, "HAVING", "ORDER", "LIMIT", "OFFSET")) return false;
    if (token.kind !== "var" && token.kind !== "punct") return true;
  }
  return false;
}

/** Variables of GROUP BY conditions that can be projected; undefined when there is no GROUP BY. */
function groupKeys(tokens: readonly Token[], { tail }: SelectOutline): Set<string> | undefined {
  if (!isWord(tokens[tail.from], "GROUP")) return undefined;
  const keys = new Set<string>();
  for (const { at, token, depth } of bracketed(tokens, { from: tail.from + 2, to: tail.to })) {
    if (depth === 0 && isWord(token, "HAVING", "ORDER", "LIMIT", "OFFSET")) break;
    if (token.kind === "var" && (depth === 0 || namesKey(tokens, at, depth))) keys.add(token.text.slice(1));
  }
  return keys;
}

/** `GROUP BY (expression AS ?x)`; and `GROUP BY (?x)`, which groups by the variable itself. */
function namesKey(tokens: readonly Token[], at: number, depth: number): boolean {
  const [before, after] = [tokens[at - 1], tokens[at + 1]];
  return isWord(before, "AS") || (depth === 1 && before?.text === "(" && after?.text === ")");
}

function hasAggregate(tokens: readonly Token[], select: SelectOutline): boolean {
  const inside = select.exists.map(({ from, to }) => [from, to] as const);
  const ranges = [select.head, select.tail];
  return ranges.some(({ from, to }) => {
    for (let at = from; at < to; at++) {
      const skip = inside.find(([start, end]) => at >= start && at < end);
      if (skip) at = skip[1] - 1;
      else if (isWord(tokens[at], ...aggregates)) return true;
    }
    return false;
  });
}
