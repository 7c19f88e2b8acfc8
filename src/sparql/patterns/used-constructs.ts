import type { QueryTree, TreeNode } from "../parse/query-tree.ts";
import { isTriple, mayBeEmpty } from "./query-patterns.ts";
import type { Term, Triple } from "sparqljs";
import { functionsOf12 } from "../parse/sparql-1-2.ts";
import { xsd } from "../../rdf/vocabularies.ts";

/** Constructs that endpoints differ in; the names under which the registry probes them. */
export type QueryConstruct =
  | "values"
  | "aggregates"
  | "aggregateTruth"
  | "groupHaving"
  | "minus"
  | "subquery"
  | "optional"
  | "valuesUndef"
  | "notExists"
  | "zeroLengthPath"
  | "blankNodes"
  | "construct";

/** SPARQL constructs used by a query. */
export interface ConstructUse {
  readonly constructs: ReadonlySet<QueryConstruct>;
  /**
   * Everything is plain SPARQL over the default graph: no GRAPH, FROM, SERVICE, DESCRIBE or function of one engine's
   * own, so that any engine over the same triples gives the same answer.
   */
  readonly portable: boolean;
}

const isNode = (value: unknown): value is TreeNode => typeof value === "object" && value !== null;

/** @see QueryTree.constructs */
export function constructsOf(tree: QueryTree): ConstructUse {
  const { ast } = tree;
  const constructs = new Set<QueryConstruct>();
  let portable = ast.queryType !== "DESCRIBE" && !("from" in ast && ast.from !== undefined);
  if (ast.queryType === "CONSTRUCT") constructs.add("construct");
  let isRoot = true;
  for (const node of tree.nodes()) {
    for (const construct of constructsAt(node, isRoot)) constructs.add(construct);
    isRoot = false;
    portable &&= !isOneEnginesOwn(node);
  }
  return { constructs, portable };
}

const byType: Readonly<Record<string, readonly QueryConstruct[]>> = {
  aggregate: ["aggregates", "aggregateTruth"],
  minus: ["minus"],
  optional: ["optional"],
};

const byOperator: Readonly<Record<string, readonly QueryConstruct[]>> = {
  exists: ["notExists"],
  notexists: ["notExists"],
  bnode: ["blankNodes"],
};

function constructsAt(node: TreeNode, isRoot: boolean): readonly QueryConstruct[] {
  const { type } = node;
  if (type === "query") return queryConstructs(node, isRoot);
  if (type === "values") return valuesConstructs(node["values"]);
  if (type === "operation") return byOperator[String(node["operator"]).toLowerCase()] ?? [];
  if (isTriple(node)) return isEmptyPathAtTerm(node) ? ["zeroLengthPath"] : [];
  return byType[String(type)] ?? [];
}

function queryConstructs(node: TreeNode, isRoot: boolean): readonly QueryConstruct[] {
  return [
    ...(isRoot ? [] : (["subquery"] as const)),
    ...(node["group"] === undefined && node["having"] === undefined
      ? []
      : (["groupHaving", "aggregates", "aggregateTruth"] as const)),
    ...(node["values"] === undefined ? [] : valuesConstructs(node["values"])),
  ];
}

function valuesConstructs(rows: unknown): readonly QueryConstruct[] {
  const cells = Array.isArray(rows) ? rows.flatMap((row) => (isNode(row) ? Object.values(row) : [])) : [];
  return cells.includes(undefined) ? ["values", "valuesUndef"] : ["values"];
}

const isTerm = ({ termType }: Term): boolean => termType === "NamedNode" || termType === "Literal";

/** Only there the answer has a term that need not be in any triple (SPARQL 1.1 Query, section 18.4). */
const isEmptyPathAtTerm = ({ subject, predicate, object }: Triple): boolean =>
  mayBeEmpty(predicate) && (isTerm(subject) || isTerm(object));

function isOneEnginesOwn(node: TreeNode): boolean {
  if (node["type"] === "graph" || node["type"] === "service") return true;
  if (node["type"] === "operation") return functionsOf12.has(String(node["operator"]).toUpperCase());
  const called = node["function"];
  if (node["type"] !== "functionCall") return false;
  return !(isNode(called) && typeof called["value"] === "string" && called["value"].startsWith(xsd.namespace));
}
