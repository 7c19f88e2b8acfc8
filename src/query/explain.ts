import { type Problem, toProblem } from "../errors/fedway-error.ts";
import { describePlan } from "../plan/print-plan.ts";
import type { DirectPlan, FederatedPlan, PlannedEndpoint, PlanNote, QueryPlan } from "../plan/query-plan.ts";
import { notesOf } from "./run-log.ts";
import type { AnswerKind } from "../results/model.ts";

/** A plan as `/api/explain` returns it. */
export interface PlanDescription {
  readonly kind: QueryPlan["kind"];
  readonly answer?: AnswerKind;
  /** One entry an endpoint. */
  readonly endpoints: readonly {
    readonly endpoint: string;
    readonly url: string;
    readonly clauses: number;
    readonly silent: boolean;
  }[];
  /** Text sent (direct) or evaluated (federated). */
  readonly query?: string;
  readonly notes: readonly PlanNote[];
  /** Set when the plan is a rejection. */
  readonly problem?: Problem;
  /** The plan as indented text for people. */
  readonly text: string;
}

/** A plan as data for `/api/explain`. */
export function toPlanDescription(plan: QueryPlan): PlanDescription {
  const text = describePlan(plan);
  if (plan.kind === "rejected") {
    return { kind: plan.kind, endpoints: [], notes: [], problem: toProblem(plan.reason), text };
  }
  const { kind, answer, query } = plan;
  return { kind, answer, endpoints: endpointsOf(plan), query, notes: notesOf(plan, "empty"), text };
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
