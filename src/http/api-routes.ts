import { itemAt } from "../values.ts";
import type { FastifyRequest, FastifyReply } from "fastify";
import { createCompletion } from "../completion/complete.ts";
import { Completion, CompletionRequest } from "../completion/completion.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { TabularAnswer as Table } from "../query/table.ts";
import type { PlanDescription } from "../query/records.ts";
import { planText } from "../views/plan-view.ts";
import { jsonRow, jsonTerm } from "../results/json-terms.ts";
import { callerOf, SessionHeader } from "./caller.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { AnalyzedPlan, ExplainBody, type QueryBody, queryBody, TabularAnswer } from "./query-schemas.ts";
import { queryTooLarge } from "./protocol-operation.ts";
import { asking } from "./write-access.ts";
import { answers, Problem, documented, NoParameters } from "./schemas.ts";
import { sendJson, sendNow, anyOriginHeaders, wantsFresh } from "./common-headers.ts";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";

const doc = documented("Queries");

/** A failed run is no success: its status is that of its problem, while the body stays the table. */
const statusOf = ({ status, diagnosis }: Table): number =>
  status === "failed" || status === "cancelled" ? (diagnosis?.status ?? 502) : 200;

/** The request that both routes pass on. @throws FedwayError `QUERY_TOO_LARGE` */
function requestOf(shell: HttpShell, body: QueryBody | ExplainBody, request: FastifyRequest) {
  const { query: text, endpoint, federation, timeoutMs, partial = false, strict = false, prune } = body;
  const { maxQueryBytes } = shell.config.limits;
  if (Buffer.byteLength(text) > maxQueryBytes) throw queryTooLarge(maxQueryBytes);
  const place = { endpointId: endpoint, federationId: federation, defaultGraphs: [], namedGraphs: [] };
  const fresh = wantsFresh(request.headers);
  return { text, ...place, timeoutMs, partial, strict, prune, fresh, ...callerOf(request) };
}

async function tabulate(shell: HttpShell, body: QueryBody, request: FastifyRequest): Promise<Table> {
  const { state } = request;
  const { config, queries } = shell;
  const { provenance, maxRows = config.limits.maxRows } = body;
  const asked = requestOf(shell, body, request);
  if (config.log.queries) state.query = asked.text;
  const table = await queries.table({ ...asked, maxRows, explainEmpty: true, provenance });
  state.run = table.run;
  if (table.diagnosis && table.status !== "empty" && table.status !== "ok") state.code = table.diagnosis.code;
  return { ...table, plan: withText(table.plan) };
}

/** A plan as the API gives it: with its text for people. */
const withText = (plan: PlanDescription) => ({ ...plan, text: planText(plan) });

async function explained(shell: HttpShell, body: ExplainBody, request: FastifyRequest) {
  const { state } = request;
  const { config, queries } = shell;
  const asked = requestOf(shell, body, request);
  if (body.analyze !== true) return withText(queries.explain(asked));
  if (config.log.queries) state.query = asked.text;
  request.endTurn?.();
  const analyzed = await queries.analyze(asked);
  state.run = analyzed.run?.id;
  return withText(analyzed);
}

/** A failed run is the table that it has, with its problem as `diagnosis`; a request refused before is a problem. */
const failedTable = {
  content: { "application/problem+json": { schema: Problem }, "application/json": { schema: TabularAnswer } },
};

/** `POST /api/query`, `POST /api/explain`, `POST /api/complete`. */
export function addApiRoutes(app: TypedApp, shell: HttpShell): void {
  const { config } = shell;
  const sendTable = createTableSender();
  app.post("/api/query", {
    ...asking,
    schema: {
      ...doc("queryTable", "Run a query and get its rows as JSON values"),
      headers: SessionHeader,
      body: queryBody(config.limits.maxRows),
      response: { ...answers(TabularAnswer), "4xx": failedTable, "5xx": failedTable },
    },
    handler: async (request, reply) => {
      const table = await tabulate(shell, request.body, request);
      void reply.header("Fedway-Run", table.run).header("Fedway-Status", table.status);
      if (table.partial !== undefined) void reply.header("Fedway-Partial", table.partial);
      return sendTable(reply, table, request.body.terms ?? "json");
    },
  });
  app.post("/api/explain", {
    schema: {
      ...doc("explain", "Get the plan of a query, and what a run of it takes", AnalyzedPlan),
      headers: SessionHeader,
      body: ExplainBody,
    },
    handler: async (request, reply) => sendJson(reply, await explained(shell, request.body, request)),
  });
  addCompletion(app, shell);
}

/** `POST /api/complete`: what fits at a cursor. */
function addCompletion(app: TypedApp, shell: HttpShell): void {
  const complete = createCompletion(shell);
  app.post("/api/complete", {
    config: { role: "read" },
    schema: {
      ...doc(
        "complete",
        "What fits at a cursor, by what is known of the endpoints that are asked there: names, classes, properties, values",
        Completion,
      ),
      querystring: NoParameters,
      body: CompletionRequest,
    },
    handler: async ({ body }, reply) => sendNow(reply, await complete(body)),
  });
}

/** Characters that are written as JSON in one turn of the event loop. */
const pieceCharacters = 65_536;
/** Characters of all tables that clients have not read yet. */
const mostUnreadCharacters = 128 * 1024 * 1024;

/** Sends tables; a large one in pieces with turns for others between them. @throws FedwayError `SERVICE_BUSY` */
function createTableSender(): (reply: FastifyReply, table: Table, terms: Terms) => FastifyReply {
  let unread = 0;
  return (reply, table, terms) => {
    const { columns } = table;
    const status = statusOf(table);
    const characters = table.rows.reduce((sum, row) => sum + charactersOf(columns, row), 0);
    const rowOf = rowWriter(columns, terms);
    if (characters < pieceCharacters) return sendJson(reply, { ...table, rows: table.rows.map(rowOf) }, status);
    if (unread + characters > mostUnreadCharacters) throw tooManyUnread();
    unread += characters;
    reply.raw.once("close", () => {
      unread -= characters;
    });
    const body = Readable.from(piecesOf(table, rowOf), { objectMode: false });
    return reply.code(status).headers(anyOriginHeaders).type("application/json").send(body);
  };
}

type Cells = Table["rows"][number];
type Terms = NonNullable<QueryBody["terms"]>;

/** Characters of a row as JSON, about. */
const charactersOf = (columns: readonly string[], cells: Cells): number =>
  cells.reduce((sum, cell, at) => sum + (cell === null ? 0 : cell.length + itemAt(columns, at).length + 4), 0);

const rowWriter = (columns: readonly string[], terms: Terms) => (cells: Cells) =>
  jsonRow(columns, cells, terms === "json" ? jsonTerm : (cell) => cell);

/** The table as JSON, its rows at the end. */
async function* piecesOf({ rows, ...head }: Table, rowOf: ReturnType<typeof rowWriter>): AsyncIterable<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"rows":[`;
  let piece: object[] = [];
  let characters = 0;
  let separator = "";
  for (const row of rows) {
    piece.push(rowOf(row));
    characters += charactersOf(head.columns, row);
    if (characters < pieceCharacters) continue;
    yield separator + JSON.stringify(piece).slice(1, -1);
    separator = ",";
    piece = [];
    characters = 0;
    await nextTurn();
  }
  if (piece.length > 0) yield separator + JSON.stringify(piece).slice(1, -1);
  yield "]}";
}

const tooManyUnread = (): FedwayError =>
  new FedwayError("SERVICE_BUSY", "Too many large tables are still being read by their clients.", {
    retryAfterMs: 2_000,
    next: "Try again in a moment, or send the query to /sparql, where answers of any size are streamed.",
  });
