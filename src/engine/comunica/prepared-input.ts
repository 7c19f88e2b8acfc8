import {
  ActorQueryOperationTyped,
  type IActorQueryOperationArgs,
  type MediatorQueryOperation,
} from "@comunica/bus-query-operation";
import { type IActorTest, passTestVoid, type TestResult } from "@comunica/core";
import type { IActionContext, IQueryOperationResult } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { bindingsOf, iterate } from "./clause-operands.ts";
import { passedOn } from "./execution-keys.ts";
import type { Existence } from "./existence.ts";
import { existencesOf, inputsOf } from "./reached-variables.ts";

/** The type of an operation that passes the solutions of its input on when what EXISTS will be evaluated for is known. */
export const preparedType = "fedway:prepared";

/** The operation; its input is prepared for the EXISTS of its expressions. */
export function withPreparedInput<O extends Algebra.Operation>(operation: O): O {
  const existences = existencesOf(operation);
  const [input] = inputsOf(operation);
  if (existences.length === 0 || !input) return operation;
  return { ...operation, input: { type: preparedType, input, metadata: { existences } } };
}

/** What the actor needs beside Comunica's own arguments. */
export interface PreparedInputArgs extends IActorQueryOperationArgs {
  readonly mediatorQueryOperation: MediatorQueryOperation;
  readonly existence: Existence;
}

/** Evaluates the operation that `withPreparedInput` puts in. */
export class PreparedInput extends ActorQueryOperationTyped<Algebra.Single> {
  readonly #mediator: MediatorQueryOperation;
  readonly #existence: Existence;

  constructor(args: PreparedInputArgs) {
    super(args, preparedType);
    this.#mediator = args.mediatorQueryOperation;
    this.#existence = args.existence;
  }

  protected override async testOperation(): Promise<TestResult<IActorTest>> {
    return passTestVoid();
  }

  protected override async runOperation(
    { input, metadata }: Algebra.Single,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const rows = bindingsOf(await this.#mediator.mediate({ operation: input, context }));
    const existences = metadata?.["existences"] as readonly Algebra.ExistenceExpression[];
    const open = () => this.#existence.prepared(existences, iterate(rows), context);
    return { type: "bindings", bindingsStream: passedOn(context, open), metadata: rows.metadata };
  }
}
