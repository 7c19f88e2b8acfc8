import type {
  IActorBindingsAggregatorFactoryOutput,
  MediatorBindingsAggregatorFactory,
} from "@comunica/bus-bindings-aggregator-factory";
import {
  ActorQueryOperationTyped,
  type IActorQueryOperationArgs,
  type MediatorQueryOperation,
} from "@comunica/bus-query-operation";
import { type IActorTest, passTestVoid, type TestResult } from "@comunica/core";
import type { IActionContext, IQueryOperationResult } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import type { BindingsFactory } from "@comunica/utils-bindings-factory";
import type * as RDF from "@rdfjs/types";
import { type Holding, keyBytes, rowBytes } from "../held-bytes.ts";
import { watchState } from "./aggregate-state.ts";
import { bindingsOf, iterate } from "./clause-operands.ts";
import { controlKey, passedOn } from "./execution-keys.ts";
import { keyText } from "./group-keys.ts";
import { sharedEvaluatorsKey } from "./guarded-expressions.ts";
import { createTurns } from "./turns.ts";

/** What the actor needs beside Comunica's own arguments. */
export interface GroupArgs extends IActorQueryOperationArgs {
  readonly mediatorQueryOperation: MediatorQueryOperation;
  readonly mediatorBindingsAggregatorFactory: MediatorBindingsAggregatorFactory;
  readonly bindingsFactory: BindingsFactory;
}

/**
 * GROUP BY and aggregates (SPARQL 1.1 Query, section 18.5.1), one row after the other: of a group only its key and what
 * its aggregates have so far are held, and that is counted.
 */
export class Group extends ActorQueryOperationTyped<Algebra.Group> {
  readonly #args: GroupArgs;

  constructor(args: GroupArgs) {
    super(args, "group");
    this.#args = args;
  }

  protected override async testOperation(): Promise<TestResult<IActorTest>> {
    return passTestVoid();
  }

  protected override async runOperation(
    operation: Algebra.Group,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const { mediatorQueryOperation, mediatorBindingsAggregatorFactory, bindingsFactory } = this.#args;
    const input = bindingsOf(await mediatorQueryOperation.mediate({ operation: operation.input, context }));
    const { signal, held } = context.getSafe(controlKey);
    const shared = context.set(sharedEvaluatorsKey, new Map());
    const { variables, aggregates } = operation;
    const aggregatorsOf = (holding: Holding) => () =>
      Promise.all(
        aggregates.map(async (expr) => {
          const aggregator = await mediatorBindingsAggregatorFactory.mediate({ expr, context: shared });
          return { variable: expr.variable, aggregator, note: watchState(aggregator, holding) };
        }),
      );
    const open = (): AsyncIterable<RDF.Bindings> => {
      const holding = held.open();
      return grouped(iterate(input), {
        variables,
        holding,
        aggregatorsOf: aggregatorsOf(holding),
        bindingsFactory,
        turns: createTurns(signal),
      });
    };
    const assigned = [...variables, ...aggregates.map(({ variable }) => variable)];
    return {
      type: "bindings",
      bindingsStream: passedOn(context, open),
      metadata: async () => ({
        ...(await input.metadata()),
        variables: assigned.map((variable) => ({ variable, canBeUndef: true })),
      }),
    };
  }
}

interface Aggregator {
  readonly variable: RDF.Variable;
  readonly aggregator: IActorBindingsAggregatorFactoryOutput;
  /** Counts what the aggregator has taken up since. */
  readonly note: () => void;
}

interface OneGroup {
  /** The variables that are grouped by. */
  readonly key: RDF.Bindings;
  readonly aggregators: readonly Aggregator[];
}

interface Grouping {
  readonly variables: readonly RDF.Variable[];
  readonly holding: Holding;
  readonly aggregatorsOf: () => Promise<Aggregator[]>;
  readonly bindingsFactory: BindingsFactory;
  readonly turns: () => Promise<void> | undefined;
}

async function* grouped(rows: AsyncIterable<RDF.Bindings>, grouping: Grouping): AsyncIterable<RDF.Bindings> {
  const { variables, holding, turns, bindingsFactory, aggregatorsOf } = grouping;
  const groups = new Map<string, OneGroup>();
  try {
    for await (const row of rows) {
      const pause = turns();
      if (pause) await pause;
      const key = keyText(row, variables);
      const group = groups.get(key) ?? (await newGroup(row, key, grouping));
      groups.set(key, group);
      for (const { aggregator, note } of group.aggregators) {
        await aggregator.putBindings(row);
        note();
      }
    }
    // Without GROUP BY all rows are one group, also when there are none.
    if (groups.size === 0 && variables.length === 0) {
      yield await resultOf({ key: bindingsFactory.bindings(), aggregators: await aggregatorsOf() });
    }
    for (const group of groups.values()) yield await resultOf(group);
  } finally {
    holding.release();
  }
}

async function newGroup(row: RDF.Bindings, key: string, grouping: Grouping): Promise<OneGroup> {
  const names = new Set(grouping.variables.map(({ value }) => value));
  const bindings = row.filter((_, { value }) => names.has(value));
  grouping.holding.add(keyBytes(key) + rowBytes(bindings));
  return { key: bindings, aggregators: await grouping.aggregatorsOf() };
}

/** An aggregate that fails leaves its variable unbound. */
async function resultOf({ key, aggregators }: OneGroup): Promise<RDF.Bindings> {
  let row = key;
  for (const { variable, aggregator } of aggregators) {
    const term = await aggregator.result().catch(() => undefined);
    if (term) row = row.set(variable, term);
  }
  return row;
}
