import type { PrunedKeys } from "../plan/pruned-keys.ts";
import type { RequestBudget } from "../outbound/request-budget.ts";
import type { SourceReport, StepReports } from "./reports.ts";

/** Partial answers: allowed or not, or only where every row is certain ("subset"). */
export type PartialAnswers = boolean | "subset";

/** Bounds of an execution. */
export interface ExecutionBounds {
  /** Ends everything upstream; its reason is the error the stream fails with. */
  readonly signal: AbortSignal;
  /** Moment on the clock (milliseconds) at which all must be over. */
  readonly deadlineMs: number;
  /**
   * Failing members are left out and reported instead of failing the query; with "subset" only where all rows that are left
   * are in the true answer.
   */
  readonly partial: PartialAnswers;
  /** No answer of an endpoint will do that is kept, or was asked for before this query. Default false. */
  readonly fresh?: boolean | undefined;
  /** Filled in while the query runs; one entry an endpoint. */
  readonly sources: Map<string, SourceReport>;
  /** Rows say which endpoints they came from, in a variable `fedway_from` behind the others. */
  readonly provenance?: boolean | undefined;
  /** Filled in like `sources`, one entry for each step of the plan; omit to skip step reports. */
  readonly steps?: StepReports | undefined;
  /** Owner of the query; clients take turns where queries wait. */
  readonly client?: string | undefined;
  /** Requests to endpoints that are left to the call; absent: any number. */
  readonly requests?: RequestBudget | undefined;
  /** Filled in with what members are not asked for by copies of their triples. */
  readonly pruned?: PrunedKeys | undefined;
  /** Trace context of the requests, passed on unchanged. */
  readonly trace?: unknown;
}
