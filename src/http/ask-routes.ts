import { Type } from "typebox";
import { AskAnswer, AskRequest } from "../agent/ask/ask-answer.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { sendNow } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { callerOf, SessionHeader } from "./caller.ts";
import { knownEntry } from "./registry-routes.ts";
import { NoParameters, view, strictObject, documented, text } from "./schemas.ts";
import { guardedAsking } from "./write-access.ts";

const doc = documented("Agents");

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
      ...guardedAsking,
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
    ...guardedAsking,
    schema: {
      ...doc("ask", "Have the configured model write a query for a question, and run it", AskAnswer),
      headers: SessionHeader,
      querystring: NoParameters,
      body: AskRequest,
    },
    handler: async (request, reply) => {
      const { state, body } = request;
      for (const id of body.endpoints ?? []) knownEntry(shell, id);
      const answer = await agent.ask(body, callerOf(request));
      const { status, diagnosis } = answer;
      if (diagnosis) state.code = diagnosis.code;
      const failed = status === "failed" || status === "cancelled";
      return sendNow(reply, answer, failed ? (diagnosis?.status ?? 502) : 200);
    },
  });
  app.get("/api/text2sparql", {
    ...guardedAsking,
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
  question: AskRequest.properties.question,
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
