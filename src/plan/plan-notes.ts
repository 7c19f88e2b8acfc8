import type { PlanContext, PlanRequest } from "./plan-request.ts";
import type { DirectPlan, FederatedPlan, PlannedEndpoint, PlanNote, QueryPlan } from "./query-plan.ts";

type MadePlan = DirectPlan | FederatedPlan;

/** The same plan with notes on the whole: unknown members, endpoints that are down. */
export function withPlanNotes(plan: MadePlan, request: PlanRequest, context: PlanContext): MadePlan {
  const more = [...unknownMembers(request, context), ...downNotes(plan, context)];
  return more.length === 0 ? plan : { ...plan, notes: [...plan.notes, ...more] };
}

/** Endpoints that are named one by one. */
const namedAtMost = 5;

/** An answer over the others must not look like one over all. */
function unknownMembers({ federationId = "" }: PlanRequest, { catalog }: PlanContext): readonly PlanNote[] {
  const unknown = (catalog.federation(federationId)?.members ?? []).filter((id) => catalog.byId(id) === undefined);
  if (unknown.length === 0) return [];
  const named = `${unknown.slice(0, namedAtMost).join(", ")}${unknown.length > namedAtMost ? ` and ${unknown.length - namedAtMost} more` : ""}`;
  const message = `The federation has members missing from the catalogue; they are skipped: ${named}.`;
  return [{ code: "MEMBERS_UNKNOWN", message }];
}

/** Endpoints known to be down. Unknown states are not mentioned. */
function downNotes(plan: MadePlan, { availability }: PlanContext): readonly PlanNote[] {
  if (availability === undefined) return [];
  const down = usedIds(plan).filter((id) => availability.state(id) === "down");
  const named = down.slice(0, namedAtMost).map((id) => {
    const sinceMs = availability.sinceMs?.(id);
    const is = sinceMs === undefined ? "is down" : `has been down since ${new Date(sinceMs).toISOString()}`;
    return downNote(`${id} ${is}; the plan uses it all the same.`);
  });
  const others = down.length - named.length;
  const rest = others === 0 ? [] : [downNote(`${others} more of the endpoints that the plan uses are down.`)];
  return [...named, ...rest];
}

const downNote = (message: string): PlanNote => ({ code: "ENDPOINT_DOWN", message });

/** Catalogue ids of the endpoints that a plan uses; it has each of them once. */
export function usedIds(plan: QueryPlan): readonly string[] {
  if (plan.kind === "rejected") return [];
  const endpoints: readonly PlannedEndpoint[] =
    plan.kind === "direct" ? [plan.endpoint] : plan.members.map(({ endpoint }) => endpoint);
  return endpoints.flatMap(({ id }) => id ?? []);
}
