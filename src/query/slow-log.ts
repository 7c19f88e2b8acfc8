import { clientOf } from "../clients/client-name.ts";
import type { ErrorCode } from "../errors/codes.ts";
import type { QueryPlan } from "../plan/query-plan.ts";
import type { Run } from "./run-log.ts";
import type { RunStatus } from "./records.ts";

/** Logged facts of a slow query. */
interface SlowRun {
  readonly run: string;
  readonly client: string | undefined;
  readonly status: RunStatus;
  readonly code: ErrorCode | undefined;
  readonly queryHash: string;
  readonly plan: QueryPlan["kind"];
  readonly ms: number;
  /** The slowest, slowest first. */
  readonly endpoints: readonly object[];
  /** For those who want texts in the log. */
  readonly query: string | undefined;
}

/** Where slow queries are logged. */
export interface SlowLog {
  /** Least milliseconds of a slow query. */
  readonly ms: number;
  readonly write: (run: SlowRun) => void;
}

const mostEndpoints = 20;

/** Where the time of a slow query went. */
export function slowRun({ id: run, owner, outline, planned, sources, end }: Run, durationMs: number): SlowRun {
  const slowest = [...sources.values()].toSorted((a, b) => b.ms - a.ms).slice(0, mostEndpoints);
  return {
    run,
    client: clientOf(owner),
    plan: outline.kind,
    status: end?.status ?? "failed",
    code: end?.error?.code,
    queryHash: planned.hash,
    ms: Math.round(durationMs),
    endpoints: slowest.map(({ endpoint, ms, rows, requests }) => ({ endpoint, ms: Math.round(ms), rows, requests })),
    query: planned.query,
  };
}
