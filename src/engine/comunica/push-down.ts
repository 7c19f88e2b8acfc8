import { sendableCondition } from "../../sparql/sendable-condition.ts";
import type * as Algebra from "../evaluator/algebra.ts";
import { testOf } from "../evaluator/expressions.ts";
import { countedGroup } from "./counted-group.ts";
import type { Surroundings } from "../expressions/functions.ts";
import type { Demand, PushedCondition } from "../demand.ts";
import {
  argumentsOf,
  existencesIn,
  expressionsOf,
  expressionVariables,
  inputsOf,
  inScopeVariables,
  withInputs,
} from "../evaluator/operations.ts";

const nothing: Demand = { conditions: [], distinct: false };

/** Where demands go. */
interface PushDownOptions {
  /** The leaf asked for no more than this; undefined for other operations. */
  readonly demanding: (operation: Algebra.Operation, demand: Demand) => Algebra.Operation | undefined;
  readonly surroundings: Surroundings;
}

/**
 * Passes the demands of a query (FILTERs, whether the number of equal solutions matters, how many are enough) down to its leaves:
 * SERVICE clauses and groups of patterns. Operators stay in place; a pushed demand may only remove rows or be ignored.
 */
export class PushDown {
  readonly #options: PushDownOptions;

  constructor(options: PushDownOptions) {
    this.#options = options;
  }

  /** The operation, whose solutions are looked at only for whether there are any. */
  existing(operation: Algebra.Operation): Algebra.Operation {
    return this.#push(operation, { ...nothing, distinct: true });
  }

  /** The operation of a whole query. */
  query(operation: Algebra.Operation): Algebra.Operation {
    return this.#push(operation, nothing);
  }

  #push(operation: Algebra.Operation, demand: Demand): Algebra.Operation {
    const leaf = this.#options.demanding(operation, demand);
    const pushed = leaf ?? (operation.type === "group" ? countedGroup(operation) : undefined);
    if (pushed) return pushed;
    const inputs = inputsOf(operation);
    if (inputs.length === 0) return operation;
    const parts = inputs.map((input, index) => this.#push(input, this.#demandOn(operation, demand, index)));
    return withInputs(operation, parts);
  }

  /** What an operation wants of one of its inputs. */
  #demandOn(operation: Algebra.Operation, demand: Demand, index: number): Demand {
    const wants = wantsOf[operation.type];
    const conditionsOf = (expression: Algebra.Expression) => this.#conditionsOf(expression);
    if (!wants) return nothing;
    const wanted = wants({ operation, demand, conditionsOf }, index);
    // Equal solutions become different ones, so their number matters.
    return hasVolatile(operation) ? { ...wanted, distinct: false } : wanted;
  }

  #conditionsOf(expression: Algebra.Expression): readonly PushedCondition[] {
    const { operator, args = [] } = expression as Partial<Algebra.OperatorExpression>;
    if (operator === "&&") return args.flatMap((arg) => this.#conditionsOf(arg));
    if (existencesIn(expression).length > 0 || isVolatile(expression)) return [];
    const variables = [...expressionVariables(expression)];
    const holds = testOf(expression, this.#options.surroundings);
    return [{ variables, holds, text: sendableCondition(expression)?.text }];
  }
}

interface Pushed {
  readonly operation: unknown;
  /** What is wanted of the operation. */
  readonly demand: Demand;
  readonly conditionsOf: (expression: Algebra.Expression) => readonly PushedCondition[];
}

/** FILTERs hold of a part as of the whole; but so many rows of the whole may take more of the part. */
const withoutLimit = ({ demand: { conditions, distinct } }: Pushed): Demand => ({ conditions, distinct });

/** What an operation of each type wants of its inputs, by their index; what is not here wants all that there is. */
const wantsOf: Readonly<Record<string, (pushed: Pushed, index: number) => Demand>> = {
  ask: () => ({ conditions: [], distinct: true, limit: { rows: 1 } }),
  slice({ operation }) {
    const { start, length } = operation as Algebra.Slice;
    return length === undefined ? nothing : { ...nothing, limit: { rows: start + length } };
  },
  // What is not projected is another variable of the same name.
  project({ operation, demand }) {
    const own = new Set((operation as Algebra.Project).variables.map(({ value }) => value));
    return {
      ...demand,
      conditions: demand.conditions.filter(({ variables }) => variables.every((name) => own.has(name))),
    };
  },
  distinct({ operation, demand: { conditions, limit } }) {
    const distinctIn = inScopeVariables(operation as Algebra.Distinct);
    return { conditions, distinct: true, limit: limit && { ...limit, distinctIn } };
  },
  group: ({ operation }) => ({
    ...nothing,
    distinct: (operation as Algebra.Group).aggregates.every((one) => one.distinct || countsNothing.has(one.aggregator)),
  }),
  union: ({ demand }) => demand,
  "fedway:prepared": ({ demand }) => demand,
  extend({ operation, demand }) {
    const { value } = (operation as Algebra.Extend).variable;
    return { ...demand, conditions: demand.conditions.filter(({ variables }) => !variables.includes(value)) };
  },
  filter({ operation, demand: { conditions, distinct }, conditionsOf }) {
    return { distinct, conditions: [...conditions, ...conditionsOf((operation as Algebra.Filter).expression)] };
  },
  join: withoutLimit,
  orderby: withoutLimit,
  "fedway:equality-join": withoutLimit,
  leftjoin({ operation, demand, conditionsOf }, index) {
    if (index === 0) return demand;
    const { expression } = operation as Algebra.LeftJoin;
    return { distinct: demand.distinct, conditions: expression ? conditionsOf(expression) : [] };
  },
  minus: (pushed, index) => (index === 0 ? withoutLimit(pushed) : { ...nothing, distinct: true }),
  construct: ({ operation }) => ({
    ...nothing,
    distinct: !makesBlankNodes(operation as Algebra.Construct),
  }),
};

/** Aggregates for which it makes no difference how often a value comes. */
const countsNothing: ReadonlySet<string> = new Set(["min", "max", "sample"]);

/** Each solution makes nodes of its own. */
const makesBlankNodes = ({ template }: Algebra.Construct): boolean =>
  template.some(({ subject, object }) => [subject, object].some(({ termType }) => termType === "BlankNode"));

const hasVolatile = (operation: Algebra.Operation): boolean =>
  expressionsOf(operation).some((expression) => isVolatile(expression));

const volatile: ReadonlySet<string> = new Set(["rand", "uuid", "struuid", "bnode"]);

/** It may have another value when it is evaluated again. */
function isVolatile(expression: Algebra.Expression): boolean {
  const { operator = "" } = expression as Partial<Algebra.OperatorExpression>;
  return volatile.has(operator.toLowerCase()) || argumentsOf(expression).some((arg) => isVolatile(arg));
}
