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
  IJoinEntry,
  IQueryOperationResultBindings,
  MetadataBindings,
} from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { isExpressionError } from "@comunica/utils-expression-evaluator";
import type * as RDF from "@rdfjs/types";
import type { BlockSizes } from "../block-sizes.ts";
import { type BoundJoin, type BoundSide, boundJoin } from "./bound-join.ts";
import { ClauseSource } from "./clause-source.ts";
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
    const stream = joinStream(left, entry, { sizes: this.#args.sizes, metadata: metadatas[0], optional: false });
    const entries = [{ output: left, operation: entry.operation }, entry];
    const metadata = await this.constructResultMetadata(entries, metadatas as MetadataBindings[], context);
    return { type: "bindings", bindingsStream: stream, metadata: async () => metadata };
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

  protected override async getOutput(action: IActionRdfJoin, { metadatas }: SideData): Promise<IActorRdfJoinOutputInner> {
    const [left, right] = action.entries;
    if (!left || !right) throw new Error("A left join has two operands");
    const condition = await this.#condition(right.operation, action.context);
    const stream = joinStream(left.output, right, {
      sizes: this.#args.sizes,
      metadata: metadatas[0],
      optional: true,
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

interface Leaf {
  readonly source: ClauseSource;
  readonly operation: Algebra.Operation;
}

/** The clause behind an operand; also below the filter that Comunica makes of a LeftJoin's condition. */
function leafOf(operation: Algebra.Operation): Leaf | undefined {
  const source = operation.metadata?.["scopedSource"] as { source: unknown } | undefined;
  if (source?.source instanceof ClauseSource) return { source: source.source, operation };
  return isHoistedFilter(operation) ? leafOf(operation.input) : undefined;
}

function isHoistedFilter(operation: Algebra.Operation): operation is Algebra.Filter {
  return operation.type === "filter" && operation.metadata?.["isHoistedLeftJoinFilter"] === true;
}

interface JoinOptions extends Pick<BoundJoin, "sizes" | "optional" | "condition"> {
  readonly metadata: MetadataBindings | undefined;
}

function joinStream(
  left: IQueryOperationResultBindings,
  entry: IJoinEntry,
  { metadata, ...options }: JoinOptions,
): BindingsStream {
  const leaf = leafOf(entry.operation);
  if (!metadata || !leaf) throw new Error("A clause join needs metadata and a clause");
  // The clause is asked block by block; its own stream was never started.
  entry.output.bindingsStream.destroy();
  const join: BoundJoin = {
    ...options,
    left: left.bindingsStream as unknown as AsyncIterable<RDF.Bindings>,
    leftVariables: variableNames(metadata),
    right: boundSide(leaf),
  };
  return leaf.source.stream(() => boundJoin(join));
}

/** The clause as the right side of a bound join; terms substituted into its leaf narrow every block. */
function boundSide({ source, operation }: Leaf): BoundSide {
  const fixed = source.keysOf(operation);
  const hidden = new Set(fixed?.variables);
  return {
    endpoint: source.clause.endpoint.url,
    variables: source.variables().filter(({ name }) => !hidden.has(name)),
    solutions: (keys) => source.solutions(combine(keys, fixed), hidden),
  };
}

function combine(keys: Keys, fixed: Keys): Keys {
  if (!keys || !fixed) return keys ?? fixed;
  const constants = fixed.rows[0] ?? [];
  return {
    variables: [...keys.variables, ...fixed.variables],
    rows: keys.rows.map((row) => [...row, ...constants]),
  };
}

type Keys = ReturnType<ClauseSource["keysOf"]>;

function variableNames(metadata: MetadataBindings): string[] {
  return metadata.variables.map(({ variable }) => variable.value);
}
