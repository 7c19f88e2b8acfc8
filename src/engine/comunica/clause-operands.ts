import type * as RDF from "@rdfjs/types";
import type {
  BindingsStream,
  IActionContext,
  ComunicaDataFactory,
  IQueryOperationResult,
  IQueryOperationResultBindings,
  MetadataBindings,
} from "@comunica/types";
import type { MediatorExpressionEvaluatorFactory } from "@comunica/bus-expression-evaluator-factory";
import {
  ActorQueryOperationTyped,
  type IActorQueryOperationArgs,
  type MediatorQueryOperation,
} from "@comunica/bus-query-operation";
import { type IActorTest, passTestVoid, type TestResult } from "@comunica/core";
import type { Algebra } from "@comunica/utils-algebra";
import type { BindingsFactory } from "@comunica/utils-bindings-factory";
import { type BoundJoin, type BoundSide, boundJoin } from "./bound-join.ts";
import { toLeaf, ClauseSource } from "./clause-source.ts";
import type { Existence } from "./existence.ts";

/** A clause as an operand. */
export interface Leaf {
  readonly source: ClauseSource;
  readonly operation: Algebra.Operation;
}

/** The clause behind an operand; also below the filter that Comunica makes of a LeftJoin's condition. */
export function leafOf(operation: Algebra.Operation): Leaf | undefined {
  const source = operation.metadata?.["scopedSource"] as { source: unknown } | undefined;
  if (source?.source instanceof ClauseSource) return { source: source.source, operation };
  return isHoistedFilter(operation) ? leafOf(operation.input) : undefined;
}

/** The leaf of the algebra that stands for a clause. */
export function leafOperation(source: ClauseSource, dataFactory: ComunicaDataFactory): Algebra.Operation {
  const operation = toLeaf(source.clause, dataFactory);
  return { ...operation, metadata: { ...operation.metadata, scopedSource: { source } } };
}

/** The filter that Comunica makes of a LeftJoin's condition. */
export function isHoistedFilter(operation: Algebra.Operation): operation is Algebra.Filter {
  return operation.type === "filter" && operation.metadata?.["isHoistedLeftJoinFilter"] === true;
}

interface BoundOptions extends Pick<BoundJoin, "sizes" | "mode" | "condition"> {
  readonly leftMetadata: MetadataBindings;
}

/** The solutions of a left operand joined with a clause, which is asked block by block. */
export function boundStream(
  left: IQueryOperationResultBindings,
  leaf: Leaf,
  { leftMetadata, ...options }: BoundOptions,
): BindingsStream {
  const join: BoundJoin = {
    ...options,
    left: iterate(left),
    leftVariables: variableNames(leftMetadata),
    right: boundSide(leaf),
    held: leaf.source.held,
  };
  return leaf.source.stream(() => boundJoin(join));
}

/** The solutions of an operation that has nothing else. */
export function bindingsOf(output: IQueryOperationResult): IQueryOperationResultBindings {
  if (output.type !== "bindings") throw new Error(`An operation gave ${output.type} in place of solutions`);
  return output;
}

/** An operand's solutions. */
export function iterate({ bindingsStream }: IQueryOperationResultBindings): AsyncIterable<RDF.Bindings> {
  return bindingsStream;
}

/** The clause as the right side of a bound join. */
function boundSide({ source }: Leaf): BoundSide {
  const { blocksOf, blankKeys, variables, substituted = [] } = source.clause;
  const open = new Set(variables.flatMap(({ name, certain }) => (certain ? [] : [name])));
  // The values that are substituted come back with the number of their key.
  for (const name of substituted) open.delete(name);
  return {
    endpoint: blocksOf,
    blankKeys,
    variables: source
      .variables()
      .map(({ name, certain }) => ({ name, certain, oneSpelling: !blankKeys && open.has(name) })),
    solutions: (keys) => source.solutions(keys),
  };
}

/** Names of the variables that an operand may bind. */
export function variableNames(metadata: MetadataBindings): string[] {
  return metadata.variables.map(({ variable }) => variable.value);
}

/** What our operators are made with beside Comunica's own arguments. */
export interface OperatorArgs extends IActorQueryOperationArgs {
  readonly mediatorQueryOperation: MediatorQueryOperation;
  readonly mediatorExpressionEvaluatorFactory: MediatorExpressionEvaluatorFactory;
  readonly bindingsFactory: BindingsFactory;
  readonly existence: Existence;
}

/** An operator over solutions that stands in the place of Comunica's. */
export abstract class SolutionOperator<
  Operation extends Algebra.Operation,
> extends ActorQueryOperationTyped<Operation> {
  protected readonly args: OperatorArgs;

  constructor(args: OperatorArgs, type: string) {
    super(args, type);
    this.args = args;
  }

  protected override async testOperation(): Promise<TestResult<IActorTest>> {
    return passTestVoid();
  }

  /** The solutions of an operand. */
  protected async operand(
    operation: Algebra.Operation,
    context: IActionContext,
  ): Promise<IQueryOperationResultBindings> {
    return bindingsOf(await this.args.mediatorQueryOperation.mediate({ operation, context }));
  }
}

/** The value that an expression has for a solution; undefined where it has none. */
export type ValueOf = (row: RDF.Bindings) => Promise<RDF.Term | undefined> | RDF.Term | undefined;

/** Computes an expression; a variable needs no evaluator. */
export async function valueOf(
  algExpr: Algebra.Expression,
  evaluators: MediatorExpressionEvaluatorFactory,
  context: IActionContext,
): Promise<ValueOf> {
  const { term } = algExpr as Partial<Algebra.TermExpression>;
  if (term?.termType === "Variable") return (row) => row.get(term);
  const evaluator = await evaluators.mediate({ algExpr, context });
  return (row) => evaluator.evaluate(row).catch(() => undefined);
}
