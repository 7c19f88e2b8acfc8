import type { IncomingMessage, ServerResponse } from "node:http";
import { createMcpHandler, type McpServerFactory } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import type { ToolProfile } from "../agent/tool.ts";
import { createCallsUnderWay } from "./calls-under-way.ts";
import type { McpClient } from "./create-server.ts";

/** Bytes of a request. */
const mostBodyBytes = 4 * 1024 * 1024;

/** Who asks, and for which tools; the configured ones when no profile is named. */
export interface McpHttpClient extends McpClient {
  readonly profile?: ToolProfile | undefined;
}

/** Serves MCP requests of HTTP clients, each by itself. */
export interface McpHttpHandler {
  /** Answers a request whose body nobody has read; resolves when the answer is out. */
  handle(request: IncomingMessage, response: ServerResponse, client: McpHttpClient): Promise<void>;
  close(): Promise<void>;
}

/**
 * Streamable HTTP without sessions: revision 2026-07-28, and those of 2025 for older clients, told apart by each request.
 * @param serverFor makes the server for one request
 */
export function createHttpHandler(
  serverFor: (client: McpHttpClient) => ReturnType<McpServerFactory>,
  onDefect: (error: unknown) => void,
): McpHttpHandler {
  const calls = createCallsUnderWay();
  const clients = new WeakMap<object, McpHttpClient>();
  const handler = createMcpHandler(
    ({ authInfo }) => serverFor((authInfo?.extra && clients.get(authInfo.extra)) ?? { owner: "nobody" }),
    { maxRequestBodySize: mostBodyBytes, maxSubscriptions: 256 },
  );
  const serve = toNodeHandler(handler, { maxRequestBodySize: mostBodyBytes, onerror: onDefect });
  return {
    async handle(request, response, client) {
      // The one value that the handler passes through to the server.
      const extra = {};
      clients.set(extra, { ...client, calls });
      const { method = "GET", url = "/", headers } = request;
      const auth = { token: "", clientId: client.owner, scopes: [], extra };
      await serve(
        { method, url, headers, auth, [Symbol.asyncIterator]: () => request[Symbol.asyncIterator]() },
        response,
      );
    },
    close: () => handler.close(),
  };
}
