import type { Planner } from "../plan/create-planner.ts";
import { createAdmission } from "./admission.ts";
import { noTable, toQueryAnswer, toTabularAnswer, wantedFormat } from "./answers.ts";
import { toPlanDescription } from "./describe-plan.ts";
import { evaluate, type Executors, fetchAnswer } from "./evaluate.ts";
import type { QueryAnswer, QueryRequest, QueryService, TabularAnswer } from "./query-service.ts";
import { createRunLog } from "./run-log.ts";
import { type SharedRunsOptions, shareRuns } from "./shared-runs.ts";
import { createRunStarter, type RunStarter } from "./start-run.ts";
import { tabulate } from "./tabulate.ts";
import type { Tracer } from "../telemetry/tracing.ts";
import { completed } from "./verdict.ts";

/** What the use case is made of. */
export interface QueryServiceOptions extends Executors {
  readonly planner: Planner;
  readonly limits: {
    readonly timeoutMs: number;
    readonly maxRows: number;
    readonly maxConcurrent: number;
    /** Longest wait of a query that is one too many; default 3,000. */
    readonly maxWaitMs?: number;
    readonly runs: number;
  };
  readonly metrics: {
    observeRun(plan: string, status: string, seconds: number): void;
    observePlan(cached: boolean): void;
  };
  /** Milliseconds since the epoch, with fractions; the clock of all deadlines. */
  readonly now: () => number;
  /** Where several processes share the records of their runs; absent: each query is answered by this one. */
  readonly sharedStore?: SharedRunsOptions["store"] | undefined;
  /** Absent: no traces. */
  readonly tracer?: Tracer | undefined;
}

/** Creates the use case over a planner and the two ways to execute a plan; whoever does closes it at the end. */
export function createQueryService(options: QueryServiceOptions): QueryService & { close(): Promise<void> } {
  const { planner, limits, metrics, now, sharedStore: store } = options;
  const runs = new WeakMap<Error, string>();
  const admission = createAdmission(limits);
  const { timeoutMs } = limits;
  const shared = store && shareRuns({ store, records: (from, to) => log.records(from, to), timeoutMs, now });
  const log = createRunLog({
    keep: limits.runs,
    now,
    name: shared?.name,
    onChange: shared && ((place) => shared.changed(place)),
    onFinish({ plan, status, durationMs }) {
      admission.leave();
      metrics.observeRun(plan, status, durationMs / 1000);
    },
  });
  const starter = createRunStarter({
    planner,
    log,
    admission,
    limits,
    now,
    onPlan: (cached) => metrics.observePlan(cached),
    onFailure: (error, run) => runs.set(error, run),
    tracer: options.tracer,
  });
  return {
    run: (request) => answerQuery(options, starter, request),
    table: (request) => answerTable(options, starter, request),
    explain: (request) => toPlanDescription(planner.plan(request).plan),
    runRecord: async (id) => log.record(id) ?? shared?.find(id),
    runOf: (error) => (error instanceof Error ? runs.get(error) : undefined),
    get running() {
      return log.running;
    },
    close: async () => shared?.close(),
  };
}

async function answerQuery(
  options: QueryServiceOptions,
  starter: RunStarter,
  request: QueryRequest,
): Promise<QueryAnswer> {
  const waiting = starter.enter(request);
  if (waiting !== undefined) await waiting;
  const run = starter.start(request);
  const { plan, bounds } = run;
  try {
    const format = wantedFormat(plan, request);
    const accepted = { format, acceptEncoding: request.acceptEncoding };
    const answer = await fetchAnswer(options, plan, { accepted, bounds });
    const complete = (rows: number | undefined): void => run.end(completed(bounds.sources.values(), rows));
    if (answer.end === undefined) complete(answer.rows);
    else answer.end.then(complete, (error: unknown) => run.fail(error));
    return toQueryAnswer(run, answer, { format, firstByteMs: options.now() - run.executedAt });
  } catch (error) {
    throw run.fail(error);
  }
}

async function answerTable(
  options: QueryServiceOptions,
  starter: RunStarter,
  request: QueryRequest & { readonly maxRows: number },
): Promise<TabularAnswer> {
  await starter.enter(request);
  const run = starter.start(request);
  try {
    const result = await evaluate(options, run.plan, run.bounds);
    return toTabularAnswer(run, await tabulate(result, Math.min(request.maxRows, options.limits.maxRows)));
  } catch (error) {
    return toTabularAnswer(run, noTable, error);
  }
}
