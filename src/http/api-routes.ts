import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import type { TabularAnswer as Table } from "../query/query-service.ts";
import { anyOriginHeaders } from "./common-headers.ts";
import { clientSignal } from "./exchange.ts";
import type { HttpDeps } from "./http-deps.ts";
import {
  ExplainBody,
  IdPath,
  PlanDescription,
  Problem,
  type QueryBody,
  queryBody,
  RunRecord,
  TabularAnswer,
} from "./schemas.ts";
import { endpointUnknown } from "./sparql-routes.ts";

/** What every route of the JSON API may answer beside its success. */
export const problemResponses = { "4xx": Problem, "5xx": Problem } as const;

/** Answers with JSON that any origin may read. */
export const sendJson = (reply: FastifyReply, value: unknown, status = 200): FastifyReply =>
  reply.code(status).headers(anyOriginHeaders).type("application/json").send(value);

function checkQuery(deps: HttpDeps, text: string, endpoint: string | undefined): void {
  const { catalog, config } = deps;
  const { maxQueryBytes } = config.limits;
  if (Buffer.byteLength(text) > maxQueryBytes) {
    throw new FedwayError("QUERY_TOO_LARGE", `The query is larger than ${maxQueryBytes} bytes.`);
  }
  if (endpoint !== undefined && !catalog.byId(endpoint)) {
    throw endpointUnknown(
      endpoint,
      catalog.entries.map(({ id }) => id),
    );
  }
}

/** A failed run is no success: its status is that of its problem, while the body stays the table. */
const statusOf = ({ status, diagnosis }: Table): number =>
  status === "failed" || status === "cancelled" ? (diagnosis?.status ?? 502) : 200;

const runQuery =
  (deps: HttpDeps) =>
  async (request: FastifyRequest<{ Body: QueryBody }>, reply: FastifyReply): Promise<FastifyReply> => {
    const { query, endpoint, maxRows, timeoutMs, partial = false, strict = false } = request.body;
    checkQuery(deps, query, endpoint);
    if (deps.config.log.queries) request.exchange.query = query;
    const table = await deps.queries.table({
      text: query,
      ...(endpoint !== undefined && { endpointId: endpoint }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      maxRows: maxRows ?? deps.config.limits.maxRows,
      defaultGraphs: [],
      namedGraphs: [],
      partial,
      strict,
      signal: clientSignal(request.exchange),
    });
    request.exchange.run = table.run;
    if (table.diagnosis) request.exchange.code = table.diagnosis.code;
    void reply.header("Fedway-Run", table.run).header("Fedway-Status", table.status);
    return sendJson(reply, table, statusOf(table));
  };

/** `POST /api/query`, `POST /api/explain`, `GET /api/runs/{id}`. */
export function addApiRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const { queries, config } = deps;
  app.post<{ Body: QueryBody }>("/api/query", {
    schema: {
      tags: ["Queries"],
      summary: "Run a query and get rows as simple JSON",
      body: queryBody(config.limits.maxRows),
      response: { 200: TabularAnswer, ...problemResponses },
    },
    handler: runQuery(deps),
  });
  app.post<{ Body: ExplainBody }>("/api/explain", {
    schema: {
      tags: ["Queries"],
      summary: "Get the plan of a query without running it",
      body: ExplainBody,
      response: { 200: PlanDescription, ...problemResponses },
    },
    handler: (request, reply) => {
      const { query, endpoint, strict = false } = request.body;
      checkQuery(deps, query, endpoint);
      const where = endpoint === undefined ? {} : { endpointId: endpoint };
      return sendJson(reply, queries.explain({ text: query, ...where, strict, defaultGraphs: [], namedGraphs: [] }));
    },
  });
  app.get<{ Params: IdPath }>("/api/runs/:id", {
    schema: {
      tags: ["Queries"],
      summary: "Get the record of a run: what each endpoint contributed",
      params: IdPath,
      querystring: Type.Object({}, { additionalProperties: false }),
      response: { 200: RunRecord, ...problemResponses },
    },
    handler: (request, reply) => {
      const record = queries.runRecord(request.params.id);
      if (record) return sendJson(reply.header("Cache-Control", "no-store"), record);
      throw new FedwayError("RUN_UNKNOWN", "The run is not known; records are kept for a while only.");
    },
  });
}
