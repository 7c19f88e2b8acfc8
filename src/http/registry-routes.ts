import { Readable } from "node:stream";
import { Type } from "typebox";
import { createGrammars, type GrammarOptions } from "../agent/grammar/create-grammars.ts";
import { leastBytes } from "../agent/grammar/sparql-grammar.ts";
import { unknownId } from "../errors/unknown-id.ts";
import { vocabularyPrefixes } from "../rdf/vocabularies.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { type CatalogEntry, describeAdvice } from "../registry/catalog.ts";
import { partsOf, schemaViewInTurns } from "../registry/schema.ts";
import { catalogVoid, descriptionUrl, type VoidDescription, voidQuads } from "../registry/descriptions.ts";
import { FormatParameters } from "./catalog-schemas.ts";
import { anyOriginHeaders, hasTag, sendJson } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { graphFormat, requestedFormat, sendQuads, sendQuadStream, sendTurtle } from "./rdf-body.ts";
import {
  CapabilityRecord,
  SchemaAnswer,
  SchemaParameters,
  SearchParameters,
  VoidParameters,
} from "./registry-schemas.ts";
import { SearchAnswer } from "../registry/find.ts";
import { createVoidDocuments, quadsInTurns } from "./void-documents.ts";
import { answersAs, graphTypes, IdPath, documented, strictObject } from "./schemas.ts";

const doc = documented("Descriptions");

/** The entry with this id. @throws FedwayError `ENDPOINT_UNKNOWN` with the ids that are like it */
export function knownEntry({ catalog }: HttpShell, id: string): CatalogEntry {
  const entry = catalog.byId(id);
  if (entry) return entry;
  throw unknownId("endpoint", id, catalog);
}

async function knownDescription(shell: HttpShell, id: string): Promise<VoidDescription> {
  const entry = knownEntry(shell, id);
  const description = (await shell.descriptions.get(id)) ?? (await shell.descriptions.begun(id));
  if (description) return description;
  throw new FedwayError("DESCRIPTION_UNKNOWN", `The endpoint "${id}" has not been described yet.`, {
    next: describeAdvice(entry),
  });
}

function addVoid(app: TypedApp, shell: HttpShell): void {
  const { catalog, publicUrl } = shell;
  const wholeDocument = createVoidDocuments();
  app.get("/api/endpoints/:id/void", {
    schema: {
      ...doc("getVoid", "What is known of an endpoint's data, as VoID"),
      params: IdPath,
      querystring: VoidParameters,
      response: answersAs(graphTypes),
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      const { view = "agent", variant = "standard", maxTokens, format, whole = false } = request.query;
      const isWhole = whole || view === "planner" || variant === "extended";
      const wanted = graphFormat({ format, accept: request.headers.accept });
      const description = await knownDescription(shell, id);
      const url = descriptionUrl(publicUrl(), id);
      reply.header("Last-Modified", new Date(description.finishedAt).toUTCString());
      if (!isWhole) {
        const { text } = await schemaViewInTurns(description, {
          detail: "void",
          parts: partsOf(id, description.built, shell),
          maxTokens: maxTokens ?? 2_000,
          document: url,
        });
        return wanted.name === "turtle" ? sendTurtle(reply, text, wanted) : sendQuads(reply, voidQuads(text), wanted);
      }
      const { chunks, bytes, etag } = await wholeDocument(description, { view, variant, url, format: wanted });
      const headers = { ...anyOriginHeaders, Vary: "Accept", ETag: etag };
      if (hasTag(request.headers["if-none-match"], etag)) return reply.code(304).headers(headers).send();
      return reply
        .headers({ ...headers, "Content-Length": bytes })
        .type(wanted.contentType)
        .send(Readable.from(chunks, { objectMode: false }));
    },
  });
  app.get("/.well-known/void", {
    schema: {
      ...doc("listDatasets", "The datasets behind the endpoints of the catalogue, as VoID"),
      response: answersAs(graphTypes),
    },
    handler: async (request, reply) => {
      const { entries } = catalog;
      // Without counts: reading every stored description for one page would be work without bounds.
      const quads = catalogVoid({ publicUrl: publicUrl(), title: "Fedway", entries, described: () => undefined });
      const format = graphFormat({ accept: request.headers.accept });
      const { sendProblem } = shell;
      await sendQuadStream(reply, quadsInTurns(quads), format, { sendProblem, prefixes: vocabularyPrefixes });
    },
  });
}

function addVocabulary(app: TypedApp, { dataset }: HttpShell): void {
  app.get("/registry/vocabulary", {
    schema: {
      ...doc("getVocabulary", "Fedway's own terms, with labels and descriptions"),
      querystring: FormatParameters,
      response: answersAs(graphTypes),
    },
    handler: (request, reply) => sendQuads(reply, dataset.vocabulary(), graphFormat(requestedFormat(request))),
  });
}

function addSchema(app: TypedApp, shell: HttpShell): void {
  app.get("/api/endpoints/:id/schema", {
    schema: {
      ...doc("getSchema", "The schema of an endpoint within a budget of tokens"),
      params: IdPath,
      querystring: SchemaParameters,
      response: answersAs(["text/plain"], SchemaAnswer),
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      const { detail = "summary", classes, maxTokens = 2000, format = "json" } = request.query;
      const description = await knownDescription(shell, id);
      const chosen = classes?.split(",").map((name) => name.trim());
      const examples = shell.finder.valueExamples(id);
      const view = await schemaViewInTurns(description, {
        detail,
        maxTokens,
        examples,
        parts: partsOf(id, description.built, shell),
        ...(chosen && { classes: chosen }),
      });
      if (format === "json") return sendJson(reply, { ...view, freshness: await shell.descriptions.freshness(id) });
      return reply.headers(anyOriginHeaders).type("text/plain; charset=utf-8").send(`${view.text.trimEnd()}\n`);
    },
  });
  app.get("/api/endpoints/:id/capabilities", {
    schema: {
      ...doc("getCapabilities", "What probes found an endpoint to be able to do", CapabilityRecord),
      params: IdPath,
    },
    handler: async (request, reply) => {
      const { id } = request.params;
      knownEntry(shell, id);
      const capabilities = await shell.capabilities.get(id);
      if (capabilities) return sendJson(reply, capabilities);
      throw new FedwayError("DESCRIPTION_UNKNOWN", `The endpoint "${id}" has not been probed yet.`, {
        next: `POST /api/endpoints/${id}/capabilities has it probed.`,
      });
    },
  });
}

function addSearch(app: TypedApp, { finder }: HttpShell): void {
  app.get("/api/search", {
    schema: {
      ...documented("Catalogue")(
        "search",
        "Search endpoints, classes and properties; each hit says why it was found",
        SearchAnswer,
      ),
      querystring: SearchParameters,
    },
    handler: async (request, reply) => {
      await finder.readPublished();
      const { q, kind, endpoint, limit = 20, offset = 0 } = request.query;
      const only = endpoint === undefined ? {} : { endpoints: [endpoint] };
      const kinds = kind && { kinds: [kind] };
      return sendJson(reply, await finder.searchInTurns({ q, ...kinds, ...only, published: true, limit, offset }));
    },
  });
}

/** Descriptions, schemas, capabilities and search: the knowledge about endpoints, to read. */
export function addRegistryRoutes(app: TypedApp, shell: HttpShell): void {
  addVoid(app, shell);
  addVocabulary(app, shell);
  addSchema(app, shell);
  addSearch(app, shell);
  addGrammars(app, shell);
}

const GrammarParameters = strictObject({
  format: Type.Optional(
    Type.Enum(["gbnf", "lark"], {
      description: "gbnf (default) for llama.cpp and XGrammar; lark for llguidance, Outlines, vLLM and SGLang.",
    }),
  ),
  maxBytes: Type.Optional(
    Type.Integer({
      minimum: leastBytes,
      maximum: 1_000_000,
      default: 65_536,
      description: "Largest size; the largest classes and properties come first.",
    }),
  ),
});

const grammarsOf = [
  { of: "endpoint", operationId: "getGrammar", whose: "an endpoint's" },
  { of: "federation", operationId: "getFederationGrammar", whose: "a federation's" },
] as const;

/** Grammars for decoders: what a model writes under one of them is a valid query over known terms. */
function addGrammars(app: TypedApp, shell: HttpShell): void {
  const grammars = createGrammars(shell);
  for (const { of, operationId, whose } of grammarsOf) {
    app.get(`/api/${of}s/:id/grammar`, {
      schema: {
        ...doc(operationId, `A grammar of SPARQL over ${whose} own classes and properties, for a model's decoder`),
        params: IdPath,
        querystring: GrammarParameters,
        response: answersAs(["text/plain"]),
      },
      handler: async (request, reply) => {
        const { format = "gbnf", maxBytes = 65_536 } = request.query;
        const options: GrammarOptions = { dialect: format, maxBytes };
        const { id } = request.params;
        const text = await (of === "endpoint" ? grammars.ofEndpoint(id, options) : grammars.ofFederation(id, options));
        return reply.headers(anyOriginHeaders).type("text/plain; charset=utf-8").send(text);
      },
    });
  }
}
