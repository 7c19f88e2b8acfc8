import { type Executor, noteStatus, sourceReport } from "../engine/executor.ts";
import type { ExecutionBounds } from "../engine/federation-engine.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { FederatedPlan } from "../plan/query-plan.ts";
import type { Registry } from "./open-registry.ts";

/** What is known of members before a plan is executed. */
interface Knowledge extends Pick<Registry, "sources"> {
  /** Why nothing would be sent to an endpoint now. */
  readonly refusal: (url: string) => FedwayError | undefined;
}

/**
 * Executes federated plans without the members that, when asked, have no match of its patterns. The requests are the run's. A run
 * that wants fresh answers asks everybody. One that needs a member which is left alone by its circuit breaker fails before
 * anybody is asked.
 */
export function withNarrowedPlans(
  executor: Executor<FederatedPlan>,
  { sources, refusal }: Knowledge,
): Executor<FederatedPlan> {
  const narrowed = async (plan: FederatedPlan, bounds: ExecutionBounds): Promise<FederatedPlan> => {
    requireAvailable(plan, bounds, refusal);
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

/** @throws FedwayError `CIRCUIT_OPEN` for a member without which there is no answer: no SILENT, no mirror, no `partial` */
function requireAvailable(
  { members }: FederatedPlan,
  { partial, sources }: ExecutionBounds,
  refusal: Knowledge["refusal"],
): void {
  if (partial !== false) return;
  for (const { endpoint, silent } of members) {
    const refused = silent || endpoint.mirror ? undefined : refusal(endpoint.url);
    if (refused === undefined) continue;
    const name = endpoint.id ?? endpoint.url;
    noteStatus(sourceReport(sources, name), "skipped", refused.code);
    throw new FedwayError(refused.code, refused.message, { ...refused.details, where: { endpoint: name } });
  }
}
