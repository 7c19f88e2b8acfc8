import type { QueryTree } from "../parse/query.ts";
import { isTriple, mayBeEmpty } from "./query-patterns.ts";
import type { Term, Triple } from "sparqljs";
import { functionsOf12 } from "../parse/sparql-1-2.ts";
import { castTypes, xsd } from "../../rdf/vocabularies.ts";

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
interface ConstructUse {
  readonly constructs: ReadonlySet<QueryConstruct>;
  /**
   * Everything is plain SPARQL over the default graph: no GRAPH, FROM, SERVICE, DESCRIBE or function of one engine's
   * own, so that any engine over the same triples gives the same answer.
   */
  readonly portable: boolean;
}

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

/** The nodes of a syntax tree, lists among them; the parser's terms have nothing inside. */
function* nodesOf(root: unknown, isEntered: (node: Node) => boolean = () => true): Generator<Node> {
  const pending = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (!isNode(node) || "termType" in node) continue;
    yield node;
    if (isEntered(node)) pending.push(...Object.values(node));
  }
}

/** The constructs of a query, those of its subqueries and SERVICE bodies included. */
export function constructsOf({ ast }: QueryTree): ConstructUse {
  const constructs = new Set<QueryConstruct>();
  let portable = ast.queryType !== "DESCRIBE" && !("from" in ast && ast.from !== undefined);
  if (ast.queryType === "CONSTRUCT") constructs.add("construct");
  let isRoot = true;
  for (const node of nodesOf(ast)) {
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

function constructsAt(node: Node, isRoot: boolean): readonly QueryConstruct[] {
  const { type } = node;
  if (type === "query") return queryConstructs(node, isRoot);
  if (type === "values") return valuesConstructs(node["values"]);
  if (type === "operation") return byOperator[String(node["operator"]).toLowerCase()] ?? [];
  if (isTriple(node)) return isEmptyPathAtTerm(node) ? ["zeroLengthPath"] : [];
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

const isTerm = ({ termType }: Term): boolean => termType === "NamedNode" || termType === "Literal";

/** Only there the answer has a term that need not be in any triple (SPARQL 1.1 Query, section 18.4). */
const isEmptyPathAtTerm = ({ subject, predicate, object }: Triple): boolean =>
  mayBeEmpty(predicate) && (isTerm(subject) || isTerm(object));

function isOneEnginesOwn(node: Node): boolean {
  if (node["type"] === "graph" || node["type"] === "service") return true;
  if (node["type"] === "operation") return functionsOf12.has(String(node["operator"]).toUpperCase());
  const called = node["function"];
  if (node["type"] !== "functionCall") return false;
  return !(isNode(called) && typeof called["value"] === "string" && called["value"].startsWith(xsd.namespace));
}

/** Built-in functions whose number of arguments the parser does not check. */
const arities: Readonly<Record<string, readonly [least: number, most: number]>> = {
  substr: [2, 3],
  regex: [2, 3],
  replace: [3, 4],
};

/**
 * Problem of the first call of a function that SPARQL 1.1 does not define, or with a wrong number of arguments; SERVICE
 * clauses inside are their endpoints' affair.
 */
export function unknownCall({ ast }: QueryTree): string | undefined {
  return nodesOf(ast, ({ type }) => type !== "service")
    .map(problemOf)
    .find((problem) => problem !== undefined);
}

/** Constants of a call of REGEX or REPLACE. */
interface ConstantPattern {
  readonly pattern: string;
  /** Undefined where there are none; those that are not constant are as none. */
  readonly flags: string | undefined;
  /** Of REPLACE. */
  readonly replacement: string | undefined;
}

/**
 * Patterns of REGEX and REPLACE that are constant texts, outside of COALESCE, whose writer expects errors.
 * @param withServices also those in SERVICE clauses
 */
export function constantPatterns({ ast }: QueryTree, withServices: boolean): readonly ConstantPattern[] {
  const isEntered = ({ type, operator }: Node): boolean =>
    operator !== "coalesce" && (withServices || type !== "service");
  return nodesOf(ast, isEntered).flatMap(patternOf).toArray();
}

function patternOf({ operator, args }: Node): readonly ConstantPattern[] {
  if ((operator !== "regex" && operator !== "replace") || !Array.isArray(args)) return [];
  const [, pattern, ...rest] = args.map(plainTextOf);
  const [replacement, flags] = operator === "replace" ? rest : [undefined, ...rest];
  // A replacement that is computed is taken for a right one: that the pattern fits REPLACE matters all the same.
  const written = operator === "replace" ? (replacement ?? "") : undefined;
  return pattern === undefined ? [] : [{ pattern, flags, replacement: written }];
}

function plainTextOf(term: unknown): string | undefined {
  if (!isNode(term) || term["termType"] !== "Literal" || term["language"] !== "") return undefined;
  const { datatype, value } = term;
  return isNode(datatype) && datatype["value"] === xsd.string ? String(value) : undefined;
}

function problemOf(node: Node): string | undefined {
  const args: readonly unknown[] = Array.isArray(node["args"]) ? node["args"] : [];
  if (node["type"] === "operation") return countProblem(String(node["operator"]), args.length);
  const called = node["function"];
  if (node["type"] !== "functionCall" || !isNode(called)) return undefined;
  const name = String(called["value"]);
  const isCast = name.startsWith(xsd.namespace) && castTypes.has(name.slice(xsd.namespace.length));
  if (!isCast) return `The function <${name.slice(0, 200)}> is not known.`;
  return args.length === 1 ? undefined : `The function <${name}> has one argument, not ${args.length}.`;
}

function countProblem(operator: string, count: number): string | undefined {
  const [least, most] = arities[operator] ?? [0, Number.POSITIVE_INFINITY];
  if (count >= least && count <= most) return undefined;
  return `The function ${operator.toUpperCase()} has ${least} or ${most} arguments, not ${count}.`;
}
