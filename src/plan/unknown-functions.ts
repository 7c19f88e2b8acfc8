import { FedwayError } from "../errors/fedway-error.ts";
import type { QueryTree } from "../sparql/parse-query.ts";
import { unknownCall } from "../sparql/used-constructs.ts";
import type { FederatedClause } from "./query-plan.ts";

/**
 * An endpoint may have functions of its own, this service has none: queries evaluated in Fedway call those of SPARQL 1.1 only.
 * @param clauses with their `bodies`; those that their endpoints evaluate may call what they like
 * @throws FedwayError `FUNCTION_UNKNOWN`, before anything is asked
 */
export function refuseUnknownFunctions(
  clauses: readonly FederatedClause[],
  bodies: readonly QueryTree[],
  query?: QueryTree,
): void {
  const here = clauses.flatMap(({ endpoint, evaluatedHere }, index) =>
    endpoint.interface !== undefined || evaluatedHere ? (bodies[index] ?? []) : [],
  );
  for (const tree of query ? [query, ...here] : here) {
    const unknown = unknownCall(tree);
    if (unknown === undefined) continue;
    throw new FedwayError("FUNCTION_UNKNOWN", unknown, {
      next: "Use a function of SPARQL 1.1, or put the expression into the SERVICE of an endpoint that has the function.",
    });
  }
}
