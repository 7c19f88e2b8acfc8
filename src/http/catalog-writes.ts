import { unknownId } from "../errors/unknown-id.ts";
import type * as RDF from "@rdfjs/types";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type TSchema, Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import {
  AcceptedAdapter,
  type CatalogDocument,
  documentOf,
  identifyDocument,
  readDocument,
} from "../registry/catalog.ts";
import { documentBodies, Endpoint, Federation } from "./catalog-schemas.ts";
import { plainHeaders, sendJson, sendNothing } from "./common-headers.ts";
import { ownerOf } from "./caller.ts";
import { clientSignal } from "./request-state.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { etagHeader, addDocumentBodies, bodyError, maxBodyBytes, RdfBody } from "./rdf-body.ts";
import { IdPath, nothing, documented, strictObject } from "./schemas.ts";
import { guarded, guardedAsking } from "./write-access.ts";

type DocumentFields = Parameters<typeof documentOf>[1];

interface WriteRoute {
  readonly Body: RdfBody | DocumentFields | null | undefined;
  readonly Params: { readonly id: string };
}
type WriteRequest = FastifyRequest<WriteRoute>;

/** Parts that the handlers of one kind of document need. */
interface Writing extends HttpShell {
  readonly kind: CatalogDocument["kind"];
}

const doc = documented("Changes");

/** `POST /api/endpoints`, `PUT`, `PATCH` and `DELETE /api/endpoints/{id}`; the same of `/api/federations`; adapters of keys. */
export function addCatalogWrites(app: TypedApp, shell: HttpShell): void {
  void app.register(async (scope: TypedApp) => {
    addDocumentBodies(scope);
    scope.setErrorHandler((error, _request, reply) => shell.sendProblem(reply, bodyError(error)));
    for (const kind of ["endpoint", "federation"] as const) addWrites(scope, { ...shell, kind });
  });
  addAdapters(app, shell);
}

function addWrites(app: TypedApp, writing: Writing): void {
  const { kind, catalog } = writing;
  const path = `/api/${kind}s`;
  const { whole, put, merge } = documentBodies[kind];
  const options = { ...guarded, bodyLimit: maxBodyBytes };
  const view = kind === "endpoint" ? Endpoint : Federation;
  const [params, named] = [IdPath, kind === "endpoint" ? "Endpoint" : "Federation"];
  app.post<WriteRoute>(path, {
    ...options,
    schema: {
      ...doc(`create${named}`, `Add one ${kind}, as JSON or RDF`),
      body: documentBody(whole),
      response: { 201: written(view) },
    },
    handler: (request, reply) => create(writing, request, reply),
  });
  app.put<WriteRoute>(`${path}/:id`, {
    ...options,
    schema: {
      ...doc(`put${named}`, `Put one ${kind} in place, as JSON or RDF`),
      params,
      body: documentBody(put),
      response: { 200: written(view), 201: written(view) },
    },
    handler: (request, reply) => replace(writing, request, reply),
  });
  app.patch<WriteRoute>(`${path}/:id`, {
    ...options,
    schema: {
      ...doc(`change${named}`, `Change some fields of one ${kind}`),
      params,
      body: mergeBody(merge),
      response: { 200: written(view) },
    },
    handler: (request, reply) => change(writing, request, reply),
  });
  app.delete<WriteRoute>(`${path}/:id`, {
    ...options,
    schema: { ...doc(`remove${named}`, `Remove one ${kind}`), params, response: nothing },
    handler: async (request, reply) => {
      const { id } = request.params;
      await catalog.remove(kind, id, ifMatchOf(request, catalog.document(kind, id)));
      return sendNothing(reply);
    },
  });
}

/** The document as it is now. */
const written = (schema: TSchema): object => ({
  content: { "application/json": { schema } },
  headers: { ETag: { type: "string", description: "For If-Match." } },
});
const rdf = { schema: Type.Unknown({ description: "One dcat:DataService or fedway:Federation." }) };
const documentBody = (schema: TSchema): object => ({
  content: { "application/json": { schema }, "text/turtle": rdf, "application/ld+json": rdf },
});
const mergeBody = (schema: TSchema): object => ({
  content: { "application/json": { schema }, "application/merge-patch+json": { schema } },
});

/** The document in a body; without an id in a JSON document it is the one in the path. */
async function quadsOf({ kind, config }: Writing, { body, params }: WriteRequest): Promise<readonly RDF.Quad[]> {
  if (body instanceof RdfBody) return readDocument(body, config.publicUrl);
  return documentOf(kind, { ...(params.id !== undefined && { id: params.id }), ...fieldsOf(body) });
}

function fieldsOf(body: DocumentFields | null | undefined): DocumentFields {
  if (body !== null && body !== undefined) return body;
  throw new FedwayError("REQUEST_INVALID", "The body is empty; a document is expected.", {
    next: "Send the fields as application/json, or the document as text/turtle or application/ld+json.",
  });
}

async function create(writing: Writing, request: WriteRequest, reply: FastifyReply): Promise<FastifyReply> {
  const quads = await quadsOf(writing, request);
  const { kind, catalog } = writing;
  const document = await catalog.write({ kind, id: idIn(quads), quads, mode: "create" });
  return sendWritten(writing, document, reply.code(201));
}

/** Where there is no id, the catalogue refuses the document with all that it finds, and not for the id only. */
function idIn(quads: readonly RDF.Quad[]): string {
  try {
    return identifyDocument(quads).id;
  } catch (error) {
    if (error instanceof FedwayError && error.code === "ENTRY_INVALID") return "";
    throw error;
  }
}

async function replace(writing: Writing, request: WriteRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { kind, catalog } = writing;
  const { id } = request.params;
  const quads = await quadsOf(writing, request);
  const existing = catalog.document(kind, id);
  const isNewOnly = request.headers["if-none-match"]?.trim() === "*";
  if (isNewOnly && existing !== undefined) {
    throw new FedwayError("PRECONDITION_FAILED", `The catalogue already has the ${kind} "${id}".`, {
      next: "Leave If-None-Match out to replace it.",
    });
  }
  const mode = isNewOnly ? "create" : "put";
  const ifMatch = ifMatchOf(request, existing);
  const document = await catalog.write({ kind, id, quads, mode, ...(ifMatch !== undefined && { ifMatch }) });
  return sendWritten(writing, document, reply.code(existing === undefined ? 201 : 200));
}

async function change(writing: Writing, request: WriteRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { kind, catalog } = writing;
  const { id } = request.params;
  const { body } = request;
  if (body instanceof RdfBody) {
    throw new FedwayError("MEDIA_TYPE_UNSUPPORTED", "Fields are changed by JSON.", {
      next: "Send the fields as application/json, or the whole document with PUT.",
    });
  }
  const fields = fieldsOf(body);
  const existing = catalog.document(kind, id);
  if (existing === undefined) throw unknownId(kind, id, catalog);
  const document = await catalog.change({ kind, id }, fields, ifMatchOf(request, existing));
  return sendWritten(writing, document, reply);
}

const entityTags = /^\s*(?:(?:W\/)?"[\x21\x23-\x7e]{0,200}"\s*(?:,\s*|$)){1,20}$/;

/** The etag that the document must have (RFC 9110, section 13.1.1); of several the one it has. Weak ones never match. */
function ifMatchOf({ headers }: WriteRequest, existing: CatalogDocument | undefined): string | undefined {
  const given = headers["if-match"]?.trim();
  if (given === undefined || given === "*") return given;
  if (given.length > 4096 || !entityTags.test(given)) {
    throw new FedwayError("REQUEST_INVALID", "If-Match is neither * nor a list of quoted etags.", {
      next: "Send the ETag of the document as it was given.",
    });
  }
  const tags = given.split(",").map((tag) => tag.trim());
  return existing !== undefined && tags.includes(etagHeader(existing.etag)) ? existing.etag : given;
}

function sendWritten({ kind, view }: Writing, { id, etag }: CatalogDocument, reply: FastifyReply): FastifyReply {
  if (reply.statusCode === 201) void reply.header("Location", `/api/${kind}s/${id}`);
  // Another change may have removed it already.
  const shown = view.document(kind, id) ?? { id };
  return reply
    .headers({ ...plainHeaders, ETag: etagHeader(etag) })
    .type("application/json")
    .send(shown);
}

const iri = (description: string) => Type.String({ minLength: 1, maxLength: 2_000, description });

const Wanted = strictObject({
  key: iri("IRI of the property whose values, or the class whose IRIs, are the keys here."),
  other: Type.String({ minLength: 1, maxLength: 64, description: "Catalogue id of the other endpoint." }),
  otherKey: iri("IRI of the property or class there."),
});

/** `POST /api/endpoints/{id}/adapters`: finds, verifies and keeps how keys of two endpoints are joined. */
function addAdapters(app: TypedApp, { acceptAdapter }: HttpShell): void {
  app.post("/api/endpoints/:id/adapters", {
    ...guardedAsking,
    schema: {
      ...doc("acceptAdapter", "Join unlike keys of two endpoints in all queries"),
      params: IdPath,
      body: Wanted,
      response: { 201: AcceptedAdapter },
    },
    handler: async (request, reply) => {
      const { key, other, otherKey } = request.body;
      const wanted = { endpoint: request.params.id, key, other, otherKey };
      const call = { signal: clientSignal(request.state), owner: ownerOf(request) };
      const accepted = await acceptAdapter({ ...wanted, ...call });
      return sendJson(reply, accepted, 201);
    },
  });
}
