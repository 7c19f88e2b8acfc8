import type { ParsedQuery } from "./parse-query.ts";

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

/** What a query makes of SPARQL. */
export interface ConstructUse {
  readonly constructs: ReadonlySet<QueryConstruct>;
  /**
   * Everything is plain SPARQL over the default graph: no GRAPH, FROM, SERVICE, DESCRIBE or function of one engine's
   * own, so that any engine over the same triples gives the same answer.
   */
  readonly portable: boolean;
}

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;
const xsd = "http://www.w3.org/2001/XMLSchema#";

/** The constructs of a query, those of its subqueries and SERVICE bodies included. */
export function constructsOf({ ast }: ParsedQuery): ConstructUse {
  const constructs = new Set<QueryConstruct>();
  let portable = ast.queryType !== "DESCRIBE" && !("from" in ast && ast.from !== undefined);
  if (ast.queryType === "CONSTRUCT") constructs.add("construct");
  const pending: unknown[] = [ast];
  let isRoot = true;
  while (pending.length > 0) {
    const node = pending.pop();
    if (!isNode(node)) continue;
    // The parser's terms have no constructs inside.
    if ("termType" in node) continue;
    for (const construct of constructsAt(node, isRoot)) constructs.add(construct);
    isRoot = false;
    portable &&= !isOneEnginesOwn(node);
    pending.push(...Object.values(node));
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

function constructsAt(node: Node, isRoot: boolean): readonly QueryConstruct[] {
  const { type } = node;
  if (type === "query") return queryConstructs(node, isRoot);
  if (type === "values") return valuesConstructs(node["values"]);
  if (type === "operation") return byOperator[String(node["operator"]).toLowerCase()] ?? [];
  if ("predicate" in node && "subject" in node) return isEmptyPathAtTerm(node) ? ["zeroLengthPath"] : [];
  return byType[String(type)] ?? [];
}

function queryConstructs(node: Node, isRoot: boolean): readonly QueryConstruct[] {
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

const isTerm = (end: unknown): boolean =>
  isNode(end) && (end["termType"] === "NamedNode" || end["termType"] === "Literal");

/** Only there the answer has a term that need not be in any triple (SPARQL 1.1 Query, section 18.4). */
function isEmptyPathAtTerm({ subject, predicate, object }: Node): boolean {
  return canBeEmpty(predicate) && (isTerm(subject) || isTerm(object));
}

function canBeEmpty(path: unknown): boolean {
  if (!isNode(path) || path["type"] !== "path") return false;
  const items: readonly unknown[] = Array.isArray(path["items"]) ? path["items"] : [];
  switch (path["pathType"]) {
    case "*":
    case "?":
      return true;
    case "/":
      return items.every((item) => canBeEmpty(item));
    case "!":
      return false;
    default:
      return items.some((item) => canBeEmpty(item));
  }
}

function isOneEnginesOwn(node: Node): boolean {
  if (node["type"] === "graph" || node["type"] === "service") return true;
  const called = node["function"];
  if (node["type"] !== "functionCall") return false;
  return !(isNode(called) && typeof called["value"] === "string" && called["value"].startsWith(xsd));
}
