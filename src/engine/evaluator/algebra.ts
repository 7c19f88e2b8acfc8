import type * as RDF from "../../rdf/term.ts";
import type { PushedCondition } from "../demand.ts";
import type { Graphs } from "../sources/triple-pattern.ts";
import type { Conjunct } from "./conjuncts.ts";
import type { LeafClause } from "./leaf.ts";

/**
 * The SPARQL algebra (SPARQL 1.1 Query, section 18.2) as plain objects. Parsers of the RDF/JS family give objects of these
 * shapes; the last four kinds of operation are made here.
 */
export type Operation =
  | Ask
  | Bgp
  | Construct
  | Describe
  | Distinct
  | Extend
  | Filter
  | From
  | Group
  | Join
  | LeftJoin
  | Minus
  | Nop
  | OrderBy
  | Path
  | Project
  | Reduced
  | Service
  | Slice
  | Union
  | Values
  | EqualityJoin
  | Leaf
  | Patterns
  | Prepared;

/** Operations of one type. */
export type OperationOf<Type extends Operation["type"]> = Extract<Operation, { readonly type: Type }>;

interface Single {
  readonly input: Operation;
}

interface Multi {
  readonly input: readonly Operation[];
}

export interface Ask extends Single {
  readonly type: "ask";
}

export interface Bgp {
  readonly type: "bgp";
  readonly patterns: readonly Pattern[];
}

export interface Construct extends Single {
  readonly type: "construct";
  readonly template: readonly Pattern[];
}

export interface Describe extends Single {
  readonly type: "describe";
  readonly terms: readonly (RDF.NamedNode | RDF.Variable)[];
  /** The pattern whose subjects are the resources. */
  readonly described?: Operation;
}

export interface Distinct extends Single {
  readonly type: "distinct";
}

export interface Extend extends Single {
  readonly type: "extend";
  readonly variable: RDF.Variable;
  readonly expression: Expression;
}

export interface Filter extends Single {
  readonly type: "filter";
  readonly expression: Expression;
}

export interface Group extends Single {
  readonly type: "group";
  readonly variables: readonly RDF.Variable[];
  readonly aggregates: readonly BoundAggregate[];
}

export interface Join extends Multi {
  readonly type: "join";
  /** Conditions on solutions, tested before more of the operands are asked. */
  readonly conditions?: readonly PushedCondition[] | undefined;
}

export interface LeftJoin extends Multi {
  readonly type: "leftjoin";
  readonly expression?: Expression | undefined;
}

export interface Minus extends Multi {
  readonly type: "minus";
}

interface Nop {
  readonly type: "nop";
}

export interface OrderBy extends Single {
  readonly type: "orderby";
  readonly expressions: readonly Expression[];
  /** Rows that are wanted. */
  readonly limit?: number;
}

export interface Path {
  readonly type: "path";
  readonly subject: RDF.Term;
  readonly predicate: PathSymbol;
  readonly object: RDF.Term;
  /** Absent: the default graph. */
  readonly graphs?: Graphs | undefined;
}

/** A property path. */
export type PathSymbol =
  | { readonly type: "link"; readonly iri: RDF.NamedNode }
  | { readonly type: "nps"; readonly iris: readonly RDF.NamedNode[] }
  | { readonly type: "alt" | "seq"; readonly input: readonly PathSymbol[] }
  | { readonly type: "inv" | "ZeroOrOnePath" | "ZeroOrMorePath" | "OneOrMorePath"; readonly path: PathSymbol };

export interface Pattern {
  readonly subject: RDF.Term;
  readonly predicate: RDF.Term;
  readonly object: RDF.Term;
  /** Absent: the default graph. */
  readonly graphs?: Graphs | undefined;
}

export interface Project extends Single {
  readonly type: "project";
  readonly variables: readonly RDF.Variable[];
}

interface Reduced extends Single {
  readonly type: "reduced";
}

/** FROM and FROM NAMED. */
interface From extends Single {
  readonly type: "from";
  readonly default: readonly RDF.NamedNode[];
  readonly named: readonly RDF.NamedNode[];
}

/** A SERVICE clause; GRAPH where it is silent, as the parser is given it (`comunica/parser-text.ts`). */
export interface Service extends Single {
  readonly type: "service";
  readonly name: RDF.NamedNode | RDF.Variable;
  readonly silent: boolean;
}

export interface Slice extends Single {
  readonly type: "slice";
  readonly start: number;
  readonly length?: number | undefined;
}

export interface Union extends Multi {
  readonly type: "union";
}

export interface Values {
  readonly type: "values";
  readonly variables: readonly RDF.Variable[];
  /** Terms by the names of the variables; an unbound variable has none. */
  readonly bindings: readonly Readonly<Record<string, RDF.Term>>[];
}

/** A join of two operands without a common variable whose solutions a FILTER finds equal in two variables. */
export interface EqualityJoin extends Multi {
  readonly type: "fedway:equality-join";
  readonly names: readonly string[];
}

/** Patterns over a merged graph, until the demand on them is known. */
export interface Patterns {
  readonly type: "fedway:patterns";
  readonly conjuncts: readonly Conjunct[];
}

/** A SERVICE clause, or patterns that are asked as one. */
export interface Leaf {
  readonly type: "fedway:leaf";
  readonly clause: LeafClause;
}

/** The solutions of its input, as soon as what some EXISTS have for them is known. */
export interface Prepared extends Single {
  readonly type: "fedway:prepared";
  readonly existences: readonly Existence[];
}

/** Expressions (SPARQL 1.1 Query, section 17). */
export type Expression = TermExpression | OperatorExpression | NamedExpression | Existence | Wildcard | BoundAggregate;

export interface TermExpression {
  readonly type: "expression";
  readonly subType: "term";
  readonly term: RDF.Term;
}

export interface OperatorExpression {
  readonly type: "expression";
  readonly subType: "operator";
  readonly operator: string;
  readonly args: readonly Expression[];
}

interface NamedExpression {
  readonly type: "expression";
  readonly subType: "named";
  readonly name: RDF.NamedNode;
  readonly args: readonly Expression[];
}

/** EXISTS and NOT EXISTS. */
export interface Existence {
  readonly type: "expression";
  readonly subType: "existence";
  readonly not: boolean;
  readonly input: Operation;
  /** A number of its own in the query, and the variables that substitution reaches. */
  readonly pattern?: { readonly id: number; readonly variables: readonly string[] };
}

interface Wildcard {
  readonly type: "expression";
  readonly subType: "wildcard";
}

/** An aggregate and the variable for its result. */
export interface BoundAggregate {
  readonly type: "expression";
  readonly subType: "aggregate";
  readonly aggregator: string;
  readonly distinct: boolean;
  readonly expression: Expression;
  readonly variable: RDF.Variable;
  /** Of GROUP_CONCAT. */
  readonly separator?: string | undefined;
}
