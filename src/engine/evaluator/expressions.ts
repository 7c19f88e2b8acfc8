import type * as RDF from "../../rdf/term.ts";
import type { Bindings } from "../../results/model.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import { equals } from "../expressions/compare.ts";
import { ExpressionError, longestComputed, tooLong } from "../expressions/expression-error.ts";
import { type Surroundings, type TermFunction, termFunctions } from "../expressions/functions.ts";
import { boolean, truthOf, simpleText } from "../expressions/values.ts";
import type { Existence, Expression, OperatorExpression } from "./algebra.ts";
import type { Execution } from "./execution.ts";
import { existenceFor } from "./existence.ts";
import { freshNode, namedNodeOf } from "./fresh-nodes.ts";

/** The value that an expression has for a solution; undefined where it has none. A promise where it looks beyond terms. */
export type ValueOf = (row: Bindings) => RDF.Term | undefined | Promise<RDF.Term | undefined>;

/**
 * An expression as a function of solutions. The functions of SPARQL are in `../expressions`; what looks beyond terms, EXISTS,
 * is evaluated here. @throws FedwayError `FUNCTION_UNKNOWN`
 */
export function valueIn(expression: Expression, execution: Execution): ValueOf {
  const compiled = compileExpression(expression, execution.surroundings);
  const beyond = async ({ exists }: Awaited, { row, known }: Evaluation): Promise<RDF.Term | undefined> => {
    const found = boolean(await existenceFor(exists, row, execution));
    return evaluate({ row, known: new Map(known).set(exists, found) });
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
export function conditionOf(
  expression: Expression,
  execution: Execution,
): (row: Bindings) => boolean | Promise<boolean> {
  const evaluate = valueIn(expression, execution);
  return (row) => {
    const value = evaluate(row);
    return value instanceof Promise ? value.then(isTrue) : isTrue(value);
  };
}

/** The value of an expression without EXISTS; undefined where it has none. */
export function termOfRow(expression: Expression, around: Surroundings): (row: Bindings) => RDF.Term | undefined {
  const compiled = compileExpression(expression, around);
  return (row) => {
    const result = tried(() => compiled({ row, known: nothingKnown }));
    return "value" in result ? result.value : undefined;
  };
}

/** Test of an expression without EXISTS on a solution; an error counts as false. */
export function testOf(expression: Expression, around: Surroundings): (row: Bindings) => boolean {
  const value = termOfRow(expression, around);
  return (row) => isTrue(value(row));
}

const nothingKnown: ReadonlyMap<Existence, RDF.Term> = new Map();

function isTrue(term: RDF.Term | undefined): boolean {
  try {
    return term !== undefined && truthOf(term);
  } catch {
    return false;
  }
}

/** One evaluation of an expression over one solution. */
interface Evaluation {
  readonly row: Bindings;
  /** EXISTS, as far as they have been evaluated. */
  readonly known: ReadonlyMap<Existence, RDF.Term>;
}

/** The value of an expression. @throws ExpressionError where it has none, `Awaited` where a part has to be evaluated first */
type Evaluate = (evaluation: Evaluation) => RDF.Term;

/** EXISTS looks beyond terms: its pattern is evaluated, and the evaluation begins again with what was found. */
class Awaited {
  readonly exists: Existence;

  constructor(exists: Existence) {
    this.exists = exists;
  }
}

/** An expression as a function of solutions. @throws FedwayError `FUNCTION_UNKNOWN` */
function compileExpression(expression: Expression, around: Surroundings): Evaluate {
  switch (expression.subType) {
    case "term":
      return compileTerm(expression.term);
    case "operator":
      return compileOperator(expression, around);
    case "named":
      return compileCall(expression.name.value, expression.args, around);
    case "existence":
      return ({ known }) => {
        const value = known.get(expression);
        if (!value) throw new Awaited(expression);
        return value;
      };
    default:
      throw new Error(`An expression of the kind ${expression.subType} stands outside of an aggregate`);
  }
}

// Made once: where many solutions have no value, a stack for each would cost more than the evaluation.
const unbound = new ExpressionError("A variable is not bound.");

function compileTerm(term: RDF.Term): Evaluate {
  if (term.termType !== "Variable") return () => term;
  const { value: name } = term;
  return ({ row }) => {
    const value = row.get(name);
    if (!value) throw unbound;
    return value;
  };
}

function compileOperator({ operator, args }: OperatorExpression, around: Surroundings): Evaluate {
  const name = operator.toLowerCase();
  if (name === "bound") return compileBound(args);
  if (name === "bnode") return compileBlank(args, around);
  const form = forms.get(name);
  return form ? form(args.map((arg) => compileExpression(arg, around))) : compileCall(name, args, around);
}

function compileCall(name: string, args: readonly Expression[], around: Surroundings): Evaluate {
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

/** The platform's errors, such as those for texts that are too long, are errors of the expression; exceeded bounds end the query. */
function attempt(compute: TermFunction, values: readonly RDF.Term[], around: Surroundings): RDF.Term {
  try {
    return compute(values, around);
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof FedwayError) throw error;
    throw new ExpressionError(String(error).slice(0, 200));
  }
}

function compileBound([arg]: readonly Expression[]): Evaluate {
  const term = arg?.subType === "term" ? arg.term : undefined;
  return ({ row }) => boolean(term?.termType !== "Variable" || row.has(term.value));
}

function compileBlank([label]: readonly Expression[], around: Surroundings): Evaluate {
  if (!label) return freshNode;
  const compiled = compileExpression(label, around);
  return (evaluation) => namedNodeOf(evaluation.row, simpleText(compiled(evaluation)));
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
