import { randomUUID } from "node:crypto";
import type { ErrorCode } from "../errors/codes.ts";
import type { FedwayError } from "../errors/fedway-error.ts";
import type { SourceReport } from "../engine/federation-engine.ts";
import type { PlanNote, QueryPlan } from "../plan/query-plan.ts";

/** What became of a run; the outcomes never look alike. */
export type RunStatus = "running" | "ok" | "empty" | "partial" | "failed" | "cancelled";

/** The record of one run, kept for a while in bounded memory. Query text is kept only as a hash. */
export interface RunRecord {
  readonly id: string;
  readonly startedAt: string;
  readonly plan: QueryPlan["kind"];
  readonly queryHash: string;
  readonly status: RunStatus;
  /** Rows or triples of the answer; absent when unknown. */
  readonly rows?: number | undefined;
  /** Decoded bytes received from endpoints. */
  readonly bytes: number;
  /** Absent while the run is under way. */
  readonly durationMs?: number | undefined;
  readonly sources: readonly SourceReport[];
  /** Why the run failed. */
  readonly code?: ErrorCode | undefined;
  readonly detail?: string | undefined;
  readonly notes: readonly PlanNote[];
}

/** How a run ended. */
export interface RunEnd {
  readonly status: RunStatus;
  readonly rows?: number | undefined;
  readonly error?: FedwayError;
}

/** What the log works with. */
interface RunLogOptions {
  /** Records kept; the oldest are dropped. */
  readonly keep: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Part of every id, so that other processes know whose run it is. */
  readonly name?: string | undefined;
  /** Called with the place of every run that begins or ends. */
  readonly onChange?: ((place: number) => void) | undefined;
  /** Called once for every finished run. */
  readonly onFinish: (run: Run, durationMs: number) => void;
}

/** A run and what is kept of it; its public record is made on demand. A class, because one is made for every query. */
export class Run {
  readonly id: string;
  readonly place: number;
  readonly sources = new Map<string, SourceReport>();
  readonly plan: QueryPlan;
  readonly queryHash: string;
  readonly startedAt: number;
  durationMs: number | undefined;
  end: RunEnd | undefined;
  readonly #options: RunLogOptions;

  constructor({ place, plan, queryHash }: Pick<Run, "place" | "plan" | "queryHash">, options: RunLogOptions) {
    const owner = options.name === undefined ? "" : `${options.name}-`;
    this.id = `${place.toString(36)}-${owner}${randomUUID()}`;
    this.place = place;
    this.plan = plan;
    this.queryHash = queryHash;
    this.startedAt = options.now();
    this.#options = options;
  }

  /** Ends the run; later calls change nothing. */
  finish(end: RunEnd): void {
    if (this.end) return;
    this.end = end;
    this.durationMs = this.#options.now() - this.startedAt;
    this.#options.onFinish(this, this.durationMs);
  }
}

/** The records of the latest runs, in bounded memory. */
export function createRunLog({ onFinish, ...rest }: RunLogOptions) {
  // A ring: the id of a run tells its place.
  const runs: Run[] = [];
  let next = 0;
  let running = 0;
  const options: RunLogOptions = {
    ...rest,
    onFinish(run, durationMs) {
      running -= 1;
      rest.onChange?.(run.place);
      onFinish(run, durationMs);
    },
  };
  const kept = (from: number, to: number): readonly RunRecord[] => runs.slice(from, to).map(toRecord);
  return {
    open(plan: QueryPlan, queryHash: string): Run {
      const run = new Run({ place: next, plan, queryHash }, options);
      running += 1;
      runs[next] = run;
      options.onChange?.(next);
      next = (next + 1) % options.keep;
      return run;
    },
    record(id: string): RunRecord | undefined {
      const run = runs[Number.parseInt(id, 36)];
      return run?.id === id ? toRecord(run) : undefined;
    },
    /** What is kept at the places from `from` to before `to`. */
    records: kept,
    /** Runs that are not finished. */
    get running(): number {
      return running;
    },
  };
}

export type RunLog = ReturnType<typeof createRunLog>;

function toRecord({ id, startedAt, durationMs, plan, queryHash, sources, end }: Run): RunRecord {
  const reports = [...sources.values()];
  return {
    id,
    startedAt: new Date(startedAt).toISOString(),
    plan: plan.kind,
    queryHash,
    status: end?.status ?? "running",
    rows: end?.rows,
    bytes: reports.reduce((sum, { bytes }) => sum + bytes, 0),
    durationMs: durationMs === undefined ? undefined : Math.round(durationMs * 1000) / 1000,
    sources: reports,
    code: end?.error?.code,
    detail: end?.error?.message,
    notes: notesOf(plan, end?.status),
  };
}

/** What the reader of an answer with this status should know. */
export function notesOf(plan: QueryPlan, status: RunStatus | undefined): readonly PlanNote[] {
  if (plan.kind === "rejected") return [];
  return status === "empty" && plan.notesIfEmpty ? [...plan.notes, ...plan.notesIfEmpty] : plan.notes;
}

/** How a run that delivered its whole answer ended; `rows` undefined is unknown, which is not empty. */
export function completed(sources: Iterable<SourceReport>, rows: number | undefined): RunEnd {
  const status = isPartial(sources) ? "partial" : rows === 0 ? "empty" : "ok";
  return { status, rows };
}

/** How a run ended that broke off or never began. */
export function brokenOff(error: FedwayError): RunEnd {
  return { status: error.code === "CANCELLED" ? "cancelled" : "failed", error };
}

/** Something that belongs to the answer is missing; a silenced failure is what the query asked for. */
function isPartial(sources: Iterable<SourceReport>): boolean {
  for (const source of sources) if (lacksRows(source)) return true;
  return false;
}

/** The endpoint's contribution is missing or incomplete. */
export function lacksRows({ status }: SourceReport): boolean {
  return status === "partial" || status === "failed";
}

/** What can be said at the first byte: a verdict on a whole answer, `running` on one that still streams. */
export function firstByteStatus(sources: Iterable<SourceReport>, whole: boolean, rows: number | undefined): RunStatus {
  if (isPartial(sources)) return "partial";
  return whole ? completed([], rows).status : "running";
}
