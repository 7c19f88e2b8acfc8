import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { FedwayError } from "../errors/fedway-error.ts";
import type { SourceReport } from "../engine/federation-engine.ts";
import type { QueryPlan } from "../plan/query-plan.ts";
import type { RunRecord, RunStatus } from "./query-service.ts";

/** A run under way. */
export interface Run {
  readonly id: string;
  readonly sources: Map<string, SourceReport>;
  /** Ends the run; later calls change nothing. */
  readonly finish: (end: RunEnd) => void;
}

/** How a run ended. */
export interface RunEnd {
  readonly status: RunStatus;
  readonly rows?: number;
  readonly error?: FedwayError;
}

/** Opens runs and keeps the records of the latest ones. */
export interface RunLog {
  readonly open: (plan: QueryPlan, queryHash: string) => Run;
  record(id: string): RunRecord | undefined;
  /** Runs that are not finished. */
  readonly running: number;
}

/** What the log works with. */
export interface RunLogOptions {
  /** Records kept; the oldest are dropped. */
  readonly keep: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told of every finished run; duration in milliseconds. */
  readonly onFinish: (run: {
    readonly plan: QueryPlan["kind"];
    readonly status: RunStatus;
    readonly durationMs: number;
  }) => void;
}

/** What is kept of a run; the public record is made of it when somebody asks. */
interface Entry {
  readonly id: string;
  readonly startedAt: number;
  readonly plan: QueryPlan;
  readonly queryHash: string;
  readonly sources: Map<string, SourceReport>;
  end: (RunEnd & { readonly durationMs: number }) | undefined;
}

/** Creates a log in bounded memory. */
export function createRunLog({ keep, now, onFinish }: RunLogOptions): RunLog {
  const entries = new LRUCache<string, Entry>({ max: keep });
  let running = 0;

  function open(plan: QueryPlan, queryHash: string): Run {
    const entry: Entry = {
      id: randomUUID(),
      startedAt: now(),
      plan,
      queryHash,
      sources: new Map(),
      end: undefined,
    };
    entries.set(entry.id, entry);
    running++;
    return {
      id: entry.id,
      sources: entry.sources,
      finish(end) {
        if (entry.end) return;
        running--;
        const durationMs = now() - entry.startedAt;
        entry.end = { ...end, durationMs };
        onFinish({ plan: plan.kind, status: end.status, durationMs });
      },
    };
  }

  return {
    open,
    record(id) {
      const entry = entries.get(id);
      return entry && toRecord(entry);
    },
    get running() {
      return running;
    },
  };
}

function toRecord({ id, startedAt, plan, queryHash, sources, end }: Entry): RunRecord {
  const reports = [...sources.values()];
  return {
    id,
    startedAt: new Date(startedAt).toISOString(),
    plan: plan.kind,
    queryHash,
    status: end?.status ?? "running",
    ...(end?.rows !== undefined && { rows: end.rows }),
    bytes: reports.reduce((sum, { bytes }) => sum + bytes, 0),
    ...(end && { durationMs: Math.round(end.durationMs * 1000) / 1000 }),
    sources: reports,
    ...(end?.error && { code: end.error.code, detail: end.error.message }),
    notes: plan.kind === "rejected" ? [] : plan.notes,
  };
}
