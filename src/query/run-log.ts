import { randomUUID } from "node:crypto";
import type { FedwayError } from "../errors/fedway-error.ts";
import type { SourceReport } from "../engine/federation-engine.ts";
import type { QueryPlan } from "../plan/query-plan.ts";
import type { RunRecord, RunStatus } from "./query-service.ts";

/** A run under way. */
export interface Run {
  readonly id: string;
  readonly sources: Map<string, SourceReport>;
  /** Ends the run; later calls change nothing. */
  finish(end: RunEnd): void;
}

/** How a run ended. */
export interface RunEnd {
  readonly status: RunStatus;
  readonly rows?: number | undefined;
  readonly error?: FedwayError;
}

/** Opens runs and keeps the records of the latest ones. */
export interface RunLog {
  open(plan: QueryPlan, queryHash: string): Run;
  record(id: string): RunRecord | undefined;
  /** What is kept at the places from `from` to before `to`. */
  records(from: number, to: number): readonly RunRecord[];
  /** Runs that are not finished. */
  readonly running: number;
}

/** What the log works with. */
export interface RunLogOptions {
  /** Records kept; the oldest are dropped. */
  readonly keep: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Part of every id, so that other processes know whose run it is. */
  readonly name?: string | undefined;
  /** Told of every run that begins or ends, by its place. */
  readonly onChange?: ((place: number) => void) | undefined;
  /** Told of every finished run; duration in milliseconds. */
  readonly onFinish: (run: {
    readonly plan: QueryPlan["kind"];
    readonly status: RunStatus;
    readonly durationMs: number;
  }) => void;
}

/** What all runs of one log share. */
interface Book {
  readonly options: RunLogOptions;
  readonly name: string;
  running: number;
}

/** A run and what is kept of it; the public record is made of it when somebody asks. A class, as one is made for every query. */
class LoggedRun implements Run {
  readonly id: string;
  readonly place: number;
  readonly sources = new Map<string, SourceReport>();
  readonly plan: QueryPlan;
  readonly queryHash: string;
  readonly startedAt: number;
  durationMs: number | undefined;
  end: RunEnd | undefined;
  readonly #book: Book;

  constructor({ place, plan, queryHash }: Pick<LoggedRun, "place" | "plan" | "queryHash">, book: Book) {
    this.id = `${place.toString(36)}-${book.name}${randomUUID()}`;
    this.place = place;
    this.plan = plan;
    this.queryHash = queryHash;
    this.startedAt = book.options.now();
    this.#book = book;
    book.running++;
  }

  finish(end: RunEnd): void {
    if (this.end) return;
    const { options } = this.#book;
    this.#book.running--;
    this.end = end;
    this.durationMs = options.now() - this.startedAt;
    options.onChange?.(this.place);
    options.onFinish({ plan: this.plan.kind, status: end.status, durationMs: this.durationMs });
  }
}

/** Creates a log in bounded memory. */
export function createRunLog(options: RunLogOptions): RunLog {
  // Once around, in the order of their beginning; the id tells the place. A map would be made anew every thousand runs.
  const runs: LoggedRun[] = [];
  let next = 0;
  const book: Book = { options, name: options.name === undefined ? "" : `${options.name}-`, running: 0 };
  return {
    open(plan, queryHash) {
      const run = new LoggedRun({ place: next, plan, queryHash }, book);
      runs[next] = run;
      options.onChange?.(next);
      next = (next + 1) % options.keep;
      return run;
    },
    record(id) {
      const run = runs[Number.parseInt(id, 36)];
      return run?.id === id ? toRecord(run) : undefined;
    },
    records: (from, to) => runs.slice(from, to).map(toRecord),
    get running() {
      return book.running;
    },
  };
}

function toRecord({ id, startedAt, durationMs, plan, queryHash, sources, end }: LoggedRun): RunRecord {
  const reports = [...sources.values()];
  return {
    id,
    startedAt: new Date(startedAt).toISOString(),
    plan: plan.kind,
    queryHash,
    status: end?.status ?? "running",
    ...(end?.rows !== undefined && { rows: end.rows }),
    bytes: reports.reduce((sum, { bytes }) => sum + bytes, 0),
    ...(durationMs !== undefined && { durationMs: Math.round(durationMs * 1000) / 1000 }),
    sources: reports,
    ...(end?.error && { code: end.error.code, detail: end.error.message }),
    notes: plan.kind === "rejected" ? [] : plan.notes,
  };
}
