import { finished } from "node:stream/promises";
import type { FederatedPlan } from "../plan/query-plan.ts";
import { serializeResult } from "../results/serialize.ts";
import { counted } from "./counted.ts";
import type { Executor } from "./executor.ts";
import type { FederationEngine } from "./federation-engine.ts";

/** Executes federated plans with an engine in this very process: what each evaluator does, and tests. */
export function createInProcessExecutor(engine: FederationEngine): Executor<FederatedPlan> {
  return {
    async fetch(plan, { format }, bounds) {
      const { result, count } = counted(await engine.execute(plan, bounds));
      const body = serializeResult(result, format);
      const end = finished(body).then(count);
      // Whoever reads the body hears of its failure there.
      end.catch(() => {});
      return { contentEncoding: "identity", body, end };
    },
    evaluate: (plan, bounds) => engine.execute(plan, bounds),
  };
}
