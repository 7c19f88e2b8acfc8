import { Readable } from "node:stream";
import { unknownId } from "../errors/unknown-id.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import type { QueryAnswer } from "../query/query-service.ts";
import { descriptionUrl, serviceDescription } from "../registry/descriptions.ts";
import { resultFormats } from "../results/formats.ts";
import { bytesOf } from "../results/gathered-body.ts";
import { anyOriginHeaders, flat, wantsFresh } from "./common-headers.ts";
import { spreadsheetCsv } from "./spreadsheet-csv.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import {
  type DescriptionOperation,
  type ProtocolBody,
  type QueryOperation,
  readOperation,
  searchOf,
} from "./protocol-operation.ts";
import { callerOf } from "./caller.ts";
import { consolePath } from "./pages/layout.ts";
import { graphFormat, prefersPage, sendQuads } from "./rdf-body.ts";
import { knownEntry } from "./registry-routes.ts";
import { answersAs, IdPath, protocolParameters, resultTypes } from "./schemas.ts";
import { sendAnswer } from "./send-answer.ts";
import { asking } from "./write-access.ts";

/** `/sparql`, `/endpoints/{id}/sparql` and `/federations/{id}/sparql`. */
export function addQueryRoutes(app: TypedApp, shell: HttpShell): void {
  const { catalog } = shell;
  addSparqlRoute(app, shell, {
    url: "/sparql",
    federated: true,
    operationId: "query",
    summary:
      "Query the endpoints and federations that SERVICE clauses name, or, without SERVICE, all described endpoints (SPARQL 1.1 Protocol)",
    target: () => ({}),
    answer: throughQueryService(shell, () => ({})),
  });
  addSparqlRoute(app, shell, {
    url: "/endpoints/:id/sparql",
    federated: true,
    operationId: "queryEndpoint",
    language: "SPARQL 1.1 or, where the endpoint speaks it, 1.2",
    summary: "Query one endpoint of the catalogue (SPARQL 1.1 Protocol)",
    check: (request) => knownEntry(shell, idOf(request)),
    dataset: (id) => datasetOf(shell, id),
    target: (id) => ({ endpoint: id }),
    answer: throughQueryService(shell, (request) => ({ endpointId: idOf(request) })),
  });
  addSparqlRoute(app, shell, {
    url: "/federations/:id/sparql",
    federated: true,
    operationId: "queryFederation",
    summary:
      "Query the members of a federation as one dataset; `catalog` has all described endpoints (SPARQL 1.1 Protocol)",
    check(request) {
      const id = idOf(request);
      if (catalog.federation(id) === undefined) throw unknownId("federation", id, catalog);
    },
    target: (id) => ({ federation: id }),
    answer: throughQueryService(shell, (request) => ({ federationId: idOf(request) })),
  });
}

/** Names of a route of the SPARQL Protocol, for its documentation and its service description. */
export interface SparqlRouteNames {
  readonly url: string;
  readonly operationId: string;
  readonly summary: string;
  /** Of its queries, for the documentation; "SPARQL 1.1" unless said otherwise. */
  readonly language?: string;
  readonly params?: TSchema;
  /** Dataset behind the route with this id, for the service description. */
  readonly dataset?: (id: string) => Promise<Parameters<typeof serviceDescription>[0]["dataset"]>;
  /** Target that the query console selects when the route is opened in a browser; absent: no redirect to the console. */
  readonly target?: (id: string) => Parameters<typeof consolePath>[1];
}

/** A route of the SPARQL Protocol. */
interface SparqlRoute extends SparqlRouteNames {
  /** SERVICE clauses are evaluated. */
  readonly federated: boolean;
  /** Throws when the path names nothing. */
  readonly check?: (request: FastifyRequest) => unknown;
  readonly answer: (request: FastifyRequest, reply: FastifyReply, operation: QueryOperation) => Promise<void>;
}

/** Adds a route that speaks the SPARQL 1.1 Protocol. */
export function addSparqlRoute(app: TypedApp, shell: HttpShell, route: SparqlRoute): void {
  const { url, operationId, summary, params = url.includes(":id") ? IdPath : undefined } = route;
  // The schemas document; the protocol's own reader checks.
  const options = { ...asking, validatorCompiler: () => () => true, handler: handling(shell, route) };
  const schema = { tags: ["SPARQL"], summary, ...(params && { params }), response: sparqlAnswer };
  const {
    form,
    direct,
    url: inUrl,
    beside,
  } = protocolParameters({
    maxQueryBytes: shell.config.limits.maxQueryBytes,
    language: route.language ?? "SPARQL 1.1",
    planned: route.federated,
  });
  app.get<SparqlMessage>(url, {
    ...options,
    schema: {
      ...schema,
      operationId: `${operationId}ByGet`,
      querystring: inUrl,
      response: { ...sparqlAnswer, ...(route.target && consoleAnswer) },
    },
  });
  app.post<SparqlMessage>(url, {
    ...options,
    schema: {
      ...schema,
      operationId,
      querystring: beside,
      body: {
        content: {
          "application/x-www-form-urlencoded": { schema: form },
          "application/sparql-query": { schema: direct },
        },
      },
    },
  });
}

type SparqlMessage = { Body: ProtocolBody | undefined };

/** Absent where a request without a query got the service description. */
const runHeader = (description: string): object => ({ type: "string", description });
const consoleAnswer = {
  303: {
    description: "Without a query, where HTML is preferred to RDF: to the query console.",
    headers: { Location: { type: "string" } },
  },
};
const sparqlAnswer: object = {
  200: {
    ...answersAs(resultTypes)[200],
    headers: {
      "Fedway-Run": runHeader("Id for GET /api/runs/{id}."),
      "Fedway-Plan": runHeader("direct, federated or rejected."),
      "Fedway-Status": runHeader("What is known at the first byte: running, ok, empty or partial."),
      "Fedway-Partial": runHeader("Of an answer that is known to be partial at its first byte: subset or uncertain."),
      "Fedway-Facts": runHeader(
        "Of how many members facts are known; of an answer that left endpoints out, when the oldest fact was seen, and since when all are verified, as far as is known at the first byte.",
      ),
      "Fedway-Notes": runHeader("Codes of what the reader should know, separated by commas."),
    },
  },
};

function handling(shell: HttpShell, route: SparqlRoute) {
  const { limits, log } = shell.config;
  return (request: FastifyRequest<{ Body: ProtocolBody | undefined }>, reply: FastifyReply): Promise<void> => {
    request.state.route = route.url;
    route.check?.(request);
    const operation = readOperation({
      method: request.method,
      search: searchOf(request.originalUrl),
      body: request.body,
      maxQueryBytes: limits.maxQueryBytes,
    });
    if (operation.kind === "description") return sendDescription(shell, route, { request, reply, operation });
    if (log.queries) request.state.query = operation.text;
    return route.answer(request, reply, operation);
  };
}

/** Endpoint or federation in a route's path. */
type Target = { readonly endpointId?: string; readonly federationId?: string };

const throughQueryService =
  ({ queries, sendProblem }: HttpShell, targetOf: (request: FastifyRequest) => Target): SparqlRoute["answer"] =>
  async (request, reply, operation) => {
    const { headers } = request;
    const { endpointId, federationId } = targetOf(request);
    const answer = await queries.run({
      text: operation.text,
      endpointId,
      federationId,
      accept: headers.accept,
      format: operation.format,
      acceptEncoding: operation.spreadsheet ? undefined : headers["accept-encoding"],
      defaultGraphs: operation.defaultGraphs,
      namedGraphs: operation.namedGraphs,
      timeoutMs: operation.timeoutMs,
      strict: operation.strict,
      partial: operation.partial,
      prune: operation.prune,
      provenance: operation.provenance,
      fresh: headers["cache-control"] !== undefined && wantsFresh(headers),
      ...callerOf(request),
    });
    request.state.run = answer.runId;
    const { contentEncoding, ending } = answer;
    const isMarked = operation.spreadsheet && answer.contentType.startsWith("text/csv");
    const body = isMarked ? Readable.from(spreadsheetCsv(bytesOf(answer.body)), { objectMode: false }) : answer.body;
    const trailers = ending && takesTrailers(request) ? ending.then(trailersOf) : undefined;
    // Before its first byte an answer fails as its run does.
    const tell = async (failure: unknown): Promise<void> => {
      const { error = failure } = (await ending) ?? {};
      sendProblem(reply, error, { "Fedway-Run": answer.runId });
    };
    const outgoing = { headers: headersOf(answer), contentEncoding, body, trailers };
    const sending = sendAnswer(reply, outgoing, (failure) => void tell(failure));
    if (sending !== undefined) await sending;
  };

const staticHeaders = flat({ ...anyOriginHeaders, Vary: "Accept, Accept-Encoding" });

const serverTiming = ({ planMs, upstreamMs, planCached }: QueryAnswer["timings"]): string =>
  `plan;dur=${planMs.toFixed(1)}${planCached ? ';desc="cached"' : ""}, upstream;dur=${upstreamMs.toFixed(1)}`;

/** Headers of a SPARQL response, known at its first byte, as a flat list of names and values. */
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
  if (answer.partial !== undefined) headers.push("Fedway-Partial", answer.partial);
  if (answer.notes.length > 0) headers.push("Fedway-Notes", answer.notes.map(({ code }) => code).join(","));
  if (answer.facts !== undefined) headers.push("Fedway-Facts", factsText(answer.facts));
  return headers;
}

function factsText({ known, seenAt, ageMs = 0, verifiedAt = "never", withheld = [] }: Facts): string {
  const more = withheld.length > namedAtMost ? ` and ${withheld.length - namedAtMost} more` : "";
  const by =
    withheld.length > 0 ? `; by copies not asked for all: ${withheld.slice(0, namedAtMost).join(", ")}${more}` : "";
  const age = `${Math.round(ageMs / 1_000)} s old`;
  const chosen =
    seenAt === undefined ? [] : [`sources chosen by facts of ${seenAt}, ${age}, last verified ${verifiedAt}${by}`];
  const of = known === undefined ? [] : [`facts of ${known.known} of ${known.members} members`];
  return [...chosen, ...of].join("; ");
}

type Facts = NonNullable<QueryAnswer["facts"]>;
type Ending = Awaited<NonNullable<QueryAnswer["ending"]>>;

/** Endpoints that a header names. */
const namedAtMost = 5;

/** True if a client takes trailers, and its protocol allows them. */
const takesTrailers = ({ raw }: FastifyRequest): boolean =>
  raw.httpVersion !== "1.0" && /(?:^|,)\s*trailers\s*(?:[,;]|$)/i.test(String(raw.headers["te"] ?? ""));

/** Trailers of a SPARQL response, known when its last byte has been sent. */
const trailersOf = ({ status, partial }: Ending): Readonly<Record<string, string>> => ({
  "Fedway-Status": status,
  ...(partial !== undefined && { "Fedway-Partial": partial }),
});

interface Described {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly operation: DescriptionOperation;
}

/**
 * Answers a request without a query with the route's service description (SPARQL 1.1 Service Description), and sends
 * people to the query console.
 */
async function sendDescription(
  { publicUrl }: HttpShell,
  { federated, dataset, target }: SparqlRoute,
  { request, reply, operation }: Described,
): Promise<void> {
  if (target !== undefined && operation.format === undefined && prefersPage(request.headers.accept)) {
    await reply
      .headers({ ...anyOriginHeaders, Vary: "Accept" })
      .redirect(consolePath(undefined, target(idOf(request))), 303);
    return;
  }
  const format = graphFormat({ accept: request.headers.accept, format: operation.format });
  const described = await dataset?.(idOf(request));
  const quads = serviceDescription({
    url: `${publicUrl()}${request.url.split("?", 1)[0]}`,
    features: federated ? [basicFederatedQuery] : [],
    formats,
    ...(described && { dataset: described }),
  });
  await sendQuads(reply, quads, format);
}

const basicFederatedQuery = "http://www.w3.org/ns/sparql-service-description#BasicFederatedQuery";

/** IRIs of the W3C's list of unique formats (http://www.w3.org/ns/formats/). */
const formatNames: Readonly<Record<string, string>> = {
  json: "SPARQL_Results_JSON",
  xml: "SPARQL_Results_XML",
  csv: "SPARQL_Results_CSV",
  tsv: "SPARQL_Results_TSV",
  turtle: "Turtle",
  ntriples: "N-Triples",
  jsonld: "JSON-LD",
  rdfxml: "RDF_XML",
  n3: "N3",
  trig: "TriG",
  nquads: "N-Quads",
};

const formats = resultFormats.map(({ name }) => `http://www.w3.org/ns/formats/${formatNames[name] ?? name}`);

/** The dataset of an endpoint, with what is known of it. */
async function datasetOf(
  { descriptions, publicUrl }: HttpShell,
  id: string,
): Promise<Parameters<typeof serviceDescription>[0]["dataset"]> {
  const description = await descriptions.get(id);
  if (!description) return { iri: `${publicUrl()}/endpoints/${id}#dataset` };
  return { iri: description.dataset, describedAt: descriptionUrl(publicUrl(), id), description };
}

/** A named part of the path. */
export function pathPart({ params }: FastifyRequest, name: string): string {
  if (typeof params !== "object" || params === null) return "";
  const found: unknown = Reflect.get(params, name);
  return typeof found === "string" ? found : "";
}

/** The `id` in the path. */
export const idOf = (request: FastifyRequest): string => pathPart(request, "id");

const sparqlTarget = /^(?:\/(?:(?:endpoints|federations|hosted)|shards\/[^/?]+)\/[^/?]+|\/registry)?\/sparql\/?\?/;

/**
 * The URL by which a request is routed: without its query part on SPARQL routes, which read that part themselves and
 * need the framework's reading of it no more than its cost. The handlers find it in `originalUrl`.
 */
export function routedUrl(url: string): string {
  return sparqlTarget.test(url) ? url.slice(0, url.indexOf("?")) : url;
}
