import { Type } from "typebox";
import type { Caller } from "../agent/tool.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { unknownId } from "../errors/unknown-id.ts";
import { type AnsweredQuestion, answeredQuestions, otlpTrace } from "../query/session-exports.ts";
import { sessionFigures } from "../query/session-figures.ts";
import { anyOriginHeaders, sendNow, uncached } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { sessionName } from "../query/records.ts";
import { callerOf, ownerOf } from "./caller.ts";
import { answersAs, view, documented, integer, optionalFields } from "./schemas.ts";

const SessionPath = Type.Object({ id: sessionName });

const SessionParameters = optionalFields({
  federation: Type.String({
    maxLength: 64,
    description: "Its members were all that the session could name; else the catalogue.",
  }),
  holding: Type.String({
    pattern: "^[^\\x00-\\x1f\\x7f,]{1,200}(,[^\\x00-\\x1f\\x7f,]{1,200}){0,99}$",
    description: "Ids of the endpoints that hold matches, separated by commas; consultation is relative to them.",
  }),
  format: Type.Enum(["figures", "calls", "otlp", "pairs"], {
    description:
      "figures by default; calls: its queries and tools in order, with submitted queries; otlp: a trace in OTLP/JSON by the GenAI conventions of OpenTelemetry; pairs: a JSON line for each question whose last query was ok.",
  }),
});

const share = (description: string) =>
  Type.Union([Type.Number(), Type.Null()], { description: `${description} From 0 to 1; null: of none, or unknown.` });

const FiguresView = view("Session", {
  queries: integer("Queries that are over."),
  tools: Type.Record(Type.String(), Type.Integer(), { description: "Calls of other tools." }),
  outcomes: Type.Record(Type.String(), Type.Integer(), { description: "Queries by outcome." }),
  validity: share("Share of the queries that parse."),
  informed: share("Share of the queries before which a tool showed the contents of endpoints."),
  consultation: share("Share of the endpoints with matches (holding) that were contacted."),
  allEndpoints: share("Share of the planned queries that name all endpoints."),
  trivial: share("Share of the answered queries that name all endpoints where fewer gave rows."),
  repeated: integer("Queries sent before."),
  corrections: integer("Queries that follow one that failed or was empty, and differ from it."),
  corrected: integer("Corrections that gave rows."),
  switches: integer("Queries that name other endpoints than the one before."),
  repairs: integer("Changes made to texts before they were run."),
  firstRowsMs: Type.Union([Type.Integer(), Type.Null()], { description: "From the first call to the first rows." }),
  requests: integer("Requests to endpoints."),
  bytes: integer("Decoded bytes from endpoints."),
  forgotten: integer("Older calls that are not counted: a session keeps 1,000."),
});

const TraceView = view("SessionTrace", {
  resourceSpans: Type.Array(Type.Object({}), { description: "One, with the spans of the session (OTLP/JSON)." }),
});

const CallsView = view("SessionCalls", {
  calls: Type.Array(Type.Any(), { description: "A query (kind query) or the use of another tool (kind tool) each." }),
  forgotten: integer("Older calls that are not known any more."),
});

/** `GET /api/sessions/{id}`. */
export function addSessionRoutes(app: TypedApp, shell: HttpShell): void {
  const { queries } = shell;
  app.get("/api/sessions/:id", {
    schema: {
      ...documented("Queries")(
        "getSession",
        "Get the figures of your own session, its trace, or the questions that it answered",
      ),
      params: SessionPath,
      querystring: SessionParameters,
      response: answersAs([jsonLines], Type.Union([FiguresView, TraceView, CallsView])),
    },
    handler: async (request, reply) => {
      const { id: session } = request.params;
      const known = await queries.sessions.calls({ owner: ownerOf(request), session });
      if (known === undefined) throw sessionUnknown();
      const { federation, holding, format } = request.query;
      if (format === "calls") return sendNow(reply, known);
      if (format === "otlp") return sendNow(reply, otlpTrace(session, known.calls, shell.version));
      if (format === "pairs") {
        const pairs = await withSchemas(shell, answeredQuestions(known.calls), callerOf(request));
        const lines = pairs.map((pair) => `${JSON.stringify(pair)}\n`).join("");
        return reply
          .headers({ ...anyOriginHeaders, ...uncached })
          .type(jsonLines)
          .send(lines);
      }
      const relative = { offered: offeredBy(shell, federation), holding: holding?.split(",") };
      const figures = sessionFigures(known.calls, relative);
      return sendNow(reply, { ...figures, forgotten: known.forgotten });
    },
  });
}

const jsonLines = "application/jsonl";
/** Tokens of the schema of one endpoint in a pair. */
const schemaTokens = 1_000;
const mostSchemas = 5;

/** Answered questions with the schemas of the endpoints that were asked, as models see them; null: not described. */
async function withSchemas({ toolbox }: HttpShell, answered: readonly AnsweredQuestion[], caller: Caller) {
  const ids = [...new Set(answered.flatMap(({ endpoints }) => endpoints.slice(0, mostSchemas)))];
  const schemas = new Map<string, unknown>();
  for (const endpoint of ids) {
    const given = { endpoint, max_tokens: schemaTokens };
    const described = await toolbox?.().call("describe_endpoint", given, caller);
    schemas.set(endpoint, described?.data["schema"] ?? null);
  }
  return answered.map(({ endpoints, ...pair }) => ({
    ...pair,
    schema: Object.fromEntries(endpoints.slice(0, mostSchemas).map((id) => [id, schemas.get(id)])),
  }));
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
