import type * as RDF from "@rdfjs/types";
import type {
  BindingsStream,
  IActionContext,
  ComunicaDataFactory,
  IQueryOperationResult,
  IQueryOperationResultBindings,
  MetadataBindings,
} from "@comunica/types";
import {
  ActorQueryOperationTyped,
  type IActorQueryOperationArgs,
  type MediatorQueryOperation,
} from "@comunica/bus-query-operation";
import { type IActorTest, passTestVoid, type TestResult } from "@comunica/core";
import type { Algebra } from "@comunica/utils-algebra";
import { type BoundJoin, type BoundSide, boundJoin } from "./bound-join.ts";
import { toLeaf, ClauseSource } from "./clause-source.ts";
import { batchesOf, controlKey, streamOf, wantedKey } from "./execution.ts";
import type { Existence } from "./existence.ts";
import type { Expressions } from "./expression-evaluator.ts";

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
  readonly context: IActionContext;
}

/** The solutions of a left operand joined with a right one, which is asked block by block. */
export function boundStream(
  left: IQueryOperationResultBindings,
  right: BoundSide,
  { leftMetadata, context, ...options }: BoundOptions,
): BindingsStream {
  const join: BoundJoin = {
    ...options,
    left: batches(left),
    leftVariables: variableNames(leftMetadata),
    right,
    wanted: context.get(wantedKey),
    held: context.getSafe(controlKey).held,
  };
  return streamOf(context, () => boundJoin(join));
}

/** The solutions of an operation that has nothing else. */
export function bindingsOf(output: IQueryOperationResult): IQueryOperationResultBindings {
  if (output.type !== "bindings") throw new Error(`An operation gave ${output.type} in place of solutions`);
  return output;
}

/** An operand's solutions, as they come. */
export function batches({ bindingsStream }: IQueryOperationResultBindings): AsyncIterable<readonly RDF.Bindings[]> {
  return batchesOf(bindingsStream);
}

// What has fewer solutions is not worth a second kind of request.
const LEAST_WHOLE = 64;

/** The clause as the right side of a bound join. */
export function leafSide({ source }: Leaf): BoundSide {
  const { blocksOf, blankKeys, variables, substituted = [], size } = source.clause;
  const open = new Set(variables.flatMap(({ name, certain }) => (certain ? [] : [name])));
  // The values that are substituted come back with the number of their key.
  for (const name of substituted) open.delete(name);
  return {
    endpoint: blocksOf,
    blankKeys,
    wholeFrom: size === undefined || substituted.length > 0 ? undefined : Math.max(LEAST_WHOLE, size),
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
  readonly expressions: Expressions;
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
