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

/**
 * `named`: any of the named graphs; `any`: a dataset clause decides which graphs the default graph and the named ones are
 * (section 13.2).
 */
export type PatternGraph = "named" | "any" | { readonly iri: string };

/**
 * The triple patterns of a query in order of appearance, wherever they stand: groups, OPTIONAL, UNION, MINUS, GRAPH,
 * subqueries, EXISTS. Those of SERVICE clauses are left out, as they ask other data; so is the template of CONSTRUCT.
 * Property paths become the patterns that they may ask for (SPARQL 1.1 Query, section 18.2.2.4). IRIs are absolute and
 * without the backslashes of escaped local names; literals are as the parser gives them.
 */
export function queryPatterns(query: ParsedQuery): readonly PlacedPattern[] {
  const found: PlacedPattern[] = [];
  const { ast } = absoluteIris(query);
  const pending: Visit[] = [{ node: ast, inExists: false, graph: hasDataset(ast) ? "any" : undefined }];
  let fresh = 0;
  const freshName = (): string => `_:path${fresh++}`;
  for (let visit = pending.pop(); visit; visit = pending.pop()) {
    const { node, graph } = visit;
    if (typeof node !== "object" || node === null || isSkipped(node)) continue;
    if (isTriple(node)) {
      const place = { inExists: visit.inExists, ...(graph !== undefined && { graph }) };
      for (const pattern of pathSteps(node, freshName)) found.push({ ...pattern, ...place });
      continue;
    }
    const inside = { inExists: visit.inExists || isExists(node), graph: graphInside(node, graph) };
    for (const inner of innerNodes(node).toReversed()) pending.push({ node: inner, ...inside });
  }
  return found;
}

interface Visit {
  readonly node: unknown;
  readonly inExists: boolean;
  readonly graph: PatternGraph | undefined;
}

const hasDataset = (ast: ParsedQuery["ast"]): boolean => ast.from !== undefined;

/** The innermost GRAPH decides. */
function graphInside(node: object, outside: PatternGraph | undefined): PatternGraph | undefined {
  if (outside === "any" || !("type" in node) || node.type !== "graph" || !("name" in node)) return outside;
  const { name } = node;
  const isIri = typeof name === "object" && name !== null && "termType" in name && name.termType === "NamedNode";
  return isIri && "value" in name ? { iri: String(name.value) } : "named";
}

const isTriple = (node: object): node is Triple => "subject" in node && "predicate" in node && "object" in node;
const isSkipped = (node: object): boolean => "termType" in node || ("type" in node && node.type === "service");
const isExists = (node: object): boolean =>
  "operator" in node && (node.operator === "exists" || node.operator === "notexists");

function innerNodes(node: object): readonly unknown[] {
  if (Array.isArray(node)) return node;
  return Object.entries(node).flatMap(([key, value]: [string, unknown]) => (key === "template" ? [] : [value]));
}
