import { Type } from "typebox";
import { every, steadyClock, systemClock } from "../../clock.ts";
import type { CheckedQuery, QueryCheck } from "../../diagnosis/check/query-check.ts";
import { FedwayError, type Problem, toFedwayError, toProblem } from "../../errors/fedway-error.ts";
import type { QueryService } from "../../query/query-service.ts";
import type { TabularAnswer } from "../../query/table.ts";
import type { RawExample } from "../../registry/find.ts";
import { choice } from "../arguments.ts";
import type { ResultStore } from "../results/result-store.ts";
import { type RowFormat, showResult } from "../results/show-result.ts";
import type { Reply } from "../reply.ts";
import { faultLines } from "./check-query.ts";
import { defineTool, holderOf, type ToolCall } from "../tool.ts";

/** Parts for running agents' queries. */
export interface RunQueryParts {
  readonly queries: Pick<QueryService, "table">;
  readonly results: ResultStore;
  /** Absent: queries are run as they are sent. */
  readonly check?: QueryCheck | undefined;
  /** Keeps how queries ended that were meant to answer a question; absent: nothing is kept. */
  readonly keepExample?: ((pair: RawExample) => Promise<void>) | undefined;
  /** Maximum of requested rows, independent of the rows shown. */
  readonly maxRows: number;
}

const defaultRows = 50;
const progressAfterMs = 1_000;
const progressEveryMs = 3_000;

/** Fields of the data of an answer; rows are CSV, or JSON where that is the format. */
export const rowFields = {
  run: "string",
  status: "string",
  columns: "array",
  csv: "string",
  rows: "array",
  rows_total: "integer",
  next_cursor: "string",
} as const;

/** Runs a query and shows its rows. */
export const runQuery = (parts: RunQueryParts) =>
  defineTool({
    name: "run_query",
    title: "Run a SPARQL query",
    text: [
      "Runs a SPARQL query at an endpoint or federation, else over all that is described; shows rows, or why there are none.",
      "No SERVICE, unless the user names endpoints.",
    ],
    input: Type.Object({
      query: Type.Optional(Type.String({ minLength: 1, maxLength: 100_000 })),
      endpoint: Type.Optional(Type.String({ maxLength: 2_048 })),
      max_rows: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: defaultRows })),
      timeout_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 600 })),
      format: Type.Optional(choice(["csv", "json"])),
      prune: Type.Optional(Type.Boolean()),
      cursor: Type.Optional(Type.String({ maxLength: 64 })),
      ...(parts.keepExample && { question: Type.Optional(askedQuestion) }),
    }),
    output: rowFields,
    annotations: { openWorldHint: true },
    profiles: ["full", "small", "builder"],
    async run(args, call) {
      const { query, endpoint, max_rows: maxRows = defaultRows, timeout_s: timeoutS, cursor, question } = args;
      const { format = "csv", prune } = args;
      if (cursor !== undefined) return nextPage(parts.results, cursor, { maxRows, format, call });
      const answers = typeof question === "string" ? question : undefined;
      const shown = { maxRows, format, timeoutS, prune, call };
      if (query !== undefined) return runForAgent(parts, { query, endpoint, question: answers, ...shown });
      throw new FedwayError("REQUEST_INVALID", "Arguments of run_query: query is missing.", {
        next: "Call run_query(query).",
      });
    },
  });

/** True if the client has read within the hour how many endpoints were not asked: rows need it no more, no rows do. */
function knows({ status, notes }: TabularAnswer, results: ResultStore, call: ToolCall): boolean {
  const said = notes.find(({ code }) => code === "CATALOG_ASKED")?.message;
  if (said === undefined || call.session === undefined) return false;
  return !results.isNews(holderOf(call), said) && status === "ok";
}

/** Listed only where pairs are kept. */
const askedQuestion = Type.String({ maxLength: 1_000, description: "What the query answers, kept as an example" });

/** How the rows of a call are shown. */
interface RowsAsked {
  readonly maxRows: number;
  readonly format: RowFormat;
  readonly call: ToolCall;
}

interface AgentRun extends RowsAsked {
  readonly query: string;
  /** Id or URL of an endpoint, or id of a federation, for a query without SERVICE. */
  readonly endpoint?: string | undefined;
  readonly question?: string | undefined;
  readonly timeoutS?: number | undefined;
  readonly prune?: boolean | undefined;
}

/** Runs a query for `run_query` and its alias. One that was run before in the same session is answered from what was kept. */
export async function runForAgent(
  parts: RunQueryParts,
  { query: sent, endpoint: at, question, maxRows, format, timeoutS, prune, call }: AgentRun,
): Promise<Reply> {
  const { queries, results, check } = parts;
  const { owner, session } = call;
  const sentTo = { query: sent, endpoint: at, federation: undefined, repairs: [], check: undefined };
  const prepared = (await check?.prepare({ query: sent, endpoint: at, owner, session })) ?? sentTo;
  const { query, endpoint, federation, repairs } = prepared;
  check?.ran({ query, endpoint, federation, owner, session });
  const place = endpoint ?? federation;
  const asked = `${place === undefined ? "" : `# at ${place}\n`}${prune === false ? "# prune=false\n" : ""}${query}`;
  // Without a session, clients of the same address cannot be distinguished.
  const repeated = session === undefined ? undefined : results.repeated(holderOf(call), asked);
  if (repeated !== undefined) {
    return showResult(repeated, { offset: 0, maxRows, format, hint: call.hint, isCached: true, repairs });
  }
  const keep = async (ending: ReturnType<typeof endingOf>): Promise<void> => {
    if (question !== undefined && ending)
      await parts.keepExample?.({ question, query, targets: place === undefined ? [] : [place], ...ending });
  };
  const running = withProgress(call, () =>
    queries.table({
      text: query,
      endpointId: endpoint,
      federationId: federation,
      repairs,
      prune,
      maxRows: parts.maxRows,
      explainEmpty: true,
      ...(timeoutS !== undefined && { timeoutMs: timeoutS * 1_000 }),
      defaultGraphs: [],
      namedGraphs: [],
      strict: false,
      partial: true,
      signal: call.signal,
      owner: call.owner,
      admitted: call.admitted,
      session: call.session,
      question,
      trace: call.trace,
    }),
  ).catch(async (error: unknown) => {
    const { code } = toFedwayError(error);
    const status = code === "CANCELLED" ? "cancelled" : "failed";
    await keep(endingOf(status, toProblem(error), false));
    throw error;
  });
  const answer = await withOffers(running, query, async () => prepared.check?.(call));
  await keep(endingOf(answer.status, answer.diagnosis, answer.truncated));
  const kept = results.keep(holderOf(call), asked, answer) ?? { id: undefined, query: asked, answer };
  return showResult(kept, {
    offset: 0,
    maxRows,
    format,
    hint: call.hint,
    repairs,
    knowsCatalog: knows(answer, results, call),
  });
}

/** How a run ended; an answer that only our own bound has cut is whole as far as the query goes. */
function endingOf(status: TabularAnswer["status"], diagnosis: Problem | null, truncated: boolean) {
  if (status === "cancelled") return undefined;
  const isWhole = status === "ok" || (status === "partial" && truncated && diagnosis === null);
  const ended = isWhole ? (diagnosis === null ? "ok" : "empty") : status;
  const outcome: RawExample["outcome"] = ended === "running" ? "failed" : ended;
  return { outcome, feedback: diagnosis === null ? undefined : `${diagnosis.code}: ${diagnosis.detail}` };
}

/**
 * A query that was refused, by us or by its endpoint, comes with what may have been meant; rows with what the check says of parts
 * that no row need match.
 */
async function withOffers(
  running: Promise<TabularAnswer>,
  query: string,
  checking: () => Promise<CheckedQuery | undefined>,
): Promise<TabularAnswer> {
  const offers = async () => {
    const checked = await checking();
    return { repairs: checked?.repairs.filter(({ applied }) => !applied), suggested: checked?.suggested };
  };
  try {
    const answer = await running;
    const { status, sources, diagnosis, notes } = answer;
    if (status === "ok" && !diagnosis && mayHide.test(query))
      // Rows that have come are not lost where they cannot be checked.
      return { ...answer, notes: [...doubtsOf(await checking().catch(() => undefined)), ...notes] };
    const isRefused = sources.length === 0 || diagnosis?.code === "ENDPOINT_REJECTED_QUERY";
    if (status !== "failed" || !isRefused || !diagnosis) return answer;
    return { ...answer, diagnosis: { ...diagnosis, ...(await offers()) } };
  } catch (error) {
    if (!(error instanceof FedwayError)) throw error;
    throw new FedwayError(error.code, error.message, { ...error.details, ...(await offers()) });
  }
}

/** Words of queries that have rows though a part matches nothing; all rows of others have matched each pattern. */
const mayHide = /\|\||!=|\b(?:MINUS|EXISTS|OPTIONAL|UNION|VALUES|IN)\b/i;

/** Notes on a query with rows. That no row matches is refuted by them. */
function doubtsOf(checked: CheckedQuery | undefined): TabularAnswer["notes"] {
  if (checked === undefined) return [];
  const { unknown, contradictions, suggested, next } = checked;
  const parts = contradictions.filter(({ isEmpty }) => !isEmpty);
  const lines = [...faultLines({ unknown, contradictions: parts }), ...(suggested === undefined ? [] : [next])];
  return lines.map((line) => ({ code: "QUERY_DOUBTFUL", message: `doubtful: ${line}`, query: suggested }));
}

/** Says now and then that the query is still running. */
async function withProgress<T>({ onProgress }: ToolCall, run: () => Promise<T>): Promise<T> {
  if (onProgress === undefined) return run();
  const startedMs = steadyClock.now();
  const tell = async (): Promise<void> =>
    onProgress(`The query has been running for ${Math.round((steadyClock.now() - startedMs) / 1_000)} s.`);
  const telling = every(progressEveryMs, tell, {
    clock: systemClock,
    onFault: () => {},
    firstAfterMs: progressAfterMs,
  });
  try {
    return await run();
  } finally {
    await telling.stop();
  }
}

/** @throws FedwayError `RESULT_UNKNOWN`, `RESULT_EXPIRED` */
function nextPage(results: ResultStore, cursor: string, { call, ...options }: RowsAsked) {
  const [, id = "", offset = ""] = /^(.*):(\d{1,9})$/.exec(cursor.trim()) ?? [];
  const kept = results.get(holderOf(call), id === "" ? cursor : id);
  if (Number(offset) >= kept.answer.rows.length && kept.answer.rows.length > 0)
    throw new FedwayError("RESULT_UNKNOWN", "The result has no rows at this cursor.");
  return showResult(kept, { ...options, offset: Number(offset), hint: call.hint });
}
