import swagger from "@fastify/swagger";
import { STATUS_CODES } from "node:http";
import type { FastifyContextConfig, FastifySchema } from "fastify";
import type { HttpDeps, TypedApp } from "./http-deps.ts";
import { addExamples } from "./api-examples.ts";
import { Problem } from "./schemas.ts";
import { roleOf } from "./write-access.ts";

/** Tags in the order in which people read them; a page of the document follows it. */
const tags = [
  { name: "SPARQL", description: "SPARQL 1.1 Protocol: results as SPARQL clients read them." },
  { name: "Queries", description: "The same as simple JSON, with the plan and what each endpoint contributed." },
  { name: "Agents", description: "The tools of agents, one route each; MCP offers the same at /mcp." },
  { name: "Catalogue", description: "Endpoints and federations: to list, to search, to read." },
  { name: "Descriptions", description: "What is known of an endpoint's data and abilities." },
  { name: "Availability", description: "How endpoints are and were." },
  { name: "Changes", description: "To add, change and remove endpoints and federations." },
  { name: "Jobs", description: "Work in the background." },
];

const lastTags = [
  { name: "Operation", description: "For operators." },
  { name: "Pages", description: "HTML for people." },
];

/** A route's schema with what is for its documentation only. */
type Documented = FastifySchema & {
  readonly tags?: readonly string[];
  readonly operationId?: string;
  readonly summary?: string;
};

interface Route {
  readonly url: string;
  readonly method: string | readonly string[];
  readonly config?: FastifyContextConfig;
}

/**
 * Documents all routes that are added later as OpenAPI 3.1. A route declares what is its own: id, parameters, bodies and
 * successful answers; what all have in common (errors, security, descriptions of statuses) is added here. A schema with a
 * title becomes a component of that name.
 */
export async function documentApi(app: TypedApp, { version, config, routes = [] }: HttpDeps): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Fedway",
        version,
        description: "Federated SPARQL proxy: one query in, the answer from the right endpoints out.",
      },
      tags: [...tags, ...routes.flatMap(({ tag = [] }) => tag), ...lastTags],
      components: {
        securitySchemes: {
          adminToken: {
            type: "http",
            scheme: "bearer",
            description:
              "FEDWAY_ADMIN_TOKEN (when that is unset, what the file admin-token of the data folder holds), or an API key with the role write, for keys admin.",
          },
        },
      },
      servers: [{ url: config.publicUrl.endsWith(":0") ? "/" : config.publicUrl }],
    },
    transform: ({ schema, url, route }) => ({ schema: schema && documented(schema, route), url }),
    transformObject: (document) =>
      "openapiObject" in document ? addExamples(withComponents(document.openapiObject)) : {},
  });
}

function documented(schema: Documented, route: Route): FastifySchema {
  const isGuarded = route.config?.guarded === true;
  const isPage = schema.tags?.includes("Pages") === true;
  const declared = { ...(isPage && pageAnswers), ...errors(schema, isGuarded, isPage), ...responsesOf(schema) };
  const response = Object.fromEntries(
    Object.entries(declared).map(([status, answer]) => [status, worded(status, answer)]),
  );
  return {
    description: `${schema.summary ?? ""}. Role of the caller: ${roleOf(route.config, route.method)}.`,
    ...schema,
    ...(isPage && schema.operationId === undefined && { operationId: pageId(route) }),
    ...(isGuarded && { security: [{ adminToken: [] }] }),
    response,
  };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const responsesOf = ({ response }: Documented): Record<string, object> =>
  Object.fromEntries(
    Object.entries(isObject(response) ? response : {}).flatMap(([status, each]) =>
      isObject(each) ? [[status, each]] : [],
    ),
  );

const html = { "text/html": { schema: { type: "string" } } };
const pageAnswers = { 200: { content: html }, "3xx": { type: "null" } };
const problem = { "application/problem+json": { schema: Problem } };

/** Errors that any route of this form may answer with; the ranges are for those that depend on the request. */
function errors({ params, body }: Documented, isGuarded: boolean, isPage: boolean): Record<string, object> {
  const content = isPage ? { ...problem, ...html } : problem;
  return {
    ...(isGuarded && { 401: { content, headers: { "WWW-Authenticate": { type: "string" } } }, 403: { content } }),
    ...(params !== undefined && { 404: { content } }),
    ...(body !== undefined && { 413: { content }, 415: { content } }),
    405: { content, headers: { Allow: { type: "string", description: "The methods that this path has." } } },
    429: { content, headers: { "Retry-After": { type: "integer", description: "Seconds." } } },
    "4xx": { content },
    "5xx": { content },
  };
}

const ranges: Readonly<Record<string, string>> = {
  "3xx": "Unchanged, or elsewhere.",
  "4xx": "The request is refused.",
  "5xx": "The request failed.",
};

/** An answer in the words of HTTP, not in those of its schema, which are about what is in it. */
const worded = (status: string, answer: object): object => ({
  ...answer,
  "x-response-description": STATUS_CODES[status] ?? ranges[status],
});

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** `showStatus` of `GET /status`, `showEndpoint` of `GET /endpoints/:id`: pages are not what clients are generated for. */
function pageId({ method, url }: Route): string {
  const words = url.split(/[^A-Za-z:]+/u).filter((word) => word !== "");
  const named = words.map((word, at) => (words[at + 1]?.startsWith(":") === true ? word.replace(/s$/u, "") : word));
  const fixed = named.filter((word) => !word.startsWith(":")).map(capitalised);
  return `${method === "GET" ? "show" : "ask"}${fixed.join("") || "Home"}`;
}

type OpenApi = Record<string, unknown>;

/** The document with every schema that has a title once, among its components. */
function withComponents(document: object): OpenApi {
  const whole: OpenApi = { ...document };
  const schemas: Record<string, unknown> = {};
  const lifted = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(lifted);
    if (!isObject(node)) return node;
    const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, lifted(value)]));
    const { title } = node;
    if (typeof title !== "string") return copy;
    schemas[title] = copy;
    return { $ref: `#/components/schemas/${title}` };
  };
  const paths = lifted(whole["paths"]);
  const components = isObject(whole["components"]) ? whole["components"] : {};
  return { ...whole, paths, components: { ...components, schemas } };
}
