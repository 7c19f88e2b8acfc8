import type { Expression, Pattern, SelectQuery } from "sparqljs";

/** An expression and those inside it, but for what aggregates are made of and the groups of EXISTS. */
export function* partsOfExpression(expression: Expression | Pattern): Generator<Expression | Pattern> {
  yield expression;
  for (const part of argumentsOf(expression)) yield* partsOfExpression(part);
}

function argumentsOf(expression: Expression | Pattern): readonly (Expression | Pattern)[] {
  if (Array.isArray(expression)) return expression;
  if (!("type" in expression)) return [];
  if (expression.type === "functionCall") return expression.args;
  return expression.type === "operation" && !expression.operator.endsWith("exists") ? expression.args : [];
}

/** True if an expression has an aggregate of its own query; aggregates inside EXISTS belong to the inner query. */
export const hasAggregate = (expression: Expression | Pattern): boolean =>
  partsOfExpression(expression).some((part) => "type" in part && part.type === "aggregate");

/** True if a SELECT computes values of groups. */
export const isAggregated = ({ variables, having = [], order = [] }: SelectQuery): boolean =>
  [...variables, ...order].some((each) => "expression" in each && hasAggregate(each.expression)) ||
  having.some(hasAggregate);

/** True if a SELECT has one solution at most, also over nothing: an aggregate without GROUP BY. */
export const isAggregateOfAll = (query: SelectQuery): boolean =>
  query.group === undefined && (query.having !== undefined || isAggregated(query));
