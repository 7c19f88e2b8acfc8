import { createHash, randomUUID } from "node:crypto";
import type { ErrorCode } from "../errors/codes.ts";
import type { FedwayError, Repair } from "../errors/fedway-error.ts";
import { clientOf } from "../clients/client-name.ts";
import { endedReports, noteStatus } from "../engine/executor.ts";
import type { SourceReport } from "../engine/reports.ts";
import type { StepReports } from "../engine/step-reports.ts";
import { type Contributions, partialKind, type PartialKind } from "../engine/completeness.ts";
import type { PlanNote, QueryPlan } from "../plan/query-plan.ts";
import type { Exclusions } from "../plan/source-selection.ts";
import { Withheld } from "../plan/withheld.ts";
import type { Refutation } from "./proven-answer.ts";
import { isTouched, shownFacts } from "./chosen-by.ts";
import type { AskedQuery, ChosenBy, RunRecord, RunStatus } from "./records.ts";
import type { Admitted } from "./admission.ts";
import type { QueryRequest } from "./query-service.ts";
import { sourceNotes } from "./source-notes.ts";

export { lacksRows } from "../engine/completeness.ts";
export type { AskedQuery, RunRecord, RunStatus } from "./records.ts";

/** A record with its owner, as `ownerDigest` names him; never shown as it is. */
export interface OwnedRecord extends RunRecord {
  readonly owner?: string | undefined;
}

/** How a run ended. */
export interface RunEnd {
  readonly status: RunStatus;
  readonly partial?: PartialKind | undefined;
  readonly rows?: number | undefined;
  readonly error?: FedwayError;
}

/** Options of the log. */
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

/** Query that all runs of one plan share; kept once for them all. */
export interface PlannedQuery extends Pick<AskedQuery, "query" | "endpoint" | "federation"> {
  /** SHA-256 of the text. */
  readonly hash: string;
}

type Whose = Pick<QueryRequest, "owner" | "session" | "repairs" | "question">;

/** A run and what is kept of it; its public record is made on demand. A class, because one is made for every query. */
export class Run {
  readonly id: string;
  readonly place: number;
  readonly sources = new Map<string, SourceReport>();
  readonly steps: StepReports = new Map();
  plan: QueryPlan;
  /** Parts left out of the answer by facts. */
  exclusions: Exclusions | undefined;
  /** Questions that copies of triples spared its members. */
  readonly withheld = new Withheld();
  facts: Omit<ChosenBy, "refuted"> | undefined;
  /** Endpoints whose facts turned out to be wrong. */
  refuted: readonly string[] = none;
  readonly planned: PlannedQuery;
  readonly owner: string | undefined;
  readonly session: string | undefined;
  readonly question: string | undefined;
  readonly repairs: readonly Repair[];
  readonly startedAt: number;
  durationMs: number | undefined;
  end: RunEnd | undefined;
  /** The call that it is part of, while it is under way. */
  call: Pick<Admitted, "cancel"> | undefined;
  readonly #options: RunLogOptions;

  constructor({ place, plan, planned }: Pick<Run, "place" | "plan" | "planned">, whose: Whose, options: RunLogOptions) {
    const process = options.name === undefined ? "" : `${options.name}-`;
    this.id = `${place.toString(36)}-${process}${randomUUID()}`;
    this.place = place;
    this.plan = plan;
    this.planned = planned;
    this.owner = whose.owner;
    this.session = whose.session;
    this.question = whose.question;
    this.repairs = whose.repairs ?? noRepairs;
    this.startedAt = options.now();
    this.#options = options;
  }

  /** Reports of its endpoints; once it has ended, none is pending. */
  get reports(): readonly SourceReport[] {
    return this.end ? endedReports(this.sources.values()) : [...this.sources.values()];
  }

  /** Ends the run; later calls change nothing. */
  finish(end: RunEnd): void {
    if (this.end) return;
    this.end = end;
    this.call = undefined;
    if (end.error?.code === "DEADLINE_EXCEEDED") this.#endSources(end.error.code);
    this.durationMs = this.#options.now() - this.startedAt;
    this.#options.onFinish(this, this.durationMs);
  }

  /** Endpoints that have not ended when the query's time is over have timed out, whoever notices it first. */
  #endSources(reason: ErrorCode): void {
    for (const report of this.sources.values()) {
      if (report.status === "pending") noteStatus(report, "timeout", reason);
    }
  }
}

const noRepairs: readonly Repair[] = [];
const none: readonly string[] = [];

/** The records of the latest runs, in bounded memory. */
export function createRunLog({ onFinish, ...rest }: RunLogOptions) {
  // A ring: the id of a run shows its position.
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
  const at = (id: string): Run | undefined => {
    const run = runs[Number.parseInt(id, 36)];
    return run?.id === id ? run : undefined;
  };
  const kept = (from: number, to: number): readonly OwnedRecord[] => runs.slice(from, to).map(toRecord);
  return {
    open(plan: QueryPlan, planned: PlannedQuery, whose: Whose = {}): Run {
      const run = new Run({ place: next, plan, planned }, whose, options);
      running += 1;
      runs[next] = run;
      options.onChange?.(next);
      next = (next + 1) % options.keep;
      return run;
    },
    /** Notes in the records of the answers that it touches that a fact was wrong. */
    refuted(refutation: Refutation): void {
      for (const run of runs) {
        if (!isTouched(run, refutation)) continue;
        run.refuted = [...new Set([...run.refuted, refutation.endpoint])];
        options.onChange?.(run.place);
      }
    },
    record(id: string): OwnedRecord | undefined {
      const run = at(id);
      return run && toRecord(run);
    },
    /** Ends a run; false when there is no such run under way. */
    cancel(id: string, reason: FedwayError): boolean {
      const call = at(id)?.call;
      call?.cancel(reason);
      return call !== undefined;
    },
    /** Records at the positions from `from` to before `to`. */
    records: kept,
    /** Runs that are not finished. */
    get running(): number {
      return running;
    },
  };
}

export type RunLog = ReturnType<typeof createRunLog>;

function toRecord(run: Run): OwnedRecord {
  const { id, startedAt, durationMs, plan, planned, reports, end } = run;
  const { hash: queryHash, query, endpoint, federation } = planned;
  return {
    id,
    startedAt: new Date(startedAt).toISOString(),
    plan: plan.kind,
    queryHash,
    status: end?.status ?? "running",
    partial: end?.partial,
    rows: end?.rows,
    bytes: reports.reduce((sum, { bytes }) => sum + bytes, 0),
    durationMs: durationMs === undefined ? undefined : Math.round(durationMs * 1000) / 1000,
    sources: reports,
    steps: plan.kind === "federated" ? [...run.steps.values()] : undefined,
    code: end?.error?.code,
    detail: end?.error?.message,
    notes: notesOf(plan, end?.status, reports),
    facts: shownFacts(run),
    owner: ownerDigest(run.owner),
    client: clientOf(run.owner),
    asked: { query, endpoint, federation, session: run.session, repairs: run.repairs },
  };
}

/** The record as somebody may see it who is `owner`. */
export function shownTo(owner: string | undefined, { owner: its, asked, ...record }: OwnedRecord): RunRecord {
  if (its === ownerDigest(owner)) return { ...record, asked };
  return {
    ...record,
    client: owner === "admin" ? record.client : undefined,
    steps: record.steps?.map((step) => ({ ...step, pattern: undefined })),
  };
}

/** An owner as stored: without addresses and tokens, which readers of the store need not see. */
export function ownerDigest(owner: string | undefined): string | undefined {
  return owner === undefined ? undefined : createHash("sha256").update(owner).digest("hex").slice(0, 32);
}

/** Notes for the reader of an answer with this status; notes on sources as known by now. */
export function notesOf(
  plan: QueryPlan,
  status: RunStatus | undefined,
  sources: Iterable<SourceReport> = [],
): readonly PlanNote[] {
  if (plan.kind === "rejected") return [];
  const ifEmpty = status === "empty" ? (plan.notesIfEmpty ?? []) : [];
  return [...plan.notes, ...ifEmpty, ...sourceNotes([...sources])];
}

/** How a run that delivered its whole answer ended; `rows` undefined is unknown, which is not empty. */
export function completed(plan: QueryPlan, bounds: Contributions, rows: number | undefined): RunEnd {
  const partial = partialKind(plan, bounds);
  if (partial) return { status: "partial", partial, rows };
  return { status: rows === 0 ? "empty" : "ok", rows };
}

/** How a run ended that broke off or never began. */
export function brokenOff(error: FedwayError): RunEnd {
  return { status: error.code === "CANCELLED" ? "cancelled" : "failed", error };
}

/** Status at the first byte: a verdict on a whole answer, `running` for one that still streams. */
export function firstByteEnd(
  plan: QueryPlan,
  bounds: Contributions,
  { whole, rows }: { readonly whole: boolean; readonly rows: number | undefined },
): RunEnd {
  const end = completed(plan, bounds, rows);
  return whole || end.status === "partial" ? end : { status: "running" };
}
