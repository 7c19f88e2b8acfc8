import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { plainHeaders } from "./common-headers.ts";
import type { HttpDeps, HttpMetrics } from "./http-deps.ts";
import { listenFailure } from "./listen-failure.ts";
import { problemReply } from "./problem-reply.ts";
import { createTargetCheck } from "./request-target.ts";

/** Metrics at an address of their own, which clients of the service need not reach. */
export interface MetricsServer {
  /** @throws FedwayError `CONFIG_INVALID` when the address cannot be bound */
  listen(): Promise<void>;
  close(): Promise<void>;
}

// Few programs ask, each four times a minute or so; a copy of the text waits for each that does not read it.
const limits = { connections: 32, headersMs: 10_000, idleMs: 60_000 };

/** Answers `GET /metrics` and nothing else. */
export function createMetricsServer({ config, metrics, logger }: HttpDeps, port: number): MetricsServer {
  const targetProblem = createTargetCheck(config);
  const server = createServer(
    { headersTimeout: limits.headersMs, requestTimeout: limits.headersMs, keepAliveTimeout: limits.idleMs },
    (request, response) => {
      const refused = targetProblem(request);
      if (refused !== undefined) {
        const { status, headers, body } = problemReply(refused);
        response.writeHead(status, headers).end(body);
        return;
      }
      answer(metrics, request, response).catch((error: unknown) => {
        logger?.error({ err: error }, "the metrics cannot be told");
        response.destroy();
      });
    },
  );
  server.maxConnections = limits.connections;
  server.timeout = limits.idleMs;
  return {
    async listen() {
      const { host } = config;
      server.listen({ host, port });
      await once(server, "listening").catch((error: unknown) => {
        throw listenFailure(error, { host, port, setting: "FEDWAY_METRICS_PORT" });
      });
    },
    async close() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function answer(metrics: HttpMetrics, { method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = { ...plainHeaders, "Cache-Control": "no-store" };
  if (url?.split("?", 1)[0] !== "/metrics") {
    response.writeHead(404, headers).end();
  } else if (method !== "GET" && method !== "HEAD") {
    response.writeHead(405, { ...headers, Allow: "GET, HEAD" }).end();
  } else {
    const text = await metrics.render();
    response.writeHead(200, { ...headers, "Content-Type": metrics.contentType }).end(text);
  }
}
