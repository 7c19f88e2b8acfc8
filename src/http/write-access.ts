import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from "fastify";
import { type ClientKeys, longestSessionMs, mayDo, type Role, type Session } from "../clients/client-keys.ts";
import { clientOf } from "../clients/client-name.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { basePathOf } from "./base-path.ts";
import type { HttpSettings } from "./http-deps.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route changes something, or shows what only the operator is to know: pages of other sites get no leave. */
    guarded?: boolean;
    /** Role that the route needs; absent: `write` where guarded, else `read` to get and `query` to post. */
    role?: Role | "none";
  }
}

/** Options of every route that changes something. */
export const guarded = { config: { guarded: true } } as const;
/** Options of routes for administrators: keys, receivers of messages. */
export const adminOnly = { config: { guarded: true, role: "admin" } } as const;
/** Options of routes that ask endpoints, however they are sent; admission has their turns. */
export const asking = { config: { role: "query", withoutTurn: true } } as const;
/** Options of routes that change something by asking endpoints or a model. */
export const guardedAsking = { config: { guarded: true, withoutTurn: true } } as const;
/** Options of routes for everybody: health, signing in, what pages load. */
export const openToAll = { config: { role: "none" } } as const;

/** Instead of a token: changes are open to everybody. */
export const openAccess = "off";

type AccessSettings = Pick<HttpSettings, "adminToken" | "publicUrl">;

/** The role that a route needs of who sends this method. */
export const roleOf = (config: FastifyContextConfig | undefined, method: string | readonly string[]): Role | "none" =>
  config?.role ?? (config?.guarded === true ? "write" : /^(?:GET|HEAD)/.test(String(method)) ? "read" : "query");

/** Refuses a request below the role that its route needs. @throws FedwayError `TOKEN_REQUIRED`, `ROLE_REFUSED`, `WRITE_REFUSED` */
export function checkRole(request: FastifyRequest, reply: FastifyReply): void {
  const needed = roleOf(request.routeOptions.config, request.method);
  const problem = needed === "none" ? undefined : accessProblem(request, needed);
  if (problem !== undefined) throw refused(reply, problem, request.routeOptions.url?.endsWith("/sparql"));
}

/** @throws FedwayError `TOKEN_REQUIRED`, `ROLE_REFUSED`, `WRITE_REFUSED` for a request without the role that an action needs */
export function requireRole(request: FastifyRequest, needed: Role): void {
  const problem = accessProblem(request, needed);
  if (problem !== undefined) throw problem;
}

/** The error, after its head: the rest of a refused body is not read, so the connection cannot be used again. */
export function refused({ raw }: FastifyReply, problem: FedwayError, takesBasic = false): FedwayError {
  raw.setHeader("Connection", "close");
  const challenges = takesBasic ? ['Bearer realm="fedway"', 'Basic realm="fedway"'] : 'Bearer realm="fedway"';
  if (problem.kind.status === 401) raw.setHeader("WWW-Authenticate", challenges);
  return problem;
}

/** True if a request has the role that an action needs. */
export const hasAccess = (request: FastifyRequest, needed: Role = "write"): boolean =>
  accessProblem(request, needed) === undefined;

/**
 * Why a request may not do what needs a role. Browsers send sessions, and what needs no credentials, on behalf of any
 * page, so for changes both count only for pages of this service.
 */
function accessProblem(request: FastifyRequest, needed: Role): FedwayError | undefined {
  const { role, by, site } = request.caller;
  const isChange = needed === "write" || needed === "admin";
  const isForeign = request.headers["sec-fetch-site"] === "cross-site" || (site === "foreign" && by !== "token");
  if (isChange && isForeign) return foreign();
  if (!mayDo(role, needed)) return roleProblem(request, needed);
  return isChange && by === "session" && site !== "own" && !isReading(request) ? foreign() : undefined;
}

/** Access by an address does not extend to pages of other sites that the browser there has open. @throws FedwayError `WRITE_REFUSED` */
export async function refuseForeign({ caller }: FastifyRequest): Promise<void> {
  if (caller.site === "foreign") throw foreign();
}

const isReading = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

const foreign = (): FedwayError =>
  new FedwayError("WRITE_REFUSED", "The request comes from another site.", {
    next: "Send it from a program, with Authorization: Bearer and a key or the admin token, or from a page of this service.",
  });

function roleProblem({ caller: { owner, role, by } }: FastifyRequest, needed: Role): FedwayError {
  const client = clientOf(owner);
  if (client !== undefined) {
    return new FedwayError("ROLE_REFUSED", `The client ${client} has the role ${role}; this needs ${needed}.`, {
      next: `Ask the operator for a key with more rights: fedway keys add NAME --role ${needed}`,
    });
  }
  const what = by === "wrong" ? "The token is not the right one" : "No key or token was sent";
  return new FedwayError("TOKEN_REQUIRED", `${what}; this needs the role ${needed}.`, {
    next: "Send Authorization: Bearer with an API key of that role or the admin token: the value of FEDWAY_ADMIN_TOKEN or, when that is unset, what the start message shows and the data folder keeps: $(cat .fedway/admin-token). Browsers: /login.",
  });
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** In the same time for every wrong text; digests have one length. */
const areEqual = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right));

/** True if a text is the admin token. */
export const isToken = (given: string, adminToken: string): boolean =>
  adminToken !== openAccess && areEqual(given, adminToken);

const cookieName = "fedway-session";

/** Until when it holds, and for which client, signed: the cookie, which other ports of this host get too, shows no secret. */
function sessionText(untilMs: number, secret: string, name?: string): string {
  const signed = name === undefined ? String(untilMs) : `${untilMs}.${name}`;
  return `${signed}.${createHmac("sha256", secret).update(`fedway-session ${signed}`).digest("base64url")}`;
}

/** The cookie of somebody who has shown the token, or a key of a client. */
export function sessionCookie({ adminToken, publicUrl }: AccessSettings, name?: string, secret = adminToken): string {
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  const value = sessionText(Date.now() + longestSessionMs, secret, name);
  return `${cookieName}=${value}; Max-Age=${longestSessionMs / 1000}; Path=${pathOf(publicUrl)}; HttpOnly; SameSite=Strict${secure}`;
}

const linkMs = 3_600_000;

const linkText = (untilMs: number, token: string): string =>
  `${untilMs}.${createHmac("sha256", token).update(`fedway-sign-in ${untilMs}`).digest("base64url")}`;

/** Code that signs in for an hour, without revealing the token: for the link of the start message. */
export const signInCode = (adminToken: string, nowMs = Date.now()): string => linkText(nowMs + linkMs, adminToken);

/** Takes each code once. */
export function createCodeCheck(adminToken: string): (code: string) => boolean {
  const used = new Map<string, number>();
  return (code) => {
    const nowMs = Date.now();
    for (const [old, untilMs] of used) if (untilMs < nowMs) used.delete(old);
    const untilMs = Number(/^\d{1,15}/.exec(code)?.[0]);
    if (!(untilMs > nowMs) || used.has(code) || !areEqual(code, linkText(untilMs, adminToken))) return false;
    used.set(code, untilMs);
    return true;
  };
}

/** Takes the cookie back. */
export const endedSession = ({ publicUrl }: AccessSettings): string =>
  `${cookieName}=; Max-Age=0; Path=${pathOf(publicUrl)}; HttpOnly; SameSite=Strict`;

/** Other services of the host do not get the cookie. */
const pathOf = (publicUrl: string): string => basePathOf(publicUrl) || "/";

const sessionIn = new RegExp(String.raw`(?:^|; ?)${cookieName}=((\d{1,15})\.(?:([a-z0-9-]{1,40})\.)?[\w-]{43})(?:;|$)`);

/** The session that a request shows; undefined where it has ended or there is none. */
export function sessionOf(cookies: string | undefined, { adminToken }: AccessSettings, clients: ClientKeys) {
  const [, value = "", until = "", name] = sessionIn.exec(cookies ?? "") ?? [];
  const session: Session = { name, untilMs: Number(until) };
  if (adminToken === openAccess || !(session.untilMs > Date.now()) || clients.isSignedOut(session)) return undefined;
  // Of a client, one secret for each live key, so that its sessions end with the key.
  const secrets =
    name === undefined ? [adminToken] : clients.sessionSecrets(name).map((secret) => `${adminToken} ${secret}`);
  return secrets.some((secret) => areEqual(value, sessionText(session.untilMs, secret, name))) ? session : undefined;
}
