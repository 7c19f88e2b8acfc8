import type { Pattern, Query, Triple, ValuePatternRow } from "sparqljs";
import type { Builders, ParsedNode } from "./parser-tables.ts";
import { isWord, type Token, tokenAt } from "./tokens.ts";

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

/** Triples block: everything between two other elements, final dot included. */
export interface TriplesElement extends TokenRange {
  readonly kind: "triples";
  /** Those of brackets and collections among them. */
  readonly triples: readonly Triple[];
}
/** FILTER or BIND; `exists` are the groups of EXISTS and NOT EXISTS in its expression. */
interface FilterElement extends TokenRange {
  readonly kind: "filter";
  readonly exists: readonly Group[];
}
/** BIND; `variable` is the one it assigns, without `?`. */
interface BindElement extends TokenRange {
  readonly kind: "bind";
  readonly exists: readonly Group[];
  readonly variable: string;
}
/** Inline data; a row has a term for each variable, `?` included, undefined for UNDEF. */
interface ValuesElement extends TokenRange {
  readonly kind: "values";
  readonly variables: readonly string[];
  readonly rows: readonly ValuePatternRow[];
}
/** OPTIONAL and MINUS. */
interface NestedElement extends TokenRange {
  readonly kind: "optional" | "minus";
  readonly group: Group;
}
/** GRAPH; `name` is the token index of its IRI or variable. */
export interface GraphElement extends TokenRange {
  readonly kind: "graph";
  readonly name: number;
  readonly group: Group;
}
/** SERVICE; `name` is the token index of its IRI or variable. */
export interface ServiceElement extends TokenRange {
  readonly kind: "service";
  readonly name: number;
  readonly silent: boolean;
  readonly group: Group;
}
/** A group, or several joined by UNION. */
interface UnionElement extends TokenRange {
  readonly kind: "union";
  readonly branches: readonly Group[];
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

/** GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET, with the groups of EXISTS; a dataset clause; WHERE with its group. */
interface Clause extends TokenRange {
  readonly kind: "modifiers" | "dataset" | "where";
  readonly groups: readonly Group[];
}

/** A part of a query's outline. */
export type OutlinePart = Element | Group | SelectOutline | Clause;

/** The words that a query begins with behind its prologue. */
export const queryForms = ["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"] as const;
const isGroup = (part: OutlinePart): part is Group => part.kind === "group";
const isSelect = (part: OutlinePart): part is SelectOutline => part.kind === "select";
const isValues = (part: OutlinePart): part is ValuesElement => part.kind === "values";
const isElement = (part: OutlinePart): part is Element =>
  !["group", "select", "modifiers", "dataset", "where"].includes(part.kind);

/** Outlines the parts of a query while sparqljs' grammar recognises them. */
export const outlineBuilders = (tokens: readonly Token[]): Builders<OutlinePart> => ({
  GroupGraphPattern({ from, to, value, parts }) {
    const select = parts.find(isSelect);
    const group = {
      kind: "group",
      from,
      to,
      elements: parts.filter(isElement),
      patterns: treeOf(value).patterns ?? [],
    } as const;
    return select ? { ...group, select } : group;
  },
  GraphPatternNotTriples: (node) => elementOf(tokens, node),
  TriplesBlock: triplesOf,
  TriplesTemplate: triplesOf,
  ValuesClause({ from, to, value }) {
    const variables = tokens.slice(from, to).flatMap(({ kind, text }) => (kind === "var" ? text.slice(1) : []));
    return { kind: "values", from, to, variables, rows: treeOf(value).values ?? [] };
  },
  WhereClause: clauseBuilder("where"),
  DatasetClause: clauseBuilder("dataset"),
  SolutionModifier: clauseBuilder("modifiers"),
  SolutionModifierNoGroup: clauseBuilder("modifiers"),
  SubSelect: selectOf,
  Query: (node) => queryOf(tokens, node),
});

/** The lists that sparqljs makes of the nonterminals here. */
interface SparqlTree {
  readonly patterns?: Pattern[];
  readonly values?: readonly ValuePatternRow[];
  readonly triples?: readonly Triple[];
}

const treeOf = (value: unknown): SparqlTree => (typeof value === "object" && value !== null ? value : {});

const triplesOf = ({ from, to, value }: ParsedNode<OutlinePart>): TriplesElement => ({
  kind: "triples",
  from,
  to,
  triples: treeOf(value).triples ?? [],
});

const clauseBuilder =
  (kind: Clause["kind"]) =>
  ({ from, to, parts }: ParsedNode<OutlinePart>): Clause => ({ kind, from, to, groups: parts.flatMap(groupsIn) });

const groupsIn = (part: OutlinePart): readonly Group[] => {
  if (part.kind === "modifiers") return part.groups;
  return isGroup(part) ? [part] : [];
};

function elementOf(tokens: readonly Token[], { from, to, parts }: ParsedNode<OutlinePart>): Element {
  const groups = parts.filter(isGroup);
  const [group, ...others] = groups;
  const values = parts.find(isValues);
  if (values) return values;
  const { text } = tokenAt(tokens, from);
  if (text === "FILTER") return { kind: "filter", from, to, exists: groups };
  if (text === "BIND") {
    return { kind: "bind", from, to, exists: groups, variable: tokenAt(tokens, to - 2).text.slice(1) };
  }
  if (group === undefined || others.length > 0 || text === "{") return { kind: "union", from, to, branches: groups };
  if (text === "GRAPH") return { kind: "graph", from, to, name: from + 1, group };
  if (text !== "SERVICE") return { kind: text === "MINUS" ? "minus" : "optional", from, to, group };
  const silent = isWord(tokens[from + 1], "SILENT");
  return { kind: "service", from, to, name: from + (silent ? 2 : 1), silent, group };
}

const isQuery = (value: unknown): value is Query => typeof value === "object" && value !== null && "queryType" in value;

function selectOf({ from, to, parts, value }: ParsedNode<OutlinePart>): SelectOutline {
  if (!isQuery(value)) throw new Error("sparqljs made no query");
  const where = parts.find((part): part is Clause => part.kind === "where");
  const tail = parts.find((part): part is Clause => part.kind === "modifiers");
  const ends = parts.find(({ kind }) => kind === "dataset" || kind === "where" || kind === "modifiers");
  return {
    kind: "select",
    tree: value,
    from,
    to,
    head: { from, to: ends?.from ?? to },
    tail: { from: tail?.from ?? to, to: tail?.to ?? to },
    exists: [...parts.filter(isGroup), ...(tail?.groups ?? [])],
    where: where?.groups[0],
    values: parts.find(isValues),
  };
}

function queryOf(tokens: readonly Token[], node: ParsedNode<OutlinePart>): QueryOutline {
  const { from, parts } = node;
  const select = selectOf(node);
  const datasets = parts.filter(({ kind }) => kind === "dataset");
  const form = queryForms.find((word) => isWord(tokens[from], word)) ?? "SELECT";
  const open = (datasets.at(-1)?.to ?? from + 1) + 1;
  const isShort = form === "CONSTRUCT" && select.where === undefined;
  if (!isShort) return { ...select, form, datasets, shortConstruct: false };
  const elements = parts.filter(isElement).filter(({ kind }) => kind === "triples");
  const where: Group = {
    kind: "group",
    from: open,
    to: select.tail.from,
    elements,
    patterns: select.tree.where ?? [],
  };
  const head = { from, to: datasets[0]?.from ?? open - 1 };
  return { ...select, form, datasets, shortConstruct: true, head, where };
}
