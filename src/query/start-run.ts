import { createHash } from "node:crypto";
import type { ExecutionBounds } from "../engine/federation-engine.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { Planner } from "../plan/create-planner.ts";
import type { QueryPlan } from "../plan/query-plan.ts";
import type { Admission } from "./admission.ts";
import type { QueryRequest } from "./query-service.ts";
import { type Run, type RunEnd, type RunLog, brokenOff } from "./run-log.ts";
import type { Span, Tracer } from "../telemetry/tracing.ts";

/** What runs are started with. */
export interface RunStarterOptions {
  readonly planner: Planner;
  readonly log: RunLog;
  readonly admission: Admission;
  readonly limits: { readonly timeoutMs: number };
  readonly onPlan: (cached: boolean) => void;
  /** Called with the error of a failed run. */
  readonly onFailure: (error: FedwayError, run: string) => void;
  readonly now: () => number;
  /** Makes one span of each run; absent: none. */
  readonly tracer?: Tracer | undefined;
}

/** A run from its plan to its end; durations in milliseconds. A class, because one is made for every query. */
export class StartedRun {
  readonly id: string;
  readonly plan: QueryPlan;
  /** The plan came from the cache. */
  readonly cached: boolean;
  readonly bounds: ExecutionBounds;
  readonly planMs: number;
  /** When execution began, on the clock. */
  readonly executedAt: number;
  readonly #run: Run;
  readonly #deadline: Deadline;
  readonly #span: Span | undefined;
  readonly #options: RunStarterOptions;

  /** Plans the request and opens its run. @throws FedwayError what the planner throws */
  constructor(request: QueryRequest, options: RunStarterOptions) {
    const { planner, log, tracer, now } = options;
    const startedAt = now();
    const { plan, cached } = planner.plan(request);
    options.onPlan(cached);
    this.#run = log.open(plan, hashOf(plan, request.text));
    this.#span = tracer?.startSpan("run", {
      parent: request.trace,
      attributes: { "fedway.run": this.#run.id, "fedway.plan": plan.kind, "fedway.plan_cached": cached },
    });
    const start = plan.kind === "direct" && !plan.silent ? requestDeadline : startDeadline;
    this.#deadline = start(request.signal, timeoutOf(request, options), now);
    this.#options = options;
    this.id = this.#run.id;
    this.plan = plan;
    this.cached = cached;
    const { signal, atMs: deadlineMs } = this.#deadline;
    const { partial, client } = request;
    this.bounds = { signal, deadlineMs, partial, client, sources: this.#run.sources, trace: this.#span?.context };
    this.executedAt = now();
    this.planMs = this.executedAt - startedAt;
    this.#span?.setAttribute("fedway.plan_ms", this.planMs);
  }

  /** Ends the run; only the first end counts. */
  end(how: RunEnd): void {
    this.#deadline.clear();
    this.#run.finish(how);
    this.#span?.setAttribute("fedway.status", how.status);
    this.#span?.end(how.error?.code);
  }

  /** Ends the run with a failure and gives the error to report. */
  fail(thrown: unknown): FedwayError {
    // What ended everything is the cause of whatever failed after it.
    const { reason } = this.#deadline.signal as { readonly reason: unknown };
    const error = toFedwayError(reason instanceof FedwayError ? reason : thrown);
    this.end(brokenOff(error));
    this.#options.onFailure(error, this.id);
    return error;
  }
}

// A plan comes from the cache with the text it was made for.
const hashes = new WeakMap<QueryPlan, string>();

function hashOf(plan: QueryPlan, text: string): string {
  let hash = hashes.get(plan);
  if (hash === undefined) {
    hash = createHash("sha256").update(text).digest("hex");
    hashes.set(plan, hash);
  }
  return hash;
}

const timeoutOf = ({ timeoutMs }: QueryRequest, { limits }: RunStarterOptions): number =>
  Math.min(timeoutMs ?? limits.timeoutMs, limits.timeoutMs);

/** `Admission.enter` for a request; `startRun` comes next. */
export const enterQueue = (request: QueryRequest, options: RunStarterOptions): Promise<void> | undefined =>
  options.admission.enter({
    characters: request.text.length,
    timeoutMs: timeoutOf(request, options),
    signal: request.signal,
  });

/** Plans a query that was let in and opens its run; the log's `onFinish` calls `admission.leave`. @throws FedwayError what the planner throws */
export function startRun(request: QueryRequest, options: RunStarterOptions): StartedRun {
  try {
    return new StartedRun(request, options);
  } catch (error) {
    options.admission.leave();
    throw error;
  }
}

/** One time limit and one way to stop for everything that a query starts. */
interface Deadline {
  /** Moment on the clock, milliseconds. */
  readonly atMs: number;
  /** Aborted by the client's leaving, by the deadline or by `cancel`, with a `FedwayError` as reason. */
  readonly signal: AbortSignal;
  /** Takes back the timer; call when the query is over. */
  clear(): void;
}

/** The deadline of a plan whose only work is one request, which the outbound client ends. Costs no timer. */
function requestDeadline(client: AbortSignal, timeoutMs: number, now: () => number): Deadline {
  return { atMs: now() + timeoutMs, signal: client, clear: () => {} };
}

/** Starts the clock of a query; `client` is aborted when its client has gone. */
function startDeadline(client: AbortSignal, timeoutMs: number, now: () => number): Deadline {
  const controller = new AbortController();
  const leave = () => controller.abort(new FedwayError("CANCELLED", "The client closed the request."));
  const timer = setTimeout(() => {
    controller.abort(
      new FedwayError("DEADLINE_EXCEEDED", `The query did not finish within ${timeoutMs} ms.`, {
        fault: "timeout",
        next: "Narrow the query, raise the timeout (up to the service's limit), or ask with partial=true.",
      }),
    );
  }, timeoutMs);
  if (client.aborted) leave();
  else client.addEventListener("abort", leave, { once: true });
  return {
    atMs: now() + timeoutMs,
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      client.removeEventListener("abort", leave);
    },
  };
}
