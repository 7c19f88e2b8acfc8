import type * as RDF from "@rdfjs/types";
import { basename, isAbsolute } from "node:path";
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { EditableCatalog } from "../registry/catalog/catalog.ts";
import { serializeResult } from "../results/serialize.ts";
import { answers } from "./api-routes.ts";
import { sendJson, anyOriginHeaders, flat } from "./common-headers.ts";
import {
  CatalogProblems,
  Endpoint,
  EndpointFilter,
  EndpointList,
  FormatParameters,
  Federation,
  FederationList,
  Paging,
} from "./catalog-schemas.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { HttpDeps } from "./http-deps.ts";
import type { SendProblem } from "./problem-reply.ts";
import { documentFormat, etagHeader, graphFormat, sendDocument, requestedFormat } from "./rdf-body.ts";
import { IdPath } from "./schemas.ts";
import { sendAnswer } from "./send-answer.ts";
import { endpointUnknown } from "../registry/catalog/endpoint-unknown.ts";
import { documentUnknown } from "../registry/catalog/check-write.ts";

/** What the routes of the catalogue work with. */
export interface CatalogShell {
  readonly deps: HttpDeps;
  readonly view: CatalogView;
  readonly sendProblem: SendProblem;
}

/** `GET /api/endpoints`, `GET /api/endpoints/{id}`, `GET /api/catalog`, `GET /api/catalog/problems`. */
export function addCatalogRoutes(untyped: FastifyInstance, shell: CatalogShell): void {
  addEndpointList(untyped, shell);
  addOneEndpoint(untyped, shell);
  addExport(untyped, shell);
  const { catalog } = shell.deps;
  untyped.get("/api/catalog/problems", {
    schema: {
      tags: ["Catalogue"],
      summary: "What is wrong with catalogue files, and where changes over the API differ from them",
      querystring: Type.Object({}, { additionalProperties: false }),
      response: answers(CatalogProblems),
    },
    handler: (_request, reply) =>
      sendJson(reply, { problems: catalog.problems.map(withoutFolder), drift: catalog.drift.map(withoutFolder) }),
  });
}

/** Where files lie on the server is nobody's business; changes have no folder. */
const withoutFolder = <Named extends { readonly file: string }>(named: Named): Named =>
  isAbsolute(named.file) ? { ...named, file: basename(named.file) } : named;

function addEndpointList(untyped: FastifyInstance, { deps, view }: CatalogShell): void {
  untyped.withTypeProvider<TypeBoxTypeProvider>().get("/api/endpoints", {
    schema: {
      tags: ["Catalogue"],
      summary: "List or search the endpoints of the catalogue",
      querystring: EndpointFilter,
      response: answers(EndpointList),
    },
    handler: async (request, reply) => {
      const { limit = 100, offset = 0, ...wanted } = request.query;
      const { hits, ...found } = deps.search.filterEntries(deps.catalog, { ...wanted, limit, offset });
      const endpoints: object[] = [];
      for (const { entry, status, why } of hits) endpoints.push({ ...(await view.entry(entry, status)), why });
      return sendJson(reply, { ...found, limit, offset, endpoints });
    },
  });
}

function addOneEndpoint(untyped: FastifyInstance, { deps, view }: CatalogShell): void {
  const { catalog, config } = deps;
  untyped.withTypeProvider<TypeBoxTypeProvider>().get("/api/endpoints/:id", {
    schema: {
      tags: ["Catalogue"],
      summary: "Get one endpoint of the catalogue, as JSON or with its whole RDF",
      params: IdPath,
      querystring: FormatParameters,
      response: answers(Endpoint),
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      const entry = catalog.byId(id);
      const document = entry && catalog.document("endpoint", id);
      if (entry === undefined || document === undefined) {
        throw endpointUnknown(
          id,
          catalog.entries.map((known) => known.id),
        );
      }
      const format = documentFormat(requestedFormat(request));
      if (format !== "fields") return sendDocument(reply, document, { format, baseUrl: config.publicUrl });
      return sendJson(reply.headers({ ETag: etagHeader(document.etag), Vary: "Accept" }), await view.entry(entry));
    },
  });
}

function addExport(untyped: FastifyInstance, { deps, sendProblem }: CatalogShell): void {
  untyped.withTypeProvider<TypeBoxTypeProvider>().get("/api/catalog", {
    schema: {
      tags: ["Catalogue"],
      summary: "Get all documents of the catalogue as one RDF graph",
      querystring: FormatParameters,
    },
    handler: async (request, reply) => {
      const format = graphFormat(requestedFormat(request));
      const quads = Readable.from(allQuads(deps.catalog));
      const headers = flat({
        ...anyOriginHeaders,
        Vary: "Accept, Accept-Encoding",
        "Content-Type": format.contentType,
      });
      const body = serializeResult({ kind: "quads", quads }, format);
      await sendAnswer(reply, { headers, contentEncoding: "identity", body }, (error) => sendProblem(reply, error));
    },
  });
}

/** One document after the other, so that a large catalogue is never held as triples. */
async function* allQuads(catalog: EditableCatalog): AsyncGenerator<RDF.Quad> {
  const endpoints = catalog.entries.map(({ id }) => ({ kind: "endpoint", id }) as const);
  const federations = catalog.federations.map(({ id }) => ({ kind: "federation", id }) as const);
  for (const { kind, id } of [...endpoints, ...federations]) {
    await setImmediate();
    // What was removed in the meantime is left out.
    yield* catalog.document(kind, id)?.quads ?? [];
  }
}

/** `GET /api/federations`, `GET /api/federations/{id}`. */
export function addFederationRoutes(untyped: FastifyInstance, { deps, view }: CatalogShell): void {
  const app = untyped.withTypeProvider<TypeBoxTypeProvider>();
  const { catalog, config } = deps;
  app.get("/api/federations", {
    schema: {
      tags: ["Catalogue"],
      summary: "List the federations of the catalogue",
      querystring: Paging,
      response: answers(FederationList),
    },
    handler: async (request, reply) => {
      const { limit = 100, offset = 0 } = request.query;
      const all = catalog.federations;
      const federations: object[] = [];
      for (const each of all.slice(offset, offset + limit)) federations.push(await view.federation(each, false));
      return sendJson(reply, { total: all.length, limit, offset, federations });
    },
  });
  app.get("/api/federations/:id", {
    schema: {
      tags: ["Catalogue"],
      summary: "Get one federation with its members, as JSON or with its whole RDF",
      params: IdPath,
      querystring: FormatParameters,
      response: answers(Federation),
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      const federation = catalog.federation(id);
      const document = federation && catalog.document("federation", id);
      if (federation === undefined || document === undefined) throw documentUnknown("federation", id, catalog);
      const format = documentFormat(requestedFormat(request));
      if (format !== "fields") return sendDocument(reply, document, { format, baseUrl: config.publicUrl });
      const shown = await view.federation(federation, true);
      return sendJson(reply.headers({ ETag: etagHeader(document.etag), Vary: "Accept" }), shown);
    },
  });
}
