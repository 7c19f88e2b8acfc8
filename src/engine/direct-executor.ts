import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { toFedwayError } from "../errors/fedway-error.ts";
import type { DirectPlan } from "../plan/query-plan.ts";
import type { ResultFormat } from "../results/formats.ts";
import { isWhole } from "../results/gathered-body.ts";
import type { QueryResult } from "../results/model.ts";
import { acceptFor, formatOf } from "../results/negotiation.ts";
import { parseAnswer } from "../results/parse.ts";
import { transcode } from "../results/serialize.ts";
import type { AnswerEnd, SparqlAnswer, SparqlClient, SparqlRequest } from "../transport/sparql-client.ts";
import { decodedBody } from "./decoded-body.ts";
import type { ExecutionBounds } from "./federation-engine.ts";
import { noteStatus, sourceReport } from "./source-reports.ts";

/** What the client wants of a direct answer. */
export interface DirectWish {
  readonly format: ResultFormat;
  /** The client's Accept-Encoding; absent: no coding. */
  readonly acceptEncoding?: string | undefined;
}

/** The bytes of a direct answer in the wanted format. */
export interface DirectAnswer {
  readonly contentEncoding: string;
  /** A verified buffer or `GatheredBody`, or a stream that is destroyed with a `FedwayError` when the answer breaks off. */
  readonly body: Buffer | Readable;
  /** Rows of a whole body, where the format tells. */
  readonly rows?: number;
  /** Settles at the answer's end with its rows, where the format tells. */
  readonly end: Promise<number | undefined>;
}

/** Executes direct plans: one endpoint, the answer's bytes untouched where it speaks the client's format. */
export interface DirectExecutor {
  /** @throws FedwayError when the endpoint fails before its first byte */
  fetch(plan: DirectPlan, wish: DirectWish, bounds: ExecutionBounds): Promise<DirectAnswer>;
  /** The parsed answer. @throws FedwayError as above; the result's stream fails later ones */
  evaluate(plan: DirectPlan, bounds: ExecutionBounds): Promise<QueryResult>;
}

/** Creates the executor over the outbound client; `now` is a monotonic clock in milliseconds. */
export function createDirectExecutor(client: SparqlClient, now: () => number): DirectExecutor {
  async function fetch(plan: DirectPlan, wish: DirectWish, bounds: ExecutionBounds): Promise<DirectAnswer> {
    const { format, acceptEncoding = "identity" } = wish;
    const request = toRequest(plan, { accept: acceptFor(plan.answer, format), acceptEncoding }, bounds);
    const answer = await reported(client, { request, bounds, now });
    if (formatOf(answer.mediaType, plan.answer)?.name !== format.name) {
      const from = { mediaType: answer.mediaType, kind: plan.answer };
      const body = await transcode(decodedBody(answer), from, format);
      return { contentEncoding: "identity", body, end: bothEnds(body, answer) };
    }
    const { contentEncoding, body } = answer;
    const rows = isWhole(body) ? (await answer.end).rows : undefined;
    return { contentEncoding, body, ...(rows !== undefined && { rows }), end: answer.end.then((end) => end.rows) };
  }

  async function evaluate(plan: DirectPlan, bounds: ExecutionBounds): Promise<QueryResult> {
    const request = toRequest(plan, { accept: acceptFor(plan.answer) }, bounds);
    const answer = await reported(client, { request, bounds, now });
    return parseAnswer(decodedBody(answer), { mediaType: answer.mediaType, kind: plan.answer });
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
    trace: bounds.trace,
  };
}

interface Reported {
  readonly request: SparqlRequest;
  readonly bounds: ExecutionBounds;
  readonly now: () => number;
}

/** Sends the request and keeps the endpoint's report up to date until the body's end. */
async function reported(client: SparqlClient, { request, bounds, now }: Reported): Promise<SparqlAnswer> {
  const report = sourceReport(bounds.sources, request.endpoint.id ?? request.endpoint.url);
  const startedAt = now();
  const fail = (thrown: unknown) => {
    report.ms = Math.round(now() - startedAt);
    noteStatus(report, bounds.signal.aborted ? "cancelled" : "failed", toFedwayError(thrown).code);
  };
  report.requests = 1;
  try {
    const answer = await client.query(request);
    report.requests = answer.requests;
    if (answer.partial) noteStatus(report, "partial", answer.partial.how);
    const settle = (end: AnswerEnd) => {
      report.ms = Math.round(now() - startedAt);
      report.bytes = end.decodedBytes;
      if (end.rows !== undefined) report.rows = end.rows;
      noteStatus(report, end.partial ? "partial" : "ok", end.partial?.how);
    };
    answer.end.then(settle, fail);
    return answer;
  } catch (error) {
    fail(error);
    throw error;
  }
}
