import type { Pattern, Query, Triple, ValuePatternRow } from "sparqljs";

/** A range of tokens, `to` exclusive. */
export interface TokenRange {
  readonly from: number;
  readonly to: number;
}

/** A group graph pattern, braces included (SPARQL 1.1 Query, grammar rule 53). */
export interface Group extends TokenRange {
  readonly kind: "group";
  /** Set when the group is a subquery; its WHERE is then the only thing in it. */
  readonly select?: SelectOutline;
  readonly elements: readonly Element[];
  /** The elements in sparqljs' tree, one for one; of a subquery its SELECT. */
  readonly patterns: Pattern[];
}

interface AnyElement extends TokenRange {
  /** The groups directly inside, in text order. */
  readonly groups: readonly Group[];
}

/** Triples block: everything between two other elements, final dot included. */
export interface TriplesElement extends AnyElement {
  readonly kind: "triples";
  /** Those of brackets and collections among them. */
  readonly triples: readonly Triple[];
}
/** FILTER; its groups are those of EXISTS and NOT EXISTS in its expression. */
interface FilterElement extends AnyElement {
  readonly kind: "filter";
}
/** BIND, with groups as FILTER; `variable` is the one it assigns, without `?`. */
interface BindElement extends AnyElement {
  readonly kind: "bind";
  readonly variable: string;
}
/** Inline data; a row has a term for each variable, `?` included, undefined for UNDEF. */
export interface ValuesElement extends AnyElement {
  readonly kind: "values";
  readonly variables: readonly string[];
  readonly rows: readonly ValuePatternRow[];
}
/** OPTIONAL and MINUS. */
interface NestedElement extends AnyElement {
  readonly kind: "optional" | "minus";
  readonly group: Group;
}
/** GRAPH; `name` is the token index of its IRI or variable. */
export interface GraphElement extends AnyElement {
  readonly kind: "graph";
  readonly name: number;
  readonly group: Group;
}
/** SERVICE; `name` is the token index of its IRI or variable. */
export interface ServiceElement extends AnyElement {
  readonly kind: "service";
  readonly name: number;
  readonly silent: boolean;
  readonly group: Group;
}
/** A group, or several joined by UNION. */
interface UnionElement extends AnyElement {
  readonly kind: "union";
}
/** An element of a group. */
export type Element =
  | TriplesElement
  | FilterElement
  | BindElement
  | ValuesElement
  | NestedElement
  | GraphElement
  | ServiceElement
  | UnionElement;

/** SELECT, with what stands before and behind its WHERE. */
export interface SelectOutline extends TokenRange {
  readonly kind: "select";
  /** In sparqljs' tree. */
  readonly tree: Query;
  /** `SELECT` up to the dataset clauses or WHERE. */
  readonly head: TokenRange;
  /** GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET. */
  readonly tail: TokenRange;
  /** EXISTS groups of head and tail. */
  readonly exists: readonly Group[];
  readonly where: Group | undefined;
  /** The groups directly inside: EXISTS of head and tail, and WHERE. */
  readonly groups: readonly Group[];
  /** `SELECT *` or `DESCRIBE *`. */
  readonly projectsAll: boolean;
  readonly values: ValuesElement | undefined;
}

/** The structure of a query with the place of every part in the text. */
export interface QueryOutline extends SelectOutline {
  readonly form: "SELECT" | "ASK" | "CONSTRUCT" | "DESCRIBE";
  /** FROM and FROM NAMED clauses. */
  readonly datasets: readonly TokenRange[];
  /** `CONSTRUCT WHERE { ... }`: the pattern is the template. */
  readonly shortConstruct: boolean;
}

/** The words that a query begins with behind its prologue. */
export const queryForms = ["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"] as const;
