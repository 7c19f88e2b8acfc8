import { createHash } from "node:crypto";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { Planner } from "../plan/create-planner.ts";
import type { QueryPlan } from "../plan/query-plan.ts";
import { noTable, type Started, toQueryAnswer, toTabularAnswer, wantedFormat } from "./answers.ts";
import { startDeadline, transportDeadline } from "./deadline.ts";
import { toPlanDescription } from "./describe-plan.ts";
import { evaluate, type Executors, fetchAnswer } from "./evaluate.ts";
import type { QueryAnswer, QueryRequest, QueryService, TabularAnswer } from "./query-service.ts";
import { createRunLog } from "./run-log.ts";
import { tabulate } from "./tabulate.ts";
import { brokenOff, completed } from "./verdict.ts";

/** What the use case is made of. */
export interface QueryServiceOptions extends Executors {
  readonly planner: Planner;
  readonly limits: {
    readonly timeoutMs: number;
    readonly maxRows: number;
    readonly maxConcurrent: number;
    readonly runs: number;
  };
  readonly metrics: {
    observeRun(plan: string, status: string, seconds: number): void;
    observePlan(cached: boolean): void;
  };
  /** Milliseconds since the epoch, with fractions; the clock of all deadlines. */
  readonly now: () => number;
}

/** Creates the use case over a planner and the two ways to execute a plan. */
export function createQueryService(options: QueryServiceOptions): QueryService {
  const { planner, limits, metrics, now } = options;
  const log = createRunLog({
    keep: limits.runs,
    now,
    onFinish: ({ plan, status, durationMs }) => metrics.observeRun(plan, status, durationMs / 1000),
  });
  const runs = new WeakMap<Error, string>();
  const hashes = new WeakMap<QueryPlan, string>();

  // A plan comes from the cache with the text it was made for.
  function hashOf(plan: QueryPlan, text: string): string {
    const hash = hashes.get(plan) ?? createHash("sha256").update(text).digest("hex");
    hashes.set(plan, hash);
    return hash;
  }

  /** Plans, and opens the run of a plan that can be executed. */
  function begin(request: QueryRequest): Started {
    const startedAt = now();
    const { plan, cached } = planner.plan(request);
    metrics.observePlan(cached);
    if (log.running >= limits.maxConcurrent) {
      throw new FedwayError("SERVICE_BUSY", `${limits.maxConcurrent} queries are running already.`, {
        retryAfterMs: 1_000,
        next: "Try again in a moment.",
      });
    }
    const run = log.open(plan, hashOf(plan, request.text));
    const timeoutMs = Math.min(request.timeoutMs ?? limits.timeoutMs, limits.timeoutMs);
    const start = plan.kind === "direct" && !plan.silent ? transportDeadline : startDeadline;
    const deadline = start(request.signal, timeoutMs, now);
    const { sources } = run;
    const bounds = { signal: deadline.signal, deadlineMs: deadline.atMs, partial: request.partial, sources };
    return { plan, cached, run, deadline, bounds, planMs: now() - startedAt, executedAt: now() };
  }

  /** Ends a run that failed; the error remembers it. */
  function fail({ run, deadline }: Started, thrown: unknown): FedwayError {
    // What ended everything is the cause of whatever failed after it.
    const error = toFedwayError(deadline.signal.reason instanceof FedwayError ? deadline.signal.reason : thrown);
    deadline.clear();
    run.finish(brokenOff(error));
    runs.set(error, run.id);
    return error;
  }

  async function run(request: QueryRequest): Promise<QueryAnswer> {
    const started = begin(request);
    const { plan, bounds } = started;
    try {
      const format = wantedFormat(plan, request);
      const { acceptEncoding } = request;
      const wish = { format, ...(acceptEncoding !== undefined && { acceptEncoding }) };
      const answer = await fetchAnswer(options, plan, { wish, bounds });
      answer.end.then(
        (rows) => finish(started, rows),
        (error) => fail(started, error),
      );
      return toQueryAnswer(started, answer, { format, firstByteMs: now() - started.executedAt });
    } catch (error) {
      throw fail(started, error);
    }
  }

  function finish({ run, deadline }: Started, rows: number | undefined): void {
    deadline.clear();
    run.finish(completed(run.sources.values(), rows));
  }

  async function table(request: QueryRequest & { readonly maxRows: number }): Promise<TabularAnswer> {
    const started = begin(request);
    const { plan, bounds } = started;
    try {
      const result = await evaluate(options, plan, bounds);
      const tabular = await tabulate(result, Math.min(request.maxRows, limits.maxRows));
      if (tabular.error) return toTabularAnswer(started, tabular, fail(started, tabular.error));
      finish(started, tabular.boolean === undefined ? tabular.rows.length : undefined);
      return toTabularAnswer(started, tabular);
    } catch (error) {
      return toTabularAnswer(started, noTable, fail(started, error));
    }
  }

  return {
    run,
    table,
    explain: (request) => toPlanDescription(planner.plan(request).plan),
    runRecord: (id) => log.record(id),
    runOf: (error) => (error instanceof Error ? runs.get(error) : undefined),
    get running() {
      return log.running;
    },
  };
}
