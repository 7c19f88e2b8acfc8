import { FedwayError } from "../errors/fedway-error.ts";
import { type PortablePlan, portablePlan } from "../plan/portable-plan.ts";
import type { DirectPlan, FederatedPlan } from "../plan/query-plan.ts";
import { isMonotoneIn } from "./completeness.ts";
import type { Executor } from "./executor.ts";
import type { ExecutionBounds } from "./federation-engine.ts";

/** Options of a remote engine. */
interface RemoteExecutorOptions {
  /** URL of a SPARQL 1.1 endpoint that does federated query (SPARQL 1.1 Federated Query). */
  readonly url: string;
  /** Sends it the plans. */
  readonly direct: Executor<DirectPlan>;
  /** Evaluates what needs no endpoint. */
  readonly local: Executor<FederatedPlan>;
}

/**
 * Executes federated plans at another engine: the plan goes there as one query (`portablePlan`), and that engine asks the
 * members. What it knows of them it does not tell, so a run names the engine as its one source, `partial` holds for the
 * engine's answer as a whole, and `provenance` is refused.
 */
export function createRemoteExecutor({ url, direct, local }: RemoteExecutorOptions): Executor<FederatedPlan> {
  const delegated = (plan: FederatedPlan, { provenance }: ExecutionBounds): DirectPlan => {
    if (provenance) {
      throw new FedwayError("REQUEST_INVALID", "The remote engine does not say which endpoints a row came from.", {
        next: "Leave out provenance, or send the query to one endpoint.",
      });
    }
    const isFollowed = plan.clauses.some(({ targetVariable }) => targetVariable !== undefined);
    const portable: PortablePlan = isFollowed
      ? {
          why: "The data choose the endpoint of a SERVICE, and the remote engine would not check it against the catalogue.",
        }
      : portablePlan(plan);
    if ("why" in portable) {
      throw new FedwayError("PLAN_NOT_PORTABLE", `The plan cannot be sent to the remote engine. ${portable.why}`, {
        next: portable.next ?? "Write the query with SERVICE.",
      });
    }
    const { answer, notes } = plan;
    const dataset = { defaultGraphs: [], namedGraphs: [] };
    const rest = { silent: undefined, nonMonotone: isMonotoneIn(plan) ? undefined : true, ...dataset, notes } as const;
    return { kind: "direct", answer, endpoint: { url }, query: portable.query, ...rest };
  };
  return {
    fetch: async (plan, accepted, bounds) =>
      plan.members.length === 0
        ? local.fetch(plan, accepted, bounds)
        : direct.fetch(delegated(plan, bounds), accepted, bounds),
    evaluate: async (plan, bounds) =>
      plan.members.length === 0 ? local.evaluate(plan, bounds) : direct.evaluate(delegated(plan, bounds), bounds),
  };
}
