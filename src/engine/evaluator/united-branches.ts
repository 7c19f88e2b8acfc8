import { literalFromParts } from "../../results/terms.ts";
import { BRANCH } from "../united-clause.ts";
import { patternVariable } from "../sources/triple-pattern.ts";
import type { Expression, Operation, Union } from "./algebra.ts";
import { type LeafClause, leafOf } from "./leaf.ts";
import { call, existencesIn, inScopeVariables, termOf } from "./operations.ts";

/**
 * A UNION in which patterns that members have several of are one leaf: each member is asked once. Branches may have FILTERs;
 * each row carries the number of its branch, so that it is tested by the FILTERs of that branch.
 */
export function unitedBranches(union: Union): Operation {
  const branches = union.input.flatMap((operation) => filteredLeaf(operation) ?? []);
  const made = branches[0]?.leaf.uniting?.(branches.flatMap(({ leaf }) => leaf.branch ?? []));
  if (!made) return union;
  const tests = branches.map(({ conditions }, number) => {
    const isOf = call("=", termOf(patternVariable(BRANCH)), termOf(literalFromParts(String(number))));
    return conditions.reduce<Expression>((left, right) => call("&&", left, right), isOf);
  });
  const filter: Operation = {
    type: "filter",
    input: leafOf(made),
    expression: tests.reduce((left, right) => call("||", left, right)),
  };
  const variables = [...inScopeVariables(filter)].filter((name) => name !== BRANCH).map(patternVariable);
  const one: Operation = { type: "project", input: filter, variables };
  const rest = union.input.filter((operation) => !filteredLeaf(operation));
  return rest.length === 0 ? one : { ...union, input: [one, ...rest] };
}

interface FilteredLeaf {
  readonly leaf: LeafClause;
  readonly conditions: readonly Expression[];
}

/** A leaf that may be asked with others, and the FILTERs around it. */
function filteredLeaf(operation: Operation): FilteredLeaf | undefined {
  if (operation.type === "fedway:leaf") return operation.clause.branch && { leaf: operation.clause, conditions: [] };
  if (operation.type !== "filter" || existencesIn(operation.expression).length > 0) return undefined;
  const inside = filteredLeaf(operation.input);
  return (
    inside && {
      ...inside,
      conditions: [...inside.conditions, operation.expression],
    }
  );
}
