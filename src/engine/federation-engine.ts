import type { FederatedPlan } from "../plan/query-plan.ts";
import type { QueryResult } from "../results/model.ts";

/** What one endpoint contributed to one run; counts are what was seen, absent means unknown. */
export interface SourceReport {
  /** Catalogue id, or the URL of an endpoint outside the catalogue. */
  readonly endpoint: string;
  requests: number;
  rows?: number;
  /** Decoded bytes received. */
  bytes: number;
  /** Milliseconds from the first request to the last byte so far. */
  ms: number;
  status: "pending" | "ok" | "partial" | "failed" | "silenced" | "cancelled";
  /** Error code when failed, or how the answer is partial. */
  reason?: string;
}

/** What an execution is bound by. */
export interface ExecutionBounds {
  /** Ends everything upstream; its reason is the error the stream fails with. */
  readonly signal: AbortSignal;
  /** Moment on the clock (milliseconds) at which all must be over. */
  readonly deadlineMs: number;
  /** Failing members are left out and reported instead of failing the query. */
  readonly partial: boolean;
  /** Filled in while the query runs; one entry an endpoint. */
  readonly sources: Map<string, SourceReport>;
  /** Whose query it is; clients take turns where queries wait. */
  readonly client?: string | undefined;
  /** What the requests belong to, handed on as it is. */
  readonly trace?: unknown;
}

/**
 * Evaluates federated plans. Not in the port: choosing the plan, serialising, deadlines of the whole request and run
 * records, which belong to `query/`.
 */
export interface FederationEngine {
  /**
   * Starts evaluation; resolves when the form of the answer and its variables are known.
   * The result's stream fails with a `FedwayError` when a member fails; leaving it early cancels all requests.
   */
  execute(plan: FederatedPlan, bounds: ExecutionBounds): Promise<QueryResult>;
}
