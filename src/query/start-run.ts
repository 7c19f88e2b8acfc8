import { createHash } from "node:crypto";
import type { ExecutionBounds } from "../engine/federation-engine.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { Planner } from "../plan/create-planner.ts";
import type { QueryPlan } from "../plan/query-plan.ts";
import type { Admission } from "./admission.ts";
import { type Deadline, startDeadline, transportDeadline } from "./deadline.ts";
import type { QueryRequest } from "./query-service.ts";
import type { Run, RunEnd, RunLog } from "./run-log.ts";
import type { Span, Tracer } from "../telemetry/tracing.ts";
import { brokenOff } from "./verdict.ts";

/** A run from its plan to its end. Durations in milliseconds. */
export interface StartedRun {
  readonly id: string;
  readonly plan: QueryPlan;
  /** The plan came from the cache. */
  readonly cached: boolean;
  readonly bounds: ExecutionBounds;
  readonly planMs: number;
  /** When execution began, on the clock. */
  readonly executedAt: number;
  /** Ends the run; only the first end counts. */
  end(end: RunEnd): void;
  /** Ends the run with a failure and gives the error to report. */
  fail(thrown: unknown): FedwayError;
}

/** What runs are started with. */
export interface RunStarterOptions {
  readonly planner: Planner;
  readonly log: RunLog;
  readonly admission: Admission;
  readonly limits: { readonly timeoutMs: number };
  readonly onPlan: (cached: boolean) => void;
  /** Told which run an error belongs to. */
  readonly onFailure: (error: FedwayError, run: string) => void;
  readonly now: () => number;
  /** Makes one span of each run; absent: none. */
  readonly tracer?: Tracer | undefined;
}

interface Opened {
  readonly run: Run;
  readonly deadline: Deadline;
  readonly plan: QueryPlan;
  readonly cached: boolean;
  readonly request: QueryRequest;
  readonly startedAt: number;
  readonly span: Span | undefined;
}

class Started implements StartedRun {
  readonly id: string;
  readonly plan: QueryPlan;
  readonly cached: boolean;
  readonly bounds: ExecutionBounds;
  readonly planMs: number;
  readonly executedAt: number;
  readonly #run: Run;
  readonly #deadline: Deadline;
  readonly #span: Span | undefined;
  readonly #options: RunStarterOptions;

  constructor({ run, deadline, plan, cached, request, startedAt, span }: Opened, options: RunStarterOptions) {
    this.id = run.id;
    this.plan = plan;
    this.cached = cached;
    const { signal, atMs: deadlineMs } = deadline;
    const { partial, client } = request;
    this.bounds = { signal, deadlineMs, partial, client, sources: run.sources, trace: span?.context };
    this.executedAt = options.now();
    this.planMs = this.executedAt - startedAt;
    this.#run = run;
    this.#deadline = deadline;
    this.#span = span;
    span?.setAttribute("fedway.plan_ms", this.planMs);
    this.#options = options;
  }

  end(how: RunEnd): void {
    this.#deadline.clear();
    this.#run.finish(how);
    this.#span?.setAttribute("fedway.status", how.status);
    this.#span?.end(how.error?.code);
  }

  fail(thrown: unknown): FedwayError {
    // What ended everything is the cause of whatever failed after it.
    const { reason } = this.#deadline.signal as { readonly reason: unknown };
    const error = toFedwayError(reason instanceof FedwayError ? reason : thrown);
    this.end(brokenOff(error));
    this.#options.onFailure(error, this.id);
    return error;
  }
}

/** Lets queries in, plans them and opens their runs; whoever is told of a run's end calls `admission.leave`. */
export interface RunStarter {
  /** As `Admission.enter`; `start` comes next. */
  enter(request: QueryRequest): Promise<void> | undefined;
  /** Comes once after `enter`; gives the place back when it throws. @throws FedwayError what the planner throws */
  start(request: QueryRequest): StartedRun;
}

/** Creates the starter of one service. */
export function createRunStarter(options: RunStarterOptions): RunStarter {
  const { planner, log, admission, limits, now } = options;
  // A plan comes from the cache with the text it was made for.
  const hashes = new WeakMap<QueryPlan, string>();
  const hashOf = (plan: QueryPlan, text: string): string => {
    let hash = hashes.get(plan);
    if (hash === undefined) {
      hash = createHash("sha256").update(text).digest("hex");
      hashes.set(plan, hash);
    }
    return hash;
  };

  const open = (request: QueryRequest): StartedRun => {
    const startedAt = now();
    const { plan, cached } = planner.plan(request);
    options.onPlan(cached);
    const run = log.open(plan, hashOf(plan, request.text));
    const span = options.tracer?.startSpan("run", {
      parent: request.trace,
      attributes: { "fedway.run": run.id, "fedway.plan": plan.kind, "fedway.plan_cached": cached },
    });
    const timeoutMs = timeoutOf(request);
    const start = plan.kind === "direct" && !plan.silent ? transportDeadline : startDeadline;
    const deadline = start(request.signal, timeoutMs, now);
    return new Started({ run, deadline, plan, cached, request, startedAt, span }, options);
  };
  const timeoutOf = ({ timeoutMs }: QueryRequest): number => Math.min(timeoutMs ?? limits.timeoutMs, limits.timeoutMs);
  return {
    enter: (request) =>
      admission.enter({ characters: request.text.length, timeoutMs: timeoutOf(request), signal: request.signal }),
    start(request) {
      try {
        return open(request);
      } catch (error) {
        admission.leave();
        throw error;
      }
    },
  };
}
