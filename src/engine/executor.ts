import type { Readable } from "node:stream";
import { FedwayError } from "../errors/fedway-error.ts";
import type { ResultFormat } from "../results/formats.ts";
import { createItemStream, inBatches } from "../results/item-reader.ts";
import type { QueryResult } from "../results/model.ts";
import type { SourceReport } from "./reports.ts";
import type { ExecutionBounds } from "./execution-bounds.ts";
import { finished } from "node:stream/promises";
import type { FederatedPlan } from "../plan/query-plan.ts";
import { serializeResult } from "../results/serialize.ts";
import { remarksOn } from "./completeness.ts";

/** The bytes of an answer in the accepted format. */
export interface AnswerBytes {
  readonly contentEncoding: string;
  /** A verified buffer or `GatheredBody`, or a stream that is destroyed with a `FedwayError` when the answer breaks off. */
  readonly body: Buffer | Readable;
  /** Rows or triples of a whole body, where the format shows them. */
  readonly rows?: number | undefined;
  /** Settles at the answer's end with its rows, where the format shows them; absent when the body is whole. */
  readonly end?: Promise<number | undefined>;
}

/** Executes plans of one kind. */
export interface Executor<P> {
  /**
   * @param accepted the client's format, and its Accept-Encoding; absent: no coding; `headHasLeft`: the
   * headers have been sent and said nothing of what is missing, so that only the document can say it
   * @throws FedwayError for what fails before the first byte
   */
  fetch(
    plan: P,
    accepted: {
      readonly format: ResultFormat;
      readonly acceptEncoding?: string | undefined;
      readonly headHasLeft?: () => boolean;
    },
    bounds: ExecutionBounds,
  ): Promise<AnswerBytes>;
  /** The parsed answer. @throws FedwayError as above; the result's stream fails later ones */
  evaluate(plan: P, bounds: ExecutionBounds): Promise<QueryResult>;
}

/** The report of one endpoint, made on its first request. */
export function sourceReport(sources: Map<string, SourceReport>, endpoint: string): SourceReport {
  let report = sources.get(endpoint);
  if (!report) {
    report = { endpoint, requests: 0, bytes: 0, ms: 0, status: "pending" };
    sources.set(endpoint, report);
  }
  return report;
}

// A later request may only make the verdict on an endpoint worse.
const gravity: Record<SourceReport["status"], number> = {
  pending: 0,
  ok: 1,
  cancelled: 2,
  partial: 3,
  silenced: 4,
  skipped: 5,
  timeout: 6,
  failed: 7,
};

/** True if the endpoint is excluded for the rest of this run. */
export const isLost = ({ status }: SourceReport): boolean =>
  status === "failed" || status === "timeout" || status === "skipped";

/** Status of a failed endpoint in its report; one that is cooling down by its circuit breaker was not asked. */
export function failureStatus({ code }: FedwayError): "failed" | "timeout" | "skipped" {
  if (code === "CIRCUIT_OPEN") return "skipped";
  return code === "ENDPOINT_TIMEOUT" || code === "DEADLINE_EXCEEDED" ? "timeout" : "failed";
}

/** Notes that SILENT has taken an endpoint's failure for an answer; nothing is missing any more. */
export function noteSilenced(report: SourceReport, reason: string): void {
  report.status = "silenced";
  report.reason = reason;
}

const mostLearned = 5;

/** Notes what requests have shown of how the endpoint must be asked. */
export function noteLearned(report: SourceReport, learned: string): void {
  const known = report.learned ?? [];
  if (known.length >= mostLearned || known.includes(learned)) return;
  report.learned = [...known, learned];
}

/** Copies of the reports of a run that is over: an answer that was not read to its end was cancelled. */
export const endedReports = (sources: Iterable<SourceReport>): SourceReport[] =>
  Array.from(sources, (source) => ({ ...source, status: source.status === "pending" ? "cancelled" : source.status }));

/** Notes how one request ended; the worst end of all its requests is the endpoint's status. */
export function noteStatus(report: SourceReport, status: SourceReport["status"], reason?: string): void {
  if (gravity[status] < gravity[report.status]) return;
  report.status = status;
  if (reason !== undefined) report.reason = reason;
}

/** Statements of a document that were left out since a term in them is none. */
export interface BadTerms {
  readonly statements: number;
  /** Of the first one, and where. */
  readonly fault: string;
}

/**
 * Notes that a document was read but for such statements.
 * @throws FedwayError `ENDPOINT_MALFORMED` unless it is wanted in part
 */
export function noteBadTerms(
  { report, inPart = false }: { readonly report: SourceReport; readonly inPart?: boolean },
  { statements, fault }: BadTerms,
): void {
  const what = statements === 1 ? "a statement" : `${statements} statements`;
  if (inPart) noteStatus(report, "partial", `${what} left out: ${fault}`);
  else {
    throw new FedwayError("ENDPOINT_MALFORMED", `The document has ${what} with a term that is none: ${fault}.`, {
      fault: "malformed",
      next: "Ask with partial=true for the rest of the document.",
    });
  }
}

/** True if an execution goes on without the solutions of a clause or of a member's patterns. */
export const goesOnWithout = (
  { nonMonotone }: { readonly nonMonotone?: "place" | "body" | true | undefined },
  { partial }: Pick<ExecutionBounds, "partial">,
): boolean => partial === true || (partial === "subset" && (nonMonotone === undefined || nonMonotone === "body"));

/** True if a clause or the query of a direct plan may be answered in part by its endpoint. */
export const takesInPart = (
  { nonMonotone }: { readonly nonMonotone?: "place" | "body" | true | undefined },
  { partial }: Pick<ExecutionBounds, "partial">,
): boolean => partial === true || (partial === "subset" && nonMonotone === undefined);

/** The same result; its rows or quads as `change` makes them. */
export function withItems(result: QueryResult, change: <T>(items: AsyncIterable<T>) => AsyncIterable<T>): QueryResult {
  if (result.kind === "bindings") return { ...result, rows: change(result.rows) };
  return result.kind === "quads" ? { ...result, quads: change(result.quads) } : result;
}

/**
 * Items that are read by `next`; `left` is called when they are left early. No generator: one that is left before its
 * first item runs none of its code.
 */
export function readBy<T>(
  items: AsyncIterator<T>,
  next: () => Promise<IteratorResult<T>>,
  left: () => void = () => {},
): AsyncIterable<T> {
  const leave = async (): Promise<IteratorResult<T>> => {
    left();
    await items.return?.();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
}

/**
 * Evaluates federated plans. Not in the port: choosing the plan, serialising, deadlines of the whole request and run
 * records, which belong to `query/`.
 */
export interface FederationEngine {
  /**
   * Starts evaluation; resolves when the form of the answer and its variables are known.
   * The result's stream fails with a `FedwayError` when a member fails; leaving it early cancels all requests.
   */
  execute(plan: FederatedPlan, bounds: ExecutionBounds): Promise<QueryResult>;
}

/** Executes federated plans with an engine in this very process: what each evaluator does, and tests. */
export function createInProcessExecutor(engine: FederationEngine): Executor<FederatedPlan> {
  return {
    async fetch(plan, { format, headHasLeft }, bounds) {
      const { result, count } = counted(await engine.execute(plan, bounds));
      const body = serializeResult(result, format, remarksOn(plan, bounds, headHasLeft));
      const end = finished(body).then(count);
      // The reader of the body gets its failure there.
      end.catch(() => {});
      return { contentEncoding: "identity", body, end };
    },
    evaluate: (plan, bounds) => engine.execute(plan, bounds),
  };
}

/** A result, and the number of rows or triples read from it so far; undefined for ASK, which has none. */
export function counted(result: QueryResult): {
  readonly result: QueryResult;
  readonly count: () => number | undefined;
} {
  let count = 0;
  const tally = <T>(items: AsyncIterable<T>): AsyncIterable<T> => {
    const batches = inBatches(items)[Symbol.asyncIterator]();
    return createItemStream({
      async next() {
        const { done, value } = await batches.next();
        if (done === true) return undefined;
        count += value.length;
        return value;
      },
      release: async () => void (await batches.return?.()),
    });
  };
  return { result: withItems(result, tally), count: () => (result.kind === "boolean" ? undefined : count) };
}
