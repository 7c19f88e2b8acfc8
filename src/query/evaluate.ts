import type { AcceptedAnswer, AnswerBytes, Executor } from "../engine/executor.ts";
import type { ExecutionBounds } from "../engine/federation-engine.ts";
import { noteSilenced, sourceReport } from "../engine/source-reports.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { DirectPlan, FederatedPlan, QueryPlan } from "../plan/query-plan.ts";
import type { QueryResult } from "../results/model.ts";

/** The two ways a plan is executed. */
export interface Executors {
  readonly direct: Executor<DirectPlan>;
  readonly federated: Executor<FederatedPlan>;
}

/** How an answer is wanted, and within which bounds. */
interface Asked {
  readonly accepted: AcceptedAnswer;
  readonly bounds: ExecutionBounds;
}

/**
 * Executes a plan to bytes of the wanted format.
 * @throws FedwayError for what fails before the first byte; a direct plan's executor may also throw what is unexpected
 */
export function fetchAnswer(executors: Executors, plan: QueryPlan, asked: Asked): Promise<AnswerBytes> {
  // With nothing to fall back on there is nothing to wait for here, and small answers feel every step.
  if (plan.kind === "direct" && plan.silent === undefined)
    return executors.direct.fetch(plan, asked.accepted, asked.bounds);
  return fetchOrFallBack(executors, plan, asked);
}

async function fetchOrFallBack(
  { direct, federated }: Executors,
  plan: QueryPlan,
  { accepted, bounds }: Asked,
): Promise<AnswerBytes> {
  const wanted = executable(plan);
  if (wanted.kind === "federated") return federated.fetch(wanted, accepted, bounds);
  try {
    return await direct.fetch(wanted, accepted, bounds);
  } catch (error) {
    return federated.fetch(fallbackOf(wanted, error, bounds), accepted, bounds);
  }
}

/** Executes a plan to solutions, triples or a boolean. @throws FedwayError for what fails before the first of them */
export async function evaluate(
  { direct, federated }: Executors,
  plan: QueryPlan,
  bounds: ExecutionBounds,
): Promise<QueryResult> {
  const wanted = executable(plan);
  if (wanted.kind === "federated") return federated.evaluate(wanted, bounds);
  try {
    return await direct.evaluate(wanted, bounds);
  } catch (error) {
    return federated.evaluate(fallbackOf(wanted, error, bounds), bounds);
  }
}

/** A plan that can be executed. @throws FedwayError the reason of a rejected one */
export function executable(plan: QueryPlan): DirectPlan | FederatedPlan {
  if (plan.kind !== "rejected") return plan;
  // A plan is cached and shared; the error of one run is not.
  const { code, message, details } = plan.reason;
  throw new FedwayError(code, message, details);
}

/** The plan that is left when a silent endpoint has failed: the query over no data, its SERVICE one empty solution. */
function fallbackOf(plan: DirectPlan, error: unknown, bounds: ExecutionBounds): FederatedPlan {
  const failure = toFedwayError(error);
  if (!plan.silent || !failure.kind.silenceable || bounds.signal.aborted) throw failure;
  noteSilenced(sourceReport(bounds.sources, plan.endpoint.id ?? plan.endpoint.url), failure.code);
  const { answer, notes } = plan;
  const { query } = plan.silent;
  return { kind: "federated", answer, query, skeleton: query, clauses: [], members: [], notes };
}
