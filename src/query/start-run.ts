import type { ExecutionBounds } from "../engine/execution-bounds.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { type DirectPlan, type FederatedPlan, factsKnown, type QueryPlan } from "../plan/query-plan.ts";
import type { PlanRequest } from "../plan/create-planner.ts";
import { PrunedKeys } from "../plan/pruned-keys.ts";
import { allExclusions, type Exclusions } from "../plan/source-selection.ts";
import type { Span } from "../telemetry/tracing.ts";
import { chosenBy } from "./chosen-by.ts";
import { startDeadline } from "./deadline.ts";
import type { ChosenBy } from "./records.ts";
import type { Admission, Admitted } from "./admission.ts";
import type { QueryServiceOptions } from "./create-query-service.ts";
import type { QueryRequest } from "./query-service.ts";
import { type PlannedQuery, type Run, type RunEnd, type RunLog, brokenOff, textHash } from "./run-log.ts";
import { canAddRows } from "../engine/completeness.ts";
import type { SessionLog } from "./session-log.ts";

/** Parts shared by all runs of one service. */
export interface RunContext extends QueryServiceOptions {
  readonly log: RunLog;
  readonly sessions: SessionLog;
  readonly admission: Admission;
  /** The run of each error that one has failed with. */
  readonly failures: WeakMap<Error, string>;
}

/** Everything that is opened for a run before it is executed; durations in milliseconds. */
interface OpenedRun {
  readonly request: QueryRequest;
  /** Ends with the run, unless the run is part of a larger call. */
  readonly call: Admitted;
  readonly plan: QueryPlan;
  /** The plan came from the cache. */
  readonly cached: boolean;
  readonly record: Run;
  readonly bounds: ExecutionBounds;
  /** Absent for a plan of one request: the outbound client ends that. */
  readonly deadline: ReturnType<typeof startDeadline> | undefined;
  readonly span: Span | undefined;
  readonly planMs: number;
  /** When execution began, on the clock. */
  readonly executedAt: number;
}

/** A run from its plan to its end. A class, because one is made for every query. */
export class StartedRun {
  readonly id: string;
  plan: QueryPlan;
  /** The plan where it is one request and leaves nothing out by facts: its answer needs no verification. */
  readonly oneRequest: DirectPlan | undefined;
  readonly bounds: ExecutionBounds;
  readonly #opened: OpenedRun;
  readonly #record: Run;
  readonly #context: RunContext;

  constructor(opened: OpenedRun, context: RunContext) {
    const { plan, record, bounds } = opened;
    this.id = record.id;
    this.plan = plan;
    this.oneRequest = isOneRequest(plan) ? plan : undefined;
    this.bounds = bounds;
    this.#opened = opened;
    this.#record = record;
    this.#context = context;
  }

  /** Milliseconds of each stage, when the first byte of the answer is there. */
  timings(): { readonly planMs: number; readonly upstreamMs: number; readonly planCached: boolean } {
    const { planMs, executedAt, cached } = this.#opened;
    return { planMs, upstreamMs: this.#context.now() - executedAt, planCached: cached };
  }

  /** Facts are not verified: they are not used, or believed. */
  get isTrusting(): boolean {
    const { prune = true } = this.#opened.request;
    return prune === "trust";
  }

  /** The plan. @throws FedwayError the reason of a rejected one */
  executable(): DirectPlan | FederatedPlan {
    const { plan } = this;
    if (plan.kind !== "rejected") return plan;
    // A plan is cached and shared; the error of one run is not.
    const { code, message, details } = plan.reason;
    throw new FedwayError(code, message, details);
  }

  /** Plans the query anew: facts were wrong, or could not be verified. @throws FedwayError what the planner throws */
  replan(change: Partial<PlanRequest>): void {
    this.plan = this.#context.planner.plan({ ...this.#opened.request, ...change }).plan;
    this.#record.replan(this.plan);
    // What was learnt of the sources belongs to an answer that is dropped.
    this.bounds.sources.clear();
    this.bounds.steps?.clear();
    this.#record.pruned?.clear(change.ask);
  }

  /** Says what the answer leaves out by facts. */
  restOn(exclusions: Exclusions | undefined): void {
    this.#record.exclusions = exclusions;
    this.#record.refuted = [];
  }

  /** Questions that copies of triples spared its members. */
  get pruned(): PrunedKeys | undefined {
    return this.#record.pruned;
  }

  /** By what the answer's sources were chosen. */
  get facts(): ChosenBy | undefined {
    const known = factsKnown(this.plan);
    if (this.oneRequest !== undefined) return known && { known };
    const exclusions = this.#resting;
    const { verifier } = this.#context;
    if (exclusions === undefined || verifier === undefined) return known && { known };
    return { known, ...chosenBy(exclusions, this.pruned?.endpoints ?? [], verifier) };
  }

  /** Parts left out of the answer by facts, also while it is evaluated. */
  get #resting(): Exclusions | undefined {
    const { exclusions, pruned } = this.#record;
    return pruned === undefined ? exclusions : allExclusions([exclusions, pruned.exclusions(false)]);
  }

  /** Ends the run; only the first end counts. Gives it back. */
  end(how: RunEnd): RunEnd {
    const { call, request, deadline, span } = this.#opened;
    deadline?.stop();
    this.#record.facts ??= this.facts;
    if (this.#record.end === undefined) call.answered(how.rows ?? 0);
    this.#record.finish(how);
    if (request.admitted === undefined) call.leave();
    span?.setAttribute("fedway.status", how.status);
    span?.end(how.error?.code);
    if (this.oneRequest === undefined) this.#settleFacts(how);
    return how;
  }

  /** Verifies later what a good answer leaves out by facts. */
  #settleFacts({ error }: RunEnd): void {
    const resting = this.#resting;
    if (resting !== undefined && !error && !this.isTrusting) this.#context.verifier?.verifyLater(resting);
    this.pruned?.settle();
  }

  /** Ends the run with a failure and gives the error to report. */
  fail(thrown: unknown): FedwayError {
    // What ended everything is the cause of whatever failed after it; a query that had no turn until then failed for that.
    const { reason } = this.bounds.signal as { readonly reason: unknown };
    const isCause = reason instanceof FedwayError && toFedwayError(thrown).code !== "SERVICE_BUSY";
    const error = blamed(advised(toFedwayError(isCause ? reason : thrown), this), this.#context.isCutOff);
    this.end(brokenOff(error));
    if (error.code === "SERVICE_BUSY") this.#context.metrics.observeBusy();
    this.#context.failures.set(error, this.id);
    return error;
  }
}

/**
 * Lets a query in, plans it and opens its run; a promise when it has to wait. The end of the run ends its call.
 * @throws FedwayError `SESSION_SPENT`, `QUOTA_SPENT`, `SERVICE_BUSY`, `CANCELLED`, and what the planner throws
 */
export function startRun(request: QueryRequest, context: RunContext): StartedRun | Promise<StartedRun> {
  const { text, owner: client, signal, withoutCredentials } = request;
  if (request.session !== undefined) context.sessions.admit(request);
  const timeoutMs = timeoutOf(request, context);
  const entrant = { client, characters: text.length, timeoutMs, signal, withoutCredentials };
  const call = request.admitted ?? context.admission.enter(entrant);
  return call instanceof Promise ? call.then((late) => begin(request, late, context)) : begin(request, call, context);
}

/** Begins the run of a call that was let in. @throws FedwayError what the planner throws; the call has ended then */
function begin(request: QueryRequest, call: Admitted, context: RunContext): StartedRun {
  try {
    return new StartedRun(openRun(request, call, context), context);
  } catch (error) {
    if (request.admitted === undefined) call.leave();
    context.sessions.refused(request, error);
    throw error;
  }
}

/** Plans a request and opens its run. @throws FedwayError what the planner throws */
function openRun(request: QueryRequest, call: Admitted, context: RunContext): OpenedRun {
  const { planner, log, tracer, now, metrics } = context;
  const startedAt = now();
  const { plan, cached } = planner.plan(request);
  metrics.observePlan(cached);
  const record = log.open(plan, plannedQuery(plan, request), request);
  record.call = call;
  const span = tracer?.startSpan("run", {
    parent: request.trace,
    attributes: { "fedway.run": record.id, "fedway.plan": plan.kind, "fedway.plan_cached": cached },
  });
  const timeoutMs = timeoutOf(request, context);
  let signal = request.admitted === undefined ? call.signal : request.signal;
  let deadline: OpenedRun["deadline"];
  if (!isOneRequest(plan)) {
    deadline = startDeadline(signal, { timeoutMs, next: deadlineAdvice(plan, request, context) });
    signal = deadline.signal;
    record.pruned = new PrunedKeys();
  }
  const bounds: ExecutionBounds = {
    signal,
    deadlineMs: now() + timeoutMs,
    partial: request.partial,
    provenance: request.provenance,
    fresh: request.fresh,
    client: request.owner,
    requests: call.requests,
    sources: record.sources,
    steps: record.steps,
    pruned: record.pruned,
    trace: span?.context,
  };
  const executedAt = now();
  const planMs = executedAt - startedAt;
  span?.setAttribute("fedway.plan_ms", planMs);
  return { request, call, plan, cached, record, bounds, deadline, span, planMs, executedAt };
}

/** True of a plan that is one request and leaves nothing out by facts. */
const isOneRequest = (plan: QueryPlan): plan is DirectPlan =>
  plan.kind === "direct" && !plan.silent && !plan.exclusions;

/** Milliseconds that a request may take. */
export const timeoutOf = ({ timeoutMs }: QueryRequest, { limits }: QueryServiceOptions): number =>
  Math.min(timeoutMs ?? limits.timeoutMs, limits.timeoutMs);

/** Characters of a text that is kept for its owner. */
const longestKept = 20_000;

// A plan comes from the cache with the text and the target it was made for.
const plannedQueries = new WeakMap<QueryPlan, PlannedQuery>();

function plannedQuery(plan: QueryPlan, { text, endpointId, federationId }: QueryRequest): PlannedQuery {
  let planned = plannedQueries.get(plan);
  if (planned === undefined) {
    const query = text.length > longestKept ? undefined : text;
    planned = { hash: textHash(text), query, endpoint: endpointId, federation: federationId };
    plannedQueries.set(plan, planned);
  }
  return planned;
}

const hasOthers = (plan: QueryPlan): boolean => plan.kind === "federated" && plan.members.length > 1;

/** Advice for a timed-out query; omits options already set and time above the limit. */
function deadlineAdvice(plan: QueryPlan, request: QueryRequest, context: RunContext): string {
  const most = context.limits.timeoutMs;
  const ways = ["Narrow the query"];
  if (timeoutOf(request, context) < most) ways.push(`raise the timeout (up to ${most} ms)`);
  if (hasOthers(plan) && request.partial === false) ways.push("leave out members that are slow (partial=true)");
  return `${ways.join(", or ")}.`;
}

/** The error, saying what an answer without the member that failed would be, where there is one. */
function advised(error: FedwayError, { plan, bounds }: StartedRun): FedwayError {
  const { code, message, details, kind } = error;
  const { where, next = "" } = details;
  const isPartial = bounds.partial === true || next.includes("partial=true");
  if (isPartial || !hasOthers(plan) || where?.endpoint === undefined || !kind.silenceable) return error;
  const rows = canAddRows(plan, where.endpoint) ? "; rows in it may be wrong" : "";
  return new FedwayError(code, message, {
    ...details,
    next: `${next} With partial=true there is an answer without this endpoint${rows}.`.trimStart(),
  });
}

/** An endpoint is not to blame while this service cannot reach the network. */
function blamed(error: FedwayError, isCutOff: RunContext["isCutOff"]): FedwayError {
  const { code, message, details } = error;
  const { endpoint } = details.where ?? {};
  if (code !== "ENDPOINT_UNREACHABLE" || endpoint === undefined || !isCutOff?.(endpoint)) return error;
  return new FedwayError(code, message, { ...details, next: cutOff });
}

const cutOff =
  "This service cannot reach the network: restore its connection (/status has the incident). Endpoints on this machine still answer.";
