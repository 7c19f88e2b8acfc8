import {
  ActorQueryOperationTyped,
  type IActorQueryOperationArgs,
  type MediatorQueryOperation,
} from "@comunica/bus-query-operation";
import { type IActorTest, passTestVoid, type TestResult } from "@comunica/core";
import type { IActionContext, IQueryOperationResult, MetadataBindings } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { MetadataValidationState } from "@comunica/utils-metadata";
import type * as RDF from "@rdfjs/types";
import { bufferedInnerJoin } from "./buffered-join.ts";
import { bindingsOf, iterate } from "./clause-operands.ts";
import { equalityKey } from "./equal-terms.ts";
import { equalityJoinType } from "./equated-parts.ts";
import { controlKey, streamOf } from "./execution-keys.ts";

/** What the actor needs beside Comunica's own arguments. */
export interface EqualityJoinArgs extends IActorQueryOperationArgs {
  readonly mediatorQueryOperation: MediatorQueryOperation;
}

/** The join of two operands without a common variable whose solutions a FILTER finds equal, as a hash join. */
export class EqualityJoin extends ActorQueryOperationTyped<Algebra.Multi> {
  readonly #mediator: MediatorQueryOperation;

  constructor(args: EqualityJoinArgs) {
    super(args, equalityJoinType);
    this.#mediator = args.mediatorQueryOperation;
  }

  protected override async testOperation(): Promise<TestResult<IActorTest>> {
    return passTestVoid();
  }

  protected override async runOperation(
    { input, metadata }: Algebra.Multi,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const outputs = await Promise.all(input.map((operation) => this.#mediator.mediate({ operation, context })));
    const [left, right] = outputs.map((output) => bindingsOf(output));
    const [leftName, rightName] = (metadata?.["names"] ?? []) as readonly string[];
    if (!left || !right || !leftName || !rightName) throw new Error(`${this.name} needs two operands`);
    const { held, signal } = context.getSafe(controlKey);
    const sides = { left: iterate(left), right: iterate(right), shared: [], held, signal };
    const key = { left: keyAt(leftName), right: keyAt(rightName) };
    const bindingsStream = streamOf(context, () => bufferedInnerJoin({ ...sides, key }));
    const combined = async () => combine(await left.metadata(), await right.metadata());
    return { type: "bindings", bindingsStream, metadata: combined };
  }
}

/** Without a value there is no key that another solution has: the FILTER would find an error. */
function keyAt(name: string): (row: RDF.Bindings) => string | undefined {
  return (row) => {
    const term = row.get(name);
    return term && equalityKey(term);
  };
}

function combine(left: MetadataBindings, right: MetadataBindings): MetadataBindings {
  const value = Math.max(left.cardinality.value, right.cardinality.value);
  return {
    state: new MetadataValidationState(),
    cardinality: { type: "estimate", value },
    variables: [...left.variables, ...right.variables],
  };
}
