import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { CatalogEntry } from "../registry/catalog.ts";
import { answers, sendJson } from "./api-routes.ts";
import type { HttpDeps } from "./http-deps.ts";
import { Endpoint, EndpointFilter, EndpointList, IdPath } from "./schemas.ts";
import { endpointUnknown } from "./sparql-routes.ts";

/** An entry as the API shows it: nothing that only matters inside. */
const shown = ({ id, title, description, url, homepage, license, keywords }: CatalogEntry): object => ({
  id,
  title,
  ...(description !== undefined && { description }),
  url,
  query: `/endpoints/${id}/sparql`,
  ...(homepage !== undefined && { homepage }),
  ...(license !== undefined && { license }),
  keywords,
});

function matches({ id, title, description = "" }: CatalogEntry, wanted: string): boolean {
  return [id, title, description].some((text) => text.toLowerCase().includes(wanted));
}

/** `GET /api/endpoints`, `GET /api/endpoints/{id}`. */
export function addCatalogRoutes(untyped: FastifyInstance, { catalog }: HttpDeps): void {
  const app = untyped.withTypeProvider<TypeBoxTypeProvider>();
  app.get("/api/endpoints", {
    schema: {
      tags: ["Catalogue"],
      summary: "List or search the endpoints of the catalogue",
      querystring: EndpointFilter,
      response: answers(EndpointList),
    },
    handler: (request, reply) => {
      const { q = "", limit = 100, offset = 0 } = request.query;
      const wanted = q.trim().toLowerCase();
      const found = catalog.entries.filter((entry) => matches(entry, wanted));
      const endpoints = found.slice(offset, offset + limit).map(shown);
      return sendJson(reply, { total: found.length, limit, offset, endpoints });
    },
  });
  app.get("/api/endpoints/:id", {
    schema: {
      tags: ["Catalogue"],
      summary: "Get one endpoint of the catalogue",
      params: IdPath,
      querystring: Type.Object({}, { additionalProperties: false }),
      response: answers(Endpoint),
    },
    handler: (request, reply) => {
      const { id } = request.params;
      const entry = catalog.byId(id);
      if (entry) return sendJson(reply, shown(entry));
      throw endpointUnknown(
        id,
        catalog.entries.map((known) => known.id),
      );
    },
  });
}
