import { patternFault } from "../engine/expressions/regular-expressions.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { castTypes, xsd } from "../rdf/vocabularies.ts";
import type { QueryTree } from "../sparql/query.ts";
import type { MadePlan } from "./build-plan.ts";
import type { FederatedClause, PlanNote } from "./query-plan.ts";

/**
 * An endpoint may have functions of its own, this service has none: queries evaluated in Fedway call those of SPARQL only, with
 * constant patterns that are expressions of XPath.
 * @param clauses with their `bodies`; those that their endpoints evaluate may call what they like
 * @throws FedwayError `FUNCTION_UNKNOWN`, `PATTERN_INVALID`, `EVALUATION_TOO_LARGE`, before anything is asked
 */
export function refuseWrongCalls(
  clauses: readonly FederatedClause[],
  bodies: readonly QueryTree[],
  query?: QueryTree,
): void {
  const here = clauses.flatMap((clause, index) => (isEvaluatedHere(clause) ? (bodies[index] ?? []) : []));
  for (const tree of query ? [query, ...here] : here) {
    const unknown = unknownCall(tree);
    if (unknown !== undefined) throw unknownFunction(unknown);
    const wrong = wrongPattern(tree, false);
    if (wrong !== undefined) throw wrong;
  }
}

const isEvaluatedHere = ({ endpoint, evaluatedHere }: FederatedClause): boolean =>
  endpoint.interface !== undefined || evaluatedHere === true;

const unknownFunction = (message: string): FedwayError =>
  new FedwayError("FUNCTION_UNKNOWN", message, {
    next: "Use a function of SPARQL 1.1, or put the expression into the SERVICE of an endpoint that has the function.",
  });

/** A note where an endpoint is sent a pattern that is no expression of XPath: what it makes of that is its own affair. */
export function doubtfulPatterns({ plan, tree, bodies }: MadePlan): readonly PlanNote[] {
  const clauses = plan.kind === "federated" ? plan.clauses : [];
  const ofClauses = clauses.flatMap((clause, index) => (isEvaluatedHere(clause) ? [] : (bodies[index] ?? [])));
  const sent = plan.kind === "direct" && tree ? [tree()] : ofClauses;
  const wrong = sent.values().map((each) => wrongPattern(each, true));
  const found = wrong.find((each) => each?.code === "PATTERN_INVALID");
  return found ? [{ code: "PATTERN_DOUBTFUL", message: `${found.message} The endpoint decides what it means.` }] : [];
}

type TreeNode = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is TreeNode => typeof value === "object" && value !== null;

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
function unknownCall(tree: QueryTree): string | undefined {
  return tree
    .nodes(({ type }) => type !== "service")
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
function constantPatterns(tree: QueryTree, withServices: boolean): readonly ConstantPattern[] {
  const isEntered = ({ type, operator }: TreeNode): boolean =>
    operator !== "coalesce" && (withServices || type !== "service");
  return tree.nodes(isEntered).flatMap(patternOf).toArray();
}

function patternOf({ operator, args }: TreeNode): readonly ConstantPattern[] {
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

function problemOf(node: TreeNode): string | undefined {
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

/** Judged of a query; others are judged when they are used. */
const mostCharacters = 16_384;

function wrongPattern(tree: QueryTree, withServices: boolean): FedwayError | undefined {
  let characters = 0;
  for (const call of constantPatterns(tree, withServices)) {
    characters += call.pattern.length;
    const fault = characters > mostCharacters ? undefined : patternFault(call);
    if (fault instanceof FedwayError) return fault;
    if (fault !== undefined) return invalidPattern(call.pattern, fault.message);
  }
  return undefined;
}

const invalidPattern = (pattern: string, fault: string): FedwayError =>
  new FedwayError(
    "PATTERN_INVALID",
    `The pattern ${JSON.stringify(pattern.slice(0, 100))} fails for every text. ${fault}`,
    {
      next: "Write an expression of XPath (https://www.w3.org/TR/xpath-functions-31/#regex-syntax); COALESCE around the call lets it fail.",
    },
  );
