import { createHash } from "node:crypto";
import type { FastifyReply } from "fastify";

/**
 * Sent with every answer, problems included. Answers of endpoints pass through unchanged, and some are XML: opened in a
 * browser, nothing in them may run or load on this origin. Pages have a policy of their own.
 */
export const plainHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "X-Content-Type-Options": "nosniff",
};

/** Response headers that scripts of other origins may read. */
const exposed = [
  "Content-Encoding",
  "Fedway-Notes",
  "Fedway-Facts",
  "Fedway-Partial",
  "Fedway-Plan",
  "Fedway-Run",
  "Fedway-Status",
  "Retry-After",
  "Server-Timing",
].join(", ");

/** For routes that any origin may read, unless `FEDWAY_CORS_ORIGINS` narrows it; no credentials are ever allowed. */
export const anyOriginHeaders: Readonly<Record<string, string>> = {
  ...plainHeaders,
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposed,
};

/** Answer to a preflight request; browsers may keep it for a day. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  ...anyOriginHeaders,
  "Access-Control-Allow-Methods": "GET, HEAD, POST, OPTIONS",
  // The asterisk does not stand for it.
  "Access-Control-Allow-Headers": "*, Authorization",
  "Access-Control-Max-Age": "86400",
};

/** For answers of the moment. */
export const uncached = { "Cache-Control": "no-store" } as const;

/** For answers that may be kept; where reading takes a key, not by caches that several people share. */
export const keptFor = (seconds: number, { anonymous }: { readonly anonymous: string }) => ({
  "Cache-Control": `${anonymous === "none" ? "private" : "public"}, max-age=${seconds}`,
});

/** Headers as the flat list that `writeHead` takes without further work. */
export const flat = (headers: Readonly<Record<string, string>>): readonly string[] => Object.entries(headers).flat();

/** Answers with JSON that any origin may read; on guarded routes none. */
export function sendJson(reply: FastifyReply, value: unknown, status = 200): FastifyReply {
  const isGuarded = reply.request.routeOptions.config?.guarded === true;
  const headers = isGuarded ? plainHeaders : anyOriginHeaders;
  return reply.code(status).headers(headers).type("application/json").send(value);
}

/** Answers with JSON of the moment, which is kept nowhere. */
export const sendNow = (reply: FastifyReply, value: unknown, status?: number): FastifyReply =>
  sendJson(reply.headers(uncached), value, status);

/** Answers that something is done, about which nothing is to be said. */
export const sendNothing = (reply: FastifyReply): FastifyReply => reply.code(204).headers(plainHeaders).send();

/** A weak tag of a body: it stands for its compressed forms, too. */
export const tagOf = (body: string | Buffer): string =>
  `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;

const mostTags = 20;

const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");

/** True if If-None-Match names a tag (RFC 9110, section 13.1.2: compared weakly). */
export function hasTag(header: string | undefined, etag: string): boolean {
  const tags = new Set((header ?? "").split(",", mostTags).map(opaque));
  return tags.has("*") || tags.has(opaque(etag));
}

/** The client wants nothing that is kept from an earlier request (RFC 9111, section 5.2.1). */
export const wantsFresh = ({ "cache-control": control }: { readonly "cache-control"?: string | undefined }): boolean =>
  control !== undefined && /\bno-(?:cache|store)\b/i.test(control);
