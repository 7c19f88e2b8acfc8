import { Type } from "typebox";
import { AcceptedAdapter } from "../registry/catalog.ts";
import { sendJson } from "./common-headers.ts";
import { clientSignal } from "./exchange.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { ownerOf } from "./caller.ts";
import { IdPath, strictObject, documented } from "./schemas.ts";
import { guardedAsking } from "./write-access.ts";

const iri = (description: string) => Type.String({ minLength: 1, maxLength: 2_000, description });

const Wanted = strictObject({
  key: iri("IRI of the property whose values, or the class whose IRIs, are the keys here."),
  other: Type.String({ minLength: 1, maxLength: 64, description: "Catalogue id of the other endpoint." }),
  otherKey: iri("IRI of the property or class there."),
});

/** `POST /api/endpoints/{id}/adapters`: finds, verifies and keeps how keys of two endpoints are joined. */
export function addAdapterRoutes(app: TypedApp, { acceptAdapter }: HttpShell): void {
  app.post("/api/endpoints/:id/adapters", {
    ...guardedAsking,
    schema: {
      ...documented("Changes")("acceptAdapter", "Join unlike keys of two endpoints in all queries"),
      params: IdPath,
      body: Wanted,
      response: { 201: AcceptedAdapter },
    },
    handler: async (request, reply) => {
      const { key, other, otherKey } = request.body;
      const wanted = { endpoint: request.params.id, key, other, otherKey };
      const call = { signal: clientSignal(request.exchange), owner: ownerOf(request) };
      const accepted = await acceptAdapter({ ...wanted, ...call });
      return sendJson(reply, accepted, 201);
    },
  });
}
