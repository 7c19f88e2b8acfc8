import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import { nearest } from "../errors/nearest.ts";
import type { QueryAnswer, QueryTimings } from "../query/query-service.ts";
import { endpointUnknown } from "../registry/catalog/endpoint-unknown.ts";
import { descriptionUrl } from "../registry/void/published-documents.ts";
import { clientKey } from "./rate-limiter.ts";
import { anyOriginHeaders, flat } from "./common-headers.ts";
import { clientSignal } from "./exchange.ts";
import {
  searchOf,
  readOperation,
  type DescriptionOperation,
  type ProtocolBody,
  type QueryOperation,
} from "./protocol-operation.ts";
import type { HttpDeps } from "./http-deps.ts";
import type { SendProblem } from "./problem-reply.ts";
import { IdPath, ProtocolParameters } from "./schemas.ts";
import { sendAnswer } from "./send-answer.ts";
import { graphFormat, sendQuads } from "./rdf-body.ts";
import { describeRoute, type DescribedRoute } from "./service-description.ts";

/** What the SPARQL routes work with. */
export interface SparqlShell {
  readonly deps: HttpDeps;
  readonly sendProblem: SendProblem;
  /** Origin under which clients reach the service. */
  readonly publicUrl: () => string;
}

/** How one SPARQL route answers a query. */
type Answering = (request: FastifyRequest, reply: FastifyReply, operation: QueryOperation) => Promise<void>;

interface SparqlRoute {
  readonly url: string;
  readonly federated: boolean;
  readonly summary: string;
  /** Throws when the path names nothing. */
  readonly check?: (request: FastifyRequest) => void;
  /** The dataset behind the route with this id, for the service description. */
  readonly dataset?: (id: string) => Promise<DescribedRoute["dataset"]>;
  readonly answer: Answering;
}

const sparqlTarget = /^(?:\/(?:(?:endpoints|federations|hosted)|shards\/[^/?]+)\/[^/?]+)?\/sparql\/?\?/;

/**
 * The URL by which a request is routed: without its query part on SPARQL routes, which read that part themselves and
 * need the framework's reading of it no more than its cost. The handlers find it in `originalUrl`.
 */
export function routedUrl({ url = "" }: IncomingMessage): string {
  return sparqlTarget.test(url) ? url.slice(0, url.indexOf("?")) : url;
}

const staticHeaders = flat({ ...anyOriginHeaders, Vary: "Accept, Accept-Encoding" });

/** With one decimal; whole numbers become text in a fraction of the time that others take. */
function tenths(ms: number): string {
  const count = Math.round(ms * 10);
  return `${Math.trunc(count / 10)}.${count % 10}`;
}

const serverTiming = ({ planMs, firstByteMs, planCached }: QueryTimings): string =>
  `plan;dur=${tenths(planMs)}${planCached ? ';desc="cached"' : ""}, upstream;dur=${tenths(firstByteMs)}`;

function headersOf(answer: QueryAnswer): readonly string[] {
  const headers = [
    ...staticHeaders,
    "Content-Type",
    answer.contentType,
    "Fedway-Run",
    answer.runId,
    "Fedway-Plan",
    answer.plan.kind,
    "Fedway-Status",
    answer.status,
    "Server-Timing",
    serverTiming(answer.timings),
  ];
  if (answer.notes.length > 0) headers.push("Fedway-Notes", answer.notes.map(({ code }) => code).join(","));
  return headers;
}

function parameter(params: unknown, name: string): string {
  if (typeof params !== "object" || params === null) return "";
  const found: unknown = Reflect.get(params, name);
  return typeof found === "string" ? found : "";
}

/** The `id` in the path. */
export const idOf = ({ params }: FastifyRequest): string => parameter(params, "id");

const shortened = (id: string): string => (id.length > 64 ? `${id.slice(0, 64)}…` : id);

function federationUnknown(id: string, known: readonly string[]): FedwayError {
  const [like] = nearest(id, known);
  return new FedwayError("FEDERATION_UNKNOWN", `The catalogue has no federation "${shortened(id)}".`, {
    next: like === undefined ? "GET /api/federations lists all of them." : `Did you mean "${like}"?`,
  });
}

/** What a route's path names. */
type Target = { readonly endpointId?: string; readonly federationId?: string };

const throughQueryService =
  ({ deps, sendProblem }: SparqlShell, targetOf: (request: FastifyRequest) => Target): Answering =>
  async (request, reply, operation) => {
    const { headers } = request;
    const { endpointId, federationId } = targetOf(request);
    const answer = await deps.queries.run({
      text: operation.text,
      endpointId,
      federationId,
      accept: headers.accept,
      format: operation.format,
      acceptEncoding: headers["accept-encoding"],
      defaultGraphs: operation.defaultGraphs,
      namedGraphs: operation.namedGraphs,
      timeoutMs: operation.timeoutMs,
      strict: operation.strict,
      partial: operation.partial,
      client: clientKey(request.ip),
      signal: clientSignal(request.exchange),
      trace: request.exchange.span?.context,
    });
    request.exchange.run = answer.runId;
    const { contentEncoding, body } = answer;
    const sending = sendAnswer(reply, { headers: headersOf(answer), contentEncoding, body }, (error) =>
      sendProblem(reply, error, { "Fedway-Run": answer.runId }),
    );
    if (sending !== undefined) await sending;
  };

interface Described {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly operation: DescriptionOperation;
}

/** Answers a request without a query with the route's service description. */
async function sendDescription(
  { publicUrl }: SparqlShell,
  { federated, dataset }: SparqlRoute,
  { request, reply, operation }: Described,
): Promise<void> {
  const url = `${publicUrl()}${request.originalUrl.split("?", 1)[0]}`;
  const { accept } = request.headers;
  const format = graphFormat({ ...(accept !== undefined && { accept }), format: operation.format ?? "" });
  await sendQuads(reply, describeRoute({ url, federated, dataset: await dataset?.(idOf(request)) }), format);
}

function handling(
  shell: SparqlShell,
  route: SparqlRoute,
): (request: FastifyRequest<{ Body: ProtocolBody | undefined }>, reply: FastifyReply) => Promise<void> {
  const { limits, log } = shell.deps.config;
  return (request, reply) => {
    request.exchange.route = route.url;
    route.check?.(request);
    const operation = readOperation({
      method: request.method,
      search: searchOf(request.originalUrl),
      body: request.body,
      maxQueryBytes: limits.maxQueryBytes,
    });
    if (operation.kind === "description") return sendDescription(shell, route, { request, reply, operation });
    if (log.queries) request.exchange.query = operation.text;
    return route.answer(request, reply, operation);
  };
}

function addRoute(app: FastifyInstance, shell: SparqlShell, route: SparqlRoute): void {
  app.route<{ Body: ProtocolBody | undefined }>({
    method: ["GET", "POST"],
    url: route.url,
    // The schema documents; the protocol's own reader checks.
    validatorCompiler: () => () => true,
    schema: {
      tags: ["SPARQL"],
      summary: route.summary,
      querystring: ProtocolParameters,
      ...(route.url.includes(":id") && { params: IdPath }),
    },
    handler: handling(shell, route),
  });
}

/** The dataset of an endpoint, with what is known of it. */
async function datasetOf({ deps, publicUrl }: SparqlShell, id: string): Promise<DescribedRoute["dataset"]> {
  const description = await deps.descriptions.get(id);
  if (!description) return { iri: `${publicUrl()}/endpoints/${id}#dataset` };
  return { iri: description.dataset, describedAt: descriptionUrl(publicUrl(), id), description };
}

/** `/sparql`, `/endpoints/{id}/sparql` and `/federations/{id}/sparql`. */
export function addQueryRoutes(app: FastifyInstance, shell: SparqlShell): void {
  const { catalog } = shell.deps;
  addRoute(app, shell, {
    url: "/sparql",
    federated: true,
    summary: "Query the endpoints that the SERVICE clauses name (SPARQL 1.1 Protocol)",
    answer: throughQueryService(shell, () => ({})),
  });
  addRoute(app, shell, {
    url: "/endpoints/:id/sparql",
    federated: true,
    summary: "Query one endpoint of the catalogue (SPARQL 1.1 Protocol)",
    check: (request) => {
      const id = idOf(request);
      if (!catalog.byId(id))
        throw endpointUnknown(
          id,
          catalog.entries.map((entry) => entry.id),
        );
    },
    dataset: (id) => datasetOf(shell, id),
    answer: throughQueryService(shell, (request) => ({ endpointId: idOf(request) })),
  });
  addRoute(app, shell, {
    url: "/federations/:id/sparql",
    federated: true,
    summary: "Query the members of a federation as one dataset (SPARQL 1.1 Protocol)",
    check: (request) => {
      const id = idOf(request);
      if (!catalog.federation(id))
        throw federationUnknown(
          id,
          catalog.federations.map((federation) => federation.id),
        );
    },
    answer: throughQueryService(shell, (request) => ({ federationId: idOf(request) })),
  });
}

/** `/hosted/{id}/sparql`: the endpoint in this process, without planning. */
export function addHostedRoute(app: FastifyInstance, shell: SparqlShell, answer: Answering): void {
  const { hosted, catalog } = shell.deps;
  addRoute(app, shell, {
    url: "/hosted/:id/sparql",
    federated: false,
    summary: "Query an endpoint that this service hosts",
    check: (request) => {
      const id = idOf(request);
      if (hosted(id)) return;
      throw endpointUnknown(
        id,
        catalog.entries.map((entry) => entry.id).filter((known) => hosted(known)),
      );
    },
    answer,
  });
}

/** The dataset and the shard in the path. */
export const shardOf = ({ params }: FastifyRequest): { readonly dataset: string; readonly shard: string } => ({
  dataset: parameter(params, "dataset"),
  shard: parameter(params, "shard"),
});

/** `/shards/{dataset}/{shard}/sparql`: a shard in this process, without planning. */
export function addShardRoute(app: FastifyInstance, shell: SparqlShell, answer: Answering): void {
  addRoute(app, shell, {
    url: "/shards/:dataset/:shard/sparql",
    federated: false,
    summary: "Query a shard that this service hosts",
    check: (request) => {
      const { dataset, shard } = shardOf(request);
      if (!shell.deps.shards?.endpoint(dataset, shard)) throw shardUnknown(dataset, shard);
    },
    answer,
  });
}

/** The error for shards that are not here. */
export function shardUnknown(dataset: string, shard?: string): FedwayError {
  const what =
    shard === undefined
      ? `no shards of "${shortened(dataset)}"`
      : `no shard "${shortened(shard)}" of "${shortened(dataset)}"`;
  return new FedwayError("SHARDS_UNKNOWN", `This service hosts ${what}.`, {
    next: "GET /api/shards lists what there is.",
  });
}
