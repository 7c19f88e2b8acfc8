import type { FastifyInstance, FastifyRequest } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import { plainHeaders, preflightHeaders } from "./common-headers.ts";
import { createOriginLimit } from "./cors-origins.ts";
import type { HttpSettings } from "./http-deps.ts";
import type { SendProblem } from "./problem-reply.ts";
import { createRateLimiter, type RateLimiterOptions } from "./rate-limiter.ts";
import { createTargetCheck } from "./request-target.ts";
import { guardRoutes } from "./write-access.ts";

/** Methods by route, to tell "there is nothing here" from "not with this method". */
interface RouteTable {
  add(pattern: string, methods: readonly string[], isGuarded: boolean): void;
  at(path: string): PathMethods | undefined;
}

interface PathMethods {
  readonly methods: ReadonlySet<string>;
  /** Those that change something. */
  readonly guarded: ReadonlySet<string>;
}

function createRouteTable(): RouteTable {
  const routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string>; guarded: Set<string> }>();
  return {
    add(url, methods, isGuarded) {
      const source = url.replaceAll(".", String.raw`\.`).replaceAll(/:[a-z]+/gi, "[^/]+");
      const known = routes.get(url);
      const route = known ?? { pattern: new RegExp(`^${source}/?$`), methods: new Set(), guarded: new Set() };
      for (const method of methods) {
        route.methods.add(method);
        if (isGuarded) route.guarded.add(method);
      }
      routes.set(url, route);
    },
    at: (path) => routes.values().find(({ pattern }) => pattern.test(path)),
  };
}

const unlimited = /^\/(health\/|metrics$)/;

const pathOf = ({ raw }: FastifyRequest): string => (raw.url ?? "").split("?", 1)[0] ?? "";

function allowedMethods(methods: Iterable<string>): string {
  return [...new Set([...methods, "OPTIONS"])].toSorted().join(", ");
}

/**
 * The answer to a preflight request. Scripts of other origins get no leave for methods that change something, and where
 * there are such methods browsers keep no answer: the leave for headers, once kept, would hold for all methods.
 */
function preflightAnswer(
  { methods, guarded }: PathMethods,
  wanted: string | undefined,
): Readonly<Record<string, string>> {
  if (guarded.size === 0) return preflightHeaders;
  const open = [...methods].filter((method) => !guarded.has(method));
  if (wanted === undefined || !open.includes(wanted)) return plainHeaders;
  return {
    ...preflightHeaders,
    "Access-Control-Allow-Methods": allowedMethods(open),
    "Access-Control-Max-Age": "0",
  };
}

/** What is decided by. */
export interface GatekeepingOptions {
  readonly settings: HttpSettings;
  readonly sharedStore: RateLimiterOptions["store"];
  readonly sendProblem: SendProblem;
}

/** Where to look instead of a path that leads nowhere. */
const elsewhere = (role: HttpSettings["role"]): string =>
  role === "worker"
    ? "This process is a worker, which answers about its health only; ask one with ROLE=web or all."
    : "/docs lists all routes.";

/** Since the epoch, and never going back: all processes of a deployment measure by it. */
const now = (): number => performance.timeOrigin + performance.now();

/** First of all: who may read the answer, and whether the request is for this service. */
function addTargetCheck(
  app: FastifyInstance,
  { settings, sendProblem }: Pick<GatekeepingOptions, "settings" | "sendProblem">,
): void {
  const limitOrigins = createOriginLimit(settings.corsOrigins);
  const targetProblem = createTargetCheck(settings);
  app.addHook("onRequest", (request, reply, done) => {
    limitOrigins?.(request, reply);
    const problem = targetProblem(request.raw);
    if (problem === undefined) done();
    else sendProblem(reply, problem, { Connection: "close" });
  });
}

/**
 * Answers what is decided before a body is read: requests that are not for this service, preflights, unknown paths, wrong
 * methods, too many requests, changes without the token.
 */
export function addGatekeeping(app: FastifyInstance, { settings, sharedStore, sendProblem }: GatekeepingOptions): void {
  const table = createRouteTable();
  const { rateLimit } = settings.limits;
  const limiter = rateLimit > 0 ? createRateLimiter({ perMinute: rateLimit, now, store: sharedStore }) : undefined;

  addTargetCheck(app, { settings, sendProblem });
  guardRoutes(app, settings);
  app.addHook("onRoute", ({ url, method, config }) => {
    table.add(url, Array.isArray(method) ? method : [method], config?.guarded === true);
  });
  if (limiter) {
    app.addHook("onRequest", (request, reply, done) => {
      const retryAfterMs = unlimited.test(pathOf(request)) ? 0 : limiter.take(request.ip);
      if (retryAfterMs === 0) {
        done();
        return;
      }
      const detail = `More than ${rateLimit} requests a minute came from this client.`;
      sendProblem(reply, new FedwayError("RATE_LIMITED", detail, { retryAfterMs }));
    });
  }
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) {
      done();
      return;
    }
    const found = table.at(pathOf(request));
    if (found === undefined) {
      sendProblem(reply, new FedwayError("NOT_FOUND", "No route has this path.", { next: elsewhere(settings.role) }));
    } else if (request.method === "OPTIONS") {
      reply.hijack();
      const answer = preflightAnswer(found, request.headers["access-control-request-method"]);
      reply.raw.writeHead(204, { ...answer, Allow: allowedMethods(found.methods) }).end();
    } else {
      const Allow = allowedMethods(found.methods);
      const detail = `${request.method} is not answered here.`;
      sendProblem(reply, new FedwayError("METHOD_NOT_ALLOWED", detail, { next: `Use one of ${Allow}.` }), { Allow });
    }
  });
}
