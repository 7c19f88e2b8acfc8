import type * as Algebra from "../evaluator/algebra.ts";
import { leafOf } from "../evaluator/leaf.ts";
import { type Conjunct, groupVariables } from "../evaluator/conjuncts.ts";
import type { PatternLeaves } from "./pattern-leaves.ts";

/**
 * GROUP BY over the numbers that members counted, which are added (the sum of none is 0; SPARQL 1.1 Query, section
 * 18.5.1). `conjuncts` are what the group's input stands for. Undefined where anything but solutions is aggregated, or they cannot be counted where they are.
 */
export function countedGroup(
  { variables, aggregates }: Algebra.Group,
  leaves: PatternLeaves,
  conjuncts: readonly Conjunct[],
): Algebra.Operation | undefined {
  const bound = new Set(groupVariables(conjuncts).flatMap(({ name, certain }) => (certain ? [name] : [])));
  if (aggregates.length === 0 || !aggregates.every((one) => countsSolutions(one, bound))) return undefined;
  const count = leaves.fresh();
  const by = variables.map(({ value }) => value);
  const clause = leaves.counting(conjuncts, by, count.value);
  if (!clause) return undefined;
  const expression = { type: "expression", subType: "term", term: count } as const;
  const sums = aggregates.map((aggregate) => ({ ...aggregate, aggregator: "sum", distinct: false, expression }));
  return { type: "group", input: leafOf(clause), variables, aggregates: sums };
}

/** COUNT of everything, or of a variable that each solution binds. */
function countsSolutions(
  { aggregator, distinct, expression }: Algebra.BoundAggregate,
  bound: ReadonlySet<string>,
): boolean {
  if (aggregator !== "count" || distinct) return false;
  if (expression.subType !== "term") return expression.subType === "wildcard";
  return expression.term.termType === "Variable" && bound.has(expression.term.value);
}
