import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createMcpHandler, type McpServerFactory } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import type { ToolProfile } from "../agent/tool.ts";
import { requestFault } from "../results/json-structure.ts";
import { createCallsUnderWay } from "./calls-under-way.ts";
import type { McpClient } from "./create-server.ts";

/** Whoever calls the handler has bounded the body. */
const anySize = { maxRequestBodySize: Number.MAX_SAFE_INTEGER };

/** JSON-RPC's code of what is no request. */
const invalidRequest = -32_600;

/** Client of a request and its profile of tools; the configured one when none is named. */
export interface McpHttpClient extends McpClient {
  readonly profile?: ToolProfile | undefined;
}

/** Serves MCP requests of HTTP clients, each independently. */
export interface McpHttpHandler {
  /** Answers a request with this body; resolves when the answer is out. */
  handle(request: IncomingMessage, body: Buffer, response: ServerResponse, client: McpHttpClient): Promise<void>;
  close(): Promise<void>;
}

/**
 * Streamable HTTP without sessions: revision 2026-07-28, and those of 2025 for older clients, distinguished by each request.
 * @param serverFor makes the server for one request
 */
export function createHttpHandler(
  serverFor: (client: McpHttpClient) => ReturnType<McpServerFactory>,
  onDefect: (error: unknown) => void,
): McpHttpHandler {
  const calls = createCallsUnderWay();
  const clients = new WeakMap<object, McpHttpClient>();
  const handler = createMcpHandler(
    ({ authInfo }) => serverFor((authInfo?.extra && clients.get(authInfo.extra)) ?? { owner: "unknown" }),
    { ...anySize, maxSubscriptions: 256 },
  );
  const serve = toNodeHandler(handler, { ...anySize, onerror: onDefect });
  return {
    async handle(request, body, response, client) {
      // The one value that the handler passes through to the server.
      const extra = {};
      clients.set(extra, { ...client, calls, turn: createTurns() });
      const { method = "GET", url = "/", headers } = request;
      const auth = { token: "", clientId: client.owner, scopes: [], extra };
      const fault = requestFault(body);
      if (fault === undefined) {
        await serve(
          { method, url, headers, auth, [Symbol.asyncIterator]: () => Readable.from([body]).iterator() },
          response,
        );
      } else {
        const refusal = { jsonrpc: "2.0", id: null, error: { code: invalidRequest, message: fault } };
        response.writeHead(400, { "Content-Type": "application/json" }).end(JSON.stringify(refusal));
      }
    },
    close: () => handler.close(),
  };
}

/** Turns of the event loop for the calls of one request: a batch leaves others time between its calls. The first has its turn. */
function createTurns(): () => Promise<void> | undefined {
  let last: Promise<void> | undefined;
  return () => {
    const turn = last;
    last = turn === undefined ? nextTurn() : turn.then(() => nextTurn());
    return turn;
  };
}
