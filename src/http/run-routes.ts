import { Type } from "typebox";
import { elapsedMs, RunFilter } from "../query/run-list.ts";
import { runUnknown } from "../query/query-service.ts";
import { plainHeaders, sendNothing, sendNow, uncached } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { ownerOf, viewerOf } from "./caller.ts";
import { RunRecord } from "../query/records.ts";
import { IdPath, nothing, strictObject, view, documented } from "./schemas.ts";
import { refuseForeign } from "./write-access.ts";

const doc = documented("Queries");

const RunList = view("RunList", { runs: Type.Array(RunRecord), next: Type.Optional(Type.String()) });

const RunWait = strictObject({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description: "Milliseconds to wait for the end of a run that is still running.",
    }),
  ),
});

const mostCharacters = 300;

/** A run as lists show it: without steps and notes, its text cut. */
function listedRun(record: RunRecord, nowMs: number): RunRecord {
  const { steps: _steps, notes: _notes, asked, ...run } = record;
  const shown = asked && { ...asked, query: asked.query?.slice(0, mostCharacters), repairs: [] };
  return { ...run, notes: [], asked: shown, elapsedMs: Math.round(elapsedMs(record, nowMs)) };
}

/** `GET /api/runs`, `GET` and `DELETE /api/runs/{id}`. */
export function addRunRoutes(app: TypedApp, shell: HttpShell): void {
  const { queries, now = Date.now } = shell;
  app.get("/api/runs", {
    onRequest: refuseForeign,
    schema: {
      ...doc(
        "listRuns",
        "List runs under way and those of which records are kept: one's own, with the admin token all",
        RunList,
      ),
      querystring: RunFilter,
    },
    handler: async (request, reply) => {
      const { runs, next } = await queries.runs(request.query, viewerOf(request));
      const body = { runs: runs.map((run) => listedRun(run, now())), next };
      return reply
        .headers({ ...plainHeaders, ...uncached })
        .type("application/json")
        .send(body);
    },
  });
  app.get("/api/runs/:id", {
    schema: {
      ...doc("getRun", "Get the record of a run: what each endpoint contributed", RunRecord),
      params: IdPath,
      querystring: RunWait,
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      if (request.query.wait !== undefined) request.endTurn?.();
      const record = await queries.runRecord(id, ownerOf(request), { waitMs: request.query.wait });
      if (record) return sendNow(reply, record);
      throw runUnknown();
    },
  });
  app.delete("/api/runs/:id", {
    onRequest: refuseForeign,
    schema: {
      ...doc("cancelRun", "Cancel a run of one's own, with the role admin any; its requests to endpoints end at once"),
      params: IdPath,
      response: { ...nothing, 202: Type.Null({ description: "It was asked to end and has not been seen to yet." }) },
    },
    handler: async (request, reply) => {
      const done = await queries.cancel(request.params.id, viewerOf(request));
      return done === "cancelled" ? sendNothing(reply) : reply.code(202).headers(plainHeaders).send(null);
    },
  });
}
