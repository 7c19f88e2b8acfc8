import type * as RDF from "../../rdf/term.ts";
import { valueOf } from "../expressions/values.ts";
import type { Expression, Operation } from "./algebra.ts";
import { existencesIn, expressionVariables, inputsOf, inScopeVariables, joinOf, union } from "./operations.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const numeric = /^(?:decimal|double|float|int|long|short|byte|integer|\w+Integer|unsigned\w+)$/u;

/**
 * A text that is the same for terms that `=` finds equal (SPARQL 1.1 Query, section 17.3); it may be the same for others.
 * Numbers are compared as the least exact of their types would.
 */
export function equalityKey(term: RDF.Term): string {
  if (term.termType !== "Literal") return `${term.termType} ${term.value}`;
  const value = valueOf(term);
  if (value.kind === "tagged") return `@${value.tag} ${value.text}`;
  // Those derived from xsd:string have its values.
  if (value.kind === "string") return `" ${value.text}`;
  const { value: datatype } = term.datatype;
  if (!datatype.startsWith(XSD) || !numeric.test(datatype.slice(XSD.length))) return "other";
  const number = Math.fround(Number(term.value));
  // Of minus zero and zero alike.
  return Number.isFinite(number) ? `number ${number + 0}` : "number";
}

/** Terms that FILTERs demand of variables. */
export type FixedTerms = ReadonlyMap<string, RDF.NamedNode | RDF.Literal>;

/** A group's pattern, and the conjuncts of its FILTERs. */
interface FilteredPattern {
  readonly input: Operation;
  readonly conditions: readonly Expression[];
}

/** Options for splitting and reassembling groups. */
export interface EquatedPartsOptions {
  /** Takes an operand apart into operands that share no variable. */
  readonly split?: (operation: Operation) => readonly Operation[];
  /** Puts terms in place of variables where that asks for the same. */
  readonly fix?: (operation: Operation, terms: FixedTerms) => Operation;
}

// Operands times conditions; every pair may have to be looked at again for each condition.
const MOST_LOOKED_AT = 4_096;

/**
 * The same group, in which parts that share no variable are joined by a FILTER(?x = ?y) or FILTER(?x IN (?y)) between them,
 * and not by comparing each solution of one with each of the other. FILTERs on one of these parts come before.
 */
export function equatedParts(group: FilteredPattern, options: EquatedPartsOptions = {}): FilteredPattern {
  const { split = (operation) => [operation] } = options;
  if (!group.conditions.some((condition) => equatedBy(condition))) return fixedParts(group, options);
  const start: Parts = { operands: operandsOf(group.input).flatMap(split), conditions: group.conditions };
  if (start.operands.length * start.conditions.length > MOST_LOOKED_AT) return group;
  const end = group.conditions.reduce((parts, condition) => joinedBy(condition, parts, options), start);
  if (end === start) return fixedParts(group, options);
  return { input: joinOf(end.operands), conditions: end.conditions };
}

const operandsOf = (input: Operation): readonly Operation[] => (input.type === "join" ? inputsOf(input) : [input]);

/** The group in which terms stand for variables that FILTERs demand to be equal to them; the FILTERs stay. */
function fixedParts({ input, conditions }: FilteredPattern, { fix }: EquatedPartsOptions): FilteredPattern {
  const terms: FixedTerms = new Map(conditions.flatMap((condition) => demandedBy(condition)));
  if (!fix || terms.size === 0) return { input, conditions };
  const operands = operandsOf(input).map((operand) => fix(operand, terms));
  return { input: joinOf(operands), conditions };
}

/** A variable, and the IRI or string that a condition demands it to be: only the same term is equal to it. */
function demandedBy(condition: Expression): readonly (readonly [string, RDF.NamedNode | RDF.Literal])[] {
  const terms = comparedBy(condition);
  const variable = terms.find((term) => term.termType === "Variable");
  const demanded = terms.find(isDemanded);
  return variable && demanded ? [[variable.value, demanded]] : [];
}

const isDemanded = (term: RDF.Term): term is RDF.NamedNode | RDF.Literal =>
  term.termType === "NamedNode" || (term.termType === "Literal" && term.datatype.value === `${XSD}string`);

interface Parts {
  readonly operands: readonly Operation[];
  readonly conditions: readonly Expression[];
}

function joinedBy(condition: Expression, parts: Parts, options: EquatedPartsOptions): Parts {
  const { operands, conditions } = parts;
  const names = equatedBy(condition) ?? [];
  const components = connected(operands);
  const [left, right] = names.map((name) => components.find((component) => component.names.has(name)));
  if (!left || !right || left === right) return parts;
  const input = [left, right].map((side): Operation => {
    const own = conditions.filter((one) => isOnly(one, side));
    const group = fixedParts({ input: joinOf(side.operands), conditions: own }, options);
    return own.reduce<Operation>((inner, one) => ({ type: "filter", input: inner, expression: one }), group.input);
  });
  const others = components.filter((component) => component !== left && component !== right);
  const joined: Operation = { type: "fedway:equality-join", names, input };
  return {
    operands: [joined, ...others.flatMap((component) => component.operands)],
    conditions: conditions.filter((one) => !isOnly(one, left) && !isOnly(one, right)),
  };
}

/** The variables of which a condition says that they are equal. */
function equatedBy(condition: Expression): readonly string[] | undefined {
  const names = comparedBy(condition).flatMap((term) => (term.termType === "Variable" ? [term.value] : []));
  return names.length === 2 ? names : undefined;
}

/** The two variables or terms that a condition demands to be equal, or none. */
function comparedBy(condition: Expression): readonly RDF.Term[] {
  if (condition.subType !== "operator" || condition.args.length !== 2) return [];
  if (!["=", "in", "sameterm"].includes(condition.operator.toLowerCase())) return [];
  return condition.args.flatMap((arg) => (arg.subType === "term" ? [arg.term] : []));
}

interface Component {
  readonly operands: readonly Operation[];
  readonly names: ReadonlySet<string>;
}

function isOnly(condition: Expression, { names }: Component): boolean {
  return existencesIn(condition).length === 0 && [...expressionVariables(condition)].every((name) => names.has(name));
}

/** Operands that share variables, with each other or by way of others. */
function connected(operands: readonly Operation[]): readonly Component[] {
  return operands.reduce<readonly Component[]>((components, operand) => {
    const names = inScopeVariables(operand);
    const touched = components.filter((component) => [...names].some((name) => component.names.has(name)));
    const merged: Component = {
      operands: [...touched.flatMap((component) => component.operands), operand],
      names: union([names, ...touched.map((component) => component.names)]),
    };
    return [...components.filter((component) => !touched.includes(component)), merged];
  }, []);
}
