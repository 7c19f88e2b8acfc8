import type { FastifyInstance, FastifyRequest, FastifyReply } from "fastify";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { plainHeaders, preflightHeaders } from "./common-headers.ts";
import type { HttpDeps, HttpSettings } from "./http-deps.ts";
import type { SendProblem } from "./problem-reply.ts";
import { sendRefusalPage } from "./pages/page-reply.ts";
import { resources } from "../views/resources.ts";
import { rateLimited } from "./rate-limiter.ts";
import { prefersPage } from "./rdf-body.ts";
import { checkRole, refused } from "./write-access.ts";
import { addressKey, createIdentify, createOwnNames, isLoopbackHost } from "./caller.ts";
import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";

interface PathMethods {
  /** Text between the slashes; a parameter begins with a colon. */
  readonly segments: readonly string[];
  /** How many. */
  readonly parameters: number;
  readonly methods: Set<string>;
  /** Those that change something. */
  readonly guarded: Set<string>;
}

/** Methods by route, to tell "there is nothing here" from "not with this method". */
function createRouteTable() {
  const routes = new Map<string, PathMethods>();
  return {
    add(url: string, methods: readonly string[], isGuarded: boolean): void {
      const known = routes.get(url);
      const parameters = url.split(":").length - 1;
      const route = known ?? {
        segments: segmentsOf(url),
        parameters,
        methods: new Set(),
        guarded: new Set(),
      };
      for (const method of methods) {
        route.methods.add(method);
        if (isGuarded) route.guarded.add(method);
      }
      routes.set(url, route);
    },
    /** Of several routes the one that names more of the path: it hides what a parameter of another would take. */
    at: (path: string): PathMethods | undefined => {
      const given = segmentsOf(path);
      return [...routes.values()]
        .filter(({ segments }) => fits(segments, given))
        .toSorted((left, right) => left.parameters - right.parameters)[0];
    },
  };
}

/** Without a slash at the end. */
const segmentsOf = (path: string): readonly string[] => path.replace(/\/$/, "").split("/");

const fits = (segments: readonly string[], given: readonly string[]): boolean =>
  segments.length === given.length &&
  segments.every((each, at) => (each.startsWith(":") ? given[at] !== "" : each === given[at]));

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

/** Where to look instead of a path that leads nowhere. */
const elsewhere = (role: HttpSettings["role"]): string =>
  role === "worker"
    ? "This process is a worker, which answers about its health only; ask one with ROLE=web or all."
    : "/docs lists all routes.";

/** First of all: who may read the answer, and whether the request is for this service. */
function addTargetCheck(app: FastifyInstance, settings: HttpSettings, sendProblem: SendProblem): void {
  const limitOrigins = createOriginLimit(settings.corsOrigins);
  const targetProblem = createTargetCheck(settings);
  app.addHook("onRequest", (request, reply, done) => {
    limitOrigins?.(request, reply);
    const problem = targetProblem(request.raw, needsOwnName(request.routeOptions));
    if (problem === undefined) done();
    else sendProblem(reply, problem, { Connection: "close" });
  });
}

/** Decides who a request is from, and whether it has the role and a turn; wrong keys count for their address. */
function createEntry({ limiter, ...deps }: HttpDeps): (request: FastifyRequest, reply: FastifyReply) => void {
  const identify = createIdentify(deps);
  const take = (request: FastifyRequest, client: string): void => {
    if (limiter === undefined || unlimited.test(pathOf(request))) return;
    const retryAfterMs = limiter.take(client);
    if (retryAfterMs > 0) throw rateLimited(limiter, retryAfterMs);
  };
  return (request, reply) => {
    try {
      request.caller = identify(request);
    } catch (error) {
      take(request, addressKey(request.ip));
      throw error instanceof FedwayError ? refused(reply, error) : error;
    }
    take(request, request.caller.owner);
    if (!request.is404) checkRole(request, reply);
  };
}

/**
 * Answers what is decided before a body is read: requests that are not for this service, preflights, unknown paths, wrong
 * methods, too many requests, clients without the role.
 */
export function addGatekeeping(app: FastifyInstance, deps: HttpDeps, sendProblem: SendProblem): void {
  const { config: settings } = deps;
  const table = createRouteTable();

  addTargetCheck(app, settings, sendProblem);
  app.addHook("onRoute", ({ url, method, config }) => {
    table.add(url, Array.isArray(method) ? method : [method], config?.guarded === true);
  });
  const enter = createEntry(deps);
  app.decorateRequest("caller");
  app.addHook("onRequest", (request, reply, done) => {
    try {
      enter(request, reply);
    } catch (error) {
      const isLimit = error instanceof FedwayError && error.code === "RATE_LIMITED";
      // Else the route's own error handler: pages are refused with a page.
      if (isLimit) sendProblem(reply, error);
      else done(toFedwayError(error));
      return;
    }
    if (request.is404) answerUnrouted(request, reply, table.at(pathOf(request)));
    else done();
  });
  const answerUnrouted = (request: FastifyRequest, reply: FastifyReply, found: PathMethods | undefined): void => {
    if (found === undefined) {
      const unknown = new FedwayError("NOT_FOUND", "No route has this path.", { next: elsewhere(settings.role) });
      if (prefersPage(request.headers.accept)) void sendRefusalPage(request, reply, unknown);
      else sendProblem(reply, unknown);
    } else if (request.method === "OPTIONS") {
      reply.hijack();
      const answer = preflightAnswer(found, request.headers["access-control-request-method"]);
      reply.raw.writeHead(204, { ...answer, Allow: allowedMethods(found.methods) }).end();
    } else {
      const Allow = allowedMethods(found.methods);
      const detail = `${request.method} is not answered here.`;
      sendProblem(reply, new FedwayError("METHOD_NOT_ALLOWED", detail, { next: `Use one of ${Allow}.` }), { Allow });
    }
  };
}

/** How many Host headers there are; Node keeps the first one only. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

const invalid = (message: string, next: string): FedwayError => new FedwayError("REQUEST_INVALID", message, { next });

/** Routes that stay closed to names that are not ours, beside all that change something: tools, runs, and what else is private. */
const privateNames = Object.entries(resources).flatMap(([name, { isPrivate }]) => (isPrivate ? name : []));
const privateRoute = new RegExp(
  `^/(?:api/)?(?:${privateNames.join("|")}|tools|ask|text2sparql|mcp|login|logout)(?:/|$)`,
);

/** True if a route answers under our own names only. */
const needsOwnName = ({ config, url = "" }: FastifyRequest["routeOptions"]): boolean =>
  config?.guarded === true || privateRoute.test(url);

/**
 * A check that requests are meant for this service: one target without a host of its own, one Host. Any web page can make its
 * own name point here and read, in its visitor's browser, what only that machine or network is to see (DNS rebinding). So a
 * service that listens on loopback answers to its own names only, and another one where `isPrivate`.
 */
export function createTargetCheck(
  settings: HttpSettings,
): (raw: IncomingMessage, isPrivate: boolean) => FedwayError | undefined {
  const isOwn = createOwnNames(settings);
  const isLocal = isLoopbackHost(settings.host);
  return (raw, isPrivate) => {
    const { url = "/", httpVersion } = raw;
    const given = raw.headers.host;
    if (!url.startsWith("/") && url !== "*") {
      return invalid("The request's target is not a path.", "Send the path alone; this service is no proxy.");
    }
    const hosts = hostsOf(raw);
    if (hosts > 1) return invalid("The request has more than one Host header.", "Send one Host header.");
    // Browsers always send it, and HTTP/1.0 knows none.
    if (given === undefined || hosts === 0) {
      return httpVersion === "1.0" ? undefined : invalid("The request has no Host header.", "Send one Host header.");
    }
    if (!(isLocal || isPrivate) || isOwn(given)) return undefined;
    return new FedwayError("HOST_REFUSED", "The Host header names neither this machine nor its public URL.", {
      next: "Set FEDWAY_PUBLIC_URL to the URL that clients use, name others in FEDWAY_ALLOWED_HOSTS, and have a reverse proxy pass their Host on (nginx: proxy_set_header Host $host).",
    });
  };
}

/** As `writeHead` takes them: an object, or names and values in turn. */
type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];
type Pair = readonly [name: string, value: OutgoingHttpHeader];

function pairsOf(given: Headers): readonly Pair[] {
  if (!Array.isArray(given)) {
    return Object.entries(given).flatMap(([name, value]): Pair[] => (value === undefined ? [] : [[name, value]]));
  }
  const pairs: Pair[] = [];
  for (let at = 0; at < given.length; at += 2) pairs.push([String(given[at]), given[at + 1] ?? ""]);
  return pairs;
}

const isLeave = ([name]: Pair): boolean => name.toLowerCase().startsWith("access-control-");
const isOrigin = ([name]: Pair): boolean => name.toLowerCase() === "access-control-allow-origin";
const isVary = ([name]: Pair): boolean => name.toLowerCase() === "vary";

/** Leave for any origin becomes leave for this one, or none. */
function narrowed(pairs: readonly Pair[], origin: string | undefined): readonly Pair[] {
  if (!pairs.some(isLeave)) return pairs;
  const kept = pairs.filter((pair) => !isVary(pair) && !isOrigin(pair) && (origin !== undefined || !isLeave(pair)));
  const leave: readonly Pair[] = origin === undefined ? [] : [["Access-Control-Allow-Origin", origin]];
  const vary = [...pairs.filter(isVary).map(([, value]) => String(value)), "Origin"].join(", ");
  return [...kept, ...leave, ["Vary", vary]];
}

/**
 * Gives the leave that routes give to any origin to `origins` only. It is done where the head of an answer is written, so
 * that no route can pass it by; where any origin may read, nothing is done.
 */
export function createOriginLimit(
  origins: HttpSettings["corsOrigins"],
): ((request: FastifyRequest, reply: FastifyReply) => void) | undefined {
  if (origins === "*") return undefined;
  return ({ headers }, { raw }) => {
    const origin = origins.find((each) => each === headers.origin);
    const write: ServerResponse["writeHead"] = raw.writeHead.bind(raw);
    raw.writeHead = (status: number, ...rest: readonly (string | Headers | undefined)[]) => {
      const given = rest.find((each) => typeof each === "object") ?? {};
      return write(status, narrowed(pairsOf(given), origin).flat());
    };
  };
}
