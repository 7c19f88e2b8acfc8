import type { Operation, OperationOf } from "./algebra.ts";
import { construct } from "./construct.ts";
import { describe } from "./describe.ts";
import { type Evaluate, type Execution, type Result, solutionsOf } from "./execution.ts";
import { prepared } from "./existence.ts";
import { group } from "./group.ts";
import { equalityJoin, join, leftJoin, minus } from "./joins.ts";
import { leaf } from "./leaf.ts";
import { orderBy } from "./order-by.ts";
import { ask, distinct, extend, filter, nothing, project, slice, union, values } from "./solution-operators.ts";

/** The operators of the algebra, by the type of the operation; operands are evaluated by the execution's dispatcher. */
export const operators: ReadonlyMap<string, Evaluate> = new Map([
  operatorFor("ask", ask),
  operatorFor("construct", construct),
  operatorFor("describe", describe),
  operatorFor("distinct", distinct),
  operatorFor("extend", extend),
  operatorFor("filter", filter),
  operatorFor("group", group),
  operatorFor("join", join),
  operatorFor("leftjoin", leftJoin),
  operatorFor("minus", minus),
  operatorFor("nop", nothing),
  operatorFor("orderby", orderBy),
  operatorFor("project", project),
  // It may keep every row (SPARQL 1.1 Query, section 15.3.2).
  operatorFor("reduced", ({ input }, execution) => solutionsOf(input, execution)),
  operatorFor("slice", slice),
  operatorFor("union", union),
  operatorFor("values", values),
  operatorFor("fedway:equality-join", equalityJoin),
  operatorFor("fedway:leaf", leaf),
  operatorFor("fedway:prepared", prepared),
]);

function operatorFor<Type extends Operation["type"]>(
  type: Type,
  evaluate: (operation: OperationOf<Type>, execution: Execution) => Promise<Result>,
): [string, Evaluate] {
  const isTyped = (operation: Operation): operation is OperationOf<Type> => operation.type === type;
  return [
    type,
    async (operation, execution) => {
      if (!isTyped(operation)) throw new Error(`The operator of ${type} was given ${operation.type}`);
      return evaluate(operation, execution);
    },
  ];
}
