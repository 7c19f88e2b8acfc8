import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { McpHttpHandler } from "../mcp/http-handler.ts";
import { toolProfiles } from "../agent/tool.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { plainHeaders, sendJson } from "./common-headers.ts";
import { ownerOf } from "./caller.ts";
import { rateLimited, type RateLimiter } from "./rate-limiter.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { view, documented } from "./schemas.ts";
import { Type } from "typebox";
import { asking, openToAll, requireRole } from "./write-access.ts";

const doc = documented("Agents");
const metadataPath = "/.well-known/oauth-protected-resource/mcp";

const mostBodyBytes = 4 * 1024 * 1024;

const ProfileParameters = Type.Object({ profile: Type.Optional(Type.Enum([...toolProfiles])) });

const ResourceMetadata = view("ProtectedResource", {
  resource: Type.String(),
  resource_name: Type.String(),
  bearer_methods_supported: Type.Array(Type.String()),
});

/**
 * `/mcp`: Streamable HTTP for MCP clients, and the metadata of its token (RFC 9728). The handler is loaded with the
 * first request.
 */
export function addMcpRoutes(app: TypedApp, shell: HttpShell): void {
  const { mcp: load, publicUrl, limiter } = shell;
  if (load === undefined) return;
  let loaded: Promise<McpHttpHandler> | undefined;
  const handler = (): Promise<McpHttpHandler> => {
    loaded ??= load();
    return loaded;
  };
  app.addHook("onClose", async () => {
    await (await loaded?.catch(() => undefined))?.close();
  });
  app.get(metadataPath, {
    ...openToAll,
    schema: { ...doc("getMcpResource", "What clients of /mcp need to know of its token (RFC 9728)", ResourceMetadata) },
    handler: (_request, reply) =>
      sendJson(reply, {
        resource: `${publicUrl()}/mcp`,
        resource_name: "Fedway",
        bearer_methods_supported: ["header"],
      }),
  });
  void app.register(async (scope: TypedApp) => {
    // The handler checks the body itself.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: mostBodyBytes }, (_request, body, done) =>
      done(null, body),
    );
    scope.route({
      method: ["POST", "GET", "DELETE"],
      url: "/mcp",
      ...asking,
      schema: { hide: true, querystring: ProfileParameters },
      onRequest: async (request, reply) => refuseStrangers(shell, request, reply),
      handler: async (request, reply) => {
        const mcp = await handler();
        const { state, headers, raw } = request;
        const session = headers["fedway-session"] ?? headers["mcp-session-id"];
        // Clients of 2025 send it with all that follows; nothing is kept under it.
        if (session === undefined) reply.raw.setHeader("Mcp-Session-Id", randomUUID());
        reply.hijack();
        for (const [name, value] of Object.entries(mcpHeaders(headers.origin))) reply.raw.setHeader(name, value);
        await mcp.handle(raw, Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0), reply.raw, {
          owner: ownerOf(request),
          connection: connectionOf(raw.socket),
          ...(typeof session === "string" && { session: session.slice(0, 128) }),
          trace: state.span?.context,
          requireWrite: () => requireRole(request, "write"),
          count: limiter && countCalls(limiter, ownerOf(request)),
          profile: request.query.profile,
        });
      },
    });
  });
}

/** Counts the calls of one request: its own token is for the first one. @throws FedwayError `RATE_LIMITED` */
function countCalls(limiter: RateLimiter, client: string): () => void {
  let calls = 0;
  return () => {
    calls += 1;
    const retryAfterMs = calls === 1 ? 0 : limiter.take(client);
    if (retryAfterMs > 0) throw rateLimited(limiter, retryAfterMs);
  };
}

const connections = new WeakMap<Socket, string>();

/** An unguessable name for a connection. */
function connectionOf(socket: Socket): string {
  const name = connections.get(socket) ?? randomUUID();
  connections.set(socket, name);
  return name;
}

/** Pages that may ask, which has been checked, may read the answer. */
const mcpHeaders = (origin: string | undefined): Readonly<Record<string, string>> => ({
  ...plainHeaders,
  ...(origin !== undefined && { "Access-Control-Allow-Origin": origin, Vary: "Origin" }),
});

/** Pages of other sites may not work with tools on behalf of their visitors. @throws FedwayError `WRITE_REFUSED` */
export function refuseForeignPages(shell: HttpShell, { headers }: FastifyRequest, reply: FastifyReply): void {
  if (headers.origin === undefined || isKnownOrigin(headers.origin, headers.host, shell)) return;
  reply.raw.setHeader("Connection", "close");
  throw new FedwayError("WRITE_REFUSED", "The request comes from a page of another site.", {
    next: "Name its origin in FEDWAY_CORS_ORIGINS, or send the request from a program.",
  });
}

/** @throws FedwayError `WRITE_REFUSED`, `TOKEN_REQUIRED` */
async function refuseStrangers(shell: HttpShell, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { config, publicUrl } = shell;
  const { by } = request.caller;
  refuseForeignPages(shell, request, reply);
  if (config.mcpToken === undefined || (by !== "nothing" && by !== "wrong")) return;
  reply.raw.setHeader("Connection", "close");
  const wrong = by === "nothing" ? "" : ', error="invalid_token"';
  reply.raw.setHeader(
    "WWW-Authenticate",
    `Bearer realm="fedway", resource_metadata="${publicUrl()}${metadataPath}"${wrong}`,
  );
  throw new FedwayError(
    "TOKEN_REQUIRED",
    `The token of /mcp ${by === "nothing" ? "is missing" : "is not the right one"}.`,
    {
      next: "Send Authorization: Bearer with the value of FEDWAY_MCP_TOKEN or an API key.",
    },
  );
}

/**
 * Pages of this service, and of origins that are named. `*` opens what everybody may read, not the tools: else any page
 * could work with them on behalf of its visitor.
 */
function isKnownOrigin(origin: string, host: string | undefined, { config, publicUrl }: HttpShell): boolean {
  const { corsOrigins } = config;
  if (corsOrigins !== "*" && corsOrigins.includes(origin)) return true;
  const parsed = URL.parse(origin);
  return parsed !== null && (parsed.host === host || parsed.origin === URL.parse(publicUrl())?.origin);
}
