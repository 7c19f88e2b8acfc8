import { type Algebra, AlgebraFactory } from "@comunica/utils-algebra";
import { leafOperation } from "./clause-operands.ts";
import { type Conjunct, groupVariables } from "./conjuncts.ts";
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
  const source = leaves.counting(conjuncts, by, count.value);
  if (!source) return undefined;
  const factory = new AlgebraFactory(leaves.dataFactory);
  const counted = factory.createTermExpression(count);
  const sums = aggregates.map(({ variable }) => factory.createBoundAggregate(variable, "sum", counted, false));
  return factory.createGroup(leafOperation(source, leaves.dataFactory), [...variables], sums);
}

/** COUNT of everything, or of a variable that each solution binds. */
function countsSolutions(
  { aggregator, distinct, expression }: Algebra.BoundAggregate,
  bound: ReadonlySet<string>,
): boolean {
  if (aggregator !== "count" || distinct) return false;
  const { term } = expression as Partial<Algebra.TermExpression>;
  return expression.subType === "wildcard" || (term?.termType === "Variable" && bound.has(term.value));
}
