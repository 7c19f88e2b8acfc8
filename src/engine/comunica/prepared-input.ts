import type * as RDF from "@rdfjs/types";
import type { IActionContext, IQueryOperationResult } from "@comunica/types";
import type { Algebra } from "@comunica/utils-algebra";
import { batches, leafOf, type OperatorArgs, SolutionOperator } from "./clause-operands.ts";
import { passedOn } from "./execution.ts";

/** The type of an operation that passes the solutions of its input on when what EXISTS will be evaluated for is known. */
export const preparedType = "fedway:prepared";

/** The operation; its input is prepared for the EXISTS of its expressions. */
export function withPreparedInput<O extends Algebra.Operation>(operation: O): O {
  const existences = existencesOf(operation);
  const [input] = inputsOf(operation);
  if (existences.length === 0 || !input) return operation;
  return { ...operation, input: { type: preparedType, input, metadata: { existences } } };
}

/** Evaluates the operation that `withPreparedInput` puts in. */
export class PreparedInput extends SolutionOperator<Algebra.Single> {
  constructor(args: OperatorArgs) {
    super(args, preparedType);
  }

  protected override async runOperation(
    { input, metadata }: Algebra.Single,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const rows = await this.operand(input, context);
    const existences = metadata?.["existences"] as readonly Algebra.ExistenceExpression[];
    const open = () => this.args.existence.prepared(existences, batches(rows), context);
    return { type: "bindings", bindingsStream: passedOn(context, open), metadata: rows.metadata };
  }
}

/** Operations and expressions have some of these parts, each kind its own. */
interface Parts {
  readonly input?: Algebra.Operation | readonly Algebra.Operation[];
  readonly variable?: RDF.Variable;
  readonly variables?: readonly RDF.Variable[];
  readonly expression?: Algebra.Expression;
  readonly expressions?: readonly Algebra.Expression[];
  readonly aggregates?: readonly Algebra.Expression[];
  readonly args?: readonly Algebra.Expression[];
  readonly term?: RDF.Term;
}

/** The operations that an operation takes its solutions from. */
export function inputsOf(operation: Algebra.Operation): readonly Algebra.Operation[] {
  const { input } = operation as Parts;
  if (input === undefined) return [];
  return "type" in input ? [input] : input;
}

/** EXISTS and NOT EXISTS in what an operation computes itself, not in its inputs. */
function existencesOf(operation: Algebra.Operation): readonly Algebra.ExistenceExpression[] {
  return expressionsOf(operation).flatMap((expression) => existencesIn(expression));
}

/** EXISTS and NOT EXISTS in an expression, not those inside others. */
export function existencesIn(expression: Algebra.Expression): readonly Algebra.ExistenceExpression[] {
  if (expression.subType === "existence") return [expression as Algebra.ExistenceExpression];
  return argumentsOf(expression).flatMap((argument) => existencesIn(argument));
}

/**
 * Variables of a pattern that substitution reaches (SPARQL 1.1 Query, section 18.6), those that only its expressions
 * mention among them. A variable that a subselect does not project is another one of the same name.
 */
export function reachedVariables(operation: Algebra.Operation): ReadonlySet<string> {
  const leaf = leafOf(operation);
  if (leaf) {
    const { variables, correlated = [] } = leaf.source.clause;
    return new Set([...variables.map(({ name }) => name), ...correlated]);
  }
  const { type, variable, variables = [] } = operation as Parts & Algebra.Operation;
  const own = variables.map(({ value }) => value);
  const inside = union(inputsOf(operation).map((input) => reachedVariables(input)));
  if (type === "project" || type === "group") return new Set(own.filter((name) => inside.has(name)));
  const mentioned = union(expressionsOf(operation).map((expression) => expressionVariables(expression)));
  return new Set([...inside, ...own, ...mentioned, ...(variable ? [variable.value] : [])]);
}

/** Variables that an expression mentions, those that substitution reaches in its EXISTS among them. */
export function expressionVariables(expression: Algebra.Expression): ReadonlySet<string> {
  const { term } = expression as Parts;
  if (term) return new Set(term.termType === "Variable" ? [term.value] : []);
  if (expression.subType === "existence") return reachedVariables((expression as Algebra.ExistenceExpression).input);
  return union(argumentsOf(expression).map((argument) => expressionVariables(argument)));
}

/** The names that are in one of the sets. */
export const union = (sets: readonly ReadonlySet<string>[]): Set<string> => new Set(sets.flatMap((set) => [...set]));

function argumentsOf(expression: Algebra.Expression): readonly Algebra.Expression[] {
  const { args = [], expression: aggregated } = expression as Parts;
  return aggregated ? [aggregated] : args;
}

function expressionsOf(operation: Algebra.Operation): readonly Algebra.Expression[] {
  const { expression, aggregates = [], expressions = [] } = operation as Parts;
  return [...(expression ? [expression] : []), ...aggregates, ...expressions];
}
