import type { PlanContext } from "./plan-request.ts";
import type { PlannedEndpoint, PlanNote, QueryPlan } from "./query-plan.ts";

/** Endpoints that are named one by one. */
const namedAtMost = 5;

/** The same plan, saying which of its endpoints are known to be down. What is not known is not said. */
export function withDownNotes(plan: QueryPlan, { availability }: PlanContext): QueryPlan {
  if (availability === undefined || plan.kind === "rejected") return plan;
  const down = idsOf(plan).filter((id) => availability.state(id) === "down");
  if (down.length === 0) return plan;
  const named = down.slice(0, namedAtMost).map((id) => {
    const sinceMs = availability.sinceMs?.(id);
    const is = sinceMs === undefined ? "is down" : `has been down since ${new Date(sinceMs).toISOString()}`;
    return downNote(`${id} ${is}; the plan uses it all the same.`);
  });
  const others = down.length - named.length;
  const rest = others === 0 ? [] : [downNote(`${others} more of the endpoints that the plan uses are down.`)];
  return { ...plan, notes: [...plan.notes, ...named, ...rest] };
}

const downNote = (message: string): PlanNote => ({ code: "ENDPOINT_DOWN", message });

/** Catalogue ids of the endpoints that a plan uses; it has each of them once. */
function idsOf(plan: Exclude<QueryPlan, { kind: "rejected" }>): readonly string[] {
  const endpoints: readonly PlannedEndpoint[] =
    plan.kind === "direct" ? [plan.endpoint] : plan.members.map(({ endpoint }) => endpoint);
  return endpoints.flatMap(({ id }) => id ?? []);
}
