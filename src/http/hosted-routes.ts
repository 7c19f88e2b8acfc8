import { unknownId } from "../errors/unknown-id.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import type { HostedEndpoint } from "../hosting/hosted-endpoint.ts";
import { answerKindOf } from "../hosting/query-form.ts";
import { resultFormats } from "../results/formats.ts";
import { anyOriginHeaders, flat } from "./common-headers.ts";
import { clientSignal } from "./request-state.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import type { QueryOperation } from "./protocol-operation.ts";
import { ownerOf } from "./caller.ts";
import { sendAnswer } from "./send-answer.ts";
import { addSparqlRoute, idOf, type SparqlRouteNames } from "./sparql-routes.ts";

/** `/hosted/{id}/sparql` and `/registry/sparql`: endpoints of this process, asked without planning. */
export function addHostedRoutes(app: TypedApp, shell: HttpShell): void {
  const { hosted, catalog, dataset, publicUrl } = shell;
  addHostedRoute(app, shell, {
    url: "/registry/sparql",
    operationId: "queryRegistry",
    summary: "Query what the registry knows: catalogue, descriptions, capabilities, availability, incidents",
    endpointOf: () => dataset.endpoint,
    dataset: async () => ({ iri: `${publicUrl()}/registry`, describedAt: `${publicUrl()}/registry/vocabulary` }),
    target: () => ({ endpoint: "registry" }),
  });
  addHostedRoute(app, shell, {
    url: "/hosted/:id/sparql",
    operationId: "queryHosted",
    summary: "Query an endpoint that this service hosts",
    endpointOf(request) {
      const endpoint = hosted(idOf(request));
      if (endpoint) return endpoint;
      throw unknownId("endpoint", idOf(request), { entries: catalog.entries.filter(({ id }) => hosted(id)) });
    },
  });
}

/** A route of an endpoint that this process hosts. */
interface HostedRoute extends SparqlRouteNames {
  /** @throws FedwayError when the path names nothing */
  readonly endpointOf: (request: FastifyRequest) => HostedEndpoint;
}

/** Adds a route whose queries a hosted endpoint answers. */
export function addHostedRoute(app: TypedApp, shell: HttpShell, { endpointOf, ...route }: HostedRoute): void {
  const answer = counted(shell, hostedAnswer(shell, endpointOf));
  addSparqlRoute(app, shell, { ...route, federated: false, check: endpointOf, answer });
}

type Answer = (request: FastifyRequest, reply: FastifyReply, operation: QueryOperation) => Promise<void>;

/** Counts an answer as one request of its client; admission counts the queries that are planned. */
const counted =
  ({ quotas }: HttpShell, answer: Answer): Answer =>
  async (request, reply, operation) => {
    const [owner, beganMs] = [ownerOf(request), performance.now()];
    await quotas.admit(owner);
    await answer(request, reply, operation).finally(() =>
      quotas.settle(owner, { requests: 1, rows: 0, seconds: (performance.now() - beganMs) / 1_000 }),
    );
  };

const staticHeaders = flat({ ...anyOriginHeaders, Vary: "Accept, Accept-Encoding" });

const contentTypes = new Map(resultFormats.map(({ mediaType, contentType }) => [mediaType, contentType]));

/** The Accept header that is asked for: the `format` parameter (short name or media type) wins. */
function acceptOf(request: FastifyRequest, format: string | undefined): string {
  if (format === undefined) return request.headers.accept ?? "*/*";
  return resultFormats.find(({ name }) => name === format)?.mediaType ?? format;
}

/** Asks a hosted endpoint and sends its answer. A query that is none is refused for that, whatever format is wanted. */
const hostedAnswer =
  ({ config, queries, sendProblem }: HttpShell, endpointOf: HostedRoute["endpointOf"]): Answer =>
  async (request, reply, operation) => {
    const mostMs = config.limits.timeoutMs;
    const kind = answerKindOf(operation.text);
    const endpoint = endpointOf(request);
    const asked = endpoint.query({
      query: operation.text,
      kind: kind ?? "bindings",
      // The store's refusal of what is no query is not to be hidden behind a format.
      accept: kind === undefined ? "*/*" : acceptOf(request, operation.format),
      defaultGraphs: operation.defaultGraphs,
      namedGraphs: operation.namedGraphs,
      client: ownerOf(request),
      signal: clientSignal(request.state),
      // Waiting for others included.
      timeoutMs: Math.min(mostMs, operation.timeoutMs ?? mostMs),
    });
    const { mediaType, body, stream } = await asked.catch((error: unknown) => {
      const isFormat = error instanceof FedwayError && error.code === "NOT_ACCEPTABLE";
      if (isFormat) queries.explain({ text: operation.text, strict: false, defaultGraphs: [], namedGraphs: [] });
      throw error;
    });
    const headers = [
      ...staticHeaders,
      ...ageHeaders(endpoint),
      "Content-Type",
      contentTypes.get(mediaType) ?? mediaType,
    ];
    await sendAnswer(reply, { headers, contentEncoding: "identity", body: stream ?? body }, (error) =>
      sendProblem(reply, error),
    );
  };

/** How old the data of an endpoint are that may change. */
function ageHeaders({ asOfMs }: HostedEndpoint): readonly string[] {
  if (asOfMs === undefined) return [];
  const seconds = Math.max(0, Math.round((Date.now() - asOfMs()) / 1_000));
  return ["Last-Modified", new Date(asOfMs()).toUTCString(), "Age", String(seconds)];
}
