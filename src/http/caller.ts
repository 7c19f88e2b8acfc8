import { createHash } from "node:crypto";
import { BlockList, isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import { mayDo, type Role } from "../clients/client-keys.ts";
import { keyInText } from "../clients/client-name.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { Type } from "typebox";
import { sessionName, sessionPattern } from "../query/records.ts";
import { clientSignal } from "./request-state.ts";
import type { HttpDeps, HttpSettings } from "./http-deps.ts";
import { clientKey } from "./rate-limiter.ts";
import { hasAccess, isToken, openAccess, requireRole, roleOf, sessionOf } from "./write-access.ts";

/** Sender of a request: decided once, before anything else is done for it. */
export interface HttpCaller extends Found {
  /** Site that a browser sent it for; "unknown" also for programs that are no browsers. */
  readonly site: "own" | "foreign" | "unknown";
  /** It may ask endpoints that need the operator's credentials: pages of other sites may not, unless their origin is named. */
  readonly mayUseCredentials: boolean;
}

declare module "fastify" {
  interface FastifyRequest {
    caller: HttpCaller;
  }
}

interface Found {
  /** Owner of runs, sessions and turns: `key:NAME`, `user:NAME` of a proxy's header, `admin`, or an address. */
  readonly owner: string;
  /** Undefined: it may do nothing. */
  readonly role: Role | undefined;
  /** Evidence for the owner; `wrong`: a token that is not ours, which counts as none. */
  readonly by: "nothing" | "wrong" | "token" | "password" | "session" | "header";
}

/** Decides who requests are from. @throws FedwayError `KEY_REFUSED`, `REQUEST_INVALID` for a key in the URL */
export function createIdentify(deps: HttpDeps) {
  const { config, clients } = deps;
  const { adminToken, anonymous } = config;
  const closed = anonymous === "none" ? undefined : anonymous;
  const openRole = adminToken === openAccess ? "admin" : closed;
  const byHeader = createHeaderCheck(config);
  const isOwnName = createOwnNames(config);
  const isOwnPage = ({ headers }: FastifyRequest, site: HttpCaller["site"]): boolean => {
    const { origin = "", host = "" } = headers;
    const isNamed = config.corsOrigins !== "*" && config.corsOrigins.includes(origin);
    return isNamed || (site !== "foreign" && isOwnName(host));
  };

  const byCredentials = createCredentialCheck(deps, openRole);
  const bySession = ({ headers }: FastifyRequest): Found | undefined => {
    if (headers.cookie === undefined) return undefined;
    const session = sessionOf(headers.cookie, config, clients);
    if (session === undefined) return undefined;
    const { name } = session;
    if (name === undefined) return { owner: "admin", role: "admin", by: "session" };
    return { owner: `key:${name}`, role: clients.get(name)?.role, by: "session" };
  };
  return (request: FastifyRequest): HttpCaller => {
    if (request.originalUrl.includes("fw_") && request.originalUrl.search(keyInText) !== -1) throw keyInUrl();
    const site = siteOf(request, config);
    const named = byHeader?.(request);
    // Browsers send these for any page.
    const isOwn = site !== "foreign" || request.method === "GET" || request.method === "HEAD";
    const found = byCredentials(request) ?? (isOwn ? (named ?? bySession(request)) : undefined);
    const who: Found = found ?? { owner: addressKey(request.ip), role: openRole, by: "nothing" };
    return { ...who, site, mayUseCredentials: who.by === "token" || isOwnPage(request, site) };
  };
}

const longestAddress = 100;

/** Returns who the credentials of a request are of. It throws `KEY_REFUSED`, and `RATE_LIMITED` after wrong ones in a row. */
function createCredentialCheck({ config, clients }: HttpDeps, openRole: Role | undefined) {
  const { adminToken, mcpToken, anonymous } = config;
  const byKey = (secret: string, by: Found["by"]): Found | undefined => {
    const name = clients.nameOf(secret);
    return name === undefined ? undefined : { owner: `key:${name}`, role: clients.get(name)?.role, by };
  };
  const opensMcp = ({ secret, by }: Given, route: string | undefined): boolean =>
    mcpToken !== undefined && by === "token" && route === "/mcp" && isToken(secret, mcpToken);
  const { wrongKeys } = clients;
  const isGuarded = ({ routeOptions, method }: FastifyRequest): boolean => {
    const needed = roleOf(routeOptions.config, method);
    return needed !== "none" && !mayDo(openRole, needed);
  };
  const checked = (given: Given, { ip, routeOptions }: FastifyRequest): Found | undefined => {
    const { secret, by } = given;
    const found = byKey(secret, by);
    if (found !== undefined) return found;
    if (by === "token" && isToken(secret, adminToken)) return { owner: "admin", role: "admin", by };
    if (opensMcp(given, routeOptions.url)) return { owner: addressKey(ip), role: "query", by };
    // Without keys, foreign credentials may be meant for a proxy in front.
    if (secret.startsWith("fw_") || clients.inUse || anonymous !== "query") throw keyRefused();
    return by === "token" ? { owner: addressKey(ip), role: openRole, by: "wrong" } : undefined;
  };
  return (request: FastifyRequest): Found | undefined => {
    const { authorization } = request.headers;
    const given = authorization === undefined ? undefined : credentialsOf(authorization);
    if (given === undefined) return undefined;
    const address = addressKey(request.ip);
    // Not looked at: who guesses would learn of the right one.
    const waitMs = wrongKeys.waitMs(address, given.secret);
    if (waitMs > 0) throw guessing(waitMs);
    try {
      const found = checked(given, request);
      if (found !== undefined && found.by !== "wrong") wrongKeys.right(address);
      // Where it is ignored it is a guess only at a route that needs more.
      else if (found !== undefined && isGuarded(request)) wrongKeys.wrong(address, given.secret);
      return found;
    } catch (error) {
      wrongKeys.wrong(address, given.secret);
      throw error;
    }
  };
}

/** The error of an address that has sent wrong keys in a row. */
export const guessing = (retryAfterMs: number): FedwayError =>
  new FedwayError("RATE_LIMITED", "Ten or more wrong keys in a row came from this address.", {
    retryAfterMs,
    next: "Wait as long as Retry-After says, then send a key that is valid.",
  });

/** An address as an owner; what a proxy passes on may be any text of any length, and never looks like another owner. */
export function addressKey(ip: string): string {
  const family = isIP(ip);
  if (family !== 0) return family === 4 ? ip : clientKey(ip);
  return `address:${ip.length > longestAddress ? createHash("sha256").update(ip).digest("base64url") : ip}`;
}

interface Given {
  readonly by: Found["by"];
  readonly secret: string;
}

function credentialsOf(header: string): Given | undefined {
  const [, scheme = "", value = ""] = /^(Bearer|Basic) +(\S.*)$/i.exec(header) ?? [];
  if (scheme === "") return undefined;
  if (scheme.toLowerCase() === "bearer") return { secret: value, by: "token" };
  const [, secret = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(value, "base64").toString()) ?? [];
  return { secret, by: "password" };
}

/** The client that a trusted proxy names in a header. @throws FedwayError `KEY_REFUSED` where anybody else does */
function createHeaderCheck({ clientHeader, clientHeaderRole, trustProxy }: HttpSettings) {
  if (clientHeader === undefined) return undefined;
  const name = clientHeader.toLowerCase();
  const isProxy = createPeerCheck(trustProxy);
  return ({ headers, raw }: FastifyRequest): Found | undefined => {
    const value = headers[name];
    if (value === undefined || value === "") return undefined;
    if (!isProxy(raw.socket.remoteAddress ?? "")) throw headerRefused(clientHeader);
    if (typeof value !== "string" || !/^[\w.@+=~|-]{1,100}$/.test(value)) throw headerRefused(clientHeader);
    return { owner: `user:${value}`, role: clientHeaderRole, by: "header" };
  };
}

/** Returns a check if a peer is one of the proxies that are named by address; a number of proxies names none. */
function createPeerCheck(trustProxy: HttpSettings["trustProxy"]): (peer: string) => boolean {
  const known = new BlockList();
  for (const range of typeof trustProxy === "object" ? trustProxy : []) {
    const [address = "", bits] = range.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    known.addSubnet(address, bits === undefined ? (family === "ipv6" ? 128 : 32) : Number(bits), family);
  }
  return (peer) => {
    const address = peer.replace(/^::ffff:(?=\d+\.)/i, "");
    return isIP(address) !== 0 && known.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  };
}

function siteOf({ headers }: FastifyRequest, { publicUrl }: HttpSettings): HttpCaller["site"] {
  const { origin, host } = headers;
  const fetchSite = headers["sec-fetch-site"];
  if (fetchSite !== undefined && fetchSite !== "none") return fetchSite === "same-origin" ? "own" : "foreign";
  if (origin === undefined) return "unknown";
  const parsed = URL.parse(origin);
  return parsed?.host === host || parsed?.origin === URL.parse(publicUrl)?.origin ? "own" : "foreign";
}

const keyRefused = (): FedwayError =>
  new FedwayError("KEY_REFUSED", "The key or token is wrong, has ended or was revoked.", {
    next: "Ask the operator for a new one: fedway keys rotate NAME",
  });

const keyInUrl = (): FedwayError =>
  new FedwayError(
    "REQUEST_INVALID",
    "The URL contains an API key. Logs and histories keep URLs, so others may know it.",
    {
      next: "Replace it (fedway keys rotate NAME --now) and send keys as Authorization: Bearer.",
    },
  );

const headerRefused = (header: string): FedwayError =>
  new FedwayError("KEY_REFUSED", `The header ${header} names clients only from proxies in FEDWAY_TRUST_PROXY.`, {
    next: "Leave the header out and send Authorization: Bearer with an API key.",
  });

/** Owner of the runs and sessions that a request may see and makes: its client, the admin, else its address. */
export const ownerOf = ({ caller }: FastifyRequest): string => caller.owner;

/** Viewer of runs, who may also cancel them: administrators those of all. */
export const viewerOf = (request: FastifyRequest) => ({
  owner: ownerOf(request),
  isOperator: hasAccess(request, "admin"),
});

const wellFormed = new RegExp(sessionPattern);
export const SessionHeader = Type.Object({ "fedway-session": Type.Optional(sessionName) });

/** For whom a request's work is done: until its client leaves, and within which session and trace. */
export const callerOf = (request: FastifyRequest) => ({
  signal: clientSignal(request.state),
  owner: ownerOf(request),
  session: sessionIdOf(request),
  trace: request.state.span?.context,
  withoutCredentials: !request.caller.mayUseCredentials,
  requireWrite: () => requireRole(request, "write"),
});

/** The session that a request says it belongs to. @throws FedwayError `REQUEST_INVALID` */
function sessionIdOf({ headers }: FastifyRequest): string | undefined {
  const given = headers["fedway-session"];
  if (given === undefined || (typeof given === "string" && wellFormed.test(given))) return given;
  throw new FedwayError("REQUEST_INVALID", "The header Fedway-Session is malformed.", {
    next: "Send 1 to 100 letters, digits or one of . _ ~ : - of your own choice, or leave the header out.",
  });
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1");

/** `localhost`, `127.0.0.1`, `::1`, `[::1]`: names and literals of this machine. */
export function isLoopbackHost(hostname: string): boolean {
  const bare = withoutBrackets(hostname);
  return bare === "localhost" || loopback.check(bare, bare.includes(":") ? "ipv6" : "ipv4");
}

/** A host and port, and nothing that a URL would take for something else. */
const hostHeader = /^[a-z0-9._:[\]-]{1,260}$/i;

const hostnameOf = (host: string): string | undefined =>
  hostHeader.test(host) ? URL.parse(`http://${host}/`)?.hostname : undefined;

/**
 * Recognises Host headers with a name of this service. Its names are those of this machine, of its public
 * URL and of `FEDWAY_ALLOWED_HOSTS`; where it listens beyond loopback, also every address, which no web page can have made
 * its own name.
 */
export function createOwnNames({ host, publicUrl, allowedHosts }: HttpSettings): (hostHeader: string) => boolean {
  const names = new Set([...allowedHosts, URL.parse(publicUrl)?.hostname]);
  const isLocal = isLoopbackHost(host);
  /** Clients send the same again and again. */
  let lastOwn: string | undefined;

  return (given) => {
    if (given === lastOwn) return true;
    const name = hostnameOf(given);
    if (name === undefined) return false;
    const isAddress = !isLocal && isIP(withoutBrackets(name)) !== 0;
    if (!isAddress && !isLoopbackHost(name) && !names.has(name)) return false;
    lastOwn = given;
    return true;
  };
}
