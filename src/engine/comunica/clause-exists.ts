import {
  type ActorQueryOperation,
  ActorQueryOperationTyped,
  type IActionQueryOperation,
  type IActorQueryOperationArgs,
  type MediatorQueryOperation,
} from "@comunica/bus-query-operation";
import { ActorRdfJoin } from "@comunica/bus-rdf-join";
import { type IActorTest, failTest, passTestVoid, type TestResult } from "@comunica/core";
import type { IActionContext, IQueryOperationResult, IQueryOperationResultBindings } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import type { BlockSizes } from "../block-sizes.ts";
import { boundStream, leafOf } from "./clause-operands.ts";

/** What the EXISTS actor needs beside Comunica's own arguments. */
export interface ClauseExistsArgs extends IActorQueryOperationArgs {
  readonly mediatorQueryOperation: MediatorQueryOperation;
  /** Comunica's own FILTER, which asks the clause once for every solution. */
  readonly filter: ActorQueryOperation;
  readonly sizes: BlockSizes;
}

/**
 * `FILTER EXISTS` and `FILTER NOT EXISTS` over a clause, as a semi-join or anti-join. Left to Comunica's filter where a
 * shared variable may be unbound, because substituting a solution (SPARQL 1.1 Query, section 18.6) then differs from
 * joining with it.
 */
export class ClauseExists extends ActorQueryOperationTyped<Algebra.Filter> {
  readonly #args: ClauseExistsArgs;

  constructor(args: ClauseExistsArgs) {
    super(args, "filter");
    this.#args = args;
  }

  protected override async testOperation(operation: Algebra.Filter): Promise<TestResult<IActorTest>> {
    return isClauseExistence(operation) ? passTestVoid() : failTest(`${this.name} needs EXISTS over a clause`);
  }

  protected override async runOperation(
    operation: Algebra.Filter,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const { mediatorQueryOperation, filter, sizes } = this.#args;
    const existence = operation.expression as Algebra.ExistenceExpression;
    const leaf = leafOf(existence.input);
    const left = await mediatorQueryOperation.mediate({ operation: operation.input, context });
    if (left.type !== "bindings" || !leaf) throw new Error("EXISTS needs solutions and a clause");
    const metadata = await left.metadata();
    const shared = ActorRdfJoin.overlappingVariables([metadata, leaf.source.metadata()]);
    if (shared.some(({ canBeUndef }) => canBeUndef)) {
      left.bindingsStream.destroy();
      return filter.run({ operation, context }, undefined);
    }
    const mode = existence.not ? "anti" : "semi";
    const bindingsStream = boundStream(left, leaf, { sizes, leftMetadata: metadata, mode });
    return { type: "bindings", bindingsStream, metadata: left.metadata } satisfies IQueryOperationResultBindings;
  }
}

/** Whether an operation is a FILTER of nothing but EXISTS or NOT EXISTS over a clause. */
export function isClauseExistence(operation: IActionQueryOperation["operation"]): boolean {
  if (operation.type !== "filter") return false;
  const { expression } = operation as Algebra.Filter;
  return expression.subType === "existence" && leafOf((expression as Algebra.ExistenceExpression).input) !== undefined;
}
