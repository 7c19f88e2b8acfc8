import {
  ActorOptimizeQueryOperation,
  type IActionOptimizeQueryOperation,
  type IActorOptimizeQueryOperationOutput,
} from "@comunica/bus-optimize-query-operation";
import { KeysInitQuery } from "@comunica/context-entries";
import { passTestVoid, type IActorTest, type TestResult } from "@comunica/core";
import type { IActionContext, IQuerySource } from "@comunica/types";
import { Algebra, AlgebraFactory, algebraUtils } from "@comunica/utils-algebra";
import { toLeaf } from "./clause-leaf.ts";
import { clauseSourcesKey } from "./execution-keys.ts";

/**
 * Turns every SERVICE clause of a skeleton into the leaf of its source. Patterns outside the clauses have no data here:
 * they become the empty multiset of solutions.
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
  return algebraUtils.mapOperation(operation, {
    [Algebra.Types.SERVICE]: {
      preVisitor: () => ({ continue: false }),
      transform: (service: Algebra.Service) => {
        const source = sources.get(service.name.value);
        if (!source) throw new Error(`No clause stands for ${service.name.value}`);
        return withSource(toLeaf(source.clause, dataFactory), source);
      },
    },
    [Algebra.Types.FILTER]: { transform: (filter: Algebra.Filter) => splitFilter(filter, factory) },
    [Algebra.Types.CONSTRUCT]: { preVisitor: () => ({ ignoreKeys: new Set(["template", "metadata"]) }) },
    [Algebra.Types.BGP]: {
      preVisitor: () => ({ continue: false }),
      transform: (bgp: Algebra.Bgp) =>
        bgp.patterns.length === 0 ? bgp : factory.createValues(algebraUtils.inScopeVariables(bgp), []),
    },
  });
}

/** `FILTER(a && b)` as two filters and `!EXISTS` as NOT EXISTS, so that EXISTS over a clause stands alone. */
function splitFilter(filter: Algebra.Filter, factory: AlgebraFactory): Algebra.Operation {
  const expression = filter.expression as Partial<Algebra.OperatorExpression>;
  const [first, second] = expression.args ?? [];
  if (expression.subType === "operator" && expression.operator === "&&" && first && second) {
    const inner = splitFilter(factory.createFilter(filter.input, first), factory);
    return splitFilter(factory.createFilter(inner, second), factory);
  }
  if (expression.subType === "operator" && expression.operator === "!" && first?.subType === "existence") {
    const existence = first as Algebra.ExistenceExpression;
    const opposite: Algebra.ExistenceExpression = { ...existence, not: !existence.not };
    return factory.createFilter(filter.input, opposite);
  }
  return filter;
}

function withSource<O extends Algebra.Operation>(operation: O, source: IQuerySource): O {
  return { ...operation, metadata: { ...operation.metadata, scopedSource: { source } } };
}
