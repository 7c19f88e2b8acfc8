import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { toFedwayError } from "../errors/fedway-error.ts";
import type { DirectPlan } from "../plan/query-plan.ts";
import type { ResultFormat } from "../results/formats.ts";
import type { QueryResult } from "../results/model.ts";
import type { Remarks } from "../results/remark.ts";
import { acceptFor, formatOf } from "../results/negotiation.ts";
import { type ParseOptions, parseAnswer } from "../results/parse.ts";
import { serializeResult, transcode } from "../results/serialize.ts";
import { parseCheck } from "../outbound/whole-answer.ts";
import type { AnswerEnd, SparqlAnswer, SparqlClient, SparqlRequest } from "../outbound/sparql-request.ts";
import { remarksOn } from "./completeness.ts";
import {
  type AnswerBytes,
  counted,
  type Executor,
  failureStatus,
  noteLearned,
  noteStatus,
  readBy,
  sourceReport,
  takesInPart,
} from "./executor.ts";
import { decodedBody } from "../outbound/content-coding.ts";
import type { SourceReport } from "./reports.ts";
import type { ExecutionBounds } from "./execution-bounds.ts";
import { asMemberFailure, latestWaitMs, MemberTime, memberTimeMs } from "./member-time.ts";
import { cameFrom } from "./provenance.ts";

/**
 * Executes direct plans over the outbound client: one request to one endpoint. Where the endpoint speaks the client's format
 * the bytes of its answer are passed on untouched: whole with its rows where the answer was small enough to be judged before it
 * leaves (`SparqlAnswer.whole`), else as a stream whose `end` settles with its rows. `now` is a monotonic clock in milliseconds.
 */
export function createDirectExecutor(client: SparqlClient, now: () => number): Executor<DirectPlan> {
  const ask = async (plan: DirectPlan, bounds: ExecutionBounds, accepted: Accepted): Promise<Asked> => {
    const time = plan.silent && silentTime(bounds, now);
    const request = toRequest(plan, time ? { ...bounds, signal: time.signal } : bounds, accepted);
    const report = new RequestReport(request, { bounds, now, time });
    try {
      const asked = client.query(request);
      const answer = await (time ? time.waitFor(asked) : asked);
      report.follow(answer);
      return { answer, report };
    } catch (error) {
      throw report.failed(error);
    }
  };
  const parsing = (
    { answer, columns }: DirectPlan,
    { mediaType }: SparqlAnswer,
    bounds: ExecutionBounds,
  ): ParseOptions => ({
    mediaType,
    kind: answer,
    columns: columns?.asked,
    check: parseCheck(bounds, now),
  });

  async function parsed(plan: DirectPlan, bounds: ExecutionBounds, { answer, report }: Asked): Promise<QueryResult> {
    const body = decodedBody(answer);
    const parse = parseAnswer(report.time ? report.time.waitForEach(body) : body, parsing(plan, answer, bounds));
    const result = await (plan.silent ? untilFailure(answer, parse, report) : parse);
    if (!bounds.provenance) return result;
    try {
      return cameFrom(plan.endpoint.id ?? plan.endpoint.url, result);
    } catch (error) {
      if (!Buffer.isBuffer(answer.body)) answer.body.destroy();
      throw error;
    }
  }

  /** An answer whose rows are read first: they get another column, or SILENT may let it end early. */
  async function rewritten(
    plan: DirectPlan,
    format: ResultFormat,
    bounds: ExecutionBounds,
    asked: Asked,
  ): Promise<AnswerBytes> {
    const { result, count } = counted(await parsed(plan, bounds, asked));
    const body = serializeResult(result, format, remarksOn(plan, bounds));
    return { contentEncoding: "identity", body, end: finished(body).then(count) };
  }

  return {
    async fetch(plan, { format, acceptEncoding = "identity" }, bounds) {
      const asked = await ask(plan, bounds, { accept: acceptFor(plan.answer, format), acceptEncoding });
      const { answer, report } = asked;
      const { contentEncoding, body, whole } = answer;
      if (bounds.provenance || (plan.silent && whole === undefined)) return rewritten(plan, format, bounds, asked);
      if (isWrittenAnew(plan, answer, format))
        return writtenAnew(asked, parsing(plan, answer, bounds), { format, remarks: remarksOn(plan, bounds) });
      return whole === undefined
        ? { contentEncoding, body, end: report.end }
        : { contentEncoding, body, rows: whole.rows };
    },

    async evaluate(plan, bounds) {
      return parsed(plan, bounds, await ask(plan, bounds, { accept: acceptFor(plan.answer) }));
    },
  };
}

/**
 * True of an answer in another format, of one that may turn out to be partial at its end, so that it can say so, and of one
 * column of CSV: endpoints write its unbound values as empty lines, which readers skip.
 */
function isWrittenAnew({ answer: kind, columns }: DirectPlan, answer: SparqlAnswer, format: ResultFormat): boolean {
  if (formatOf(answer.mediaType, kind)?.name !== format.name) return true;
  if (format.name === "csv" && columns?.asked.length === 1) return true;
  return answer.mayLackRows === true && answer.whole === undefined;
}

/** A small answer stays whole, so that its head has its state, and what a format cannot hold is an error of its own. */
async function writtenAnew(
  { answer, report }: Asked,
  from: ParseOptions,
  to: { readonly format: ResultFormat; readonly remarks: Remarks },
): Promise<AnswerBytes> {
  const rows = await transcode(decodedBody(answer), from, to);
  const { whole } = answer;
  if (whole !== undefined && answer.contentEncoding === "identity") {
    return { contentEncoding: "identity", body: await buffer(rows), rows: whole.rows };
  }
  return { contentEncoding: "identity", body: rows, end: bothEnds(rows, report) };
}

interface Asked {
  readonly answer: SparqlAnswer;
  readonly report: RequestReport;
}

/**
 * An answer that SILENT lets end early: a failure before its first row is thrown, for the one empty solution; one behind it
 * ends the rows, and the answer is partial.
 */
async function untilFailure(
  { body }: SparqlAnswer,
  parsing: Promise<QueryResult>,
  report: RequestReport,
): Promise<QueryResult> {
  try {
    const result = await parsing;
    if (result.kind === "bindings") return { ...result, rows: await begun(result.rows, report) };
    return result.kind === "quads" ? { ...result, quads: await begun(result.quads, report) } : result;
  } catch (error) {
    if (!Buffer.isBuffer(body)) body.destroy();
    await report.end.catch(() => {});
    throw report.failed(error);
  }
}

async function begun<T>(items: AsyncIterable<T>, report: RequestReport): Promise<AsyncIterable<T>> {
  const iterator = items[Symbol.asyncIterator]();
  let first: IteratorResult<T> | undefined = await iterator.next();
  return readBy(iterator, async () => {
    try {
      return first ?? (await iterator.next());
    } catch (error) {
      if (report.silences(error)) return { done: true, value: undefined };
      throw error;
    } finally {
      first = undefined;
    }
  });
}

/** Where rewriting fails, the request is cancelled: that is its end and not the cause. */
async function bothEnds(body: Readable, report: RequestReport): Promise<number | undefined> {
  await finished(body);
  return report.end;
}

/** The time of an endpoint that the query goes on without: it leaves enough for the one empty solution. */
function silentTime(bounds: ExecutionBounds, now: () => number): MemberTime {
  const nowMs = now();
  const timeMs = memberTimeMs(bounds, nowMs, true);
  return new MemberTime({ signal: bounds.signal, timeMs, latestMs: latestWaitMs(bounds, nowMs), now });
}

/** Accepted formats; without `acceptEncoding` the body is delivered decoded. */
interface Accepted {
  readonly accept: string;
  readonly acceptEncoding?: string | undefined;
}

function toRequest(plan: DirectPlan, bounds: ExecutionBounds, { accept, acceptEncoding }: Accepted): SparqlRequest {
  return {
    endpoint: plan.endpoint,
    query: plan.query,
    kind: plan.answer,
    columns: plan.columns,
    limit: plan.limit,
    accept,
    encoding: acceptEncoding === undefined ? "decode" : "pass",
    acceptEncoding,
    acceptPartial: takesInPart(plan, bounds) || (plan.silent !== undefined && bounds.partial !== "subset"),
    checksForSilentCut: true,
    tripleCount: plan.tripleCount,
    defaultGraphs: plan.defaultGraphs,
    namedGraphs: plan.namedGraphs,
    signal: bounds.signal,
    deadlineMs: bounds.deadlineMs,
    client: bounds.client,
    budget: bounds.requests,
    trace: bounds.trace,
  };
}

interface ReportOptions {
  readonly bounds: ExecutionBounds;
  readonly now: () => number;
  readonly time: MemberTime | undefined;
}

/** Keeps the endpoint's report up to date from its one request to the body's end. */
class RequestReport {
  /** Time that a SILENT query may wait for the endpoint. */
  readonly time: MemberTime | undefined;
  readonly #bounds: ExecutionBounds;
  readonly #now: () => number;
  readonly #report: SourceReport;
  readonly #startedAt: number;
  /** Settles with the rows of the answer when it is at its end, or has failed, and that is noted. */
  end: Promise<number | undefined> = Promise.resolve(undefined);

  constructor({ endpoint }: SparqlRequest, { bounds, now, time }: ReportOptions) {
    this.time = time;
    this.#bounds = bounds;
    this.#now = now;
    this.#report = sourceReport(bounds.sources, endpoint.id ?? endpoint.url);
    this.#report.requests = 1;
    this.#startedAt = now();
  }

  /** The request, or its body, has failed; gives the error back, as the endpoint's own when its time was up. */
  failed(thrown: unknown): unknown {
    this.time?.stop();
    this.#report.ms = this.#elapsedMs;
    const first = toFedwayError(thrown);
    const error = this.time ? asMemberFailure(first, this.#report.endpoint, this.#bounds) : first;
    // A reader that leaves has cancelled the request; that is no failure of the endpoint.
    const isCancelled = this.#bounds.signal.aborted || error.code === "CANCELLED";
    noteStatus(this.#report, isCancelled ? "cancelled" : failureStatus(error), error.code);
    return error === first ? thrown : error;
  }

  /** The answer has begun. */
  follow({ requests, partial, whole, end, learned, mirror }: SparqlAnswer): void {
    if (learned !== undefined) noteLearned(this.#report, learned);
    if (mirror !== undefined) this.#report.mirror = mirror;
    this.#report.requests = requests;
    if (partial) noteStatus(this.#report, "partial", partial.how);
    if (whole === undefined) {
      this.end = end.then(
        (how) => this.#ended(how),
        (error: unknown) => {
          throw this.failed(error);
        },
      );
      // The reader of the body gets its failure there.
      this.end.catch(() => {});
    } else this.end = Promise.resolve(this.#ended(whole));
  }

  /** True if SILENT makes a partial answer of one that broke off. */
  silences(thrown: unknown): boolean {
    return toFedwayError(this.failed(thrown)).kind.silenceable && !this.#bounds.signal.aborted;
  }

  get #elapsedMs(): number {
    return Math.round(this.#now() - this.#startedAt);
  }

  #ended({ decodedBytes, rows, partial, requests = 0 }: AnswerEnd): number | undefined {
    this.time?.stop();
    this.#report.requests += requests;
    this.#report.ms = this.#elapsedMs;
    this.#report.bytes = decodedBytes;
    if (rows !== undefined) this.#report.rows = rows;
    noteStatus(this.#report, partial ? "partial" : "ok", partial?.how);
    return rows;
  }
}
