import { Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import { unknownId } from "../errors/unknown-id.ts";
import { sessionFigures } from "../query/session-figures.ts";
import { sendJson, uncached } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { ownerOf, sessionName } from "./ownership.ts";
import { answers, view, strictObject } from "./schemas.ts";

const SessionPath = Type.Object({ id: sessionName });

const SessionParameters = strictObject({
  federation: Type.Optional(
    Type.String({
      maxLength: 64,
      description: "Its members were all that the session could name; else the catalogue.",
    }),
  ),
  holding: Type.Optional(
    Type.String({
      pattern: "^[^\\x00-\\x1f\\x7f,]{1,200}(,[^\\x00-\\x1f\\x7f,]{1,200}){0,99}$",
      description: "Ids of the endpoints that hold matches, separated by commas; consultation is relative to them.",
    }),
  ),
});

const count = (description: string) => Type.Integer({ description });
const share = (description: string) =>
  Type.Union([Type.Number(), Type.Null()], { description: `${description} From 0 to 1; null: of none, or unknown.` });

const FiguresView = view("Session", {
  queries: count("Queries that are over."),
  tools: Type.Record(Type.String(), Type.Integer(), { description: "Calls of other tools." }),
  outcomes: Type.Record(Type.String(), Type.Integer(), { description: "Queries by outcome." }),
  validity: share("Share of the queries that parse."),
  informed: share("Share of the queries before which a tool told what endpoints hold."),
  consultation: share("Share of the endpoints with matches (holding) that were contacted."),
  allEndpoints: share("Share of the planned queries that name all endpoints."),
  trivial: share("Share of the answered queries that name all endpoints where fewer gave rows."),
  repeated: count("Queries sent before."),
  corrections: count("Queries that follow one that failed or was empty, and differ from it."),
  corrected: count("Corrections that gave rows."),
  switches: count("Queries that name other endpoints than the one before."),
  repairs: count("Changes made to texts before they were run."),
  firstRowsMs: Type.Union([Type.Integer(), Type.Null()], { description: "From the first call to the first rows." }),
  requests: count("Requests to endpoints."),
  bytes: count("Decoded bytes from endpoints."),
  forgotten: count("Older calls that are not counted: a session keeps 1,000."),
});

/** `GET /api/sessions/{id}`. */
export function addSessionRoutes(app: TypedApp, shell: HttpShell): void {
  const { queries, config } = shell;
  app.get("/api/sessions/:id", {
    schema: {
      tags: ["Queries"],
      operationId: "getSession",
      summary: "Get the figures of your own session: how its queries went",
      params: SessionPath,
      querystring: SessionParameters,
      response: answers(FiguresView),
    },
    handler: async (request, reply) => {
      const known = await queries.sessions.calls({ owner: ownerOf(request, config), session: request.params.id });
      if (known === undefined) throw sessionUnknown();
      const { federation, holding } = request.query;
      const relative = { offered: offeredBy(shell, federation), holding: holding?.split(",") };
      const figures = sessionFigures(known.calls, relative);
      return sendJson(reply.headers(uncached), { ...figures, forgotten: known.forgotten });
    },
  });
}

const sessionUnknown = (): FedwayError =>
  new FedwayError("SESSION_UNKNOWN", "Nothing is known of such a session of yours; calls are kept for an hour.", {
    next: "Send the header Fedway-Session with each query, and ask from the same address or with the same token.",
  });

/** Catalogue ids of the endpoints that a session could name. @throws FedwayError `FEDERATION_UNKNOWN` */
function offeredBy({ catalog }: HttpShell, id: string | undefined): readonly string[] {
  if (id === undefined) return catalog.entries.map((entry) => entry.id);
  const federation = catalog.federation(id);
  if (federation === undefined) throw unknownId("federation", id, catalog);
  return catalog.membersOf(federation).map((entry) => entry.id);
}
