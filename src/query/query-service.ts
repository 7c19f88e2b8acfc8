import type { Readable } from "node:stream";
import type { PlanRequest } from "../plan/create-planner.ts";
import type { PlanNote, QueryPlan } from "../plan/query-plan.ts";
import type { PartialAnswers } from "../engine/execution-bounds.ts";
import type { AnswerKind } from "../results/model.ts";
import type { AskedQuery, ChosenBy, PlanDescription, RunRecord, RunStatus } from "./records.ts";
import type { Admitted } from "./admission.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { PartialKind } from "../engine/completeness.ts";
import type { RunEnd, Sender } from "./run-log.ts";
import type { Viewer } from "./run-control.ts";
import type { ListedRuns, RunFilter } from "./run-list.ts";
import type { SessionLog } from "./session-log.ts";
import type { TabularAnswer } from "./table.ts";

/** A query as a shell (HTTP, MCP, command line) hands it in. */
export interface QueryRequest extends PlanRequest, Sender {
  /** Accept header, as received; undefined means anything. */
  readonly accept?: string | undefined;
  /** Short name or media type from the `format`/`output`/`results` parameter; wins over `accept`. */
  readonly format?: string | undefined;
  /** Accept-Encoding header, as received. */
  readonly acceptEncoding?: string | undefined;
  /** Wanted time limit in milliseconds; the service's own limit holds when it is lower. */
  readonly timeoutMs?: number | undefined;
  /** Allow partial results when an endpoint fails; "subset": only rows that are certain. */
  readonly partial: PartialAnswers;
  /** Rows of a SELECT say which endpoints they came from, in a variable `fedway_from` behind the others. */
  readonly provenance?: boolean | undefined;
  /** No answer of an endpoint will do that is kept from an earlier query (Cache-Control: no-cache). Default false. */
  readonly fresh?: boolean | undefined;
  readonly signal: AbortSignal;
  /** The call that the query is part of, such as that of a tool; absent: it is one of its own. */
  readonly admitted?: Admitted | undefined;
  /** It may not ask endpoints that need the operator's credentials: it comes from a page of another site. Default false. */
  readonly withoutCredentials?: boolean | undefined;
  /** `context` of the span that the run belongs to. */
  readonly trace?: unknown;
}

/** A query whose rows are wanted as a table. */
export interface TableRequest extends QueryRequest {
  readonly maxRows: number;
  /** Explains an empty answer, as far as the time of the request allows. */
  readonly explainEmpty?: boolean | undefined;
}

/** An answer on its way out. The body is destroyed with a `FedwayError` when the answer breaks off. */
export interface QueryAnswer {
  readonly runId: string;
  readonly plan: QueryPlan;
  readonly kind: AnswerKind;
  /** Content-Type of the body. */
  readonly contentType: string;
  /** Content coding that the body already has; "identity" when plain. */
  readonly contentEncoding: string;
  readonly body: Buffer | Readable;
  /** Status at the first byte; the final record is at `/api/runs/{id}`. */
  readonly status: RunStatus;
  /** Of an answer that is known to be partial at its first byte. */
  readonly partial?: PartialKind | undefined;
  readonly notes: readonly PlanNote[];
  /** Facts by which endpoints were left out, as known at the first byte. */
  readonly facts?: ChosenBy | undefined;
  /** Milliseconds spent in each stage before the first byte. */
  readonly timings: {
    readonly planMs: number;
    /** From the start of the execution until the first byte of the answer can leave. */
    readonly upstreamMs: number;
    /** The plan came from the cache. */
    readonly planCached: boolean;
  };
  /** Of a body that streams: how the run ends, soon after the body. It never rejects. */
  readonly ending?: Promise<RunEnd> | undefined;
}

/** The use case: one SPARQL query in, one answer out. */
export interface QueryService {
  /**
   * Plans and starts a query.
   * @throws FedwayError for everything that goes wrong before the first byte (also rejected plans); `runId` of the error via `runOf`.
   */
  run(request: QueryRequest): Promise<QueryAnswer>;
  /** Plans, runs and collects at most `maxRows` rows. Failures after planning are data (`status`, `diagnosis`). */
  table(request: TableRequest): Promise<TabularAnswer>;
  /** The plan without running it. @throws FedwayError on syntax errors */
  explain(request: PlanRequest): PlanDescription;
  /** Runs a query, drops its rows and gives the plan with the run's record; a failure of the run is in it. @throws FedwayError as `run` */
  analyze(request: QueryRequest): Promise<PlanDescription>;
  /**
   * The record of a run, also of one of another process that shares its runs; undefined when it is unknown or was dropped.
   * `asked` is in it for the run's owner only. Waits up to `waitMs` for the end of a run under way.
   * @throws FedwayError `STORE_FAILED` when another process has it and the store cannot be asked
   */
  runRecord(
    id: string,
    owner?: string,
    options?: { readonly waitMs?: number | undefined },
  ): Promise<RunRecord | undefined>;
  /** Runs under way, and those of which records are kept: the viewer's own, an operator's all. @throws FedwayError `STORE_FAILED`, `REQUEST_INVALID` */
  runs(filter: RunFilter, viewer: Viewer): Promise<ListedRuns>;
  /**
   * Cancels a run, or a call without one; "accepted": it was asked to end and has not been seen to.
   * @throws FedwayError `RUN_UNKNOWN`, `RUN_FOREIGN`, `RUN_FINISHED`, `STORE_FAILED`
   */
  cancel(id: string, viewer: Viewer): Promise<"cancelled" | "accepted">;
  /** Run id of a failed `run`, when the failure happened after a run was opened. */
  runOf(error: unknown): string | undefined;
  /** Number of queries under way. */
  readonly running: number;
  readonly sessions: SessionLog;
}

/**
 * A run that has ended, or soon will, with what it was asked, for its owner; somebody else's is as unknown as one that never was.
 * @throws FedwayError `RUN_UNKNOWN`, and `STORE_FAILED` as `runRecord` does
 */
export async function ownRun(
  queries: Pick<QueryService, "runRecord">,
  id: string,
  owner: string | undefined,
): Promise<RunRecord & { readonly asked: AskedQuery }> {
  const record = await queries.runRecord(id, owner, { waitMs: lateMs });
  if (record?.asked) return { ...record, asked: record.asked };
  throw runUnknown();
}

/** The record of a run of another process is late, usually by less than a second. */
const lateMs = 2_000;

/** Nothing is known of a run, or nothing that this reader may know. */
export const runUnknown = (): FedwayError =>
  new FedwayError("RUN_UNKNOWN", "The run is not known; records are kept for a while only.", {
    next: "GET /api/runs lists those that are kept.",
  });
