import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { plainHeaders } from "./common-headers.ts";
import type { HttpDeps } from "./http-deps.ts";
import { problemReply } from "./problem-reply.ts";
import { createTargetCheck } from "./gatekeeping.ts";
import { FedwayError } from "../errors/fedway-error.ts";

// Few programs ask, each four times a minute or so; a copy of the text waits for each that does not read it.
const limits = { connections: 32, headersMs: 10_000, idleMs: 60_000 };

/** Answers `GET /metrics` and nothing else, at an address of its own, which clients of the service need not reach. */
export function createMetricsServer({ config, metrics, logger }: HttpDeps, port: number) {
  const targetProblem = createTargetCheck(config);
  const server = createServer(
    { headersTimeout: limits.headersMs, requestTimeout: limits.headersMs, keepAliveTimeout: limits.idleMs },
    (request, response) => {
      const refused = targetProblem(request, false);
      if (refused !== undefined) {
        const { status, headers, body } = problemReply(refused);
        response.writeHead(status, headers).end(body);
        return;
      }
      answer(metrics, request, response).catch((error: unknown) => {
        logger?.error({ err: error }, "the metrics are not available");
        response.destroy();
      });
    },
  );
  server.maxConnections = limits.connections;
  server.timeout = limits.idleMs;
  return {
    /** @throws FedwayError `CONFIG_INVALID` when the address cannot be bound */
    async listen(): Promise<void> {
      const { host } = config;
      server.listen({ host, port });
      await once(server, "listening").catch((error: unknown) => {
        throw listenFailure(error, { host, port, setting: "FEDWAY_METRICS_PORT" });
      });
    },
    async close(): Promise<void> {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function answer(
  metrics: HttpDeps["metrics"],
  { method, url }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
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

/** Why a server cannot listen, by the system's code. */
const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another process listens there",
  EACCES: "the account of this process may not",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no host of that name",
};

/** Where a server is to listen, and the setting that says so. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly setting: "PORT" | "FEDWAY_METRICS_PORT";
}

/** The failure to listen at a place as `CONFIG_INVALID`; anything else as it is. */
export function listenFailure(thrown: unknown, { host, port, setting }: ListenAddress): unknown {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const reason = reasons[code];
  if (reason === undefined) return thrown;
  return new FedwayError("CONFIG_INVALID", `The service cannot listen at ${host}:${port}: ${reason}.`, {
    next: `Choose another HOST or ${setting}, or stop what listens there.`,
    cause: thrown,
  });
}
