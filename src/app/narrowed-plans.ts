import { type Executor, noteStatus, sourceReport } from "../engine/executor.ts";
import type { ExecutionBounds } from "../engine/federation-engine.ts";
import type { FederatedPlan } from "../plan/query-plan.ts";
import type { Registry } from "./open-registry.ts";

/**
 * Executes federated plans without the members that, when asked, have no match of its patterns. The requests are the run's. A run
 * that wants fresh answers asks everybody.
 */
export function withNarrowedPlans(
  executor: Executor<FederatedPlan>,
  { sources }: Pick<Registry, "sources">,
): Executor<FederatedPlan> {
  const narrowed = async (plan: FederatedPlan, bounds: ExecutionBounds): Promise<FederatedPlan> => {
    if (bounds.fresh === true) return plan;
    return sources.narrow(plan, {
      signal: bounds.signal,
      onAnswer(id, { requests, bytes }) {
        const report = sourceReport(bounds.sources, id);
        report.requests += requests;
        report.bytes += bytes;
        noteStatus(report, "ok");
      },
    });
  };
  return {
    fetch: async (plan, accepted, bounds) => executor.fetch(await narrowed(plan, bounds), accepted, bounds),
    evaluate: async (plan, bounds) => executor.evaluate(await narrowed(plan, bounds), bounds),
  };
}
