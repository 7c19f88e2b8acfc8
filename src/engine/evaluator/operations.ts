import type * as RDF from "../../rdf/term.ts";
import type { Existence, Expression, Join, Operation, OperatorExpression, TermExpression, Values } from "./algebra.ts";
import { groupVariables } from "./conjuncts.ts";
import { leafVariables } from "./leaf.ts";

/** The operations that an operation takes its solutions from. */
export function inputsOf(operation: Operation): readonly Operation[] {
  if (!("input" in operation)) return [];
  return "type" in operation.input ? [operation.input] : operation.input;
}

/** The same operation over other inputs. */
export function withInputs(operation: Operation, inputs: readonly Operation[]): Operation {
  if (!("input" in operation)) return operation;
  const input = "type" in operation.input ? inputs[0] : inputs;
  return Object.assign({}, operation, { input });
}

/** The expressions that an operation computes itself. */
export function expressionsOf(operation: Operation): readonly Expression[] {
  switch (operation.type) {
    case "extend":
    case "filter":
      return [operation.expression];
    case "leftjoin":
      return operation.expression ? [operation.expression] : [];
    case "group":
      return operation.aggregates;
    case "orderby":
      return operation.expressions;
    default:
      return [];
  }
}

function argumentsOf(expression: Expression): readonly Expression[] {
  if (expression.subType === "aggregate") return [expression.expression];
  return "args" in expression ? expression.args : [];
}

export const volatileFunctions: ReadonlySet<string> = new Set(["rand", "uuid", "struuid", "bnode"]);

/** True if an expression calls one of some functions or aggregates whose value may differ when it is evaluated again. */
export function isVolatile(expression: Expression, volatile = volatileFunctions): boolean {
  if (expression.subType === "operator" && volatile.has(expression.operator.toLowerCase())) return true;
  if (expression.subType === "aggregate" && volatile.has(expression.aggregator)) return true;
  return argumentsOf(expression).some((argument) => isVolatile(argument, volatile));
}

/** EXISTS and NOT EXISTS in what an operation computes itself, not in its inputs. */
function existencesOf(operation: Operation): readonly Existence[] {
  return expressionsOf(operation).flatMap((expression) => existencesIn(expression));
}

/** EXISTS and NOT EXISTS in an expression, not those inside others. */
export function existencesIn(expression: Expression): readonly Existence[] {
  if (expression.subType === "existence") return [expression];
  return argumentsOf(expression).flatMap((argument) => existencesIn(argument));
}

/** An expression in which each EXISTS is another one. */
function withExistences(expression: Expression, change: (existence: Existence) => Expression): Expression {
  if (expression.subType === "existence") return change(expression);
  if (expression.subType === "aggregate") {
    return Object.assign({}, expression, { expression: withExistences(expression.expression, change) });
  }
  if (!("args" in expression)) return expression;
  return Object.assign({}, expression, { args: expression.args.map((arg) => withExistences(arg, change)) });
}

/** Replacements of the operations of an algebra, inputs first. */
export interface Changes {
  readonly operation: (operation: Operation) => Operation;
  /** Of an EXISTS whose pattern has been changed. */
  readonly existence: (existence: Existence) => Expression;
}

/** An operation all of whose parts are changed, those of EXISTS among them; a SERVICE is changed as one. */
export function mapOperation(operation: Operation, changes: Changes): Operation {
  if (operation.type === "service") return changes.operation(operation);
  const part = (inner: Operation): Operation => mapOperation(inner, changes);
  const existence = (exists: Existence): Expression => changes.existence({ ...exists, input: part(exists.input) });
  return changes.operation(withParts(operation, { part, existence }));
}

/** Replacements of what an operation is made of. */
interface Parts {
  /** Of its inputs, and of the pattern that a DESCRIBE shows. */
  readonly part: (part: Operation) => Operation;
  /** Of EXISTS in its expressions. */
  readonly existence: (existence: Existence) => Expression;
}

/** The same operation made of other parts. */
export function withParts(operation: Operation, { part, existence }: Parts): Operation {
  const expression = (one: Expression): Expression => withExistences(one, existence);
  const over = withInputs(operation, inputsOf(operation).map(part));
  switch (over.type) {
    case "extend":
    case "filter":
      return { ...over, expression: expression(over.expression) };
    case "leftjoin":
      return { ...over, expression: over.expression && expression(over.expression) };
    case "orderby":
      return { ...over, expressions: over.expressions.map(expression) };
    case "group": {
      const aggregates = over.aggregates.map((one) => ({ ...one, expression: expression(one.expression) }));
      return { ...over, aggregates };
    }
    case "describe":
      return over.described ? { ...over, described: part(over.described) } : over;
    default:
      return over;
  }
}

/**
 * Variables of a pattern that substitution reaches (SPARQL 1.1 Query, section 18.6), those that only its expressions
 * mention among them. A variable that a subselect does not project is another one of the same name.
 */
export function reachedVariables(operation: Operation): ReadonlySet<string> {
  if (operation.type === "fedway:leaf") {
    const { variables, correlated = [] } = operation.clause;
    return new Set([...variables.map(({ name }) => name), ...correlated]);
  }
  if (operation.type === "fedway:patterns") return inScopeVariables(operation);
  const own = "variables" in operation ? operation.variables.map(({ value }) => value) : [];
  const inside = union(inputsOf(operation).map((input) => reachedVariables(input)));
  if (operation.type === "project" || operation.type === "group")
    return new Set(own.filter((name) => inside.has(name)));
  const mentioned = union(expressionsOf(operation).map((expression) => expressionVariables(expression)));
  const made = operation.type === "extend" ? [operation.variable.value] : [];
  return new Set([...inside, ...own, ...mentioned, ...made]);
}

/** Variables that an expression mentions, those that substitution reaches in its EXISTS among them. */
export function expressionVariables(expression: Expression): ReadonlySet<string> {
  if (expression.subType === "term") return new Set(variablesIn([expression.term]));
  if (expression.subType === "existence") return reachedVariables(expression.input);
  return union(argumentsOf(expression).map((argument) => expressionVariables(argument)));
}

/** Variables that solutions of an operation may bind (SPARQL 1.1 Query, section 18.2.1). */
export function inScopeVariables(operation: Operation): ReadonlySet<string> {
  switch (operation.type) {
    case "fedway:leaf":
      return new Set(leafVariables(operation.clause).map(({ name }) => name));
    case "fedway:patterns":
      return new Set(groupVariables(operation.conjuncts).map(({ name }) => name));
    case "bgp":
      return new Set(
        operation.patterns.flatMap((one) =>
          variablesIn([one.subject, one.predicate, one.object, ...(one.graphs ?? [])]),
        ),
      );
    case "path":
      return new Set(variablesIn([operation.subject, operation.object, ...(operation.graphs ?? [])]));
    case "project":
    case "values":
      return new Set(variablesIn(operation.variables));
    case "group":
      return new Set(variablesIn([...operation.variables, ...operation.aggregates.map(({ variable }) => variable)]));
    case "extend":
      return inScopeVariables(operation.input).union(new Set([operation.variable.value]));
    case "minus":
      return union(operation.input.slice(0, 1).map((input) => inScopeVariables(input)));
    default:
      return union(inputsOf(operation).map((input) => inScopeVariables(input)));
  }
}

const variablesIn = (terms: readonly RDF.Term[]): string[] =>
  terms.flatMap((term) => (term.termType === "Variable" ? [term.value] : []));

/** The names that are in one of the sets. */
export const union = (sets: readonly ReadonlySet<string>[]): Set<string> => new Set(sets.flatMap((set) => [...set]));

/** A join of operands; one alone is none. */
export function joinOf(operands: readonly Operation[], conditions: Join["conditions"] = []): Operation {
  const [only] = operands;
  return only && operands.length === 1 ? only : ({ type: "join", input: operands, conditions } satisfies Join);
}

/** Inline data. */
export const valuesOf = (variables: readonly RDF.Variable[], bindings: Values["bindings"]): Values => ({
  type: "values",
  variables,
  bindings,
});

/** The operation; its input is prepared for the EXISTS of its expressions. */
export function withPreparedInput(operation: Operation): Operation {
  const existences = existencesOf(operation);
  const [input] = inputsOf(operation);
  if (existences.length === 0 || !input) return operation;
  return withInputs(operation, [{ type: "fedway:prepared", input, existences }]);
}

export const termOf = (term: RDF.Term): TermExpression => ({ type: "expression", subType: "term", term });

export const call = (operator: string, ...args: readonly Expression[]): OperatorExpression => ({
  type: "expression",
  subType: "operator",
  operator,
  args,
});
