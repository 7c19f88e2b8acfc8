import { type Executor, noteStatus, sourceReport } from "../engine/executor.ts";
import type { ExecutionBounds } from "../engine/federation-engine.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { FederatedPlan } from "../plan/query-plan.ts";

/** Why nothing would be sent to an endpoint now. */
type RefusalOf = (url: string) => FedwayError | undefined;

/** Executes federated plans. One that needs a member which is left alone by its circuit breaker fails before anybody is asked. */
export function withAvailableMembers(executor: Executor<FederatedPlan>, refusal: RefusalOf): Executor<FederatedPlan> {
  return {
    async fetch(plan, accepted, bounds) {
      requireAvailable(plan, bounds, refusal);
      return executor.fetch(plan, accepted, bounds);
    },
    async evaluate(plan, bounds) {
      requireAvailable(plan, bounds, refusal);
      return executor.evaluate(plan, bounds);
    },
  };
}

/** @throws FedwayError `CIRCUIT_OPEN` for a member without which there is no answer: no SILENT, no mirror, no `partial` */
function requireAvailable({ members }: FederatedPlan, { partial, sources }: ExecutionBounds, refusal: RefusalOf): void {
  if (partial !== false) return;
  for (const { endpoint, silent } of members) {
    const refused = silent || endpoint.mirror ? undefined : refusal(endpoint.url);
    if (refused === undefined) continue;
    const name = endpoint.id ?? endpoint.url;
    noteStatus(sourceReport(sources, name), "skipped", refused.code);
    throw new FedwayError(refused.code, refused.message, { ...refused.details, where: { endpoint: name } });
  }
}
