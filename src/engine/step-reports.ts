import type { FederatedClause } from "../plan/query-plan.ts";
import type { KeyBlock } from "./clause-query.ts";
import type { ExecutionAccount } from "./execution-account.ts";
import type { SourceReport, StepReport, StepReports } from "./reports.ts";

const longestPattern = 500;
const mostEndpoints = 10;
/** Steps behind these go into one, so that a query of many parts has a report of bounded size. */
const mostSteps = 100;
const others = "and other steps";

/** The report of the step that a request of a clause belongs to, with the request's keys and endpoint noted. */
export function stepOf(
  steps: StepReports | undefined,
  clause: FederatedClause,
  keys?: KeyBlock,
): StepReport | undefined {
  if (steps === undefined) return undefined;
  const pattern = clause.pattern.replaceAll(/\s+/g, " ").slice(0, longestPattern);
  const key = `${clause.iri} ${pattern}`;
  const name = steps.has(key) || steps.size < mostSteps ? key : others;
  const step = steps.get(name) ?? newStep(name === others ? others : pattern);
  steps.set(name, step);
  if (keys) step.keys += keys.rows.length;
  else step.whole += 1;
  noteEndpoint(step, clause);
  return step;
}

const newStep = (pattern: string): StepReport => ({
  pattern,
  endpoints: [],
  asked: 0,
  keys: 0,
  whole: 0,
  requests: 0,
  rows: 0,
  bytes: 0,
  at: 0,
  ms: 0,
});

/** Endpoints of a step, also those that are too many to be listed. */
const askedBy = new WeakMap<StepReport, Set<string>>();

function noteEndpoint(step: StepReport, { endpoint, estimate }: FederatedClause): void {
  const name = endpoint.id ?? endpoint.url;
  const asked = askedBy.get(step) ?? new Set();
  if (asked.has(name)) return;
  askedBy.set(step, asked.add(name));
  step.asked = asked.size;
  if (step.endpoints.length < mostEndpoints) step.endpoints.push(name);
  if (estimate !== undefined) step.estimate = (step.estimate ?? 0) + estimate;
}

/** Notes a request that goes out now, in the reports of its endpoint and its step; its outcome is added later. */
export function noteRequest(account: ExecutionAccount, report: SourceReport, step?: StepReport) {
  const noted = step ? [report, step] : [report];
  if (step?.requests === 0) step.at = account.sinceFirst();
  const add = ({ requests = 0, rows, bytes = 0 }: Took): void => {
    for (const each of noted) {
      each.requests += requests;
      each.bytes += bytes;
      if (rows !== undefined) each.rows = (each.rows ?? 0) + rows;
    }
  };
  const over = (): void => {
    for (const each of noted) each.ms = account.elapsed(each);
  };
  over();
  add({ requests: 1 });
  return { add, over };
}

interface Took {
  readonly requests?: number;
  readonly rows?: number;
  readonly bytes?: number;
}
