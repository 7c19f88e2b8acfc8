import type {
  ActorExpressionEvaluatorFactory,
  IActorExpressionEvaluatorFactoryOutput,
} from "@comunica/bus-expression-evaluator-factory";
import { ActionContextKey } from "@comunica/core";
import type {
  ExistenceExpression,
  Expression,
  IActionContext,
  OperatorExpression,
  TermExpression,
} from "@comunica/types";
import {
  BooleanLiteral,
  ExpressionError,
  isExpressionError,
  UnboundVariableError,
} from "@comunica/utils-expression-evaluator";
import type { Algebra } from "@comunica/utils-algebra";
import type * as RDF from "@rdfjs/types";
import { toFedwayError } from "../../errors/fedway-error.ts";
import { controlKey } from "./execution-keys.ts";
import type { Existence } from "./existence.ts";

/** Longest text that an expression or aggregate may compute, in characters. */
export const longestComputed = 1024 * 1024;

/** The error of an expression that computes a longer text. */
export const tooLong = (): ExpressionError => new ExpressionError("The computed text is longer than a mebibyte.");

/**
 * Every failure of a function is an error of its expression (SPARQL 1.1 Query, section 17.3), and so is a result that is
 * too long. Comunica's functions throw errors of all kinds; those that it does not know as expression errors would end the
 * query, or the process.
 */
export function guardExpressions(factory: ActorExpressionEvaluatorFactory, existence: Existence): void {
  const run = factory.run.bind(factory);
  factory.run = async (action, sideData) => {
    const { algExpr, context } = action;
    const make = async (): Promise<Evaluator> => guarded(await run(action, sideData), context, existence);
    const shared = context.get(sharedEvaluatorsKey);
    const known = shared?.get(algExpr) ?? make();
    shared?.set(algExpr, known);
    return known;
  };
}

/** Evaluators by their expression, for a context in which the same one is made many times: once for each group. */
export const sharedEvaluatorsKey = new ActionContextKey<Map<Algebra.Expression, Promise<Evaluator>>>(
  "fedway:sharedEvaluators",
);

type Evaluator = IActorExpressionEvaluatorFactoryOutput;

/** The part of Comunica's evaluator that its functions evaluate their arguments with. */
interface Inner {
  evaluatorExpressionEvaluation(expression: Expression, row: RDF.Bindings): Promise<TermExpression>;
}

function guarded(evaluator: Evaluator, context: IActionContext, existence: Existence): Evaluator {
  const inner = (evaluator as unknown as { readonly internalEvaluator?: Inner }).internalEvaluator;
  if (!inner) throw new Error("Comunica's expression evaluator has no inner evaluator");
  guardInner(inner, context, existence);
  const { evaluate, evaluateAsEBV } = evaluator;
  return Object.assign(evaluator, {
    evaluate: (row: RDF.Bindings) => asExpression(evaluate.call(evaluator, row)),
    evaluateAsEBV: (row: RDF.Bindings) => asExpression(evaluateAsEBV.call(evaluator, row)),
  });
}

function guardInner(inner: Inner, context: IActionContext, existence: Existence): void {
  const evaluate = inner.evaluatorExpressionEvaluation.bind(inner);
  const apply = async (operator: OperatorExpression, row: RDF.Bindings): Promise<TermExpression> => {
    const bounded = operator.name === "concat" ? await withParts(inner, operator, row) : operator;
    const result = await evaluate(bounded, row);
    if (!passesOn.has(operator.name) && textLength(result) > longestComputed) throw tooLong();
    return result;
  };
  inner.evaluatorExpressionEvaluation = (expression, row) => {
    if (expression.expressionType === "operator") return asExpression(apply(expression, row));
    if (isExistence(expression)) return asFailure(existence.value(expression.expression, row, context), context);
    return asExpression(evaluate(expression, row));
  };
}

const isExistence = (expression: Expression): expression is ExistenceExpression =>
  expression.expressionType === "existence";

/** Functions that give one of their arguments as it is. */
const passesOn: ReadonlySet<string> = new Set(["if", "coalesce"]);

/** CONCAT over values that are known already: all of its arguments at once can be larger than the memory. */
async function withParts(inner: Inner, concat: OperatorExpression, row: RDF.Bindings): Promise<OperatorExpression> {
  const parts: TermExpression[] = [];
  let length = 0;
  for (const arg of concat.args) {
    const part = await inner.evaluatorExpressionEvaluation(arg, row);
    length += textLength(part);
    if (length > longestComputed) throw tooLong();
    parts.push(part);
  }
  return { ...concat, args: parts };
}

/** Characters of a string, or of whatever else was not computed by a number's or a date's own rules. */
function textLength(term: TermExpression): number {
  const { strValue, typedValue, value } = term as { strValue?: unknown; typedValue?: unknown; value?: unknown };
  const text = strValue ?? typedValue ?? value;
  return typeof text === "string" ? text.length : 0;
}

async function asExpression<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw toExpressionError(error);
  }
}

/** The pattern of EXISTS could not be evaluated: no error of the expression, but of the query. */
async function asFailure(value: Promise<boolean>, context: IActionContext): Promise<TermExpression> {
  try {
    return new BooleanLiteral(await value);
  } catch (error) {
    context.getSafe(controlKey).fail(toFedwayError(error));
    throw toExpressionError(error);
  }
}

const longestMessage = 200;

/** Aggregates look for unbound variables; all else may hold on to its arguments, and tell them in its message. */
function toExpressionError(error: unknown): ExpressionError {
  if (error instanceof UnboundVariableError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (isExpressionError(error as Error) && message.length < longestMessage) return error as ExpressionError;
  return new ExpressionError(message.slice(0, longestMessage));
}
