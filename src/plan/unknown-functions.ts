import { FedwayError } from "../errors/fedway-error.ts";
import { unknownCall } from "../sparql/used-constructs.ts";
import type { FederatedPlan } from "./query-plan.ts";

/**
 * An endpoint may have functions of its own, this service has none: what is evaluated here calls those of SPARQL 1.1 only.
 * @throws FedwayError `FUNCTION_UNKNOWN`, before anything is asked
 */
export function refuseUnknownFunctions({ skeleton, clauses }: Pick<FederatedPlan, "skeleton" | "clauses">): void {
  const here = clauses.filter(({ endpoint, evaluatedHere }) => endpoint.interface !== undefined || evaluatedHere);
  for (const text of [skeleton, ...here.map(({ prologue, pattern }) => `${prologue}SELECT * WHERE ${pattern}`)]) {
    const unknown = unknownCall(text);
    if (unknown === undefined) continue;
    throw new FedwayError("FUNCTION_UNKNOWN", unknown, {
      next: "Use a function of SPARQL 1.1, or put the expression into the SERVICE of an endpoint that has the function.",
    });
  }
}
