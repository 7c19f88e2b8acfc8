import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import { basePathOf } from "./base-path.ts";
import type { HttpSettings } from "./http-deps.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route changes something, or tells what only the operator is to know: it needs the admin token. */
    guarded?: boolean;
  }
}

/** Options of every route that changes something, or tells what only the operator is to know. */
export const guarded = { config: { guarded: true } } as const;

/** Instead of a token: changes are open to everybody. */
export const openAccess = "off";

type AccessSettings = Pick<HttpSettings, "adminToken" | "publicUrl">;

/**
 * Lets requests to guarded routes, also those added later, pass with the admin token only; decided before a body is
 * read.
 */
export function guardRoutes(app: FastifyInstance, settings: AccessSettings): void {
  app.addHook("onRoute", (route) => {
    if (route.config?.guarded !== true) return;
    route.onRequest = async (request, { raw }) => {
      const problem = accessProblem(request, settings);
      if (problem === undefined) return;
      // What is left of the body is not read, so the connection cannot be used again.
      raw.setHeader("Connection", "close");
      if (problem.code === "TOKEN_REQUIRED") raw.setHeader("WWW-Authenticate", 'Bearer realm="fedway"');
      throw problem;
    };
  });
}

/** Whether a request may see what only the operator is to know. */
export const hasAccess = (request: FastifyRequest, settings: AccessSettings): boolean =>
  accessProblem(request, settings) === undefined;

/**
 * Why a request may change nothing. Browsers send cookies, and what needs no credentials, on behalf of any page, so
 * both count only for pages of this service.
 */
function accessProblem(request: FastifyRequest, settings: AccessSettings): FedwayError | undefined {
  const { headers } = request;
  const { adminToken } = settings;
  const given = bearerToken(request);
  if (headers["sec-fetch-site"] === "cross-site") return foreign();
  if (given !== undefined && adminToken !== openAccess) {
    return isToken(given, adminToken) ? undefined : tokenRequired("is not the right one");
  }
  const site = siteOf(request, settings);
  if (site === "foreign") return foreign();
  if (adminToken === openAccess) return undefined;
  if (!isSession(headers.cookie, adminToken)) return tokenRequired("is missing");
  return site === "own" || isReading(request) ? undefined : foreign();
}

/** The token that a request shows, right or wrong. */
export const bearerToken = ({ headers }: FastifyRequest): string | undefined =>
  /^Bearer +(\S{1,1024}) *$/i.exec(headers.authorization ?? "")?.[1];

const isReading = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

const foreign = (): FedwayError =>
  new FedwayError("WRITE_REFUSED", "The request comes from another site.", {
    next: "Send it from a program, with Authorization: Bearer and the admin token, or from a page of this service.",
  });

const tokenRequired = (what: string): FedwayError =>
  new FedwayError("TOKEN_REQUIRED", `The admin token ${what}.`, {
    next: "Send Authorization: Bearer with the value of FEDWAY_ADMIN_TOKEN or, when that is unset, with the token that the service's start message shows and its data folder keeps: $(cat .fedway/admin-token). Browsers: /login.",
  });

/** Which site a browser sends a request for; "unknown" also for programs that are no browsers. */
function siteOf({ headers }: FastifyRequest, { publicUrl }: AccessSettings): "own" | "foreign" | "unknown" {
  const { origin, host } = headers;
  const told = headers["sec-fetch-site"];
  if (told !== undefined && told !== "none") return told === "same-origin" ? "own" : "foreign";
  if (origin === undefined) return "unknown";
  const parsed = URL.parse(origin);
  return parsed?.host === host || parsed?.origin === URL.parse(publicUrl)?.origin ? "own" : "foreign";
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** In the same time for every wrong text; digests have one length. */
const areEqual = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right));

/** Whether a text is the admin token. */
export const isToken = (given: string, adminToken: string): boolean =>
  adminToken !== openAccess && areEqual(given, adminToken);

const sessionMs = 7 * 24 * 3_600_000;
const cookieName = "fedway-session";

/** Until when it holds, signed with the token: the cookie, which other ports of this host get too, does not tell it. */
const sessionText = (untilMs: number, token: string): string =>
  `${untilMs}.${createHmac("sha256", token).update(`fedway-session ${untilMs}`).digest("base64url")}`;

/** The cookie of somebody who has shown the token. */
export function sessionCookie({ adminToken, publicUrl }: AccessSettings): string {
  const secure = publicUrl.startsWith("https:") ? "; Secure" : "";
  const value = sessionText(Date.now() + sessionMs, adminToken);
  return `${cookieName}=${value}; Max-Age=${sessionMs / 1000}; Path=${pathOf(publicUrl)}; HttpOnly; SameSite=Strict${secure}`;
}

const linkMs = 3_600_000;

const linkText = (untilMs: number, token: string): string =>
  `${untilMs}.${createHmac("sha256", token).update(`fedway-sign-in ${untilMs}`).digest("base64url")}`;

/** What signs in for an hour, without telling the token: for the link of the start message. */
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

const sessionIn = new RegExp(String.raw`(?:^|; ?)${cookieName}=((\d{1,15})\.[\w-]{43})(?:;|$)`);

function isSession(cookies: string | undefined, token: string): boolean {
  const [, value = "", until = ""] = sessionIn.exec(cookies ?? "") ?? [];
  return Number(until) > Date.now() && areEqual(value, sessionText(Number(until), token));
}
