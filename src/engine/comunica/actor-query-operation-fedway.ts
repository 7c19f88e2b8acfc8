import {
  ActorQueryOperation,
  type IActionQueryOperation,
  type IActorQueryOperationArgs,
} from "@comunica/bus-query-operation";
import { ActionContextKey, failTest, type IActorTest, passTestVoid, type TestResult } from "@comunica/core";
import type { Operation } from "../evaluator/algebra.ts";
import type { Evaluate, Execution, Result } from "../evaluator/execution.ts";

/** Where the context of an operation keeps the evaluation that it is part of. */
export const executionKey = new ActionContextKey<Execution>("fedway:execution");

type Output = Awaited<ReturnType<ActorQueryOperation["run"]>>;

/** The result of an operator, as it passes through Comunica, which does not look at it. */
interface Carried {
  readonly fedway: Result;
}

const carrying = (fedway: Result): Output & Carried => ({ type: "void", execute: async () => {}, fedway });

/** The result of an operator that the actor below gave. */
export const resultOf = (output: Output): Result => (output as Output & Carried).fedway;

/** Arguments of the actor, as `deploy/comunica/components` declares them. */
interface ActorQueryOperationFedwayArgs extends IActorQueryOperationArgs {
  /** By the type of their operation. */
  readonly operators: ReadonlyMap<string, Evaluate>;
}

/**
 * Evaluates the operations of the algebra by Fedway's operators. Tests load this file twice, from the compiled engine and from
 * its host: it holds no state, and the operators come in as a variable of the configuration.
 */
export class ActorQueryOperationFedway extends ActorQueryOperation {
  readonly #operators: ReadonlyMap<string, Evaluate>;

  constructor(args: ActorQueryOperationFedwayArgs) {
    super(args);
    this.#operators = args.operators;
  }

  override async test({ operation }: IActionQueryOperation): Promise<TestResult<IActorTest>> {
    const isKnown = this.#operators.has(operation.type);
    return isKnown ? passTestVoid() : failTest(`Fedway has no operator for ${operation.type}`);
  }

  override async run({ operation, context }: IActionQueryOperation): Promise<Output> {
    const operator = this.#operators.get(operation.type);
    if (!operator) throw new Error(`Fedway has no operator for ${operation.type}`);
    return carrying(await operator(operation as Operation, context.getSafe(executionKey)));
  }
}
