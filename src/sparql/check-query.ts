import type { FedwayError } from "../errors/fedway-error.ts";
import type { BindElement, Element, FilterElement, Group, QueryOutline, SelectOutline, TokenRange } from "./outline.ts";
import { groupsOfSelect, groupsWithin, visibleInElement, whereVariables } from "./scope.ts";
import { bracketed, isWord, syntaxError, type Token, tokenAt, type BracketedToken } from "./tokens.ts";

interface Checked {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly outline: QueryOutline;
}

/**
 * What is wrong by rules that the parser does not check; undefined: all is well.
 * - A blank-node label belongs to one basic graph pattern (SPARQL 1.1 Query, section 4.1.4), BIND and AS need a variable
 *   that is not in scope (section 18.2.1).
 * - A query with GROUP BY or an aggregate may project plain variables only if they are grouped, and not `*`; aggregates
 *   stand in SELECT, HAVING and ORDER BY only (sections 11 and 19.8).
 */
export function illegalUse(query: Checked): FedwayError | undefined {
  const groups = [...groupsWithin(groupsOfSelect(query.outline))];
  const selects = [query.outline, ...groups.flatMap(({ select }) => select ?? [])];
  const labels = new Map<string, object>();
  return (
    firstOf(selects, (select) => illegalAlias(query, select)) ??
    firstOf(groups, (group) => illegalLabel(query, group, labels) ?? illegalBind(query, group)) ??
    firstOf(selects, (select) => illegalProjection(query, select)) ??
    firstOf(
      groups.flatMap(({ elements }) => elements),
      (element) => (isTest(element) ? misplacedAggregate(query, element, element.exists) : undefined),
    )
  );
}

function firstOf<T, U>(items: readonly T[], find: (item: T) => U | undefined): U | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isTest = (element: Element): element is FilterElement | BindElement =>
  element.kind === "filter" || element.kind === "bind";

function illegalLabel(query: Checked, group: Group, labels: Map<string, object>): FedwayError | undefined {
  let pattern = {};
  for (const element of group.elements) {
    // FILTER does not end a basic graph pattern, everything else does.
    if (element.kind === "filter") continue;
    if (element.kind !== "triples") {
      pattern = {};
      continue;
    }
    for (let at = element.from; at < element.to; at++) {
      const token = tokenAt(query.tokens, at);
      if (token.kind !== "blank") continue;
      const owner = labels.get(token.text) ?? pattern;
      labels.set(token.text, owner);
      if (owner === pattern) continue;
      return syntaxError(query.text, token.start, {
        message: `The blank node label ${token.text.slice(0, 60)} is used in two different graph patterns.`,
        next: "Use a variable where the same node is meant, else another label.",
      });
    }
  }
  return undefined;
}

function illegalBind(query: Checked, group: Group): FedwayError | undefined {
  if (!group.elements.some((element) => element.kind === "bind")) return undefined;
  const visible = new Set<string>();
  for (const element of group.elements) {
    if (element.kind === "bind" && visible.has(element.variable)) {
      const variable = tokenAt(query.tokens, element.to - 2);
      return syntaxError(query.text, variable.start, {
        message: `BIND assigns ?${element.variable.slice(0, 60)}, which is in scope already.`,
        next: "Assign to a new variable, or write the condition as a FILTER.",
      });
    }
    for (const name of visibleInElement(query.tokens, element)) visible.add(name);
  }
  return undefined;
}

function illegalAlias(query: Checked, select: SelectOutline): FedwayError | undefined {
  const { tokens } = query;
  if (!isWord(tokens[select.head.from], "SELECT")) return undefined;
  let where: Set<string> | undefined;
  for (const { at, token, depth } of bracketed(tokens, select.head)) {
    if (depth !== 1 || token.kind !== "var" || !isWord(tokens[at - 1], "AS")) continue;
    where ??= whereVariables(tokens, select);
    if (!where.has(token.text.slice(1))) continue;
    return syntaxError(query.text, token.start, {
      message: `AS assigns ${token.text.slice(0, 60)}, which is in scope already.`,
      next: "Give the column a name that WHERE does not use.",
    });
  }
  return undefined;
}

const aggregates = ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"];

function illegalProjection(query: Checked, select: SelectOutline): FedwayError | undefined {
  const { tokens, text } = query;
  const misplaced = misplacedAggregate(query, groupClause(tokens, select), select.exists);
  if (misplaced || !isWord(tokens[select.head.from], "SELECT")) return misplaced;
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

/** The conditions of GROUP BY; empty without it. */
function groupClause(tokens: readonly Token[], { tail }: SelectOutline): TokenRange {
  if (!isWord(tokens[tail.from], "GROUP")) return { from: tail.from, to: tail.from };
  const conditions = { from: tail.from + 2, to: tail.to };
  for (const { at, token, depth } of bracketed(tokens, conditions)) {
    if (depth === 0 && isWord(token, "HAVING", "ORDER", "LIMIT", "OFFSET")) return { ...conditions, to: at };
  }
  return conditions;
}

/** `GROUP BY STR(?x)`: columns may repeat the expression, which some engines accept. */
function groupsExpression(tokens: readonly Token[], select: SelectOutline): boolean {
  const { from, to } = groupClause(tokens, select);
  return tokens.slice(from, to).some(({ kind }) => kind !== "var" && kind !== "punct");
}

/** Variables of GROUP BY conditions that can be projected; undefined when there is no GROUP BY. */
function groupKeys(tokens: readonly Token[], select: SelectOutline): Set<string> | undefined {
  if (!isWord(tokens[select.tail.from], "GROUP")) return undefined;
  const keys = new Set<string>();
  for (const { at, token, depth } of bracketed(tokens, groupClause(tokens, select))) {
    if (token.kind === "var" && (depth === 0 || namesKey(tokens, at, depth))) keys.add(token.text.slice(1));
  }
  return keys;
}

/** `GROUP BY (expression AS ?x)`; and `GROUP BY (?x)`, which groups by the variable itself. */
function namesKey(tokens: readonly Token[], at: number, depth: number): boolean {
  const [before, after] = [tokens[at - 1], tokens[at + 1]];
  return isWord(before, "AS") || (depth === 1 && before?.text === "(" && after?.text === ")");
}

function hasAggregate(tokens: readonly Token[], { head, tail, exists }: SelectOutline): boolean {
  return [head, tail].some((range) => aggregateIn(tokens, range, exists) !== undefined);
}

function misplacedAggregate(
  { text, tokens }: Checked,
  range: TokenRange,
  exists: readonly Group[],
): FedwayError | undefined {
  const aggregate = aggregateIn(tokens, range, exists);
  return (
    aggregate &&
    syntaxError(text, aggregate.start, {
      message: `${aggregate.text} stands outside of SELECT, HAVING and ORDER BY.`,
      next: "Aggregate in a subquery, and use its result here.",
    })
  );
}

/** The first aggregate of a range that is in none of the EXISTS groups. */
function aggregateIn(tokens: readonly Token[], { from, to }: TokenRange, exists: readonly Group[]): Token | undefined {
  for (let at = from; at < to; at++) {
    const skip = exists.find((group) => at >= group.from && at < group.to);
    if (skip) at = skip.to - 1;
    else if (isWord(tokens[at], ...aggregates)) return tokens[at];
  }
  return undefined;
}
