import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createMcpHandler, type McpServerFactory } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import type { ToolProfile } from "../agent/tool.ts";
import { requestFault } from "../results/json-structure.ts";
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

/** Calls of HTTP clients that are being answered, by the session or connection that asked and the id of the request. */
export type CallsUnderWay = ReturnType<typeof createCallsUnderWay>;

/**
 * Clients of 2025 cancel by a message of its own. It counts within the session, else the connection, of the call: ids of requests
 * are easily guessed, and an address is that of many. Where two calls have both in common, neither is cancelled.
 */
function createCallsUnderWay() {
  const calls = new Map<string, Set<AbortController>>();
  return {
    /** Runs a call with a signal that aborts when its client cancels it. */
    async run<T>(peer: string, id: unknown, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const key = keyOf(peer, id);
      const aborter = new AbortController();
      const same = calls.get(key) ?? new Set();
      calls.set(key, same.add(aborter));
      try {
        return await call(aborter.signal);
      } finally {
        same.delete(aborter);
        if (same.size === 0) calls.delete(key);
      }
    },
    cancel(peer: string, id: unknown): void {
      const [only, another] = calls.get(keyOf(peer, id)) ?? [];
      if (another === undefined) only?.abort();
    },
  };
}

const keyOf = (peer: string, id: unknown): string => JSON.stringify([peer, id]);
