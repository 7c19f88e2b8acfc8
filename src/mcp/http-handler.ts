import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createMcpHandler, type McpServerFactory } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import type { ToolProfile } from "../agent/tool.ts";
import { requestFault } from "../results/json-structure.ts";
import { createCallsUnderWay } from "./calls-under-way.ts";
import type { McpClient } from "./create-server.ts";

/** Bytes of a request. */
const mostBodyBytes = 4 * 1024 * 1024;

/** JSON-RPC's code of what is no request. */
const invalidRequest = -32_600;

/** The body; of one that is too large only so much that this can be seen. */
async function chunksOf(request: IncomingMessage): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (Number(request.headers["content-length"]) > mostBodyBytes) return chunks;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > mostBodyBytes) break;
  }
  return chunks;
}

/** Client of a request and its profile of tools; the configured one when none is named. */
export interface McpHttpClient extends McpClient {
  readonly profile?: ToolProfile | undefined;
}

/** Serves MCP requests of HTTP clients, each independently. */
export interface McpHttpHandler {
  /** Answers a request whose body has not been read; resolves when the answer is out. */
  handle(request: IncomingMessage, response: ServerResponse, client: McpHttpClient): Promise<void>;
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
    { maxRequestBodySize: mostBodyBytes, maxSubscriptions: 256 },
  );
  const serve = toNodeHandler(handler, { maxRequestBodySize: mostBodyBytes, onerror: onDefect });
  return {
    async handle(request, response, client) {
      // The one value that the handler passes through to the server.
      const extra = {};
      clients.set(extra, { ...client, calls, turn: createTurns() });
      const { method = "GET", url = "/", headers } = request;
      const auth = { token: "", clientId: client.owner, scopes: [], extra };
      const chunks = await chunksOf(request);
      const fault = requestFault(Buffer.concat(chunks));
      if (fault === undefined) {
        await serve(
          { method, url, headers, auth, [Symbol.asyncIterator]: () => Readable.from(chunks).iterator() },
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
