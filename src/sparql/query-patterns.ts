import type { Triple } from "sparqljs";
import { absoluteIris } from "./absolute-iris.ts";
import { pathSteps, type QueryPattern } from "./path-steps.ts";
import type { ParsedQuery } from "./parse-query.ts";

/** A pattern with its place in the query. */
export interface PlacedPattern extends QueryPattern {
  /** It stands inside EXISTS or NOT EXISTS, of whatever expression. */
  readonly inExists: boolean;
  /** What it is matched in (section 13.3); the default graph when absent. */
  readonly graph?: PatternGraph;
}

/** `named`: any of the named graphs; `none`: a graph that the query's dataset clauses leave out (section 13.2). */
export type PatternGraph = "named" | "none" | { readonly iri: string };

/**
 * The triple patterns of a query in order of appearance, wherever they stand: groups, OPTIONAL, UNION, MINUS, GRAPH,
 * subqueries, EXISTS. Those of SERVICE clauses are left out, as they ask other data; so is the template of CONSTRUCT.
 * A pattern that dataset clauses have matched in several graphs is given once for each.
 * Property paths become the patterns that they may ask for (SPARQL 1.1 Query, section 18.2.2.4). IRIs are absolute and
 * without the backslashes of escaped local names; literals are as the parser gives them.
 */
export function queryPatterns(query: ParsedQuery): readonly PlacedPattern[] {
  const found: PlacedPattern[] = [];
  const { ast } = absoluteIris(query);
  const dataset = datasetOf(ast);
  const pending: Visit[] = [{ node: ast, inExists: false, graphs: dataset?.default ?? [undefined] }];
  let fresh = 0;
  const freshName = (): string => `_:path${fresh++}`;
  for (let visit = pending.pop(); visit; visit = pending.pop()) {
    const { node } = visit;
    if (typeof node !== "object" || node === null || isSkipped(node)) continue;
    if (isTriple(node)) {
      found.push(...pathSteps(node, freshName).flatMap((pattern) => placed(pattern, visit)));
      continue;
    }
    const inside = { inExists: visit.inExists || isExists(node), graphs: graphsInside(node, visit, dataset) };
    for (const inner of innerNodes(node).toReversed()) pending.push({ node: inner, ...inside });
  }
  return found;
}

interface Visit {
  readonly node: unknown;
  readonly inExists: boolean;
  readonly graphs: Graphs;
}

function placed(pattern: QueryPattern, { inExists, graphs }: Visit): PlacedPattern[] {
  return graphs.map((graph) => Object.assign({}, pattern, { inExists }, graph !== undefined && { graph }));
}

type Graphs = readonly (PatternGraph | undefined)[];

/** What dataset clauses make the default graph of, and the named graphs. */
interface Dataset {
  readonly default: Graphs;
  readonly named: readonly string[];
}

function datasetOf({ from }: ParsedQuery["ast"]): Dataset | undefined {
  if (from === undefined) return undefined;
  return { default: graphsOf(from.default.map(({ value }) => value)), named: from.named.map(({ value }) => value) };
}

const graphsOf = (iris: readonly string[]): Graphs => (iris.length > 0 ? iris.map((iri) => ({ iri })) : ["none"]);

/** The innermost GRAPH decides. */
function graphsInside(node: object, { graphs }: Visit, dataset: Dataset | undefined): Graphs {
  if (!("type" in node) || node.type !== "graph" || !("name" in node)) return graphs;
  const { name } = node;
  const isIri = typeof name === "object" && name !== null && "termType" in name && name.termType === "NamedNode";
  const iri = isIri && "value" in name ? String(name.value) : undefined;
  if (dataset) return graphsOf(dataset.named.filter((known) => iri === undefined || known === iri));
  return [iri === undefined ? "named" : { iri }];
}

const isTriple = (node: object): node is Triple => "subject" in node && "predicate" in node && "object" in node;
const isSkipped = (node: object): boolean => "termType" in node || ("type" in node && node.type === "service");
const isExists = (node: object): boolean =>
  "operator" in node && (node.operator === "exists" || node.operator === "notexists");

function innerNodes(node: object): readonly unknown[] {
  if (Array.isArray(node)) return node;
  return Object.entries(node).flatMap(([key, value]: [string, unknown]) => (key === "template" ? [] : [value]));
}
