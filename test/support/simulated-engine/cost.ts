import sparqljs, { type Pattern, type SelectQuery, type SparqlQuery } from "sparqljs";

/** Counts the solutions of a group graph pattern, braces included. */
type CountSolutions = (group: string) => number;

/** A query as the simulated engine sees it. */
export interface ReadQuery {
  readonly form: "select" | "ask";
  readonly usesAggregates: boolean;
  readonly usesValues: boolean;
  /** Work in solutions gone through. */
  cost(count: CountSolutions): number;
}

/** Work that every solution takes before its filters are applied, as a share of the whole. */
const scanShare = 0.2;

/**
 * Reads a query.
 * @throws Error when it is no SELECT or ASK query
 */
export function readQuery(text: string): ReadQuery {
  const query: SparqlQuery = new sparqljs.Parser().parse(text);
  if (query.type !== "query" || (query.queryType !== "SELECT" && query.queryType !== "ASK"))
    throw new Error("The simulated engine answers SELECT and ASK only.");
  const { where = [], queryType } = query;
  return {
    form: queryType === "SELECT" ? "select" : "ask",
    usesAggregates: contains(query, (node) => node["type"] === "aggregate"),
    usesValues: contains(query, (node) => node["type"] === "values" || hasValuesTail(node)),
    cost: (count) => (query.queryType === "SELECT" ? selectCost(query, count) : askCost(where, count)),
  };
}

/** VALUES behind the query's body. */
const hasValuesTail = (node: Record<string, unknown>): boolean =>
  node["type"] === "query" && Array.isArray(node["values"]);

function contains(value: unknown, matches: (node: Record<string, unknown>) => boolean): boolean {
  if (Array.isArray(value)) return value.some((item) => contains(item, matches));
  if (typeof value !== "object" || value === null || "termType" in value) return false;
  const node = value as Record<string, unknown>;
  return matches(node) || Object.values(node).some((item) => contains(item, matches));
}

/** Grouping, sorting and removing duplicates look at every solution; without them LIMIT ends the work early. */
function selectCost(query: SelectQuery, count: CountSolutions): number {
  const { where = [], limit, offset = 0, group, order, distinct, reduced, having, variables } = query;
  const { cost, solutions } = groupCost(where, count);
  const aggregates = contains(variables, (node) => node["type"] === "aggregate");
  const streams = !(group || order || distinct || reduced || having || aggregates);
  if (limit === undefined || !streams || solutions === 0) return cost;
  return Math.min(cost, (cost / solutions) * (limit + offset));
}

/** The first solution ends ASK. */
function askCost(where: readonly Pattern[], count: CountSolutions): number {
  const { cost, solutions } = groupCost(where, count);
  return cost / Math.max(1, solutions);
}

interface GroupCost {
  readonly cost: number;
  readonly solutions: number;
}

/** Work is what data takes; tables in the query itself cost nothing. */
function groupCost(where: readonly Pattern[], count: CountSolutions): GroupCost {
  if (!contains(where, (node) => node["type"] === "bgp")) return { cost: 0, solutions: 0 };
  const unfiltered = where.filter(({ type }) => type !== "filter");
  const solutions = count(groupText(where));
  const scanned = unfiltered.length === where.length ? solutions : count(groupText(unfiltered));
  const nested = subqueriesOf(where).reduce((sum, subquery) => sum + selectCost(subquery, count), 0);
  return { cost: scanShare * scanned + (1 - scanShare) * solutions + nested, solutions };
}

function subqueriesOf(patterns: readonly Pattern[]): readonly SelectQuery[] {
  return patterns.flatMap((pattern) => {
    if (pattern.type === "query") return [pattern];
    return "patterns" in pattern ? subqueriesOf(pattern.patterns) : [];
  });
}

/** The group alone, as text. */
function groupText(where: readonly Pattern[]): string {
  const text = new sparqljs.Generator().stringify({
    type: "query",
    queryType: "SELECT",
    variables: [new sparqljs.Wildcard()],
    where: [...where],
    prefixes: {},
  });
  return text.slice(text.indexOf("{"));
}
