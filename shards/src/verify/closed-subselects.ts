import { itemAt } from "../../../src/values.ts";
import { xsd } from "../../../src/rdf/vocabularies.ts";
import { type Element, type Group, type SelectOutline, type Query } from "../../../src/sparql/query.ts";

/**
 * A subselect inside EXISTS or NOT EXISTS that has the same solutions for every solution that is tested, so that it
 * needs to be evaluated only once.
 */
interface ClosedSubselect {
  /** The subselect with its braces. */
  readonly group: Group;
  /** Those that it projects, without `?`. */
  readonly variables: readonly string[];
}

/** Terms as SPARQL writes them, `UNDEF` among them, in the order of a subselect's variables. */
export type SolutionRow = readonly string[];

/** Functions whose value may differ from one evaluation to the next, or depends on the unprescribed order of solutions. */
const unsteady = new Set([
  "RAND",
  "NOW",
  "UUID",
  "STRUUID",
  "BNODE",
  "LIMIT",
  "OFFSET",
  "REDUCED",
  "SAMPLE",
  "GROUP_CONCAT",
  "SERVICE",
]);

/** The casts of SPARQL 1.1 Query, section 17.5, give the same always; what other functions do is not known. */
function isUnknownFunction(query: Query, at: number): boolean {
  const token = itemAt(query.tokens, at);
  if ((token.kind !== "iri" && token.kind !== "pname") || query.tokens[at + 1]?.text !== "(") return false;
  return !query.prologue.iriOf(token).startsWith(xsd.namespace);
}

function isSteady(query: Query, group: Group): boolean {
  for (let at = group.from; at < group.to; at++) {
    const token = itemAt(query.tokens, at);
    if ((token.kind === "word" && unsteady.has(token.text)) || isUnknownFunction(query, at)) return false;
  }
  return true;
}

/** A subselect, and the group of the EXISTS directly around it. */
interface Candidate {
  readonly group: Group;
  readonly exists: Group;
}

/** True if substitution reaches no variable of the subselect: none is written outside of the EXISTS. */
function isClosed(query: Query, { group, exists }: Candidate): boolean {
  const names = query.variablesIn(group);
  const before = query.variablesIn({ from: 0, to: exists.from });
  const behind = query.variablesIn({ from: exists.to, to: query.tokens.length });
  return names.isDisjointFrom(before) && names.isDisjointFrom(behind);
}

class Search {
  readonly found: ClosedSubselect[] = [];
  private readonly query: Query;

  constructor(query: Query) {
    this.query = query;
  }

  /** `exists`: the EXISTS around a select is not one around its parts, whose repetitions an aggregate may count. */
  select(select: SelectOutline): void {
    for (const group of select.exists) this.group(group, group);
    if (select.where) this.group(select.where, undefined);
  }

  private group(group: Group, exists: Group | undefined): void {
    if (group.select === undefined) {
      for (const element of group.elements) this.element(element, exists);
    } else if (exists === undefined || !this.take({ group, exists })) {
      this.select(group.select);
    }
  }

  private element(element: Element, exists: Group | undefined): void {
    // Another graph is the active one there, or another service.
    if (element.kind === "graph" || element.kind === "service") return;
    const isTest = element.kind === "filter" || element.kind === "bind";
    for (const group of element.groups) this.group(group, isTest ? group : exists);
  }

  private take(candidate: Candidate): boolean {
    const { group } = candidate;
    if (group.select === undefined || group.select.values !== undefined) return false;
    const variables = [...this.query.projected(group.select)];
    if (variables.length === 0 || !isSteady(this.query, group) || !isClosed(this.query, candidate)) return false;
    this.found.push({ group, variables });
    return true;
  }
}

/**
 * The subselects S of a query that `withSolutions` may replace by their solutions, in text order. SPARQL 1.1 Query defines
 * `exists(P)` as: P, with the values of the tested solution substituted for variables, has a solution (section 18.6). With
 * these conditions S has the same solutions in each such evaluation as when evaluated alone, on any data:
 * - No variable written in S, projected or not, is written outside of the EXISTS, so that substitution does not reach
 *   S in any reading of its definition; inside P a subselect is evaluated bottom up, alone (sections 12 and 18.2).
 * - No GRAPH or SERVICE is around S in the query, so that the query's default graph is the active one (section 18.6).
 * - S has no function, aggregate or clause that may choose differently each time, no SERVICE, no functions but the
 *   standard's, no VALUES behind it, and it projects a variable.
 * - No other subselect is between S and the EXISTS. In between are operators (Join, LeftJoin, Minus, Union, Filter, Extend)
 *   that have a solution or none independently of the multiplicities of those of S, so that distinct solutions do.
 *
 * One that fails a condition is left out, which costs time only.
 */
export function closedSubselects(query: Query): readonly ClosedSubselect[] {
  const search = new Search(query);
  search.select(query.outline);
  return search.found;
}

const columns = ({ variables }: ClosedSubselect): string => variables.map((name) => `?${name}`).join(" ");

/** A query for the distinct solutions of a subselect on the dataset of its query, with a LIMIT. */
export function solutionsQuery(query: Query, subselect: ClosedSubselect, limit: number): string {
  const { outline, prologue } = query;
  const clauses = outline.datasets.map((range) => `${query.textOf(range)}\n`).join("");
  const declared = query.textOf({ from: 0, to: prologue.length });
  return `${declared}\nSELECT DISTINCT ${columns(subselect)}\n${clauses}WHERE { ${query.textOf(subselect.group)} } LIMIT ${limit}`;
}

/** The text of a query with closed subselects replaced by their solutions as inline data (section 10.2). */
export function withSolutions(
  query: Query,
  solutions: readonly { readonly subselect: ClosedSubselect; readonly rows: readonly SolutionRow[] }[],
): string {
  const edits = solutions.map(({ subselect, rows }) => ({
    range: subselect.group,
    replacement: `{ VALUES (${columns(subselect)}) { ${rows.map((row) => `(${row.join(" ")})`).join(" ")} } }`,
  }));
  return query.cut(edits);
}
