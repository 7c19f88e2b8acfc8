import {
  ActorRdfJoin,
  type IActionRdfJoin,
  type IActorRdfJoinArgs,
  type IActorRdfJoinOutputInner,
  type IActorRdfJoinTestSideData,
  type MediatorRdfJoin,
} from "@comunica/bus-rdf-join";
import { failTest, passTestWithSideData, type TestResult } from "@comunica/core";
import type { BindingsStream, IActionContext, IJoinEntry, IQueryOperationResultBindings } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import type { MediatorQueryOperation } from "@comunica/bus-query-operation";
import type { BlockSizes } from "../clause-query.ts";
import {
  type BufferedJoin,
  bufferedInnerJoin,
  bufferedLeftJoin,
  bufferedMinus,
  type Condition,
  keyOn,
} from "./buffered-join.ts";
import { boundStream, batches, isHoistedFilter, leafOf, variableNames } from "./clause-operands.ts";
import { connectedOrder } from "./conjuncts.ts";
import { controlKey, streamOf } from "./execution.ts";
import type { Existence } from "./existence.ts";
import type { Expressions } from "./expression-evaluator.ts";
import { certainIn, leavesOf, sideOf, takesKeys } from "./keyed-operation.ts";
import { existencesIn } from "./prepared-input.ts";

type SideData = IActorRdfJoinTestSideData;

// What EXISTS in the condition of an OPTIONAL is asked for.
const ROWS_PREPARED_AT_ONCE = 512;
// A clause is asked with the keys at hand or not at all: whatever the estimates say, these joins come first.
const FREE = { iterations: 0, persistedItems: 0, blockingItems: 0, requestTime: 0 };

/** What the actors need beside Comunica's own arguments. */
export interface JoinArgs extends IActorRdfJoinArgs {
  readonly mediatorJoin: MediatorRdfJoin;
  readonly expressions: Expressions;
  readonly sizes: BlockSizes;
  readonly existence: Existence;
  readonly mediatorQueryOperation: MediatorQueryOperation;
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

/** Joins any number of operands of which at least one has a clause in it: other operands first, then clause after clause. */
export class ClauseInnerJoin extends FreeJoin {
  constructor(args: JoinArgs) {
    super(args, "inner");
  }

  protected override refusal(entries: readonly IJoinEntry[]): string | undefined {
    return entries.some((entry) => isAsked(entry, entries)) ? undefined : "needs a clause";
  }

  protected override async getOutput({ entries, context }: IActionRdfJoin): Promise<IActorRdfJoinOutputInner> {
    const asked = entries.filter((entry) => isAsked(entry, entries));
    const others = entries.filter((entry) => !asked.includes(entry));
    const start =
      others.length < 2
        ? others[0]?.output
        : await this.args.mediatorJoin.mediate({ type: "inner", entries: others, context });
    const sized = await Promise.all(
      asked.map(async (entry) => {
        const metadata = await entry.output.metadata();
        return { item: entry, size: metadata.cardinality.value, names: variableNames(metadata) };
      }),
    );
    let result = start;
    // Keys can be sent along with each next clause, and no product of unrelated solutions is made.
    const order = connectedOrder(sized, start ? variableNames(await start.metadata()) : []);
    for (const entry of [...order.filter((each) => !isFollowed(each)), ...asked.filter(isFollowed)]) {
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
    const rightMetadata = await entry.output.metadata();
    const entries: [IJoinEntry, IJoinEntry] = [{ output: left, operation: entry.operation }, entry];
    const metadata = await this.constructResultMetadata(entries, [leftMetadata, rightMetadata], context);
    const side = await sideOf(entry, variableNames(leftMetadata), { ...this.args, context });
    if (!side) {
      const join = buffered({ left: entries[0], right: entry, leftMetadata, rightMetadata, context });
      const bindingsStream = streamOf(context, () => bufferedInnerJoin(join));
      return { type: "bindings", bindingsStream, metadata: async () => metadata };
    }
    entry.output.bindingsStream.destroy();
    const { sizes } = this.args;
    const bindingsStream = boundStream(left, side, { sizes, leftMetadata, context, mode: "inner" });
    return { type: "bindings", bindingsStream, metadata: async () => metadata };
  }
}

/** Its endpoints are named by what the others bind: it comes last, in the order of the query. */
const isFollowed = ({ operation }: IJoinEntry): boolean =>
  leafOf(operation)?.source.clause.targetVariable !== undefined;

/** It can be asked with keys that the others bind; what cannot is taken in whole and comes first. */
function isAsked(entry: IJoinEntry, entries: readonly IJoinEntry[]): boolean {
  const { operation } = entry;
  if (leafOf(operation)) return true;
  if (leavesOf(operation).length === 0) return false;
  const names = entries.flatMap((other) => (other === entry ? [] : [...certainIn(other.operation)]));
  return takesKeys(operation, new Set(names));
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
    return entries.some((entry) => isAsked(entry, entries)) ? "does not ask clauses" : undefined;
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
    const condition = this.#condition(right.operation, context);
    const metadata = await this.constructResultMetadata(
      [left, right],
      [leftMetadata, rightMetadata],
      context,
      {},
      true,
    );
    const bindingsStream = await this.#stream(sides, condition);
    return { result: { type: "bindings", bindingsStream, metadata: async () => metadata } };
  }

  async #stream(sides: Sides, condition: Condition | undefined): Promise<BindingsStream> {
    const { left, right, leftMetadata, context } = sides;
    const side = await sideOf(right, variableNames(leftMetadata), { ...this.args, context });
    if (!side) return streamOf(context, () => bufferedLeftJoin(buffered(sides), condition));
    right.output.bindingsStream.destroy();
    const { sizes } = this.args;
    return boundStream(left.output, side, { sizes, leftMetadata, context, mode: "optional", condition });
  }

  #condition(operation: Algebra.Operation, context: IActionContext): Condition | undefined {
    if (!isHoistedFilter(operation)) return undefined;
    const { expression } = operation;
    const isTrue = this.args.expressions.condition(expression, context);
    const existences = existencesIn(expression);
    return {
      atOnce: existences.length > 0 ? ROWS_PREPARED_AT_ONCE : 1,
      holds: async (merged) => {
        if (existences.length > 0) await this.args.existence.prepare(existences, merged, context);
        const verdicts: boolean[] = [];
        for (const row of merged) verdicts.push(await isTrue(row));
        return verdicts;
      },
    };
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
    const bindingsStream = await this.#stream(sides);
    return { result: { type: "bindings", bindingsStream, metadata: left.output.metadata } };
  }

  async #stream(sides: Sides): Promise<BindingsStream> {
    const { left, right, leftMetadata, rightMetadata, context } = sides;
    const shared = new Set(sharedVariables(sides));
    // Keys sent along would bind what the clause itself leaves unbound, and so look like a variable in common.
    const unsure = rightMetadata.variables.some(({ variable, canBeUndef }) => canBeUndef && shared.has(variable.value));
    const side = unsure ? undefined : await sideOf(right, variableNames(leftMetadata), { ...this.args, context });
    if (!side) return streamOf(context, () => bufferedMinus(buffered(sides)));
    right.output.bindingsStream.destroy();
    return boundStream(left.output, side, { sizes: this.args.sizes, leftMetadata, context, mode: "minus" });
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
    left: batches(left.output),
    right: batches(right.output),
    key: { left: key, right: key },
    shared: sharedVariables(sides),
    held,
    signal,
  };
}
