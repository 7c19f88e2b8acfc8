import { type Clock, systemClock } from "../clock.ts";
import type { ExecutionBounds } from "../engine/federation-engine.ts";
import { cancellation, FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { type DirectPlan, type FederatedPlan, factsKnown, type QueryPlan } from "../plan/query-plan.ts";
import type { PlanRequest } from "../plan/create-planner.ts";
import { PrunedKeys } from "../plan/pruned-keys.ts";
import { allExclusions, type Exclusions } from "../plan/source-selection.ts";
import type { Span } from "../telemetry/tracing.ts";
import { chosenBy } from "./chosen-by.ts";
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

/** A run from its plan to its end; durations in milliseconds. A class, because one is made for every query. */
export class StartedRun {
  readonly id: string;
  plan: QueryPlan;
  /** The plan came from the cache. */
  readonly cached: boolean;
  readonly bounds: ExecutionBounds;
  /** The plan is one request, which leaves nothing out by facts. */
  readonly isOneRequest: boolean;
  readonly planMs: number;
  /** When execution began, on the clock. */
  readonly executedAt: number;
  readonly #run: Run;
  readonly #deadline: ReturnType<typeof startDeadline> | undefined;
  readonly #span: Span | undefined;
  readonly #context: RunContext;
  readonly #request: QueryRequest;
  /** Ends with the run, unless the run is part of a larger call. */
  readonly #call: Admitted;

  /** Plans the request and opens its run. @throws FedwayError what the planner throws */
  constructor(request: QueryRequest, call: Admitted, context: RunContext) {
    const { planner, log, tracer, now, metrics } = context;
    const startedAt = now();
    const { plan, cached } = planner.plan(request);
    metrics.observePlan(cached);
    this.#run = log.open(plan, plannedQuery(plan, request), request);
    this.#span = tracer?.startSpan("run", {
      parent: request.trace,
      attributes: { "fedway.run": this.#run.id, "fedway.plan": plan.kind, "fedway.plan_cached": cached },
    });
    this.#context = context;
    this.#request = request;
    this.#call = call;
    this.#run.call = call;
    const signal = request.admitted === undefined ? call.signal : request.signal;
    this.id = this.#run.id;
    this.plan = plan;
    this.cached = cached;
    const timeoutMs = timeoutOf(request, context);
    this.isOneRequest = plan.kind === "direct" && !plan.silent && !plan.exclusions;
    if (!this.isOneRequest) {
      // The outbound client ends a single request.
      this.#deadline = startDeadline(signal, { timeoutMs, next: deadlineAdvice(plan, request, context) });
      this.#run.pruned = new PrunedKeys();
    }
    this.bounds = {
      signal: this.#deadline?.signal ?? signal,
      deadlineMs: now() + timeoutMs,
      partial: request.partial,
      provenance: request.provenance,
      fresh: request.fresh,
      client: request.owner,
      requests: call.requests,
      sources: this.#run.sources,
      steps: this.#run.steps,
      pruned: this.#run.pruned,
      trace: this.#span?.context,
    };
    this.executedAt = now();
    this.planMs = this.executedAt - startedAt;
    this.#span?.setAttribute("fedway.plan_ms", this.planMs);
  }

  /** Facts are not verified: they are not used, or believed. */
  get isTrusting(): boolean {
    const { prune = true } = this.#request;
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
    this.plan = this.#context.planner.plan({ ...this.#request, ...change }).plan;
    this.#run.replan(this.plan);
    // What was learnt of the sources belongs to an answer that is dropped.
    this.bounds.sources.clear();
    this.bounds.steps?.clear();
    this.#run.pruned?.clear(change.ask);
  }

  /** Says what the answer leaves out by facts. */
  restOn(exclusions: Exclusions | undefined): void {
    this.#run.exclusions = exclusions;
    this.#run.refuted = [];
  }

  /** Questions that copies of triples spared its members. */
  get pruned(): PrunedKeys | undefined {
    return this.#run.pruned;
  }

  /** By what the answer's sources were chosen. */
  get facts(): ChosenBy | undefined {
    const known = factsKnown(this.plan);
    const exclusions = this.#resting;
    const { sources } = this.#context;
    if (exclusions === undefined || sources === undefined) return known && { known };
    return { known, ...chosenBy(exclusions, this.pruned?.endpoints ?? [], sources) };
  }

  /** Parts left out of the answer by facts, also while it is evaluated. */
  get #resting(): Exclusions | undefined {
    const { exclusions, pruned } = this.#run;
    return pruned === undefined ? exclusions : allExclusions([exclusions, pruned.exclusions(false)]);
  }

  /** Ends the run; only the first end counts. Gives it back. */
  end(how: RunEnd): RunEnd {
    this.#deadline?.stop();
    this.#run.facts ??= this.facts;
    this.#settle(how);
    this.#span?.setAttribute("fedway.status", how.status);
    this.#span?.end(how.error?.code);
    const resting = this.#resting;
    if (resting !== undefined && !how.error && !this.isTrusting) this.#context.sources?.verifyLater(resting);
    this.pruned?.settle();
    return how;
  }

  #settle(how: RunEnd): void {
    if (this.#run.end === undefined) this.#call.answered(how.rows ?? 0);
    this.#run.finish(how);
    if (this.#request.admitted === undefined) this.#call.leave();
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
  const begin = (call: Admitted): StartedRun => {
    try {
      return new StartedRun(request, call, context);
    } catch (error) {
      if (request.admitted === undefined) call.leave();
      context.sessions.refused(request, error);
      throw error;
    }
  };
  if (request.session !== undefined) context.sessions.admit(request);
  const timeoutMs = timeoutOf(request, context);
  const entrant = { client, characters: text.length, timeoutMs, signal, withoutCredentials };
  const call = request.admitted ?? context.admission.enter(entrant);
  return call instanceof Promise ? call.then(begin) : begin(call);
}

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

interface DeadlineOptions {
  readonly timeoutMs: number;
  readonly message?: string;
  /** Advice against it. */
  readonly next?: string;
  readonly clock?: Clock;
}

/** One signal for everything that a query starts: aborted, with a `FedwayError`, by the client's leaving or the deadline. */
export function startDeadline(client: AbortSignal, { timeoutMs, message, next, clock = systemClock }: DeadlineOptions) {
  const controller = new AbortController();
  const leave = (): void => controller.abort(cancellation(client));
  const late = message ?? `The query did not finish within ${timeoutMs} ms.`;
  const timer = clock.setTimeout(
    () => controller.abort(new FedwayError("DEADLINE_EXCEEDED", late, { fault: "timeout", ...(next && { next }) })),
    timeoutMs,
  );
  if (client.aborted) leave();
  else client.addEventListener("abort", leave, { once: true });
  return {
    signal: controller.signal,
    stop(): void {
      clock.clearTimeout(timer);
      client.removeEventListener("abort", leave);
    },
  };
}
