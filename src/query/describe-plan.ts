import { toProblem } from "../errors/problem.ts";
import { describePlan } from "../plan/print-plan.ts";
import type { PlannedEndpoint, QueryPlan } from "../plan/query-plan.ts";
import type { PlanDescription } from "./query-service.ts";

/** A plan as data for `/api/explain`. */
export function toPlanDescription(plan: QueryPlan): PlanDescription {
  const text = describePlan(plan);
  switch (plan.kind) {
    case "rejected":
      return { kind: plan.kind, endpoints: [], notes: [], problem: toProblem(plan.reason), text };
    case "direct":
      return {
        kind: plan.kind,
        answer: plan.answer,
        endpoints: [{ ...named(plan.endpoint), clauses: 1, silent: plan.silent !== undefined }],
        query: plan.query,
        notes: plan.notes,
        text,
      };
    case "federated":
      return {
        kind: plan.kind,
        answer: plan.answer,
        endpoints: plan.members.map(({ endpoint, clauses, silent }) => ({ ...named(endpoint), clauses, silent })),
        query: plan.query,
        notes: plan.notes,
        text,
      };
  }
}

function named({ id, url }: PlannedEndpoint): { endpoint: string; url: string } {
  return { endpoint: id ?? url, url };
}
