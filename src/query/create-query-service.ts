import { type AnswerBytes, counted, type Executor } from "../engine/executor.ts";
import { FedwayError, type Problem, toFedwayError } from "../errors/fedway-error.ts";
import type { Planner } from "../plan/create-planner.ts";
import type { DirectPlan, FederatedPlan, QueryPlan } from "../plan/query-plan.ts";
import { type ResultFormat, resultFormats } from "../results/formats.ts";
import type { AnswerKind } from "../results/model.ts";
import { negotiateFormat } from "../results/negotiation.ts";
import type { Tracer } from "../telemetry/tracing.ts";
import type { Admission } from "./admission.ts";
import { toAnalyzedPlan, toTimedPlan } from "./explain.ts";
import { evaluatePlan, fetchPlan } from "./execute-plan.ts";
import { notesOf, planNotes } from "./answer-notes.ts";
import { type Execution, type SourceVerifier, verified } from "./verified-answer.ts";
import type { QueryAnswer, QueryRequest, QueryService, TableRequest } from "./query-service.ts";
import type { Store } from "../store/store.ts";
import { brokenOff, completed, createRunLog, type RunEnd, shownTo } from "./run-log.ts";
import { callsPlace, createRunControl } from "./run-control.ts";
import type { SlowLog } from "./slow-log.ts";
import { createSessionLog, type SessionUse } from "./session-log.ts";
import { shareRuns } from "./shared-runs.ts";
import { type RunContext, type StartedRun, startRun, timeoutOf } from "./start-run.ts";
import { cellsOfRow, isOfNothing, noTable, type TabularAnswer, tabulate, toTabularAnswer } from "./table.ts";

/** Parts of the use case. */
export interface QueryServiceOptions {
  readonly direct: Executor<DirectPlan>;
  readonly federated: Executor<FederatedPlan>;
  readonly planner: Planner;
  /** Verifies what plans leave out; absent: facts are believed. */
  readonly verifier?: SourceVerifier | undefined;
  readonly admission: Admission;
  readonly limits: {
    readonly timeoutMs: number;
    readonly maxRows: number;
    readonly runs: number;
    /** Most that the calls of one session may use in all. */
    readonly session?: SessionUse | undefined;
  };
  readonly metrics: {
    observeRun(plan: string, status: string, seconds: number): void;
    observePlan(cached: boolean): void;
    /** A query was refused with `SERVICE_BUSY`. */
    observeBusy(): void;
  };
  /** Called with the plan of each query that has ended. */
  readonly onUsed?: ((plan: QueryPlan) => void) | undefined;
  /** Absent: slow queries are not logged. */
  readonly slow?: SlowLog | undefined;
  /** Why a query with an empty answer has no solutions, within what is left of its time; absent: it is not asked. */
  readonly explainEmpty?: ((request: QueryRequest, timeoutMs: number) => Promise<Problem | null>) | undefined;
  /** The query that a text of wrong syntax was probably meant to be; absent: it is not looked for. */
  readonly mend?: ((request: QueryRequest) => Promise<string | undefined>) | undefined;
  /** True for an endpoint while this service cannot reach the network it is on; absent: unknown. */
  readonly isCutOff?: ((endpoint: string) => boolean) | undefined;
  /** Milliseconds since the epoch, with fractions; the clock of all deadlines. */
  readonly now: () => number;
  /** Where several processes share the records of their runs; absent: each query is answered by this one. */
  readonly sharedStore?: Pick<Store, "get" | "put" | "list" | "watch"> | undefined;
  /** Absent: no traces. */
  readonly tracer?: Tracer | undefined;
}

/** Creates the use case over a planner and the two ways to execute a plan; the caller closes it. */
export function createQueryService(options: QueryServiceOptions): QueryService & { close(): Promise<void> } {
  const { planner, limits, metrics, now, sharedStore: store } = options;
  const records = (from: number, to: number) => (from === callsPlace ? control.calls() : log.records(from, to));
  const shared = store && shareRuns({ store, records, timeoutMs: limits.timeoutMs, now });
  const log = createRunLog({
    keep: limits.runs,
    now,
    name: shared?.name,
    onChange: shared && ((place) => shared.changed(place)),
    onFinish(run, durationMs) {
      const { plan, outline, end } = run;
      metrics.observeRun(outline.kind, end?.status ?? "failed", durationMs / 1000);
      if (plan) options.onUsed?.(plan);
      if (run.session !== undefined) sessions.finished(run);
    },
    slow: options.slow,
  });
  const control = createRunControl({ log, admission: options.admission, shared, store, now });
  const sessions = createSessionLog({ now, store, name: shared?.name, budget: limits.session });
  const ignore = options.verifier?.onRefuted((refutation) => log.refuted(refutation));
  const failures = new WeakMap<Error, string>();
  const context: RunContext = { ...options, log, sessions, failures };
  return {
    run: (request) => orMended(answerQuery(request, context), request, options),
    async table(request) {
      const until = now() + timeoutOf(request, options);
      const table = await orMended(answerTable(request, context), request, options);
      const isComplete = table.status === "ok" || table.status === "empty";
      const isToBeExplained =
        request.explainEmpty === true && isComplete && isOfNothing(request.text, table.rows, table.boolean);
      return isToBeExplained
        ? { ...table, diagnosis: await whyEmpty(request, table.run, { ...options, until }) }
        : table;
    },
    async analyze(request) {
      const { id, plan } = await dropRows(request, context);
      const record = log.record(id);
      if (record === undefined) throw recordDropped();
      return toAnalyzedPlan(plan, shownTo(request.owner, record));
    },
    explain: (request) => toTimedPlan(planner.plan(request).plan),
    async runRecord(id, owner, { waitMs = 0 } = {}) {
      const record = await control.ended(id, waitMs);
      return record && shownTo(owner, record);
    },
    runs: (filter, viewer) => control.list(filter, viewer),
    cancel: (id, viewer) => control.cancel(id, viewer),
    sessions,
    runOf: (error) => (error instanceof Error ? failures.get(error) : undefined),
    get running() {
      return log.running;
    },
    async close() {
      ignore?.();
      control.close();
      await shared?.close();
      await sessions.close();
    },
  };
}

const recordDropped = (): FedwayError =>
  new FedwayError(
    "RUN_UNKNOWN",
    "The record was dropped, because more than FEDWAY_RUNS runs, or 32 MiB of them, ended meanwhile.",
    {
      next: "Analyze again.",
    },
  );

async function answerTable(request: TableRequest, context: RunContext): Promise<TabularAnswer> {
  const run = await startRun(request, context);
  const most = Math.min(request.maxRows, context.limits.maxRows);
  try {
    const table = run.oneRequest
      ? await tabulate(await context.direct.evaluate(run.oneRequest, run.bounds), most)
      : await verified(run, context.verifier, async (plan) => {
          const answer = await tabulate(await evaluatePlan(plan, run.bounds, context), most);
          const isComplete = answer.error === undefined && !answer.truncated;
          return { answer, isOfNothing: isComplete && isOfNothing(request.text, answer.rows, answer.boolean) };
        });
    return toTabularAnswer(run, table);
  } catch (error) {
    return toTabularAnswer(run, noTable, error);
  }
}

/** Runs a query to its end and keeps no row of it. */
async function dropRows(request: QueryRequest, context: RunContext): Promise<StartedRun> {
  const run = await startRun(request, context);
  try {
    const execute: Execution<number | undefined> = async (plan) => {
      const { result, count } = counted(await evaluatePlan(plan, run.bounds, context));
      const first: (readonly (string | null)[])[] = [];
      if (result.kind === "quads") await drained(result.quads);
      if (result.kind === "bindings") {
        await drained(result.rows, (row) => first.length > 1 || first.push(cellsOfRow(result.variables, row)));
      }
      const boolean = result.kind === "boolean" ? result.value : undefined;
      const isNone = result.kind === "quads" ? count() === 0 : isOfNothing(request.text, first, boolean);
      return { answer: count(), isOfNothing: isNone };
    };
    const rows = run.oneRequest
      ? (await execute(run.oneRequest, false)).answer
      : await verified(run, context.verifier, execute);
    run.end(completed(run.plan, run.bounds, rows));
  } catch (error) {
    run.fail(error);
  }
  return run;
}

async function drained<T>(items: AsyncIterable<T>, look?: (item: T) => unknown): Promise<void> {
  for await (const item of items) look?.(item);
}

/** The answer. @throws FedwayError `QUERY_SYNTAX` with the query that was probably meant */
async function orMended<Answer>(
  answer: Promise<Answer>,
  request: QueryRequest,
  { mend }: QueryServiceOptions,
): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof FedwayError) || error.code !== "QUERY_SYNTAX") throw error;
    const suggested = await mend?.(request);
    throw suggested === undefined ? error : new FedwayError(error.code, error.message, { ...error.details, suggested });
  }
}

/** Null when it is not known now: the answer is whole without it. */
async function whyEmpty(
  request: QueryRequest,
  run: string,
  { explainEmpty, until, now }: QueryServiceOptions & { readonly until: number },
) {
  // A diagnosis asks about the text, to which the dataset of the request does not belong.
  if (request.defaultGraphs.length + request.namedGraphs.length > 0) return null;
  try {
    const problem = await explainEmpty?.(request, until - now());
    return problem ? { ...problem, run } : null;
  } catch (error) {
    // A diagnosis that is refused or given up is no failure of the query; a defect must be seen.
    if (toFedwayError(error).code === "INTERNAL") throw error;
    return null;
  }
}

/** The bytes of an answer: those of the endpoint where the plan is one request, else of a plan that is verified. */
async function answerQuery(request: QueryRequest, context: RunContext): Promise<QueryAnswer> {
  const run = await startRun(request, context);
  try {
    const { answer: kind } = run.executable();
    const accepted = { format: formatFor(kind, request), acceptEncoding: request.acceptEncoding };
    const answer = run.oneRequest
      ? await context.direct.fetch(run.oneRequest, accepted, run.bounds)
      : await verified(run, context.verifier, (plan, mayBeRefuted) =>
          fetchPlan(plan, { run, accepted, text: request.text, mayBeRefuted }, context),
        );
    return begin(answer, { run, kind, contentType: accepted.format.contentType });
  } catch (error) {
    throw run.fail(error);
  }
}

interface Beginning {
  readonly run: StartedRun;
  readonly kind: AnswerKind;
  readonly contentType: string;
}

/** An answer at its first byte, with what is known of it then. Its run ends now where it is whole, else with its body. */
function begin({ body, contentEncoding, rows, end }: AnswerBytes, { run, kind, contentType }: Beginning): QueryAnswer {
  const { id: runId, plan, bounds } = run;
  const complete = (known: number | undefined): RunEnd => run.end(completed(plan, bounds, known));
  const ending = end?.then(complete, (error: unknown) => brokenOff(run.fail(error)));
  const { status, partial } = ending === undefined ? complete(rows) : underWay(completed(plan, bounds, rows));
  const timings = run.timings();
  const { facts } = run;
  const notes = notesOf(planNotes(plan, status), bounds.sources.values(), facts);
  return { runId, plan, kind, contentType, contentEncoding, body, status, partial, notes, facts, timings, ending };
}

/** The state of an answer that streams: what it is in the end is not known, but where it lacks rows already. */
const underWay = (known: RunEnd): RunEnd => (known.status === "partial" ? known : { status: "running" });

const contents = { bindings: "rows", boolean: "a boolean", quads: "triples" } as const;

/** The format the client gets. @throws FedwayError `NOT_ACCEPTABLE` */
function formatFor(kind: AnswerKind, { accept, format = "" }: QueryRequest): ResultFormat {
  const wanted = negotiateFormat(kind, { accept, format });
  if (wanted) return wanted;
  const offered = resultFormats.filter(({ kinds }) => kinds.includes(kind));
  const asked = format === "" ? "None of the formats in Accept" : `No format "${format.slice(0, 50)}"`;
  throw new FedwayError("NOT_ACCEPTABLE", `${asked} can hold ${contents[kind]}.`, {
    next: `Ask for one of ${offered.map(({ name, mediaType }) => `${mediaType} (${name})`).join(", ")}.`,
  });
}
