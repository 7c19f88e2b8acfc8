import {
  ActorOptimizeQueryOperation,
  type IActionOptimizeQueryOperation,
  type IActorOptimizeQueryOperationOutput,
} from "@comunica/bus-optimize-query-operation";
import { KeysInitQuery } from "@comunica/context-entries";
import { passTestVoid, type IActorTest, type TestResult } from "@comunica/core";
import type { IActionContext } from "@comunica/types";
import { Algebra, AlgebraFactory, algebraUtils } from "@comunica/utils-algebra";
import { createPatternAssigner } from "./assign-patterns.ts";
import { leafOperation } from "./clause-operands.ts";
import type { ClauseSource } from "./clause-source.ts";
import { type EquatedPartsOptions, equatedParts } from "./equated-parts.ts";
import { clauseSourcesKey, patternLeavesKey } from "./execution-keys.ts";
import { createExistsNames } from "./existence.ts";
import { createFreshNodes } from "./fresh-nodes.ts";
import { withPreparedInput } from "./prepared-input.ts";
import { existencesIn } from "./reached-variables.ts";

/**
 * Turns every SERVICE clause of a skeleton into the leaf of its source, and patterns outside the clauses into leaves over
 * the merged graph of the plan's members. In plans without such members they become the empty multiset of solutions.
 */
export class AssignClauses extends ActorOptimizeQueryOperation {
  override async test(_action: IActionOptimizeQueryOperation): Promise<TestResult<IActorTest>> {
    return passTestVoid();
  }

  override async run(action: IActionOptimizeQueryOperation): Promise<IActorOptimizeQueryOperationOutput> {
    return { operation: assign(action.operation, action.context), context: action.context };
  }
}

function assign(operation: Algebra.Operation, context: IActionContext): Algebra.Operation {
  const sources = context.getSafe(clauseSourcesKey);
  const dataFactory = context.getSafe(KeysInitQuery.dataFactory);
  const factory = new AlgebraFactory(dataFactory);
  const leaves = context.get(patternLeavesKey);
  leaves?.use.read(operation);
  const toOperation = (source: ClauseSource) => leafOperation(source, dataFactory);
  const nameExists = createExistsNames();
  const freshNodes = createFreshNodes(dataFactory);
  const patterns = createPatternAssigner({ leaves, factory, toOperation });
  return algebraUtils.mapOperation(operation, {
    [Algebra.Types.SERVICE]: {
      preVisitor: () => ({ continue: false }),
      transform: (service: Algebra.Service) => {
        const source = sources.get(service.name.value);
        if (!source) throw new Error(`No clause stands for ${service.name.value}`);
        return toOperation(source);
      },
    },
    [Algebra.Types.EXPRESSION]: { transform: (expression: Algebra.Expression) => named(expression, nameExists) },
    [Algebra.Types.FILTER]: {
      transform: (filter: Algebra.Filter) =>
        splitFilter(filter, { factory, split: patterns.parts, fix: patterns.fixed }),
    },
    // It may keep every row (SPARQL 1.1 Query, section 15.3.2); Comunica's drops those whose values have one hash.
    [Algebra.Types.REDUCED]: { transform: ({ input }: Algebra.Reduced) => input },
    [Algebra.Types.EXTEND]: { transform: (extend: Algebra.Extend) => withPreparedInput(freshNodes(extend)) },
    [Algebra.Types.GROUP]: { transform: withPreparedInput },
    [Algebra.Types.ORDER_BY]: { transform: withPreparedInput },
    [Algebra.Types.CONSTRUCT]: { preVisitor: () => ({ ignoreKeys: new Set(["template", "metadata"]) }) },
    [Algebra.Types.BGP]: { preVisitor: () => ({ continue: false }), transform: patterns.bgp },
    [Algebra.Types.PATH]: { preVisitor: () => ({ continue: false }), transform: patterns.path },
    [Algebra.Types.JOIN]: { transform: patterns.join },
    [Algebra.Types.UNION]: { transform: patterns.union },
  });
}

/** `FILTER(a && b)` as two filters, so that EXISTS is asked only for what the other parts let through. */
function splitFilter({ input, expression }: Algebra.Filter, options: EquatedPartsOptions): Algebra.Operation {
  const group = equatedParts({ input, conditions: conjunctsOf(expression) }, options);
  const asking = group.conditions.filter((part) => existencesIn(part).length > 0);
  const ordered = [...group.conditions.filter((part) => !asking.includes(part)), ...asking];
  return ordered.reduce((inner, part) => withPreparedInput(options.factory.createFilter(inner, part)), group.input);
}

function conjunctsOf(expression: Algebra.Expression): readonly Algebra.Expression[] {
  const { operator, args = [] } = expression as Partial<Algebra.OperatorExpression>;
  return operator === "&&" ? args.flatMap((arg) => conjunctsOf(arg)) : [expression];
}

const named = (expression: Algebra.Expression, nameExists: ReturnType<typeof createExistsNames>): Algebra.Expression =>
  expression.subType === "existence" ? nameExists(expression as Algebra.ExistenceExpression) : expression;
