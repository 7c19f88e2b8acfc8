import { LRUCache } from "lru-cache";
import type { ExecutionBounds } from "../engine/federation-engine.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { toProblem } from "../errors/problem.ts";
import type { QueryPlan } from "../plan/query-plan.ts";
import { type ResultFormat, resultFormats } from "../results/formats.ts";
import type { AnswerKind } from "../results/model.ts";
import { negotiateFormat } from "../results/negotiation.ts";
import type { Deadline } from "./deadline.ts";
import { toPlanDescription } from "./describe-plan.ts";
import type { FetchedAnswer } from "./evaluate.ts";
import type { QueryAnswer, QueryRequest, RunStatus, TabularAnswer } from "./query-service.ts";
import type { Run } from "./run-log.ts";
import type { Table } from "./tabulate.ts";
import { completed, firstByteStatus } from "./verdict.ts";

/** A run from its plan to its end. Durations in milliseconds. */
export interface Started {
  readonly plan: QueryPlan;
  /** The plan came from the cache. */
  readonly cached: boolean;
  readonly run: Run;
  readonly deadline: Deadline;
  readonly bounds: ExecutionBounds;
  readonly planMs: number;
  /** When execution began, on the clock. */
  readonly executedAt: number;
}

// Clients of one kind send one Accept header; working it out is not free.
const negotiated = new LRUCache<string, ResultFormat>({ max: 500 });

/** The format the client gets. @throws FedwayError `NOT_ACCEPTABLE` */
export function wantedFormat(plan: QueryPlan, { accept, format }: QueryRequest): ResultFormat {
  const kind = plan.kind === "rejected" ? "bindings" : plan.answer;
  const key = `${kind} ${format ?? ""} ${accept?.slice(0, 1_000) ?? ""}`;
  const known = negotiated.get(key);
  if (known) return known;
  const wish = { ...(accept !== undefined && { accept }), ...(format !== undefined && { format }) };
  const wanted = negotiateFormat(kind, wish);
  if (!wanted) throw notAcceptable(kind);
  if ((accept?.length ?? 0) < 1_000) negotiated.set(key, wanted);
  return wanted;
}

function notAcceptable(kind: AnswerKind): FedwayError {
  const offered = resultFormats.filter(({ kinds, writable }) => writable && kinds.includes(kind));
  return new FedwayError("NOT_ACCEPTABLE", `None of the wanted formats can carry ${kind}.`, {
    next: `Ask for one of ${offered.map(({ mediaType }) => mediaType).join(", ")}.`,
  });
}

/** What a shell sends for a started run. */
export function toQueryAnswer(
  { plan, cached, run, planMs }: Started,
  { body, contentEncoding, rows }: FetchedAnswer,
  { format, firstByteMs }: { readonly format: ResultFormat; readonly firstByteMs: number },
): QueryAnswer {
  if (plan.kind === "rejected") throw new Error("A rejected plan has no answer");
  return {
    runId: run.id,
    plan,
    kind: plan.answer,
    contentType: format.contentType,
    contentEncoding,
    body,
    status: firstByteStatus(run.sources.values(), Buffer.isBuffer(body), rows),
    notes: plan.notes,
    timings: { planMs, firstByteMs, planCached: cached },
  };
}

/** The table of an answer that failed before its first row. */
export const noTable: Table = { columns: [], rows: [], truncated: false };

/** A finished run as a table. Rows before a failure are kept only when partial answers were asked for. */
export function toTabularAnswer({ plan, run, bounds }: Started, table: Table, error?: FedwayError): TabularAnswer {
  const kept = error && !bounds.partial ? { ...noTable, columns: table.columns } : table;
  return {
    run: run.id,
    status: statusOf(kept, run, error),
    plan: toPlanDescription(plan),
    columns: kept.columns,
    rows: kept.rows,
    ...(kept.boolean !== undefined && { boolean: kept.boolean }),
    truncated: kept.truncated,
    sources: [...run.sources.values()],
    notes: plan.kind === "rejected" ? [] : plan.notes,
    diagnosis: error ? toProblem(error, run.id) : null,
  };
}

function statusOf({ rows, boolean, truncated }: Table, run: Run, error: FedwayError | undefined): RunStatus {
  if (error?.code === "CANCELLED") return "cancelled";
  if (error) return rows.length > 0 ? "partial" : "failed";
  if (truncated) return "partial";
  return completed(run.sources.values(), boolean === undefined ? rows.length : undefined).status;
}
