import type * as RDF from "@rdfjs/types";
import type { IActionContext, IQueryOperationResult, MetadataBindings } from "@comunica/types";
import { type Algebra, type AlgebraFactory, algebraUtils } from "@comunica/utils-algebra";
import { MetadataValidationState } from "@comunica/utils-metadata";
import { bufferedInnerJoin } from "./buffered-join.ts";
import { batches, type OperatorArgs, SolutionOperator } from "./clause-operands.ts";
import { controlKey, streamOf } from "./execution.ts";
import { valueOf } from "../expressions/values.ts";
import type { FixedTerms } from "./assign-clauses.ts";
import { existencesIn, expressionVariables, inputsOf } from "./prepared-input.ts";

/** The join of two operands without a common variable whose solutions a FILTER finds equal, as a hash join. */
export class EqualityJoin extends SolutionOperator<Algebra.Multi> {
  constructor(args: OperatorArgs) {
    super(args, equalityJoinType);
  }

  protected override async runOperation(
    { input, metadata }: Algebra.Multi,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const [left, right] = await Promise.all(input.map((operation) => this.operand(operation, context)));
    const [leftName, rightName] = (metadata?.["names"] ?? []) as readonly string[];
    if (!left || !right || !leftName || !rightName) throw new Error(`${this.name} needs two operands`);
    const { held, signal } = context.getSafe(controlKey);
    const sides = { left: batches(left), right: batches(right), shared: [], held, signal };
    const key = { left: keyAt(leftName), right: keyAt(rightName) };
    const bindingsStream = streamOf(context, () => bufferedInnerJoin({ ...sides, key }));
    const combined = async () => combine(await left.metadata(), await right.metadata());
    return { type: "bindings", bindingsStream, metadata: combined };
  }
}

/** Without a value there is no key that another solution has: the FILTER would find an error. */
function keyAt(name: string): (row: RDF.Bindings) => string | undefined {
  return (row) => {
    const term = row.get(name);
    return term && equalityKey(term);
  };
}

function combine(left: MetadataBindings, right: MetadataBindings): MetadataBindings {
  const value = Math.max(left.cardinality.value, right.cardinality.value);
  return {
    state: new MetadataValidationState(),
    cardinality: { type: "estimate", value },
    variables: [...left.variables, ...right.variables],
  };
}

const XSD = "http://www.w3.org/2001/XMLSchema#";
const numeric = /^(?:decimal|double|float|int|long|short|byte|integer|\w+Integer|unsigned\w+)$/u;

/**
 * A text that is the same for terms that `=` finds equal (SPARQL 1.1 Query, section 17.3); it may be the same for others.
 * Numbers are compared as the least exact of their types would.
 */
export function equalityKey(term: RDF.Term): string {
  if (term.termType !== "Literal") return `${term.termType} ${term.value}`;
  if (term.language !== "") return `@${term.language.toLowerCase()} ${term.value}`;
  const { value: datatype } = term.datatype;
  // Those derived from xsd:string have its values.
  if (valueOf(term).kind === "string") return `" ${term.value}`;
  if (!datatype.startsWith(XSD) || !numeric.test(datatype.slice(XSD.length))) return "other";
  const number = Math.fround(Number(term.value));
  // Of minus zero and zero alike.
  return Number.isFinite(number) ? `number ${number + 0}` : "number";
}

/** A group's pattern, and the conjuncts of its FILTERs. */
interface FilteredPattern {
  readonly input: Algebra.Operation;
  readonly conditions: readonly Algebra.Expression[];
}

/** What groups are taken apart and put together with. */
export interface EquatedPartsOptions {
  readonly factory: AlgebraFactory;
  /** Takes an operand apart into operands that share no variable. */
  readonly split?: (operation: Algebra.Operation) => readonly Algebra.Operation[];
  /** Puts terms in place of variables where that asks for the same. */
  readonly fix?: (operation: Algebra.Operation, terms: FixedTerms) => Algebra.Operation;
}

// Operands times conditions; every pair may have to be looked at again for each condition.
const MOST_LOOKED_AT = 4_096;

/** The type of an operation that joins its two inputs where two variables, its `names`, are equal. */
export const equalityJoinType = "fedway:equality-join";

/**
 * The same group, in which parts that share no variable are joined by a FILTER(?x = ?y) or FILTER(?x IN (?y)) between them,
 * and not by comparing each solution of one with each of the other. FILTERs on one of these parts come before.
 */
export function equatedParts(group: FilteredPattern, options: EquatedPartsOptions): FilteredPattern {
  const { split = (operation) => [operation], factory } = options;
  if (!group.conditions.some((condition) => equatedBy(condition))) return fixedParts(group, options);
  const start: Parts = { operands: operandsOf(group.input).flatMap(split), conditions: group.conditions };
  if (start.operands.length * start.conditions.length > MOST_LOOKED_AT) return group;
  const end = group.conditions.reduce((parts, condition) => joinedBy(condition, parts, options), start);
  if (end === start) return fixedParts(group, options);
  return { input: joinOf(end.operands, factory), conditions: end.conditions };
}

const operandsOf = (input: Algebra.Operation): readonly Algebra.Operation[] =>
  input.type === "join" ? inputsOf(input) : [input];

/** The group in which terms stand for variables that FILTERs demand to be equal to them; the FILTERs stay. */
function fixedParts({ input, conditions }: FilteredPattern, { fix, factory }: EquatedPartsOptions): FilteredPattern {
  const terms: FixedTerms = new Map(conditions.flatMap((condition) => demandedBy(condition)));
  if (!fix || terms.size === 0) return { input, conditions };
  const operands = operandsOf(input).map((operand) => fix(operand, terms));
  return { input: joinOf(operands, factory), conditions };
}

/** A variable, and the IRI or string that a condition demands it to be: only the same term is equal to it. */
function demandedBy(condition: Algebra.Expression): readonly (readonly [string, RDF.NamedNode | RDF.Literal])[] {
  const terms = comparedBy(condition);
  const variable = terms.find((term) => term.termType === "Variable");
  const demanded = terms.find((term) => term.termType === "NamedNode" || isString(term));
  return variable && demanded ? [[variable.value, demanded as RDF.NamedNode | RDF.Literal]] : [];
}

const isString = (term: RDF.Term): boolean =>
  term.termType === "Literal" && term.datatype.value === "http://www.w3.org/2001/XMLSchema#string";

interface Parts {
  readonly operands: readonly Algebra.Operation[];
  readonly conditions: readonly Algebra.Expression[];
}

function joinedBy(condition: Algebra.Expression, parts: Parts, options: EquatedPartsOptions): Parts {
  const { factory } = options;
  const { operands, conditions } = parts;
  const names = equatedBy(condition) ?? [];
  const components = connected(operands);
  const [left, right] = names.map((name) => components.find((component) => component.names.has(name)));
  if (!left || !right || left === right) return parts;
  const input = [left, right].map((side) => {
    const own = conditions.filter((one) => isOnly(one, side));
    const group = fixedParts({ input: joinOf(side.operands, factory), conditions: own }, options);
    return own.reduce((inner, one) => factory.createFilter(inner, one), group.input);
  });
  const others = components.filter((component) => component !== left && component !== right);
  const joined: Algebra.Operation = Object.assign({ type: equalityJoinType, metadata: { names } }, { input });
  return {
    operands: [joined, ...others.flatMap((component) => component.operands)],
    conditions: conditions.filter((one) => !isOnly(one, left) && !isOnly(one, right)),
  };
}

/** The variables of which a condition says that they are equal. */
function equatedBy(condition: Algebra.Expression): readonly string[] | undefined {
  const names = comparedBy(condition).flatMap((term) => (term.termType === "Variable" ? [term.value] : []));
  return names.length === 2 ? names : undefined;
}

/** The two variables or terms that a condition demands to be equal, or none. */
function comparedBy(condition: Algebra.Expression): readonly RDF.Term[] {
  const { operator, args = [] } = condition as Partial<Algebra.OperatorExpression>;
  if (args.length !== 2 || !["=", "in", "sameterm"].includes(operator?.toLowerCase() ?? "")) return [];
  return args.flatMap((arg) => (arg as Partial<Algebra.TermExpression>).term ?? []);
}

interface Component {
  readonly operands: readonly Algebra.Operation[];
  readonly names: ReadonlySet<string>;
}

function isOnly(condition: Algebra.Expression, { names }: Component): boolean {
  return existencesIn(condition).length === 0 && [...expressionVariables(condition)].every((name) => names.has(name));
}

/** Operands that share variables, with each other or by way of others. */
function connected(operands: readonly Algebra.Operation[]): readonly Component[] {
  return operands.reduce<readonly Component[]>((components, operand) => {
    const names = new Set(algebraUtils.inScopeVariables(operand).map(({ value }) => value));
    const touched = components.filter((component) => [...names].some((name) => component.names.has(name)));
    const merged: Component = {
      operands: [...touched.flatMap((component) => component.operands), operand],
      names: new Set([...names, ...touched.flatMap((component) => [...component.names])]),
    };
    return [...components.filter((component) => !touched.includes(component)), merged];
  }, []);
}

function joinOf(operands: readonly Algebra.Operation[], factory: AlgebraFactory): Algebra.Operation {
  const [only] = operands;
  return only && operands.length === 1 ? only : factory.createJoin([...operands], false);
}
