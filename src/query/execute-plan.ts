import { type AnswerBytes, type Executor, noteSilenced, sourceReport } from "../engine/executor.ts";
import type { ExecutionBounds } from "../engine/execution-bounds.ts";
import { toFedwayError } from "../errors/fedway-error.ts";
import type { DirectPlan, FederatedPlan } from "../plan/query-plan.ts";
import type { ResultFormat } from "../results/formats.ts";
import type { QueryResult } from "../results/model.ts";
import { heldAnswer, heldValue } from "./held-answer.ts";
import type { StartedRun } from "./start-run.ts";
import { mayCountNothing } from "./table.ts";
import type { Executed } from "./verified-answer.ts";

interface Executors {
  readonly direct: Executor<DirectPlan>;
  readonly federated: Executor<FederatedPlan>;
}

interface Fetching {
  readonly run: StartedRun;
  readonly accepted: { readonly format: ResultFormat; readonly acceptEncoding?: string | undefined };
  /** Text of the query. */
  readonly text: string;
  readonly mayBeRefuted: boolean;
}

/** The bytes of an answer; one that may be refuted is held until it is known whether it is of nothing. */
export async function fetchPlan(
  plan: DirectPlan | FederatedPlan,
  { run: { bounds }, accepted, text, mayBeRefuted }: Fetching,
  executors: Executors,
): Promise<Executed<AnswerBytes>> {
  if (mayBeRefuted && isOneValue(plan, text)) {
    return heldValue(await evaluatePlan(plan, bounds, executors), { query: text, format: accepted.format });
  }
  const answer = await execute(plan, bounds, executors, (executor, one) => executor.fetch(one, accepted, bounds));
  return mayBeRefuted ? heldAnswer(answer, text) : { answer, isOfNothing: false };
}

const isOneValue = ({ answer }: DirectPlan | FederatedPlan, text: string): boolean =>
  answer === "boolean" || (answer === "bindings" && mayCountNothing(text));

/** The parsed answer. @throws FedwayError as the executors do */
export const evaluatePlan = (
  plan: DirectPlan | FederatedPlan,
  bounds: ExecutionBounds,
  executors: Executors,
): Promise<QueryResult> => execute(plan, bounds, executors, (executor, one) => executor.evaluate(one, bounds));

/**
 * Executes a plan; where a silent endpoint fails, the query over no data answers in its place.
 * @throws FedwayError for what fails before the first byte; a direct plan's executor may also throw what is unexpected
 */
function execute<T>(
  plan: DirectPlan | FederatedPlan,
  bounds: ExecutionBounds,
  { direct, federated }: Executors,
  how: <P>(executor: Executor<P>, plan: P) => Promise<T>,
): Promise<T> {
  // The federated executor has no use for what a plan leaves out, and for notes.
  if (plan.kind === "federated") return how(federated, { ...plan, exclusions: undefined, notes: [] });
  const answer = how(direct, plan);
  if (plan.silent === undefined) return answer;
  return answer.catch((error: unknown) => how(federated, fallbackOf(plan, error, bounds)));
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
