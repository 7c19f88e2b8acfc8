import { Type } from "typebox";
import { sendJson, uncached } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { callerOf, SessionHeader } from "./ownership.ts";
import { knownEntry } from "./registry-routes.ts";
import { answers, NoParameters, Problem, view, strictObject } from "./schemas.ts";
import { guarded } from "./write-access.ts";

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
});

const count = Type.Integer({ minimum: 0 });

const Answer = view("AskAnswer", {
  status: Type.Union(
    ["ok", "empty", "partial", "failed", "cancelled", "unknown"].map((name) => Type.Literal(name)),
    { description: "That of the last query; unknown: none was written." },
  ),
  stopped: Type.String({ description: "answered, unknown, rounds, turns, tokens, time or model." }),
  question: Type.String(),
  query: Type.Union([Type.String(), Type.Null()], { description: "The last query that was run." }),
  endpoints: Type.Array(Type.String(), { description: "Ids of the endpoints that the model was shown." }),
  text: Type.String({ description: "The rows, or why there are none." }),
  result: Type.Any({ description: "The same as data, as the tool run_query gives it; null when no query was run." }),
  diagnosis: Type.Union([Problem, Type.Null()]),
  dropped: Type.Array(Type.Object({ term: Type.String(), label: Type.String() }), {
    description: "What the question names, by labels of the data, and its query does not.",
  }),
  model: Type.String(),
  session: Type.String({ description: "For GET /api/sessions/{id}." }),
  turns: count,
  rounds: count,
  tokens: Type.Object({ input: count, output: count, estimated: Type.Boolean() }),
  cost: Type.Union([Type.Number(), Type.Null()], { description: "By FEDWAY_CHAT_PRICE; null without one." }),
  steps: Type.Array(Type.Object({ step: Type.String(), ms: count, outcome: Type.Optional(Type.String()) })),
});

/** `POST /api/ask`, where a model is configured. Guarded, as each question costs the operator tokens. */
export function addAskRoutes(app: TypedApp, shell: HttpShell): void {
  const { config, ask: agent } = shell;
  if (agent === undefined) return;
  app.post("/api/ask", {
    ...guarded,
    schema: {
      tags: ["Agents"],
      operationId: "ask",
      summary: "Have the configured model write a query for a question, and run it",
      headers: SessionHeader,
      querystring: NoParameters,
      body: AskBody,
      response: answers(Answer),
    },
    handler: async (request, reply) => {
      const { exchange, body } = request;
      for (const id of body.endpoints ?? []) knownEntry(shell, id);
      const answer = await agent.ask(body, callerOf(request, config));
      const { status, diagnosis } = answer;
      if (diagnosis) exchange.code = diagnosis.code;
      const failed = status === "failed" || status === "cancelled";
      return sendJson(reply.headers(uncached), answer, failed ? (diagnosis?.status ?? 502) : 200);
    },
  });
}
