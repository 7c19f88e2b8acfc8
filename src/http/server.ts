import { setImmediate as nextTurn } from "node:timers/promises";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { randomBytes } from "node:crypto";
import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { fastify } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import { addProtocolBodies, protocolError } from "./protocol-operation.ts";
import { addApiRoutes } from "./api-routes.ts";
import { addBadgeRoutes } from "./badge-routes.ts";
import { addRunRoutes } from "./run-routes.ts";
import { addCatalogRoutes } from "./catalog-routes.ts";
import { createCatalogView } from "./catalog-view.ts";
import { addBodyBudget } from "./body-budget.ts";
import { addClientTurns } from "./client-turns.ts";
import { addBasePath, basePathOf, withoutBase } from "./base-path.ts";
import { addCatalogWrites } from "./catalog-writes.ts";
import { plainHeaders } from "./common-headers.ts";
import { createOriginLimit, addGatekeeping } from "./gatekeeping.ts";
import { createMetricsServer, listenFailure } from "./metrics-server.ts";
import { observeRequests } from "./request-state.ts";
import { addHostedRoutes } from "./hosted-routes.ts";
import type { HttpDeps, HttpSettings, HttpShell, TypedApp } from "./http-deps.ts";
import { addKeyRoutes } from "./key-routes.ts";
import { addMcpRoutes } from "./mcp-routes.ts";
import { addMonitorRoutes } from "./monitor-routes.ts";
import { addJobRoutes } from "./job-routes.ts";
import { documentApi } from "./openapi.ts";
import { addPublicationRoutes } from "./publication-routes.ts";
import { addPageRoutes } from "./pages/page-routes.ts";
import { createProblemSender, problemReply, toHttpError, withoutLeave } from "./problem-reply.ts";
import { addRegistryRoutes } from "./registry-routes.ts";
import { addJsonBodies, requestValidator } from "./request-validator.ts";
import { addSessionRoutes } from "./session-routes.ts";
import { addAskRoutes } from "./ask-routes.ts";
import { addToolRoutes } from "./tool-routes.ts";
import { addQueryRoutes, routedUrl } from "./sparql-routes.ts";
import { addWatchRoutes } from "./watch-routes.ts";
import { addHealth, addSystemRoutes } from "./system-routes.ts";

/** The running HTTP shell. */
export type HttpServer = Awaited<ReturnType<typeof createHttpServer>>;

const limits = {
  headerBytes: 65_536,
  // Written but not yet taken by the client, per connection; a few reads of the upstream without a pause.
  bufferBytes: 262_144,
  headersMs: 15_000,
  // How often Node looks for requests that are late.
  lateCheckMs: 2_000,
  keepAliveMs: 72_000,
  // At the end, for a first request on a connection.
  silentMs: 1_000,
  connections: 10_000,
  pathParameterLength: 200,
};

const largeBodyBytes = 32_768;

/** The framework takes a bare number for no proxies, so a number of proxies becomes a rule about their distance. */
function trusted(
  setting: HttpSettings["trustProxy"],
): boolean | string[] | ((address: string, hop: number) => boolean) {
  if (typeof setting === "number") return (_address, hop) => hop < setting;
  return typeof setting === "boolean" ? setting : [...setting];
}

/** Ids of requests for the log: unlike those of other processes, and of this one after a restart. */
function requestIds(): () => string {
  const process = randomBytes(6).toString("base64url");
  let count = 0;
  return () => {
    count += 1;
    return `${process}-${count.toString(36)}`;
  };
}

function build({ config }: HttpDeps): TypedApp {
  const base = basePathOf(config.publicUrl);
  const app = fastify({
    logger: false,
    genReqId: requestIds(),
    trustProxy: trusted(config.trustProxy),
    bodyLimit: config.limits.maxQueryBytes * 2 + 65_536,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: limits.pathParameterLength },
    rewriteUrl: base === "" ? ({ url = "" }) => routedUrl(url) : ({ url = "" }) => routedUrl(withoutBase(url, base)),
    return503OnClosing: false,
    forceCloseConnections: "idle",
    keepAliveTimeout: limits.keepAliveMs,
    requestTimeout: config.limits.bodyTimeoutMs,
    // A connection on which nothing moves; a query, or a question, may be silent for as long as it may run.
    connectionTimeout: Math.max(config.limits.timeoutMs, config.chat?.timeoutMs ?? 0) + 60_000,
    // One without a Host is refused like any other that is not for this service.
    http: {
      maxHeaderSize: limits.headerBytes,
      highWaterMark: limits.bufferBytes,
      requireHostHeader: false,
      connectionsCheckingInterval: limits.lateCheckMs,
    },
    // Paths that the router cannot read; no hook runs for them.
    frameworkErrors: (error, request, reply) => {
      const { status, headers, body } = problemReply(toHttpError(error));
      createOriginLimit(config.corsOrigins)?.(request, reply);
      reply.hijack();
      reply.raw.writeHead(status, headers).end(body);
    },
    clientErrorHandler: (error, socket) => {
      if (socket.writable && error.code !== "ECONNRESET") socket.write(rawProblem(error.code));
      socket.destroy();
    },
  });
  app.server.on("checkExpectation", (_request, response) => response.writeHead(417, plainHeaders).end());
  app.server.maxConnections = limits.connections;
  app.server.headersTimeout = Math.min(limits.headersMs, config.limits.bodyTimeoutMs);
  app.setValidatorCompiler(requestValidator);
  // Response schemas document; answers are never cut down to them.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  return app.withTypeProvider<TypeBoxTypeProvider>();
}

/** The error of bytes that are no HTTP request, by Node's code. */
function unreadable(code: string): FedwayError {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new FedwayError("REQUEST_TOO_LARGE", "The URL and headers are larger than this service reads.", {
      next: "Send long queries with POST.",
    });
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new FedwayError("REQUEST_TIMEOUT", "The request did not arrive in time.", {
      next: "Send it again, all at once, or raise FEDWAY_BODY_TIMEOUT_MS.",
    });
  }
  return new FedwayError("REQUEST_INVALID", "This is not a complete HTTP request.");
}

/** The answer to such bytes. */
function rawProblem(code: string): string {
  const error = unreadable(code);
  const { status, headers, body } = problemReply(error);
  const sent = Object.entries({ ...withoutLeave(headers), Connection: "close" });
  const lines = sent.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Refused\r\n${lines.join("")}\r\n${body}`;
}

function addSparql(app: TypedApp, shell: HttpShell): void {
  const { maxQueryBytes } = shell.config.limits;
  void app.register(async (scope: TypedApp) => {
    addProtocolBodies(scope, maxQueryBytes);
    scope.setErrorHandler((error, _request, reply) => shell.sendProblem(reply, protocolError(error, maxQueryBytes)));
    addQueryRoutes(scope, shell);
    addHostedRoutes(scope, shell);
    for (const { addSparqlRoutes } of shell.routes ?? []) addSparqlRoutes?.(scope, shell);
  });
}

async function closeWithin(app: TypedApp, drain: Drain, graceMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMs);
  const silent = setTimeout(() => drain.endSilent(), limits.silentMs);
  try {
    drain.begin();
    await drain.stopListening();
    await drain.taken();
    await app.close();
  } finally {
    clearTimeout(timer);
    clearTimeout(silent);
  }
}

/**
 * Builds the HTTP shell: SPARQL Protocol routes, the JSON API, health, metrics and pages. Every failure is answered
 * with a problem document (RFC 9457).
 */
export async function createHttpServer(deps: HttpDeps) {
  const { config, queries, logger: log } = deps;
  const app = build(deps);
  // Making the framework takes as long as adding all routes to it.
  await nextTurn();
  const drain = createDrain(app.server);
  const sendProblem = createProblemSender({ runOf: (error) => queries.runOf(error), log });
  let bound = "";
  const publicUrl = (): string => {
    const configured = config.publicUrl;
    return configured.endsWith(":0") && bound !== "" ? `${configured.slice(0, -1)}${new URL(bound).port}` : configured;
  };
  addBasePath(app, deps);
  observeRequests(app, deps);
  app.setErrorHandler((error, _request, reply) => sendProblem(reply, error));
  const scraped = config.metricsPort === undefined ? undefined : createMetricsServer(deps, config.metricsPort);
  addGatekeeping(app, deps, sendProblem);
  addBodyBudget(app, config.limits.bodyBytes);
  addClientTurns(app);
  await documentApi(app, deps);
  app.addHook("preHandler", ({ headers }, _reply, done) => {
    // A large body is parsed in one turn of the loop and worked with in another.
    if (Number(headers["content-length"] ?? 0) < largeBodyBytes && headers["transfer-encoding"] === undefined) done();
    else setImmediate(done);
  });
  app.removeAllContentTypeParsers();
  addJsonBodies(app, "application/json");
  if (config.role === "worker") addHealth(app, deps);
  else addRoutes(app, { ...deps, view: createCatalogView(deps), sendProblem, publicUrl });
  await app.ready();
  return {
    /** Serves a request without a socket, for tests. */
    inject: app.inject.bind(app),
    /** Origin under which clients reach the service; the bound port replaces a port of 0. */
    get url(): string {
      return publicUrl();
    },
    /** Starts listening; resolves to the URL that was bound. @throws FedwayError `CONFIG_INVALID` when the address cannot be bound */
    async listen(): Promise<string> {
      const { host, port } = config;
      await scraped?.listen();
      bound = await app.listen({ host, port }).catch((error: unknown) => {
        throw listenFailure(error, { host, port, setting: "PORT" });
      });
      return bound;
    },
    /** Asks clients, with every response from now on, to connect anew for their next request. */
    drain: (): void => drain.begin(),
    /** Stops accepting, lets responses under way end for at most `graceMs` (10 s), then cuts them off. */
    async close(graceMs = 10_000): Promise<void> {
      try {
        await closeWithin(app, drain, graceMs);
      } finally {
        await scraped?.close();
      }
    },
  };
}

function addRoutes(app: TypedApp, shell: HttpShell): void {
  addSparql(app, shell);
  addApiRoutes(app, shell);
  addRunRoutes(app, shell);
  addBadgeRoutes(app, shell);
  addToolRoutes(app, shell);
  addMcpRoutes(app, shell);
  addAskRoutes(app, shell);
  addSessionRoutes(app, shell);
  addCatalogRoutes(app, shell);
  addCatalogWrites(app, shell);
  addRegistryRoutes(app, shell);
  addJobRoutes(app, shell);
  for (const plugin of shell.routes ?? []) plugin.addRoutes(app, shell);
  addMonitorRoutes(app, shell);
  addWatchRoutes(app, shell);
  addSystemRoutes(app, shell);
  addPublicationRoutes(app, shell);
  addKeyRoutes(app, shell);
  addPageRoutes(app, shell);
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
