import {
  ActorRdfJoin,
  type IActionRdfJoin,
  type IActorRdfJoinArgs,
  type IActorRdfJoinOutputInner,
  type IActorRdfJoinTestSideData,
  type MediatorRdfJoin,
} from "@comunica/bus-rdf-join";
import { failTest, passTestWithSideData, type TestResult } from "@comunica/core";
import type { IActionContext, IJoinEntry, IQueryOperationResultBindings } from "@comunica/types";
import type { BlockSizes } from "../clause-query.ts";
import { boundStream, leafOf, variableNames } from "./clause-operands.ts";

/** What the actor needs beside Comunica's own arguments. */
interface InnerJoinArgs extends IActorRdfJoinArgs {
  readonly mediatorJoin: MediatorRdfJoin;
  readonly sizes: BlockSizes;
}

type SideData = IActorRdfJoinTestSideData;

// A clause is asked with the keys at hand or not at all: whatever the estimates say, these joins come first.
const FREE = { iterations: 0, persistedItems: 0, blockingItems: 0, requestTime: 0 };

/** Joins any number of operands of which at least one is a clause: other operands first, then clause after clause. */
export class ClauseInnerJoin extends ActorRdfJoin {
  readonly #args: InnerJoinArgs;

  constructor(args: InnerJoinArgs) {
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

  protected override async getJoinCoefficients(
    action: IActionRdfJoin,
    sideData: SideData,
  ): Promise<TestResult<typeof FREE, SideData>> {
    const hasClause = action.entries.some((entry) => leafOf(entry.operation));
    return hasClause ? passTestWithSideData(FREE, sideData) : failTest(`${this.name} needs a clause`);
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
    const leftMetadata = await left.metadata();
    const metadatas = [leftMetadata, await entry.output.metadata()];
    const leaf = leafOf(entry.operation);
    if (!leaf) throw new Error("Only clauses are ordered");
    entry.output.bindingsStream.destroy();
    const bindingsStream = boundStream(left, leaf, { sizes: this.#args.sizes, leftMetadata, mode: "inner" });
    const entries = [{ output: left, operation: entry.operation }, entry];
    const metadata = await this.constructResultMetadata(entries, metadatas, context);
    return { type: "bindings", bindingsStream, metadata: async () => metadata };
  }
}

/**
 * The order in which clauses are asked: the most selective first, then always one that shares a variable with what is
 * bound already, so that keys can be sent along and no product of unrelated solutions is made; ties keep the order of
 * the query's text.
 */
async function joinOrder(entries: readonly IJoinEntry[], bound: readonly string[]): Promise<IJoinEntry[]> {
  const known = new Set(bound);
  const rest = await Promise.all(
    entries.map(async (entry) => {
      const { cardinality, variables } = await entry.output.metadata();
      return { entry, size: cardinality.value, variables: variables.map(({ variable }) => variable.value) };
    }),
  );
  const ordered: IJoinEntry[] = [];
  while (rest.length > 0) {
    const connected = rest.filter(({ variables }) => variables.some((name) => known.has(name)));
    const candidates = connected.length > 0 ? connected : rest;
    const best = candidates.reduce((least, candidate) => (candidate.size < least.size ? candidate : least));
    rest.splice(rest.indexOf(best), 1);
    for (const name of best.variables) known.add(name);
    ordered.push(best.entry);
  }
  return ordered;
}
