import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { toFedwayError } from "../errors/fedway-error.ts";
import type { DirectPlan } from "../plan/query-plan.ts";
import type { QueryResult } from "../results/model.ts";
import { acceptFor, formatOf } from "../results/negotiation.ts";
import { parseAnswer } from "../results/parse.ts";
import { transcode } from "../results/serialize.ts";
import { parseCheck } from "../transport/parse-check.ts";
import type { AnswerEnd, SparqlAnswer, SparqlClient, SparqlRequest } from "../transport/sparql-client.ts";
import { decodedBody } from "./decoded-body.ts";
import type { AcceptedAnswer, AnswerBytes, Executor } from "./executor.ts";
import type { ExecutionBounds, SourceReport } from "./federation-engine.ts";
import { noteStatus, sourceReport } from "./source-reports.ts";

/**
 * Executes direct plans over the outbound client: one endpoint, the answer's bytes untouched where it speaks the client's
 * format. `now` is a monotonic clock in milliseconds.
 */
export function createDirectExecutor(client: SparqlClient, now: () => number): Executor<DirectPlan> {
  async function fetch(plan: DirectPlan, accepted: AcceptedAnswer, bounds: ExecutionBounds): Promise<AnswerBytes> {
    const { format, acceptEncoding = "identity" } = accepted;
    const request = toRequest(plan, { accept: acceptFor(plan.answer, format), acceptEncoding }, bounds);
    const report = new RequestReport(request, bounds, now);
    let answer: SparqlAnswer;
    try {
      answer = await client.query(request);
    } catch (error) {
      throw report.failed(error);
    }
    report.follow(answer);
    if (formatOf(answer.mediaType, plan.answer)?.name !== format.name) {
      const from = { mediaType: answer.mediaType, kind: plan.answer, check: parseCheck(bounds, now) };
      const body = await transcode(decodedBody(answer), from, format);
      return { contentEncoding: "identity", body, end: bothEnds(body, answer) };
    }
    const { contentEncoding, body, whole } = answer;
    if (whole !== undefined) return { contentEncoding, body, rows: whole.rows };
    return { contentEncoding, body, end: answer.end.then(({ rows }) => rows) };
  }

  async function evaluate(plan: DirectPlan, bounds: ExecutionBounds): Promise<QueryResult> {
    const request = toRequest(plan, { accept: acceptFor(plan.answer) }, bounds);
    const report = new RequestReport(request, bounds, now);
    const answer = await client.query(request).catch((error: unknown) => {
      throw report.failed(error);
    });
    report.follow(answer);
    const check = parseCheck(bounds, now);
    return parseAnswer(decodedBody(answer), { mediaType: answer.mediaType, kind: plan.answer, check });
  }

  return { fetch, evaluate };
}

async function bothEnds(body: Readable, answer: SparqlAnswer): Promise<number | undefined> {
  const [, end] = await Promise.all([finished(body), answer.end]);
  return end.rows;
}

interface Wanted {
  readonly accept: string;
  /** Absent: the body is delivered decoded. */
  readonly acceptEncoding?: string;
}

function toRequest(plan: DirectPlan, { accept, acceptEncoding }: Wanted, bounds: ExecutionBounds): SparqlRequest {
  return {
    endpoint: plan.endpoint,
    query: plan.query,
    kind: plan.answer,
    limit: plan.limit,
    accept,
    encoding: acceptEncoding === undefined ? "decode" : "pass",
    acceptEncoding,
    acceptPartial: bounds.partial,
    defaultGraphs: plan.defaultGraphs,
    namedGraphs: plan.namedGraphs,
    signal: bounds.signal,
    deadlineMs: bounds.deadlineMs,
    client: bounds.client,
    trace: bounds.trace,
  };
}

/** Keeps the endpoint's report up to date from its one request to the body's end. */
class RequestReport {
  readonly #bounds: ExecutionBounds;
  readonly #now: () => number;
  readonly #report: SourceReport;
  readonly #startedAt: number;

  constructor({ endpoint }: SparqlRequest, bounds: ExecutionBounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
    this.#report = sourceReport(bounds.sources, endpoint.id ?? endpoint.url);
    this.#report.requests = 1;
    this.#startedAt = now();
  }

  /** The request, or its body, has failed; gives the error back. */
  failed(thrown: unknown): unknown {
    this.#report.ms = this.#elapsedMs;
    const status = this.#bounds.signal.aborted ? "cancelled" : "failed";
    noteStatus(this.#report, status, toFedwayError(thrown).code);
    return thrown;
  }

  /** The answer has begun. */
  follow({ requests, partial, whole, end }: SparqlAnswer): void {
    this.#report.requests = requests;
    if (partial) noteStatus(this.#report, "partial", partial.how);
    if (whole !== undefined) this.#ended(whole);
    else
      end.then(
        (how) => this.#ended(how),
        (error: unknown) => this.failed(error),
      );
  }

  get #elapsedMs(): number {
    return Math.round(this.#now() - this.#startedAt);
  }

  #ended({ decodedBytes, rows, partial }: AnswerEnd): void {
    this.#report.ms = this.#elapsedMs;
    this.#report.bytes = decodedBytes;
    if (rows !== undefined) this.#report.rows = rows;
    noteStatus(this.#report, partial ? "partial" : "ok", partial?.how);
  }
}
