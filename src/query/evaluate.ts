import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { DirectExecutor, DirectWish } from "../engine/direct-executor.ts";
import type { ExecutionBounds, FederationEngine } from "../engine/federation-engine.ts";
import { noteSilenced, sourceReport } from "../engine/source-reports.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { DirectPlan, FederatedPlan, QueryPlan } from "../plan/query-plan.ts";
import type { QueryResult } from "../results/model.ts";
import { serializeResult } from "../results/serialize.ts";
import { counted } from "./counted.ts";

/** The two ways a plan is executed. */
export interface Executors {
  readonly direct: DirectExecutor;
  readonly engine: FederationEngine;
}

/** A plan's answer as bytes of the wanted format. */
export interface FetchedAnswer {
  readonly contentEncoding: string;
  /** A verified buffer or `GatheredBody`, or a stream that is destroyed with a `FedwayError` when the answer breaks off. */
  readonly body: Buffer | Readable;
  /** Rows or triples, where already known. */
  readonly rows?: number | undefined;
  /** Settles at the answer's end with its rows, where the format tells; absent when the body is whole. */
  readonly end?: Promise<number | undefined>;
}

/** How an answer is wanted, and within which bounds. */
interface Asked {
  readonly wish: DirectWish;
  readonly bounds: ExecutionBounds;
}

/**
 * Executes a plan to bytes of the wanted format.
 * @throws FedwayError for what fails before the first byte; a direct plan's executor may also throw what is unexpected
 */
export function fetchAnswer(executors: Executors, plan: QueryPlan, asked: Asked): Promise<FetchedAnswer> {
  // With nothing to fall back on there is nothing to wait for here, and small answers feel every step.
  if (plan.kind === "direct" && plan.silent === undefined)
    return executors.direct.fetch(plan, asked.wish, asked.bounds);
  return fetchOrFallBack(executors, plan, asked);
}

async function fetchOrFallBack(
  { direct, engine }: Executors,
  plan: QueryPlan,
  { wish, bounds }: Asked,
): Promise<FetchedAnswer> {
  let federated = executable(plan);
  if (federated.kind === "direct") {
    try {
      return await direct.fetch(federated, wish, bounds);
    } catch (error) {
      federated = fallbackOf(federated, error, bounds);
    }
  }
  const { result, count } = counted(await engine.execute(federated, bounds));
  const body = serializeResult(result, wish.format);
  return { contentEncoding: "identity", body, end: finished(body).then(count) };
}

/** Executes a plan to solutions, triples or a boolean. @throws FedwayError for what fails before the first of them */
export async function evaluate(
  { direct, engine }: Executors,
  plan: QueryPlan,
  bounds: ExecutionBounds,
): Promise<QueryResult> {
  const wanted = executable(plan);
  if (wanted.kind === "federated") return engine.execute(wanted, bounds);
  try {
    return await direct.evaluate(wanted, bounds);
  } catch (error) {
    return engine.execute(fallbackOf(wanted, error, bounds), bounds);
  }
}

function executable(plan: QueryPlan): DirectPlan | FederatedPlan {
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
