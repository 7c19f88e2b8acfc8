import type { QueryTree } from "../parse/query-tree.ts";
import type { Pattern, Triple } from "sparqljs";
import { isAggregateOfAll } from "../structure/expression-parts.ts";
import { isPath, type PatternTerm, patternTerm } from "./query-patterns.ts";

/** A triple pattern without property path. */
interface PlainPattern {
  readonly subject: PatternTerm;
  readonly predicate: PatternTerm;
  readonly object: PatternTerm;
}

/**
 * The reasons why a query's WHERE has no solution: a pattern that every solution needs and that nothing matches, or one of each
 * alternative. Undefined where there may be solutions; so it is with GRAPH, SERVICE, and aggregates over nothing, which have one.
 * @param lacks says why nothing matches a pattern of the default graph; undefined: something may
 */
export function unmatchedPatterns<Why>(query: QueryTree, lacks: Lacks<Why>): Reasons<Why> {
  return inGroup(query.ast.where ?? [], lacks);
}

type Lacks<Why> = (pattern: PlainPattern) => Why | undefined;
type Reasons<Why> = readonly Why[] | undefined;

/** Everything in a group is joined but for OPTIONAL, MINUS, FILTER and BIND, which make no solution out of none. */
function inGroup<Why>(patterns: readonly Pattern[], lacks: Lacks<Why>): Reasons<Why> {
  return first(patterns, (pattern) => inPattern(pattern, lacks));
}

function inPattern<Why>(pattern: Pattern, lacks: Lacks<Why>): Reasons<Why> {
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

function inTriple<Why>({ subject, predicate, object }: Triple, lacks: Lacks<Why>): Reasons<Why> {
  return inPath(predicate, [patternTerm(subject), patternTerm(object)], lacks);
}

type Ends = readonly [subject: PatternTerm, object: PatternTerm];

const anything: PatternTerm = { kind: "variable", name: "" };

/** Steps that every way from one end of a path to the other takes. */
function inPath<Why>(path: Triple["predicate"], [subject, object]: Ends, lacks: Lacks<Why>): Reasons<Why> {
  if (!isPath(path)) {
    const why = lacks({ subject, predicate: patternTerm(path), object });
    return why === undefined ? undefined : [why];
  }
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

function first<Item, Why>(items: readonly Item[], why: (item: Item) => Reasons<Why>): Reasons<Why> {
  for (const item of items) {
    const found = why(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All reasons, when each item has one. */
function ofAll<Item, Why>(items: readonly Item[], why: (item: Item) => Reasons<Why>): Reasons<Why> {
  const found = items.map((item) => why(item));
  return found.every((each) => each !== undefined) ? found.flat() : undefined;
}
