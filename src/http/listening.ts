import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createServer, type IncomingMessage, type ServerResponse, type Server } from "node:http";
import { plainHeaders } from "./common-headers.ts";
import type { HttpDeps } from "./http-deps.ts";
import { problemReply } from "./problem-reply.ts";
import { createTargetCheck } from "./gatekeeping.ts";
import { Server as NetServer, type Socket } from "node:net";
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

const mostTurns = 1_000;
const shortTurnMs = 0.1;

/** Lets the connections of a server end without an answer lost. */
export type Drain = ReturnType<typeof createDrain>;

/** Watches the answers of a server; to be called before it listens. */
export function createDrain(server: Server) {
  // By connections, which come and go less often.
  const connections = new Map<Socket, ServerResponse[]>();
  const underWay = (): readonly ServerResponse[] => [...connections.values()].flat();
  let begun = false;
  let accepted = 0;
  server.on("connection", (socket) => {
    accepted += 1;
    connections.set(socket, []);
    socket.once("close", () => connections.delete(socket));
  });
  server.prependListener("request", ({ socket }, response: ServerResponse) => {
    const responses = connections.get(socket);
    responses?.push(response);
    response.once("close", () => responses?.splice(responses.indexOf(response), 1));
    if (begun) response.shouldKeepAlive = false;
  });
  return {
    /** From now on every connection ends with the answer that is under way on it, or with its next one. */
    begin(): void {
      if (begun) return;
      begun = true;
      for (const response of underWay()) endWith(response);
    },
    /**
     * Accepts no more connections, and lets those that there are be. The system resets connections that wait to be accepted,
     * and Node accepts one in each turn of its loop: it stops after a short turn that brought none, or one of many turns.
     */
    async stopListening(): Promise<void> {
      for (let turn = 0; turn < mostTurns; turn += 1) {
        const [before, sinceMs] = [accepted, performance.now()];
        await nextTurn();
        if (accepted === before && performance.now() - sinceMs < shortTurnMs) break;
      }
      // That of HTTP would also end connections that a client may be writing to.
      NetServer.prototype.close.call(server);
    },
    /**
     * Resolves when clients have taken the answers that are complete here. Whoever stops the server earlier cuts them off:
     * to Node a connection is idle as soon as the last piece of an answer is written, not when it is sent.
     */
    async taken(): Promise<void> {
      const waiting = underWay().filter(({ writableEnded, writableFinished }) => writableEnded && !writableFinished);
      await Promise.all(waiting.map((response) => new Promise((resolve) => response.once("close", resolve))));
    },
    /** Ends connections that nothing has ever come on, which browsers open ahead: to Node they are not idle. */
    endSilent(): void {
      for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

function endWith(response: ServerResponse): void {
  response.shouldKeepAlive = false;
  // A head that has gone out has promised the client that the connection stays.
  const { headersSent, socket } = response;
  if (headersSent && socket !== null) response.once("finish", () => socket.destroySoon());
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
