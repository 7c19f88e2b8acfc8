import type { Executor } from "../engine/executor.ts";
import type { SourceReport } from "../engine/reports.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { RequestBudget } from "../outbound/request-budget.ts";
import type { Planner } from "../plan/create-planner.ts";
import type { DirectPlan, FederatedPlan } from "../plan/query-plan.ts";
import type { Bindings } from "../results/model.ts";
import { askingFor, type SourceVerifier } from "./verified-answer.ts";
import { startDeadline } from "./deadline.ts";

/** A small question that the service asks on its own, about a query of somebody. */
export interface ProbeRequest {
  readonly text: string;
  readonly endpointId?: string | undefined;
  readonly federationId?: string | undefined;
  /** Rows that are read; those behind them are left. */
  readonly maxRows: number;
  readonly timeoutMs: number;
  /** Aborted with a `FedwayError`. */
  readonly signal: AbortSignal;
  /** Owner of the query it is about, so that clients take turns. */
  readonly owner?: string | undefined;
  /** Of the call that asks. */
  readonly budget?: RequestBudget | undefined;
  /** False: all endpoints are asked, regardless of facts. Default true. */
  readonly prune?: boolean | undefined;
}

/** Rows of a SELECT and the requests that endpoints had for it. */
export interface ProbeAnswer {
  readonly rows: readonly Bindings[];
  readonly requests: number;
  /** Somebody was not asked because of what is known. */
  readonly byFacts: boolean;
}

/** Planner and executors of the query service, for probes. */
interface ProbeOptions {
  readonly planner: Planner;
  readonly direct: Executor<DirectPlan>;
  readonly federated: Executor<FederatedPlan>;
  readonly verifier?: Pick<SourceVerifier, "narrow"> | undefined;
  /** Milliseconds since the epoch, with fractions. */
  readonly now: () => number;
}

/** Asks a question of the service's own. */
export type Probe = ReturnType<typeof createProbe>;

/**
 * Runs SELECT queries as the query service does, with the same plans, guard and limits, but leaves no run record: no client
 * sent them. An endpoint that fails fails the probe.
 */
export function createProbe({ planner, direct, federated, verifier, now }: ProbeOptions) {
  /** @throws FedwayError what the planner and the executors throw, rejected plans included */
  return async (request: ProbeRequest): Promise<ProbeAnswer> => {
    const { text, endpointId, federationId, maxRows, timeoutMs, signal, owner, budget, prune } = request;
    const wanted = { text, endpointId, federationId, prune, strict: false, defaultGraphs: [], namedGraphs: [] };
    const { plan } = planner.plan(wanted);
    if (plan.kind === "rejected") {
      const { code, message, details } = plan.reason;
      throw new FedwayError(code, message, details);
    }
    const sources = new Map<string, SourceReport>();
    const deadline = startDeadline(signal, { timeoutMs, next: "Narrow the query." });
    const deadlineMs = now() + timeoutMs;
    const bounds = { signal: deadline.signal, deadlineMs, partial: false, client: owner, requests: budget, sources };
    try {
      // What was asked before is no answer to what is asked of everybody.
      const narrowed = async (wide: FederatedPlan): Promise<FederatedPlan> =>
        (prune === false ? undefined : verifier?.narrow(wide, { ...askingFor({ bounds }), ask: [] })) ?? wide;
      const asked = plan.kind === "direct" ? plan : await narrowed(plan);
      const result =
        asked.kind === "direct"
          ? await direct.evaluate(asked, bounds)
          : await federated.evaluate({ ...asked, exclusions: undefined }, bounds);
      const rows = result.kind === "bindings" ? await firstOf(result.rows, maxRows) : [];
      const byFacts = asked.notes.some(({ code }) => code === "CLAUSES_LEFT_OUT" || code === "MEMBERS_LEFT_OUT");
      return { rows, requests: sources.values().reduce((sum, report) => sum + report.requests, 0), byFacts };
    } finally {
      deadline.stop();
    }
  };
}

async function firstOf(rows: AsyncIterable<Bindings>, most: number): Promise<readonly Bindings[]> {
  const read: Bindings[] = [];
  for await (const row of rows) {
    read.push(row);
    if (read.length >= most) break;
  }
  return read;
}
