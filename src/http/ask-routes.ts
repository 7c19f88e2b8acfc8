import { Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import { sendNow } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { callerOf, SessionHeader } from "./ownership.ts";
import { knownEntry } from "./registry-routes.ts";
import { NoParameters, Problem, view, strictObject, documented, boolean, text, texts } from "./schemas.ts";
import { guarded } from "./write-access.ts";

const doc = documented("Agents");

const SetupBody = Type.Object(
  {
    tools: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 20,
      description: "That the model may call.",
    }),
    prompt: Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: "Instead of the task that models are given.",
    }),
    lookup: boolean("Whether endpoints and terms are looked up, with these tools, before the model is asked."),
    turns: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    tokens: Type.Optional(
      Type.Integer({ minimum: 1_000, maximum: 10_000_000, description: "Of the model, in and out." }),
    ),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 3_600_000 })),
  },
  {
    additionalProperties: false,
    description: "Another agent, to compare it: what fedway evaluate sends. The limits of the operator hold, too.",
  },
);

const AskBody = strictObject({
  question: Type.String({ minLength: 1, maxLength: 4_000, description: "In plain words." }),
  rounds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 9, description: "Corrections after the first query; 2 when absent." }),
  ),
  endpoints: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 3,
      description: "Ids of the endpoints to ask; found by the question when absent.",
    }),
  ),
  setup: Type.Optional(SetupBody),
});

const count = Type.Integer({ minimum: 0 });

const Answer = view("AskAnswer", {
  status: Type.Union(
    ["ok", "empty", "partial", "failed", "cancelled", "unknown"].map((name) => Type.Literal(name)),
    { description: "That of the last query; unknown: none was written." },
  ),
  stopped: text("answered, submitted, unknown, rounds, turns, tokens, time or model."),
  question: Type.String(),
  query: Type.Union([Type.String(), Type.Null()], {
    description: "The submitted query, else the last one that was run.",
  }),
  endpoints: texts("Ids of the endpoints that the model was shown."),
  text: text("The rows, or why there are none."),
  result: Type.Any({ description: "The same as data, as the tool run_query gives it; null when no query was run." }),
  diagnosis: Type.Union([Problem, Type.Null()]),
  dropped: Type.Array(Type.Object({ term: Type.String(), label: Type.String() }), {
    description: "What the question names, by labels of the data, and its query does not.",
  }),
  model: Type.String(),
  session: text("For GET /api/sessions/{id}."),
  turns: count,
  rounds: count,
  tokens: Type.Object({ input: count, output: count, estimated: Type.Boolean() }),
  cost: Type.Union([Type.Number(), Type.Null()], { description: "By FEDWAY_CHAT_PRICE; null without one." }),
  steps: Type.Array(
    Type.Object({
      step: text("A tool, or model."),
      atMs: count,
      ms: count,
      outcome: Type.Optional(Type.String()),
      query: Type.Optional(text("That the tool was given, as it was written.")),
      run: Type.Optional(text("Id of its run, as in GET /api/sessions/{id}?format=calls.")),
    }),
  ),
});

/** The error of a service without a model. */
export const withoutModel = (): FedwayError =>
  new FedwayError("NOT_FOUND", "This service has no language model.", {
    next: "Set FEDWAY_CHAT to the URL of an OpenAI-compatible API and FEDWAY_CHAT_MODEL to one of its models, and start it again.",
  });

declare module "fastify" {
  interface FastifyInstance {
    /** Questions are answered here. */
    readonly hasModel: boolean;
  }
}

/** `POST /api/ask` and the text2sparql API; without a model both say so. Guarded, as each question costs the operator tokens. */
export function addAskRoutes(app: TypedApp, shell: HttpShell): void {
  app.decorate("hasModel", shell.ask !== undefined);
  const { ask: agent } = shell;
  if (agent === undefined) {
    const refusal = {
      ...guarded,
      schema: { hide: true },
      handler: () => {
        throw withoutModel();
      },
    };
    app.post("/api/ask", refusal);
    app.get("/api/text2sparql", refusal);
    return;
  }
  app.post("/api/ask", {
    ...guarded,
    schema: {
      ...doc("ask", "Have the configured model write a query for a question, and run it", Answer),
      headers: SessionHeader,
      querystring: NoParameters,
      body: AskBody,
    },
    handler: async (request, reply) => {
      const { exchange, body } = request;
      for (const id of body.endpoints ?? []) knownEntry(shell, id);
      const answer = await agent.ask(body, callerOf(request));
      const { status, diagnosis } = answer;
      if (diagnosis) exchange.code = diagnosis.code;
      const failed = status === "failed" || status === "cancelled";
      return sendNow(reply, answer, failed ? (diagnosis?.status ?? 502) : 200);
    },
  });
  app.get("/api/text2sparql", {
    ...guarded,
    schema: {
      ...doc("text2sparql", "Have the configured model write a query for a question (text2sparql API)", TextAnswer),
      querystring: TextParameters,
    },
    handler: async (request, reply) => {
      const { question, dataset } = request.query;
      const endpoints = endpointsOf(shell, dataset);
      const { query, stopped, diagnosis } = await agent.ask({ question, endpoints }, callerOf(request));
      if (diagnosis && (stopped === "model" || stopped === "time"))
        throw new FedwayError(diagnosis.code, diagnosis.detail, diagnosis);
      return sendNow(reply, { dataset, question, query: query ?? "" });
    },
  });
}

const TextParameters = strictObject({
  question: AskBody.properties.question,
  dataset: Type.String({ minLength: 1, maxLength: 2_048, description: "Id or URL of an endpoint or a federation." }),
});

const TextAnswer = view("Text2SparqlAnswer", {
  dataset: Type.String(),
  question: Type.String(),
  query: text("Empty when the model knows none."),
});

/** The endpoints of a dataset; undefined for a federation of more than a question may name. @throws FedwayError `ENDPOINT_UNKNOWN` */
export function endpointsOf(shell: HttpShell, dataset: string): readonly string[] | undefined {
  const [, kind, id = dataset] = /\/(federations|endpoints)\/([^/]+?)(?:\/sparql)?\/?$/.exec(dataset) ?? [];
  const federation = kind === "endpoints" ? undefined : shell.catalog.federation(id);
  if (federation === undefined) return [knownEntry(shell, id).id];
  const members = shell.catalog.membersOf(federation).map((entry) => entry.id);
  return members.length > 3 ? undefined : members;
}
