import type { Pattern, SelectQuery, Triple } from "sparqljs";
import { absoluteIris } from "./absolute-iris.ts";
import { hasAggregate } from "./monotone.ts";
import type { ParsedQuery } from "./parse-query.ts";
import { isPath, type PatternTerm, patternTerm } from "./query-patterns.ts";

/** A triple pattern without property path. */
interface PlainPattern {
  readonly subject: PatternTerm;
  readonly predicate: PatternTerm;
  readonly object: PatternTerm;
}

/**
 * The first reason why a query's WHERE has no solution: a pattern that every solution needs and that nothing matches. Undefined
 * where there may be solutions; so it is with GRAPH, SERVICE, and aggregates over nothing, which have one.
 * @param lacks says why nothing matches a pattern of the default graph; undefined: something may
 */
export function unmatchedPattern<Why>(
  query: ParsedQuery,
  lacks: (pattern: PlainPattern) => Why | undefined,
): Why | undefined {
  return inGroup(absoluteIris(query).ast.where ?? [], lacks);
}

type Lacks<Why> = (pattern: PlainPattern) => Why | undefined;

/** Everything in a group is joined but for OPTIONAL, MINUS, FILTER and BIND, which make no solution out of none. */
function inGroup<Why>(patterns: readonly Pattern[], lacks: Lacks<Why>): Why | undefined {
  return first(patterns, (pattern) => inPattern(pattern, lacks));
}

function inPattern<Why>(pattern: Pattern, lacks: Lacks<Why>): Why | undefined {
  switch (pattern.type) {
    case "bgp":
      return first(pattern.triples, (triple) => inTriple(triple, lacks));
    case "group":
      return inGroup(pattern.patterns, lacks);
    case "union":
      return ofAll(pattern.patterns, (branch) => inPattern(branch, lacks));
    case "query":
      return isAggregateOfAll(pattern) ? undefined : inGroup(pattern.where ?? [], lacks);
    default:
      return undefined;
  }
}

/** Whether a SELECT has one solution at most, also over nothing: an aggregate without GROUP BY. */
export function isAggregateOfAll({ group, variables, having, order = [] }: SelectQuery): boolean {
  if (group !== undefined) return false;
  const selected = variables.some((each) => "expression" in each && hasAggregate(each.expression));
  return selected || having !== undefined || order.some(({ expression }) => hasAggregate(expression));
}

function inTriple<Why>({ subject, predicate, object }: Triple, lacks: Lacks<Why>): Why | undefined {
  return inPath(predicate, [patternTerm(subject), patternTerm(object)], lacks);
}

type Ends = readonly [subject: PatternTerm, object: PatternTerm];

const anything: PatternTerm = { kind: "variable", name: "" };

/** Steps that every way from one end of a path to the other takes. */
function inPath<Why>(path: Triple["predicate"], [subject, object]: Ends, lacks: Lacks<Why>): Why | undefined {
  if (!isPath(path)) return lacks({ subject, predicate: patternTerm(path), object });
  const { items, pathType } = path;
  switch (pathType) {
    case "/":
      return first([...items.entries()], ([at, item]) =>
        inPath(item, [at === 0 ? subject : anything, at === items.length - 1 ? object : anything], lacks),
      );
    case "|":
      return ofAll(items, (item) => inPath(item, [subject, object], lacks));
    case "^":
      return first(items, (item) => inPath(item, [object, subject], lacks));
    case "+":
      return first(items, (item) => inPath(item, [anything, anything], lacks));
    default:
      return undefined;
  }
}

function first<Item, Why>(items: readonly Item[], why: (item: Item) => Why | undefined): Why | undefined {
  for (const item of items) {
    const found = why(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The last reason, when each has one. */
function ofAll<Item, Why>(items: readonly Item[], why: (item: Item) => Why | undefined): Why | undefined {
  const found = items.map((item) => why(item));
  return found.every((each) => each !== undefined) ? found.at(-1) : undefined;
}
