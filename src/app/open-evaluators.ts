import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { createEvaluators, type Evaluators } from "../engine/evaluators/create-evaluators.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { steadyClock } from "../clock.ts";
import type { Clients } from "./open-clients.ts";

/** What the evaluators are wired with. */
export interface EvaluatorParts {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clients: Clients;
}

/** The processes that evaluate federated queries, under the limits of the configuration. */
export function openEvaluators({ config: { limits }, log, metrics, clients }: EvaluatorParts): Evaluators {
  const evaluators = createEvaluators({
    processes: limits.evaluators,
    memoryMb: limits.evaluatorMemoryMb,
    maxRunning: limits.maxEvaluations,
    limits: { maxSolutions: limits.maxSolutions, maxHeldBytes: limits.maxHeldBytes },
    world: { client: clients.sparql, documents: clients.documents, now: steadyClock.now },
    onEnd({ reason, detail }) {
      metrics.observeEvaluatorEnd(reason);
      log.error({ reason, detail }, "an evaluator process ended; another one takes its place");
    },
  });
  metrics.watchEvaluators(() => evaluators.usage);
  return evaluators;
}
