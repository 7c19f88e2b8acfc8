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
import { createPatternAssigner } from "./assign-patterns.ts";
import type { ClauseSource } from "./clause-source.ts";
import { clauseSourcesKey, patternLeavesKey } from "./execution-keys.ts";

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
  const toOperation = (source: ClauseSource) => withSource(toLeaf(source.clause, dataFactory), source);
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
    [Algebra.Types.FILTER]: { transform: (filter: Algebra.Filter) => splitFilter(filter, factory) },
    // It may keep every row (SPARQL 1.1 Query, section 15.3.2); Comunica's drops those whose values have one hash.
    [Algebra.Types.REDUCED]: { transform: ({ input }: Algebra.Reduced) => input },
    [Algebra.Types.CONSTRUCT]: { preVisitor: () => ({ ignoreKeys: new Set(["template", "metadata"]) }) },
    [Algebra.Types.BGP]: { preVisitor: () => ({ continue: false }), transform: patterns.bgp },
    [Algebra.Types.PATH]: { preVisitor: () => ({ continue: false }), transform: patterns.path },
    [Algebra.Types.JOIN]: { transform: patterns.join },
    [Algebra.Types.UNION]: { transform: patterns.union },
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
