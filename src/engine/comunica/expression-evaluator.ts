import type * as RDF from "@rdfjs/types";
import type { ActorExpressionEvaluatorFactory } from "@comunica/bus-expression-evaluator-factory";
import type { IActionContext } from "@comunica/types";
import { ActionContextKey } from "@comunica/core";
import type { Algebra } from "@comunica/utils-algebra";
import { toFedwayError, FedwayError } from "../../errors/fedway-error.ts";
import { ExpressionError, longestComputed, tooLong } from "../expressions/expression-error.ts";
import { type Surroundings, type TermFunction, termFunctions } from "../expressions/functions.ts";
import { boolean, truthOf, simpleText, string } from "../expressions/values.ts";
import { controlKey } from "./execution.ts";
import type { Existence } from "./existence.ts";
import { equals } from "../expressions/compare.ts";

/** What the functions of an execution know of their query. */
export const surroundingsKey = new ActionContextKey<Surroundings>("fedway:surroundings");

/** The value that an expression has for a solution; undefined where it has none. A promise where it looks beyond terms. */
export type ValueOf = (row: RDF.Bindings) => RDF.Term | undefined | Promise<RDF.Term | undefined>;

/**
 * Expressions are evaluated by our own functions (../expressions), which compute exactly and by the specification where
 * Comunica's do not. What looks beyond terms is not theirs: the pattern of EXISTS, and BNODE, which is left to Comunica.
 */
export class Expressions {
  readonly #factory: ActorExpressionEvaluatorFactory;
  readonly #existence: Existence;

  constructor(factory: ActorExpressionEvaluatorFactory, existence: Existence) {
    this.#factory = factory;
    this.#existence = existence;
  }

  /** @throws FedwayError `FUNCTION_UNKNOWN` */
  compile(expression: Algebra.Expression, context: IActionContext): ValueOf {
    const compiled = compileExpression(expression, context.getSafe(surroundingsKey));
    const beyond = async (awaited: Awaited, { row, known }: Evaluation): Promise<RDF.Term | undefined> => {
      const term = await this.#beyondTerms(awaited.asked, row, context);
      return term && evaluate({ row, known: new Map(known).set(awaited.part, term) });
    };
    const evaluate = (evaluation: Evaluation): ReturnType<ValueOf> => {
      try {
        return compiled(evaluation);
      } catch (thrown) {
        if (thrown instanceof ExpressionError) return undefined;
        if (thrown instanceof Awaited) return beyond(thrown, evaluation);
        throw thrown;
      }
    };
    return (row) => evaluate({ row, known: nothingKnown });
  }

  /** The same for a condition: an error counts as false (SPARQL 1.1 Query, section 17.2). */
  condition(
    expression: Algebra.Expression,
    context: IActionContext,
  ): (row: RDF.Bindings) => boolean | Promise<boolean> {
    const evaluate = this.compile(expression, context);
    return (row) => {
      const value = evaluate(row);
      return value instanceof Promise ? value.then(isTrue) : isTrue(value);
    };
  }

  async #beyondTerms(
    asked: Algebra.Expression,
    row: RDF.Bindings,
    context: IActionContext,
  ): Promise<RDF.Term | undefined> {
    try {
      if (asked.subType === "existence") {
        return boolean(await this.#existence.value(asked as Algebra.ExistenceExpression, row, context));
      }
      const evaluator = await this.#factory.run({ algExpr: asked, context }, undefined);
      return await evaluator.evaluate(row);
    } catch (error) {
      // The pattern of EXISTS could not be evaluated: no error of the expression, but of the query.
      context.getSafe(controlKey).fail(toFedwayError(error));
      return undefined;
    }
  }
}

/** Whether an expression without EXISTS and BNODE is true of a solution; an error counts as false. */
export function testOf(expression: Algebra.Expression, around: Surroundings): (row: RDF.Bindings) => boolean {
  const compiled = compileExpression(expression, around);
  return (row) => {
    const result = tried(() => compiled({ row, known: nothingKnown }));
    return "value" in result && isTrue(result.value);
  };
}

const nothingKnown: ReadonlyMap<Algebra.Expression, RDF.Term> = new Map();

function isTrue(term: RDF.Term | undefined): boolean {
  try {
    return term !== undefined && truthOf(term);
  } catch {
    return false;
  }
}

/** What the functions of one execution are given. */
export const surroundingsIn = (base: string | undefined): Surroundings => ({ base, now: new Date().toISOString() });

/** One evaluation of an expression over one solution. */
interface Evaluation {
  readonly row: RDF.Bindings;
  /** What looks beyond terms, as far as it has been evaluated. */
  readonly known: ReadonlyMap<Algebra.Expression, RDF.Term>;
}

/** The value of an expression. @throws ExpressionError where it has none, `Awaited` where a part has to be evaluated first */
type Evaluate = (evaluation: Evaluation) => RDF.Term;

/** EXISTS and BNODE look beyond terms: others evaluate them, and the evaluation begins again with their value. */
class Awaited {
  /** A part of the expression. */
  readonly part: Algebra.Expression;
  /** What stands for it: its arguments are values. */
  readonly asked: Algebra.Expression;

  constructor(part: Algebra.Expression, asked: Algebra.Expression) {
    this.part = part;
    this.asked = asked;
  }
}

/** An expression as a function of solutions. @throws FedwayError `FUNCTION_UNKNOWN` */
function compileExpression(expression: Algebra.Expression, around: Surroundings): Evaluate {
  switch (expression.subType) {
    case "term":
      return compileTerm((expression as Algebra.TermExpression).term);
    case "operator":
      return compileOperator(expression as Algebra.OperatorExpression, around);
    case "named": {
      const { name, args } = expression as Algebra.NamedExpression;
      return compileCall(name.value, args, around);
    }
    case "existence":
      return awaiting(expression, () => expression);
    default:
      throw new Error(`An expression of the kind ${expression.subType} stands outside of an aggregate`);
  }
}

// Made once: where many solutions have no value, a stack for each would cost more than the evaluation.
const unbound = new ExpressionError("A variable is not bound.");

function compileTerm(term: RDF.Term): Evaluate {
  if (term.termType !== "Variable") return () => term;
  return ({ row }) => {
    const value = row.get(term);
    if (!value) throw unbound;
    return value;
  };
}

function awaiting(part: Algebra.Expression, asked: (evaluation: Evaluation) => Algebra.Expression): Evaluate {
  return (evaluation) => {
    const value = evaluation.known.get(part);
    if (!value) throw new Awaited(part, asked(evaluation));
    return value;
  };
}

function compileOperator(expression: Algebra.OperatorExpression, around: Surroundings): Evaluate {
  const { operator, args } = expression;
  const name = operator.toLowerCase();
  if (name === "bound") return compileBound(args);
  if (name === "bnode") return compileBlank(expression, around);
  const form = forms.get(name);
  return form ? form(args.map((arg) => compileExpression(arg, around))) : compileCall(name, args, around);
}

function compileCall(name: string, args: readonly Algebra.Expression[], around: Surroundings): Evaluate {
  const compute = termFunctions.get(name);
  if (!compute) throw new FedwayError("FUNCTION_UNKNOWN", `The function ${name.slice(0, 200)} is not known.`);
  const compiled = args.map((arg) => compileExpression(arg, around));
  return (evaluation) => {
    const values: RDF.Term[] = [];
    for (const arg of compiled) values.push(arg(evaluation));
    const result = attempt(compute, values, around);
    if (result.termType === "Literal" && result.value.length > longestComputed) throw tooLong();
    return result;
  };
}

/** Whatever a function throws, such as the platform's errors for texts that are too long, is an error of its expression. */
function attempt(compute: TermFunction, values: readonly RDF.Term[], around: Surroundings): RDF.Term {
  try {
    return compute(values, around);
  } catch (error) {
    if (error instanceof ExpressionError) throw error;
    throw new ExpressionError(String(error).slice(0, 200));
  }
}

function compileBound([arg]: readonly Algebra.Expression[]): Evaluate {
  const { term } = arg as Algebra.TermExpression;
  return ({ row }) => boolean(term.termType !== "Variable" || row.has(term));
}

/** Comunica keeps blank nodes of one solution and label together. */
function compileBlank(expression: Algebra.OperatorExpression, around: Surroundings): Evaluate {
  const [label] = expression.args;
  if (!label) return awaiting(expression, () => expression);
  const compiled = compileExpression(label, around);
  return awaiting(expression, (evaluation) => {
    const term = string(simpleText(compiled(evaluation)));
    return { ...expression, args: [{ ...label, subType: "term", term }] } as Algebra.Expression;
  });
}

/** Functions that do not evaluate all of their arguments, or go on when one has no value (SPARQL 1.1 Query, section 17.4.1). */
const forms: ReadonlyMap<string, (args: readonly Evaluate[]) => Evaluate> = new Map([
  [
    "if",
    ([condition, then, otherwise]) =>
      (row) =>
        truth(condition, row) ? valueOf(then, row) : valueOf(otherwise, row),
  ],
  ["coalesce", coalesce],
  [
    "||",
    ([left, right]) =>
      (row) =>
        boolean(either(left, right, { row, decisive: true })),
  ],
  [
    "&&",
    ([left, right]) =>
      (row) =>
        boolean(either(left, right, { row, decisive: false })),
  ],
  [
    "in",
    ([tested, ...list]) =>
      (row) =>
        boolean(isIn(valueOf(tested, row), list, row)),
  ],
  [
    "notin",
    ([tested, ...list]) =>
      (row) =>
        boolean(!isIn(valueOf(tested, row), list, row)),
  ],
]);

function valueOf(arg: Evaluate | undefined, row: Evaluation): RDF.Term {
  if (!arg) throw new ExpressionError("An argument is missing.");
  return arg(row);
}

const truth = (arg: Evaluate | undefined, row: Evaluation): boolean => truthOf(valueOf(arg, row));

/** The value, or the error that there is instead. @throws Awaited */
function tried<T>(compute: () => T): { readonly value: T } | { readonly error: ExpressionError } {
  try {
    return { value: compute() };
  } catch (error) {
    if (error instanceof ExpressionError) return { error };
    throw error;
  }
}

function coalesce(args: readonly Evaluate[]): Evaluate {
  return (row) => {
    for (const arg of args) {
      const result = tried(() => arg(row));
      if ("value" in result) return result.value;
    }
    throw new ExpressionError("No argument has a value.");
  };
}

interface Either {
  readonly row: Evaluation;
  /** The value of one side with which the other does not matter. */
  readonly decisive: boolean;
}

/** An error of one side matters only where the other does not decide (section 17.2). */
function either(left: Evaluate | undefined, right: Evaluate | undefined, { row, decisive }: Either): boolean {
  const first = tried(() => truth(left, row));
  if ("value" in first && first.value === decisive) return decisive;
  const second = truth(right, row);
  if (second === decisive || "value" in first) return second;
  throw first.error;
}

function isIn(tested: RDF.Term, list: readonly Evaluate[], row: Evaluation): boolean {
  let failed: ExpressionError | undefined;
  for (const item of list) {
    const result = tried(() => equals(tested, item(row)));
    if ("error" in result) failed = result.error;
    else if (result.value) return true;
  }
  if (failed) throw failed;
  return false;
}
