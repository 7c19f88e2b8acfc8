import { unknownId } from "../errors/unknown-id.ts";
import type * as RDF from "@rdfjs/types";
import { basename, isAbsolute } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { TSchema } from "typebox";
import type { EditableCatalog } from "../registry/catalog.ts";
import {
  CatalogProblems,
  Endpoint,
  EndpointFilter,
  EndpointList,
  Federation,
  FederationList,
  FormatParameters,
  Paging,
} from "./catalog-schemas.ts";
import { sendJson } from "./common-headers.ts";
import { foundEntries } from "./found-entries.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { documentFormat, etagHeader, graphFormat, requestedFormat, sendDocument, sendQuadStream } from "./rdf-body.ts";
import { nextOf, offsetOf, pageAt } from "./paging.ts";
import { answersAs, graphTypes, IdPath, NoParameters, documented } from "./schemas.ts";

const doc = documented("Catalogue");

/** Endpoints and federations, one by one, as lists, and all of them as RDF. */
export function addCatalogRoutes(app: TypedApp, shell: HttpShell): void {
  const { catalog } = shell;
  addEndpointList(app, shell);
  addDocument(app, shell, {
    kind: "endpoint",
    documentation: doc("getEndpoint", "Get one endpoint of the catalogue, as JSON or with its whole RDF"),
    view: Endpoint,
  });
  addExport(app, shell);
  app.get("/api/catalog/problems", {
    schema: {
      ...doc(
        "listCatalogProblems",
        "What is wrong with catalogue files, and where changes over the API differ from them",
        CatalogProblems,
      ),
      querystring: NoParameters,
    },
    handler: (_request, reply) =>
      sendJson(reply, { problems: catalog.problems.map(withoutFolder), drift: catalog.drift.map(withoutFolder) }),
  });
  addFederationList(app, shell);
  addDocument(app, shell, {
    kind: "federation",
    documentation: doc("getFederation", "Get one federation with its members, as JSON or with its whole RDF"),
    view: Federation,
  });
}

/** Never expose the server's folders; changes have none. */
const withoutFolder = <Named extends { readonly file: string }>(named: Named): Named =>
  isAbsolute(named.file) ? { ...named, file: basename(named.file) } : named;

function addEndpointList(app: TypedApp, shell: HttpShell): void {
  app.get("/api/endpoints", {
    schema: {
      ...doc("listEndpoints", "List or search the endpoints of the catalogue", EndpointList),
      querystring: EndpointFilter,
    },
    handler: async (request, reply) => {
      const { limit = 100, cursor, ...wanted } = request.query;
      const offset = offsetOf(cursor);
      const { hits, federations: _, ...found } = await foundEntries(shell, { ...wanted, limit, offset });
      const endpoints: object[] = [];
      for (const { entry, status, why } of hits) endpoints.push({ ...shell.view.entry(entry, status), why });
      return sendJson(reply, { ...found, endpoints, next: nextOf(offset + limit, found.total) });
    },
  });
}

function addFederationList(app: TypedApp, { catalog, view }: HttpShell): void {
  app.get("/api/federations", {
    schema: { ...doc("listFederations", "List the federations of the catalogue", FederationList), querystring: Paging },
    handler: async (request, reply) => {
      const { limit = 100, cursor } = request.query;
      const { items, next } = pageAt(catalog.federations, { limit, cursor });
      const federations = items.map((each) => view.federation(each, false));
      return sendJson(reply, { total: catalog.federations.length, federations, next });
    },
  });
}

interface DocumentRoute {
  readonly kind: "endpoint" | "federation";
  readonly documentation: ReturnType<typeof doc>;
  readonly view: TSchema;
}

function addDocument(app: TypedApp, shell: HttpShell, { kind, view: shown, documentation }: DocumentRoute): void {
  const { catalog, config, view } = shell;
  app.get(`/api/${kind}s/:id`, {
    schema: { ...documentation, params: IdPath, querystring: FormatParameters, response: answersAs(graphTypes, shown) },
    handler: async (request, reply) => {
      const { id } = request.params;
      const document = catalog.document(kind, id);
      if (document === undefined) throw unknownId(kind, id, catalog);
      const format = documentFormat(requestedFormat(request));
      if (format !== "fields") return sendDocument(reply, document, { format, baseUrl: config.publicUrl });
      void reply.headers({ ETag: etagHeader(document.etag), Vary: "Accept" });
      return sendJson(reply, view.document(kind, id));
    },
  });
}

function addExport(app: TypedApp, { catalog, sendProblem }: HttpShell): void {
  app.get("/api/catalog", {
    schema: {
      ...doc("exportCatalog", "Get all documents of the catalogue as one RDF graph"),
      querystring: FormatParameters,
      response: answersAs(graphTypes),
    },
    handler: async (request, reply) => {
      const format = graphFormat(requestedFormat(request));
      await sendQuadStream(reply, allQuads(catalog), format, { sendProblem });
    },
  });
}

/** One document after the other, so that a large catalogue is never held as triples. */
async function* allQuads(catalog: EditableCatalog): AsyncGenerator<RDF.Quad> {
  const endpoints = catalog.entries.map(({ id }) => ({ kind: "endpoint", id }) as const);
  const written = catalog.federations.filter(({ builtIn }) => !builtIn);
  const federations = written.map(({ id }) => ({ kind: "federation", id }) as const);
  for (const { kind, id } of [...endpoints, ...federations]) {
    await setImmediate();
    // What was removed in the meantime is left out.
    yield* catalog.document(kind, id)?.quads ?? [];
  }
}
