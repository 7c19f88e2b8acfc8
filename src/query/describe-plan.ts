import { toProblem } from "../errors/problem.ts";
import { describePlan } from "../plan/print-plan.ts";
import type { DirectPlan, FederatedPlan, PlannedEndpoint, QueryPlan } from "../plan/query-plan.ts";
import type { PlanDescription } from "./query-service.ts";

/** A plan as data for `/api/explain`. */
export function toPlanDescription(plan: QueryPlan): PlanDescription {
  const text = describePlan(plan);
  if (plan.kind === "rejected") {
    return { kind: plan.kind, endpoints: [], notes: [], problem: toProblem(plan.reason), text };
  }
  const { kind, answer, query, notes } = plan;
  return { kind, answer, endpoints: endpointsOf(plan), query, notes, text };
}

function endpointsOf(plan: DirectPlan | FederatedPlan): PlanDescription["endpoints"] {
  if (plan.kind === "direct") {
    return [{ ...named(plan.endpoint), clauses: 1, silent: plan.silent !== undefined }];
  }
  return plan.members.map(({ endpoint, clauses, silent }) => ({ ...named(endpoint), clauses, silent }));
}

function named({ id, url }: PlannedEndpoint): { endpoint: string; url: string } {
  return { endpoint: id ?? url, url };
}
