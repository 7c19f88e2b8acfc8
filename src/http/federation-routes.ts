import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { documentUnknown } from "../registry/catalog/write-conditions.ts";
import { answers } from "./api-routes.ts";
import { sendJson } from "./send-json.ts";
import type { CatalogShell } from "./catalog-routes.ts";
import { Federation, FederationList, FormatWish, Paging } from "./catalog-schemas.ts";
import { documentFormat, etagHeader, sendDocument, wishOf } from "./rdf-answer.ts";
import { IdPath } from "./schemas.ts";

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
      querystring: FormatWish,
      response: answers(Federation),
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      const federation = catalog.federation(id);
      const document = federation && catalog.document("federation", id);
      if (federation === undefined || document === undefined) throw documentUnknown("federation", id, catalog);
      const format = documentFormat(wishOf(request));
      if (format !== "fields") return sendDocument(reply, document, { format, baseUrl: config.publicUrl });
      const shown = await view.federation(federation, true);
      return sendJson(reply.headers({ ETag: etagHeader(document.etag), Vary: "Accept" }), shown);
    },
  });
}
