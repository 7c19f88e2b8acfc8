import type * as RDF from "@rdfjs/types";
import type { MediatorExpressionEvaluatorFactory } from "@comunica/bus-expression-evaluator-factory";
import {
  ActorQueryOperationTyped,
  type IActorQueryOperationArgs,
  type MediatorQueryOperation,
} from "@comunica/bus-query-operation";
import { type IActorTest, passTestVoid, type TestResult } from "@comunica/core";
import type { IActionContext, IExpressionEvaluator, IQueryOperationResult } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import type { BindingsFactory } from "@comunica/utils-bindings-factory";
import { string } from "../expressions/values.ts";
import { type Holding, keyBytes, rowBytes } from "../held-bytes.ts";
import { type Accumulator, createAccumulator } from "./aggregates.ts";
import { bindingsOf, iterate } from "./clause-operands.ts";
import { controlKey, passedOn, createTurns } from "./execution.ts";
import { keyText } from "./distinct.ts";

/** What the actor needs beside Comunica's own arguments. */
export interface GroupArgs extends IActorQueryOperationArgs {
  readonly mediatorQueryOperation: MediatorQueryOperation;
  readonly mediatorExpressionEvaluatorFactory: MediatorExpressionEvaluatorFactory;
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
    const { mediatorQueryOperation, mediatorExpressionEvaluatorFactory, bindingsFactory } = this.#args;
    const input = bindingsOf(await mediatorQueryOperation.mediate({ operation: operation.input, context }));
    const { signal, held } = context.getSafe(controlKey);
    const { variables, aggregates } = operation;
    const uses = await Promise.all(
      aggregates.map(async (aggregate) => ({
        aggregate,
        valueOf: await valueOf(aggregate, (algExpr) =>
          mediatorExpressionEvaluatorFactory.mediate({ algExpr, context }),
        ),
      })),
    );
    const open = (): AsyncIterable<RDF.Bindings> => {
      const holding = held.open();
      return grouped(iterate(input), {
        variables,
        holding,
        uses,
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

/** An aggregate, and what it takes of a solution. */
interface Use {
  readonly aggregate: Algebra.BoundAggregate;
  readonly valueOf: ValueOf;
}

/** Undefined where the expression has no value. */
type ValueOf = (row: RDF.Bindings) => Promise<RDF.Term | undefined> | RDF.Term | undefined;

/** COUNT(*) counts solutions, each distinct one by all that it binds. */
async function valueOf(
  { expression, distinct }: Algebra.BoundAggregate,
  evaluatorOf: (expression: Algebra.Expression) => Promise<IExpressionEvaluator>,
): Promise<ValueOf> {
  if (expression.subType === "wildcard") return distinct ? (row) => string(wholeRow(row)) : () => something;
  const { term } = expression as Partial<Algebra.TermExpression>;
  if (term?.termType === "Variable") return (row) => row.get(term);
  const evaluator = await evaluatorOf(expression);
  return (row) => evaluator.evaluate(row).catch(() => undefined);
}

const something = string("");

function wholeRow(row: RDF.Bindings): string {
  const variables = [...row.keys()].toSorted((a, b) => (a.value < b.value ? -1 : 1));
  return `${variables.map(({ value }) => value).join(" ")} ${keyText(row, variables)}`;
}

interface OneGroup {
  /** The variables that are grouped by. */
  readonly key: RDF.Bindings;
  /** In the order of the uses. */
  readonly accumulators: readonly Accumulator[];
}

interface Grouping {
  readonly variables: readonly RDF.Variable[];
  readonly holding: Holding;
  readonly uses: readonly Use[];
  readonly bindingsFactory: BindingsFactory;
  readonly turns: () => Promise<void> | undefined;
}

async function* grouped(rows: AsyncIterable<RDF.Bindings>, grouping: Grouping): AsyncIterable<RDF.Bindings> {
  const { variables, uses, holding, turns, bindingsFactory } = grouping;
  const groups = new Map<string, OneGroup>();
  try {
    for await (const row of rows) {
      const pause = turns();
      if (pause) await pause;
      const key = keyText(row, variables);
      const group = groups.get(key) ?? newGroup(row, key, grouping);
      groups.set(key, group);
      for (const [at, use] of uses.entries()) {
        const found = use.valueOf(row);
        group.accumulators[at]?.add(found instanceof Promise ? await found : found);
      }
    }
    // Without GROUP BY all rows are one group, also when there are none.
    if (groups.size === 0 && variables.length === 0) {
      yield resultOf({ key: bindingsFactory.bindings(), accumulators: accumulatorsOf(grouping) }, uses);
    }
    for (const group of groups.values()) yield resultOf(group, uses);
  } finally {
    holding.release();
  }
}

function newGroup(row: RDF.Bindings, key: string, grouping: Grouping): OneGroup {
  const names = new Set(grouping.variables.map(({ value }) => value));
  const bindings = row.filter((_, { value }) => names.has(value));
  grouping.holding.add(keyBytes(key) + rowBytes(bindings));
  return { key: bindings, accumulators: accumulatorsOf(grouping) };
}

function accumulatorsOf({ uses, holding }: Grouping): Accumulator[] {
  return uses.map(({ aggregate }) => {
    const { aggregator: name, distinct } = aggregate;
    const { separator } = aggregate as Partial<Algebra.GroupConcatExpression>;
    return createAccumulator({ name, distinct, separator }, holding);
  });
}

/** An aggregate that fails leaves its variable unbound. */
function resultOf({ key, accumulators }: OneGroup, uses: readonly Use[]): RDF.Bindings {
  let row = key;
  for (const [at, { aggregate }] of uses.entries()) {
    const term = accumulators[at]?.result();
    if (term) row = row.set(aggregate.variable, term);
  }
  return row;
}
