import type { Logger } from "pino";
import { steadyClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { createDirectExecutor } from "../engine/direct-executor.ts";
import { Evaluators } from "../engine/evaluators/evaluators.ts";
import { type Executor, noteStatus, sourceReport } from "../engine/executor.ts";
import type { ExecutionBounds } from "../engine/execution-bounds.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Planner } from "../plan/create-planner.ts";
import type { FederatedPlan } from "../plan/query-plan.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clients } from "./open-clients.ts";
import type { Registry } from "./open-registry.ts";

/** Observer and policy of evaluations. */
interface EvaluatorObservers {
  readonly noteFound: Registry["noteFound"];
  readonly planner: Pick<Planner, "clauseAt">;
  readonly sources: Pick<Registry["sources"], "holders">;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Processes that a query started end after so long without one. */
const idleMs = 300_000;

/** The processes that evaluate federated queries, under the limits of the configuration. */
export function openEvaluators(
  { limits }: Config,
  clients: Clients,
  { log, metrics, noteFound, planner, sources }: EvaluatorObservers,
): Evaluators {
  const { maxSolutions, maxHeldBytes, heldHeadBytes } = limits;
  const evaluators = new Evaluators({
    processes: limits.evaluators,
    memoryMb: limits.evaluatorMemoryMb,
    maxRunning: limits.maxEvaluations,
    keepAnswersMs: limits.subanswerTtlMs,
    idleMs: limits.evaluatorsStart === "query" ? idleMs : undefined,
    limits: { maxSolutions, maxHeldBytes, heldHeadBytes },
    world: {
      client: clients.sparql,
      documents: clients.documents,
      now: steadyClock.now,
      clauseAt: (clause, iri) => planner.clauseAt(clause, iri),
      holders: (question, pruned) => sources.holders(question, pruned),
      onFound: noteFound,
    },
    onEnd({ reason, detail }) {
      metrics.observeEvaluatorEnd(reason);
      log.error({ reason, detail }, "an evaluator process ended; another one takes its place");
    },
  });
  metrics.watchPlaces("fedway_evaluations", "Evaluations of federated queries", () => ({
    ...evaluators.usage,
    places: limits.maxEvaluations,
  }));
  return evaluators;
}

interface ExecutorParts {
  readonly clients: Clients;
  readonly registry: Pick<Registry, "sources">;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Executors of plans (federated ones in evaluators), and the verifier of their sources: facts that it finds wrong are counted
 * and logged.
 */
export function openExecutors({ clients, registry, log, metrics }: ExecutorParts, evaluators: Evaluators) {
  const direct = createDirectExecutor(clients.sparql, steadyClock.now);
  const { verifier } = registry.sources;
  verifier.onRefuted(({ endpoint, patterns }) => {
    metrics.observeRefutedFacts(endpoint);
    log.warn({ endpoint, patterns }, "an endpoint has what its description denies; it is described anew");
  });
  const refusal = (member: string): FedwayError | undefined => clients.sparql.breakers.refusal(member);
  return { direct, federated: withAvailableMembers(evaluators, refusal), verifier };
}

/** Why nothing would be sent to an endpoint now. */
type RefusalOf = (url: string) => FedwayError | undefined;

/** Executes federated plans. One that needs a member that is cooling down fails before anybody is asked. */
function withAvailableMembers(executor: Executor<FederatedPlan>, refusal: RefusalOf): Executor<FederatedPlan> {
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
