import { patternFault } from "../engine/expressions/regular-expressions.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { QueryTree } from "../sparql/query.ts";
import { constantPatterns, unknownCall } from "../sparql/patterns.ts";
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
export function doubtfulPatterns({ plan, query, bodies }: MadePlan): readonly PlanNote[] {
  const clauses = plan.kind === "federated" ? plan.clauses : [];
  const ofClauses = clauses.flatMap((clause, index) => (isEvaluatedHere(clause) ? [] : (bodies[index] ?? [])));
  const sent = plan.kind === "direct" && query ? [query] : ofClauses;
  const wrong = sent.values().map((tree) => wrongPattern(tree, true));
  const found = wrong.find((each) => each?.code === "PATTERN_INVALID");
  return found ? [{ code: "PATTERN_DOUBTFUL", message: `${found.message} The endpoint decides what it means.` }] : [];
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
