import { sendableCondition } from "../../sparql/sendable-condition.ts";
import type * as Algebra from "./algebra.ts";
import { testOf } from "./expressions.ts";
import { boundsIn } from "./range-bounds.ts";
import { summarisedGroup, summarisedOrder } from "./summaries.ts";
import type { Surroundings } from "../expressions/functions.ts";
import type { Demand, PushedCondition } from "../demand.ts";
import {
  existencesIn,
  expressionsOf,
  expressionVariables,
  inputsOf,
  inScopeVariables,
  isVolatile,
  joinOf,
  withInputs,
} from "./operations.ts";

const nothing: Demand = { conditions: [], distinct: false };

/** Where demands go. */
interface PushDownOptions {
  /** The leaf or patterns, asked for no more than this; undefined for other operations. */
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
    if (leaf) return leaf;
    const inputs = inputsOf(operation);
    if (inputs.length === 0) return operation;
    if (operation.type === "describe" && operation.described) {
      const { described, input } = operation;
      return { ...operation, input: this.query(input), described: this.query(described) };
    }
    const parts = inputs.map((input, index) => this.#push(input, this.#demandOn(operation, demand, index)));
    if (operation.type === "join") return joinOf(parts, demand.conditions);
    const over = withInputs(operation, parts);
    // Leaves may summarise their solutions before they send them.
    if (over.type === "group") return summarisedGroup(over) ?? over;
    return over.type === "orderby" ? (summarisedOrder(over) ?? over) : over;
  }

  /** Demand of an operation on one of its inputs. */
  #demandOn(operation: Algebra.Operation, demand: Demand, index: number): Demand {
    const conditionsOf = (expression: Algebra.Expression) => this.#conditionsOf(expression);
    const wanted = wantsOf.get(operation.type)?.({ operation, demand, conditionsOf, index }) ?? nothing;
    // Equal solutions become different ones, so their number matters.
    return hasVolatile(operation) ? { ...wanted, distinct: false } : wanted;
  }

  #conditionsOf(expression: Algebra.Expression): readonly PushedCondition[] {
    const isCall = expression.subType === "operator";
    if (isCall && expression.operator === "&&") return expression.args.flatMap((arg) => this.#conditionsOf(arg));
    if (existencesIn(expression).length > 0 || isVolatile(expression)) return [];
    const variables = [...expressionVariables(expression)];
    const holds = testOf(expression, this.#options.surroundings);
    const bounds = boundsIn(expression, this.#options.surroundings);
    return [{ variables, holds, text: sendableCondition(expression)?.text, bounds }];
  }
}

interface Pushed<Operation = Algebra.Operation> {
  readonly operation: Operation;
  /** Demand on the operation. */
  readonly demand: Demand;
  readonly conditionsOf: (expression: Algebra.Expression) => readonly PushedCondition[];
  /** Which of its inputs is asked. */
  readonly index: number;
}

/** FILTERs hold of a part as of the whole; but a LIMIT of the whole may take more rows of the part. */
const withoutLimit = ({ demand: { conditions, distinct } }: Pushed): Demand => ({ conditions, distinct });

/** Demands of operations on their inputs, by type; types not listed need all solutions. */
const wantsOf: ReadonlyMap<string, (pushed: Pushed) => Demand> = new Map([
  wants("ask", () => ({ conditions: [], distinct: true, limit: { rows: 1 } })),
  wants("slice", ({ operation: { start, length } }) =>
    length === undefined ? nothing : { ...nothing, limit: { rows: start + length } },
  ),
  // An unprojected variable is another one of the same name.
  wants("project", ({ operation, demand }) => {
    const own = new Set(operation.variables.map(({ value }) => value));
    const conditions = demand.conditions.filter(({ variables }) => variables.every((name) => own.has(name)));
    return { ...demand, conditions };
  }),
  wants("distinct", ({ operation, demand: { conditions, limit } }) => {
    const distinctIn = inScopeVariables(operation);
    return { conditions, distinct: true, limit: limit && { ...limit, distinctIn } };
  }),
  wants("group", ({ operation }) => ({
    ...nothing,
    distinct: operation.aggregates.every((one) => one.distinct || countsNothing.has(one.aggregator)),
  })),
  wants("union", ({ demand }) => demand),
  wants("fedway:prepared", ({ demand }) => demand),
  wants("extend", ({ operation: { variable }, demand }) => {
    const conditions = demand.conditions.filter(({ variables }) => !variables.includes(variable.value));
    return { ...demand, conditions };
  }),
  wants("filter", ({ operation, demand: { conditions, distinct }, conditionsOf }) => ({
    distinct,
    conditions: [...conditions, ...conditionsOf(operation.expression)],
  })),
  wants("join", withoutLimit),
  wants("orderby", withoutLimit),
  wants("fedway:equality-join", withoutLimit),
  wants("leftjoin", ({ operation: { expression }, demand, conditionsOf, index }) =>
    index === 0 ? demand : { distinct: demand.distinct, conditions: expression ? conditionsOf(expression) : [] },
  ),
  wants("minus", (pushed) => (pushed.index === 0 ? withoutLimit(pushed) : { ...nothing, distinct: true })),
  wants("construct", ({ operation }) => ({ ...nothing, distinct: !makesBlankNodes(operation) })),
]);

function wants<Type extends Algebra.Operation["type"]>(
  type: Type,
  demandOf: (pushed: Pushed<Algebra.OperationOf<Type>>) => Demand,
): [string, (pushed: Pushed) => Demand] {
  const isTyped = (operation: Algebra.Operation): operation is Algebra.OperationOf<Type> => operation.type === type;
  return [type, ({ operation, ...pushed }) => (isTyped(operation) ? demandOf({ ...pushed, operation }) : nothing)];
}

/** Aggregates for which it makes no difference how often a value comes. */
const countsNothing: ReadonlySet<string> = new Set(["min", "max", "sample"]);

/** Each solution makes nodes of its own. */
const makesBlankNodes = ({ template }: Algebra.Construct): boolean =>
  template.some(({ subject, object }) => [subject, object].some(({ termType }) => termType === "BlankNode"));

const hasVolatile = (operation: Algebra.Operation): boolean =>
  expressionsOf(operation).some((expression) => isVolatile(expression));
