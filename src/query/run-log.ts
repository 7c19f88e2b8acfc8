import { createHash, randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { LRUCache } from "lru-cache";
import type { ErrorCode } from "../errors/codes.ts";
import type { FedwayError, Repair } from "../errors/fedway-error.ts";
import { clientOf } from "../clients/client-name.ts";
import { endedReports, noteStatus } from "../engine/executor.ts";
import type { SourceReport, StepReports } from "../engine/reports.ts";
import { type Contributions, partialKind, type PartialKind } from "../engine/completeness.ts";
import type { PlanNote, QueryPlan } from "../plan/query-plan.ts";
import type { Exclusions } from "../plan/source-selection.ts";
import type { PrunedKeys } from "../plan/pruned-keys.ts";
import { notesOf, type PlanOutline, planNotes } from "./answer-notes.ts";
import type { Refutation } from "./verified-answer.ts";
import { isTouched, shownFacts } from "./chosen-by.ts";
import type { AskedQuery, ChosenBy, RunRecord, RunStatus } from "./records.ts";
import type { Admitted } from "./admission.ts";
import { type SlowLog, slowRun } from "./slow-log.ts";

export { lacksRows } from "../engine/completeness.ts";

/** A record with its owner, as `ownerDigest` names him; never shown as it is. */
export interface OwnedRecord extends RunRecord {
  readonly owner?: string | undefined;
}

/** An end without the causes of its error, which may hold anything. */
interface KeptEnd {
  readonly status: RunStatus;
  readonly partial?: PartialKind | undefined;
  readonly rows?: number | undefined;
  readonly error?: { readonly code: ErrorCode; readonly message: string } | undefined;
}

/** How a run ended. */
export interface RunEnd extends KeptEnd {
  readonly error?: FedwayError;
}

/** Options of the log. */
interface RunLogOptions {
  /** Records kept; the oldest are dropped. */
  readonly keep: number;
  /** Bytes of the records of runs that have ended, as estimated; default 32 MiB. Those that ended first are dropped. */
  readonly keepBytes?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Part of every id, so that other processes know whose run it is. */
  readonly name?: string | undefined;
  /** Called with the place of every run that begins or ends, or is dropped for its bytes. */
  readonly onChange?: ((place: number) => void) | undefined;
  /** Called once for every finished run, which still has its plan. */
  readonly onFinish: (run: Run, durationMs: number) => void;
  /** Absent: slow queries are not logged. */
  readonly slow?: SlowLog | undefined;
}

/** Query that all runs of one plan share; kept once for them all. */
export interface PlannedQuery {
  /** SHA-256 of the text. */
  readonly hash: string;
  /** Absent where it is too long to be kept. */
  readonly query?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly federation?: string | undefined;
}

/** The owner of a query, and the session that he has put it into. */
export interface SessionOwner {
  /** Owner of the query, such as an address: owners take turns where queries wait, and see the text in the run's record. */
  readonly owner?: string | undefined;
  /** Session id chosen by the client; groups its queries, never shown to others. */
  readonly session?: string | undefined;
}

/** Sender of a query, and its reason. */
export interface Sender extends SessionOwner {
  /** Question that it answers, where that may be kept with its text. */
  readonly question?: string | undefined;
  /** Earlier repairs of the text, for the run's record. */
  readonly repairs?: readonly Repair[] | undefined;
}

/** A run and what is kept of it; its public record is made on demand. A class, because one is made for every query. */
export class Run {
  readonly id: string;
  readonly place: number;
  readonly sources = new Map<string, SourceReport>();
  readonly steps: StepReports = new Map();
  /** Undefined once it has ended: a plan is as large as its query. */
  plan: QueryPlan | undefined;
  /** Parts of the plan that records show; of a run under way as they are in the plan. */
  outline: PlanOutline;
  /** Parts left out of the answer by facts. */
  exclusions: Exclusions | undefined;
  /** Questions that copies of triples spared its members; absent where its plan leaves none out. */
  pruned: PrunedKeys | undefined;
  facts: ChosenBy | undefined;
  /** Endpoints whose facts turned out to be wrong. */
  refuted: readonly string[] = none;
  readonly planned: PlannedQuery;
  readonly owner: string | undefined;
  readonly session: string | undefined;
  /** Until it has ended. */
  question: string | undefined;
  readonly repairs: readonly Repair[];
  readonly startedAt: number;
  durationMs: number | undefined;
  end: KeptEnd | undefined;
  /** The call that it is part of, while it is under way. */
  call: Admitted | undefined;
  readonly #options: RunLogOptions;

  constructor(
    { place, plan, planned }: { readonly place: number; readonly plan: QueryPlan; readonly planned: PlannedQuery },
    whose: Sender,
    options: RunLogOptions,
  ) {
    const process = options.name === undefined ? "" : `${options.name}-`;
    this.id = `${place.toString(36)}-${process}${randomUUID()}`;
    this.place = place;
    this.plan = plan;
    this.outline = { kind: plan.kind, notes: planNotes(plan, undefined) };
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

  /** Puts another plan in the place of its own. */
  replan(plan: QueryPlan): void {
    this.plan = plan;
    this.outline = { kind: plan.kind, notes: planNotes(plan, undefined) };
  }

  /** Ends the run; later calls change nothing. */
  finish(end: RunEnd): void {
    if (this.end) return;
    this.end = end;
    this.call = undefined;
    if (end.error?.code === "DEADLINE_EXCEEDED") this.#endSources(end.error.code);
    this.durationMs = this.#options.now() - this.startedAt;
    if (this.plan) this.outline = { kind: this.plan.kind, notes: planNotes(this.plan, end.status).map(shortNote) };
    this.#options.onFinish(this, this.durationMs);
    this.plan = undefined;
    this.question = undefined;
    this.end = { ...end, error: end.error && { code: end.error.code, message: cut(end.error.message) } };
  }

  /** Endpoints that have not ended when the query's time is over have timed out, whoever notices it first. */
  #endSources(reason: ErrorCode): void {
    for (const report of this.sources.values()) {
      if (report.status === "pending") noteStatus(report, "timeout", reason);
    }
  }
}

/** Characters of a message that a record keeps. */
const longestMessage = 4_000;
const cut = (text: string): string => (text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text);

/** A long query to send instead is for the answer: the record has the query that was sent. */
const shortNote = ({ code, message, query, statements }: PlanNote): PlanNote => ({
  code,
  message: cut(message),
  ...(statements && { statements }),
  ...(query !== undefined && query.length <= longestMessage && { query }),
});

const noRepairs: readonly Repair[] = [];
const none: readonly string[] = [];

/** Bytes of all records. */
const defaultKeepBytes = 32 * 1024 * 1024;

/** The records of the latest runs, in bounded memory. */
export function createRunLog({ onFinish, slow, keepBytes = defaultKeepBytes, ...rest }: RunLogOptions) {
  // A ring: the id of a run shows its position.
  const runs: (Run | undefined)[] = [];
  let next = 0;
  let running = 0;
  const ends = new EventEmitter().setMaxListeners(0);
  // In the order of their ends; runs under way are bounded by admission.
  const ended = new LRUCache<number, Run>({
    maxSize: keepBytes,
    dispose(run, place) {
      if (runs[place] !== run) return;
      runs[place] = undefined;
      rest.onChange?.(place);
    },
  });
  const options: RunLogOptions = {
    ...rest,
    onFinish(run, durationMs) {
      running -= 1;
      rest.onChange?.(run.place);
      onFinish(run, durationMs);
      if (slow && durationMs >= slow.ms) slow.write(slowRun(run, durationMs));
      ends.emit(run.id);
      if (runs[run.place] === run) ended.set(run.place, run, { size: Math.min(keptBytes(run), keepBytes) });
    },
  };
  const at = (id: string): Run | undefined => {
    const run = runs[Number.parseInt(id, 36)];
    return run?.id === id ? run : undefined;
  };
  const kept = (from: number, to: number): readonly OwnedRecord[] =>
    runs.slice(from, to).flatMap((run) => (run ? toRecord(run) : []));
  return {
    open(plan: QueryPlan, planned: PlannedQuery, whose: Sender = {}): Run {
      const run = new Run({ place: next, plan, planned }, whose, options);
      running += 1;
      ended.delete(next);
      runs[next] = run;
      options.onChange?.(next);
      next = (next + 1) % options.keep;
      return run;
    },
    /** Notes in the records of the answers that it touches that a fact was wrong. */
    refuted(refutation: Refutation): void {
      for (const run of runs) {
        if (run === undefined || !isTouched(run, refutation)) continue;
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
    /** Emits the id of each run that has ended. */
    ends,
    /** Runs that are not finished. */
    get running(): number {
      return running;
    },
  };
}

export type RunLog = ReturnType<typeof createRunLog>;

/** Estimate: two bytes a character of each text, and a kilobyte for the rest. */
function keptBytes({ planned, repairs, session = "", sources, steps, outline, exclusions, end, pruned }: Run): number {
  const characters = recordLength({
    sources: [...sources.values()],
    notes: outline.notes,
    steps: [...steps.values()],
    detail: end?.error?.message,
    asked: { query: planned.query, repairs },
  });
  const excluded = (exclusions?.list ?? []).flatMap(({ patterns }) => patterns);
  const patterns = excluded.reduce((sum, { key, text }) => sum + key.length + text.length + 150, 0);
  return 1024 + 2 * (characters + session.length + patterns + 64 * (pruned?.endpoints.length ?? 0));
}

/** Endpoints, notes and messages come from queries and have no bound of their own; each has some 150 characters around it. */
export function recordLength({
  sources,
  notes,
  steps = [],
  detail = "",
  asked,
}: Pick<OwnedRecord, "sources" | "notes" | "steps" | "detail"> & {
  readonly asked?: Pick<AskedQuery, "query" | "repairs"> | undefined;
}): number {
  const texts = [
    ...(asked?.repairs ?? []).map(({ before, after }) => before.length + after.length + 150),
    ...sources.map(({ endpoint, reason = "" }) => endpoint.length + reason.length + 150),
    ...notes.map(({ message, query = "" }) => message.length + query.length + 150),
    ...steps.map(({ pattern = "", endpoints }) => pattern.length + 64 * endpoints.length + 150),
  ];
  return texts.reduce((sum, length) => sum + length, detail.length + (asked?.query?.length ?? 0) + 300);
}

function toRecord(run: Run): OwnedRecord {
  const { id, startedAt, durationMs, outline, planned, reports, end } = run;
  const { hash: queryHash, query, endpoint, federation } = planned;
  return {
    id,
    startedAt: new Date(startedAt).toISOString(),
    plan: outline.kind,
    queryHash,
    status: end?.status ?? "running",
    partial: end?.partial,
    rows: end?.rows,
    bytes: reports.reduce((sum, { bytes }) => sum + bytes, 0),
    durationMs: durationMs === undefined ? undefined : Math.round(durationMs * 1000) / 1000,
    sources: reports,
    steps: outline.kind === "federated" ? [...run.steps.values()] : undefined,
    code: end?.error?.code,
    detail: end?.error?.message,
    notes: notesOf(outline.notes, reports, run.facts),
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

/** A text as records name it where it is not shown: SHA-256, hexadecimal. */
export const textHash = (text: string): string => createHash("sha256").update(text).digest("hex");

/** An owner as stored: without addresses and tokens, which readers of the store need not see. */
export function ownerDigest(owner: string | undefined): string | undefined {
  return owner === undefined ? undefined : textHash(owner).slice(0, 32);
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
