import type { FastifyInstance, FastifyRequest } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import { preflightHeaders } from "./common-headers.ts";
import type { SendProblem } from "./problem-reply.ts";
import { createRateLimiter } from "./rate-limiter.ts";

/** Methods by route, to tell "there is nothing here" from "not with this method". */
interface RouteTable {
  add(pattern: string, methods: readonly string[]): void;
  methodsAt(path: string): readonly string[];
}

function createRouteTable(): RouteTable {
  const routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  return {
    add(pattern, methods) {
      const known = routes.get(pattern);
      if (known) for (const method of methods) known.methods.add(method);
      else {
        const source = pattern.replaceAll(".", String.raw`\.`).replaceAll(/:[a-z]+/gi, "[^/]+");
        routes.set(pattern, { pattern: new RegExp(`^${source}/?$`), methods: new Set(methods) });
      }
    },
    methodsAt: (path) => [...([...routes.values()].find(({ pattern }) => pattern.test(path))?.methods ?? [])],
  };
}

const unlimited = /^\/(health\/|metrics$)/;

const pathOf = ({ raw }: FastifyRequest): string => (raw.url ?? "").split("?", 1)[0] ?? "";

function allowedMethods(methods: readonly string[]): string {
  return [...new Set([...methods, "OPTIONS"])].toSorted().join(", ");
}

/** Answers what is decided before a body is read: preflights, unknown paths, wrong methods, too many requests. */
export function addGatekeeping(
  app: FastifyInstance,
  { rateLimit, sendProblem }: { readonly rateLimit: number; readonly sendProblem: SendProblem },
): void {
  const table = createRouteTable();
  const limiter = rateLimit > 0 ? createRateLimiter({ perMinute: rateLimit, now: () => performance.now() }) : undefined;

  app.addHook("onRoute", ({ url, method }) => {
    table.add(url, Array.isArray(method) ? method : [method]);
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
    const methods = table.methodsAt(pathOf(request));
    if (methods.length === 0) {
      sendProblem(reply, new FedwayError("NOT_FOUND", "No route has this path.", { next: "/docs lists all routes." }));
    } else if (request.method === "OPTIONS") {
      reply.hijack();
      reply.raw.writeHead(204, { ...preflightHeaders, Allow: allowedMethods(methods) }).end();
    } else {
      const Allow = allowedMethods(methods);
      const detail = `${request.method} is not answered here.`;
      sendProblem(reply, new FedwayError("METHOD_NOT_ALLOWED", detail, { next: `Use one of ${Allow}.` }), { Allow });
    }
  });
}
