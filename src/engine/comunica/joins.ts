import type { MediatorExpressionEvaluatorFactory } from "@comunica/bus-expression-evaluator-factory";
import {
  ActorRdfJoin,
  type IActionRdfJoin,
  type IActorRdfJoinArgs,
  type IActorRdfJoinOutputInner,
  type IActorRdfJoinTestSideData,
  type MediatorRdfJoin,
} from "@comunica/bus-rdf-join";
import { failTest, passTestWithSideData, type TestResult } from "@comunica/core";
import type {
  BindingsStream,
  IActionContext,
  IExpressionEvaluator,
  IJoinEntry,
  IQueryOperationResultBindings,
} from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { isExpressionError } from "@comunica/utils-expression-evaluator";
import type * as RDF from "@rdfjs/types";
import type { BlockSizes } from "../clause-query.ts";
import {
  type BufferedJoin,
  bufferedInnerJoin,
  bufferedLeftJoin,
  bufferedMinus,
  type Condition,
  keyOn,
} from "./buffered-join.ts";
import { boundStream, isHoistedFilter, iterate, leafOf, variableNames } from "./clause-operands.ts";
import { connectedOrder } from "./conjuncts.ts";
import { controlKey, streamOf } from "./execution.ts";
import type { Existence } from "./existence.ts";
import { existencesIn } from "./prepared-input.ts";

type SideData = IActorRdfJoinTestSideData;

// What EXISTS in the condition of an OPTIONAL is asked for.
const ROWS_PREPARED_AT_ONCE = 512;
// A clause is asked with the keys at hand or not at all: whatever the estimates say, these joins come first.
const FREE = { iterations: 0, persistedItems: 0, blockingItems: 0, requestTime: 0 };

/** What the actors need beside Comunica's own arguments. */
export interface JoinArgs extends IActorRdfJoinArgs {
  readonly mediatorJoin: MediatorRdfJoin;
  readonly mediatorExpressionEvaluatorFactory: MediatorExpressionEvaluatorFactory;
  readonly sizes: BlockSizes;
  readonly existence: Existence;
}

/** A join that is free where it can be done. */
abstract class FreeJoin extends ActorRdfJoin {
  protected readonly args: JoinArgs;

  constructor(args: JoinArgs, logicalType: "inner" | "optional" | "minus", limitEntries?: number) {
    super(args, {
      logicalType,
      physicalName: "fedway",
      ...(limitEntries && { limitEntries }),
      canHandleUndefs: true,
      canHandleOperationRequired: true,
      isLeaf: false,
    });
    this.args = args;
  }

  /** Why it cannot be done. */
  protected refusal(_entries: readonly IJoinEntry[]): string | undefined {
    return undefined;
  }

  protected override async getJoinCoefficients(
    { entries }: IActionRdfJoin,
    sideData: SideData,
  ): Promise<TestResult<typeof FREE, SideData>> {
    const refusal = this.refusal(entries);
    return refusal === undefined ? passTestWithSideData(FREE, sideData) : failTest(`${this.name} ${refusal}`);
  }
}

/** Joins any number of operands of which at least one is a clause: other operands first, then clause after clause. */
export class ClauseInnerJoin extends FreeJoin {
  constructor(args: JoinArgs) {
    super(args, "inner");
  }

  protected override refusal(entries: readonly IJoinEntry[]): string | undefined {
    return entries.some(({ operation }) => leafOf(operation)) ? undefined : "needs a clause";
  }

  protected override async getOutput({ entries, context }: IActionRdfJoin): Promise<IActorRdfJoinOutputInner> {
    const clauses = entries.filter(({ operation }) => leafOf(operation));
    const others = entries.filter(({ operation }) => !leafOf(operation));
    const start =
      others.length < 2
        ? others[0]?.output
        : await this.args.mediatorJoin.mediate({ type: "inner", entries: others, context });
    const sized = await Promise.all(
      clauses.map(async (entry) => {
        const metadata = await entry.output.metadata();
        return { item: entry, size: metadata.cardinality.value, names: variableNames(metadata) };
      }),
    );
    let result = start;
    // Keys can be sent along with each next clause, and no product of unrelated solutions is made.
    for (const entry of connectedOrder(sized, start ? variableNames(await start.metadata()) : [])) {
      result = result ? await this.#join(result, entry, context) : entry.output;
    }
    if (!result) throw new Error("A join has no operands");
    return { result };
  }

  async #join(
    left: IQueryOperationResultBindings,
    entry: IJoinEntry,
    context: IActionContext,
  ): Promise<IQueryOperationResultBindings> {
    const leftMetadata = await left.metadata();
    const metadatas = [leftMetadata, await entry.output.metadata()];
    const leaf = leafOf(entry.operation);
    if (!leaf) throw new Error("Only clauses are ordered");
    entry.output.bindingsStream.destroy();
    const bindingsStream = boundStream(left, leaf, { sizes: this.args.sizes, leftMetadata, mode: "inner" });
    const entries = [{ output: left, operation: entry.operation }, entry];
    const metadata = await this.constructResultMetadata(entries, metadatas, context);
    return { type: "bindings", bindingsStream, metadata: async () => metadata };
  }
}

interface Sides {
  readonly left: IJoinEntry;
  readonly right: IJoinEntry;
  readonly leftMetadata: SideData["metadatas"][number];
  readonly rightMetadata: SideData["metadatas"][number];
  readonly context: IActionContext;
}

abstract class TwoSidedJoin extends FreeJoin {
  constructor(args: JoinArgs, logicalType: "inner" | "optional" | "minus") {
    super(args, logicalType, 2);
  }

  protected override async getOutput(action: IActionRdfJoin, side: SideData): Promise<IActorRdfJoinOutputInner> {
    const [left, right] = action.entries;
    const [leftMetadata, rightMetadata] = side.metadatas;
    if (!left || !right || !leftMetadata || !rightMetadata) throw new Error(`${this.name} needs two operands`);
    return this.join({ left, right, leftMetadata, rightMetadata, context: action.context });
  }

  protected abstract join(sides: Sides): Promise<IActorRdfJoinOutputInner>;
}

/** The join of two operands of which none is a clause; the smaller one is taken in whole. */
export class InnerJoin extends TwoSidedJoin {
  constructor(args: JoinArgs) {
    super(args, "inner");
  }

  protected override refusal(entries: readonly IJoinEntry[]): string | undefined {
    return entries.some(({ operation }) => leafOf(operation)) ? "does not ask clauses" : undefined;
  }

  protected override async join({ left, right, ...sides }: Sides): Promise<IActorRdfJoinOutputInner> {
    const { leftMetadata, rightMetadata, context } = sides;
    const metadata = await this.constructResultMetadata([left, right], [leftMetadata, rightMetadata], context);
    const isLeftSmaller = leftMetadata.cardinality.value < rightMetadata.cardinality.value;
    const [whole, other] = isLeftSmaller ? [left, right] : [right, left];
    const join = buffered({ ...sides, left: other, right: whole });
    const bindingsStream = streamOf(context, () => bufferedInnerJoin(join));
    return { result: { type: "bindings", bindingsStream, metadata: async () => metadata } };
  }
}

/** OPTIONAL with its condition: a clause is asked by key, everything else is taken in whole. */
export class LeftJoin extends TwoSidedJoin {
  constructor(args: JoinArgs) {
    super(args, "optional");
  }

  protected override async join(sides: Sides): Promise<IActorRdfJoinOutputInner> {
    const { left, right, leftMetadata, rightMetadata, context } = sides;
    const condition = await this.#condition(right.operation, context);
    const metadata = await this.constructResultMetadata(
      [left, right],
      [leftMetadata, rightMetadata],
      context,
      {},
      true,
    );
    const bindingsStream = this.#stream(sides, condition);
    return { result: { type: "bindings", bindingsStream, metadata: async () => metadata } };
  }

  #stream(sides: Sides, condition: Condition | undefined): BindingsStream {
    const { left, right, leftMetadata, context } = sides;
    const leaf = leafOf(right.operation);
    if (!leaf) return streamOf(context, () => bufferedLeftJoin(buffered(sides), condition));
    right.output.bindingsStream.destroy();
    return boundStream(left.output, leaf, { sizes: this.args.sizes, leftMetadata, mode: "optional", condition });
  }

  async #condition(operation: Algebra.Operation, context: IActionContext): Promise<Condition | undefined> {
    if (!isHoistedFilter(operation)) return undefined;
    const { expression: algExpr } = operation;
    const evaluator = await this.args.mediatorExpressionEvaluatorFactory.mediate({ algExpr, context });
    const existences = existencesIn(algExpr);
    return {
      atOnce: existences.length > 0 ? ROWS_PREPARED_AT_ONCE : 1,
      holds: async (merged) => {
        if (existences.length > 0) await this.args.existence.prepare(existences, merged, context);
        const verdicts: boolean[] = [];
        for (const row of merged) verdicts.push(await isTrue(evaluator, row));
        return verdicts;
      },
    };
  }
}

/** An expression error counts as false (SPARQL 1.1 Query, section 17.2). */
async function isTrue(evaluator: IExpressionEvaluator, row: RDF.Bindings): Promise<boolean> {
  try {
    return await evaluator.evaluateAsEBV(row);
  } catch (error) {
    if (error instanceof Error && isExpressionError(error)) return false;
    throw error;
  }
}

/** MINUS: a clause whose shared variables are always bound is asked by key, everything else is taken in whole. */
export class Minus extends TwoSidedJoin {
  constructor(args: JoinArgs) {
    super(args, "minus");
  }

  protected override async join(sides: Sides): Promise<IActorRdfJoinOutputInner> {
    const { left, right } = sides;
    // Solutions without a shared variable are never taken away (SPARQL 1.1 Query, section 8.3.3).
    if (sharedVariables(sides).length === 0) {
      right.output.bindingsStream.destroy();
      return { result: left.output };
    }
    const bindingsStream = this.#stream(sides);
    return { result: { type: "bindings", bindingsStream, metadata: left.output.metadata } };
  }

  #stream(sides: Sides): BindingsStream {
    const { left, right, leftMetadata, rightMetadata, context } = sides;
    const leaf = leafOf(right.operation);
    const shared = new Set(sharedVariables(sides));
    // Keys sent along would bind what the clause itself leaves unbound, and so look like a variable in common.
    const unsure = rightMetadata.variables.some(({ variable, canBeUndef }) => canBeUndef && shared.has(variable.value));
    if (!leaf || unsure) return streamOf(context, () => bufferedMinus(buffered(sides)));
    right.output.bindingsStream.destroy();
    return boundStream(left.output, leaf, { sizes: this.args.sizes, leftMetadata, mode: "minus" });
  }
}

function sharedVariables({ leftMetadata, rightMetadata }: Sides): string[] {
  return ActorRdfJoin.overlappingVariables([leftMetadata, rightMetadata]).map(({ variable }) => variable.value);
}

function buffered(sides: Sides): BufferedJoin {
  const { left, right, leftMetadata, rightMetadata, context } = sides;
  const { held, signal } = context.getSafe(controlKey);
  const overlap = ActorRdfJoin.overlappingVariables([leftMetadata, rightMetadata]);
  const key = keyOn(overlap.filter(({ canBeUndef }) => !canBeUndef).map(({ variable }) => variable.value));
  return {
    left: iterate(left.output),
    right: iterate(right.output),
    key: { left: key, right: key },
    shared: sharedVariables(sides),
    held,
    signal,
  };
}
