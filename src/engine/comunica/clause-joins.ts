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
import type { IActionContext, IJoinEntry, IQueryOperationResultBindings, MetadataBindings } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { isExpressionError } from "@comunica/utils-expression-evaluator";
import type { BlockSizes } from "../block-sizes.ts";
import type { BoundJoin } from "./bound-join.ts";
import { isHoistedFilter, joinStream, leafOf, variableNames } from "./clause-operands.ts";
import { joinOrder } from "./join-order.ts";

/** What the join actors need beside Comunica's own arguments. */
export interface ClauseJoinArgs extends IActorRdfJoinArgs {
  readonly mediatorJoin: MediatorRdfJoin;
  readonly mediatorExpressionEvaluatorFactory: MediatorExpressionEvaluatorFactory;
  readonly sizes: BlockSizes;
}

type SideData = IActorRdfJoinTestSideData;

// A clause is asked with the keys at hand or not at all: whatever the estimates say, these joins come first.
const FREE = { iterations: 0, persistedItems: 0, blockingItems: 0, requestTime: 0 };

/** Joins any number of operands of which at least one is a clause: other operands first, then clause after clause. */
export class ClauseInnerJoin extends ActorRdfJoin {
  readonly #args: ClauseJoinArgs;

  constructor(args: ClauseJoinArgs) {
    super(args, { logicalType: "inner", physicalName: "clause", canHandleUndefs: true, isLeaf: false });
    this.#args = args;
  }

  protected override async getOutput({ entries, context }: IActionRdfJoin): Promise<IActorRdfJoinOutputInner> {
    const clauses = entries.filter((entry) => leafOf(entry.operation));
    const others = entries.filter((entry) => !leafOf(entry.operation));
    const start = await this.#start(others, context);
    const ordered = await joinOrder(clauses, start ? variableNames(await start.metadata()) : []);
    let result = start;
    for (const entry of ordered) result = result ? await this.#join(result, entry, context) : entry.output;
    if (!result) throw new Error("A join has no operands");
    return { result };
  }

  protected override async getJoinCoefficients(action: IActionRdfJoin, sideData: SideData): Promise<JoinTest> {
    return action.entries.some((entry) => leafOf(entry.operation)) ? passTestWithSideData(FREE, sideData) : none(this);
  }

  async #start(others: IJoinEntry[], context: IActionContext): Promise<IQueryOperationResultBindings | undefined> {
    if (others.length < 2) return others[0]?.output;
    return this.#args.mediatorJoin.mediate({ type: "inner", entries: others, context });
  }

  async #join(
    left: IQueryOperationResultBindings,
    entry: IJoinEntry,
    context: IActionContext,
  ): Promise<IQueryOperationResultBindings> {
    const metadatas = [await left.metadata(), await entry.output.metadata()];
    const stream = joinStream(left, entry, { sizes: this.#args.sizes, metadata: metadatas[0], mode: "inner" });
    const entries = [{ output: left, operation: entry.operation }, entry];
    const metadata = await this.constructResultMetadata(entries, metadatas as MetadataBindings[], context);
    return { type: "bindings", bindingsStream: stream, metadata: async () => metadata };
  }
}

/** MINUS with a clause on the right, where no shared variable can be unbound. */
export class ClauseMinus extends ActorRdfJoin {
  readonly #args: ClauseJoinArgs;

  constructor(args: ClauseJoinArgs) {
    super(args, { logicalType: "minus", physicalName: "clause", limitEntries: 2, isLeaf: false });
    this.#args = args;
  }

  protected override async getOutput(
    action: IActionRdfJoin,
    { metadatas }: SideData,
  ): Promise<IActorRdfJoinOutputInner> {
    const [left, right] = action.entries;
    if (!left || !right) throw new Error("MINUS has two operands");
    // Solutions without a shared variable are never taken away (SPARQL 1.1 Query, section 8.3.3).
    if (ActorRdfJoin.overlappingVariables(metadatas).length === 0) {
      right.output.bindingsStream.destroy();
      return { result: left.output };
    }
    const stream = joinStream(left.output, right, { sizes: this.#args.sizes, metadata: metadatas[0], mode: "anti" });
    return { result: { type: "bindings", bindingsStream: stream, metadata: left.output.metadata } };
  }

  protected override async getJoinCoefficients({ entries }: IActionRdfJoin, sideData: SideData): Promise<JoinTest> {
    const right = entries[1];
    return right && leafOf(right.operation) ? passTestWithSideData(FREE, sideData) : none(this);
  }
}

/** Joins a left operand with an optional clause, the condition of the LeftJoin included. */
export class ClauseLeftJoin extends ActorRdfJoin {
  readonly #args: ClauseJoinArgs;

  constructor(args: ClauseJoinArgs) {
    super(args, {
      logicalType: "optional",
      physicalName: "clause",
      limitEntries: 2,
      canHandleUndefs: true,
      canHandleOperationRequired: true,
      isLeaf: false,
    });
    this.#args = args;
  }

  protected override async getOutput(
    action: IActionRdfJoin,
    { metadatas }: SideData,
  ): Promise<IActorRdfJoinOutputInner> {
    const [left, right] = action.entries;
    if (!left || !right) throw new Error("A left join has two operands");
    const condition = await this.#condition(right.operation, action.context);
    const stream = joinStream(left.output, right, {
      sizes: this.#args.sizes,
      metadata: metadatas[0],
      mode: "optional",
      ...(condition && { condition }),
    });
    const metadata = await this.constructResultMetadata(action.entries, metadatas, action.context, {}, true);
    return { result: { type: "bindings", bindingsStream: stream, metadata: async () => metadata } };
  }

  protected override async getJoinCoefficients({ entries }: IActionRdfJoin, sideData: SideData): Promise<JoinTest> {
    const right = entries[1];
    return right && leafOf(right.operation) ? passTestWithSideData(FREE, sideData) : none(this);
  }

  async #condition(operation: Algebra.Operation, context: IActionContext): Promise<BoundJoin["condition"]> {
    if (!isHoistedFilter(operation)) return undefined;
    const evaluator = await this.#args.mediatorExpressionEvaluatorFactory.mediate({
      algExpr: operation.expression,
      context,
    });
    return async (merged) => {
      try {
        return await evaluator.evaluateAsEBV(merged as never);
      } catch (error) {
        // An expression error counts as false (SPARQL 1.1 Query, section 17.2).
        if (isExpressionError(error as Error)) return false;
        throw error;
      }
    };
  }
}

type JoinTest = TestResult<typeof FREE, SideData>;

function none(actor: ActorRdfJoin): JoinTest {
  return failTest(`${actor.name} needs a clause`);
}
