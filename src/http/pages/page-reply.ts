import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { plainHeaders } from "../common-headers.ts";
import { chooseCoding, compressWhole, smallestCompressedBytes } from "../content-coding.ts";

const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Headers of every page: nothing runs, nothing is loaded from elsewhere, nobody frames it. */
export const pageHeaders: Readonly<Record<string, string>> = {
  ...plainHeaders,
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": policy,
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cache-Control": "no-cache",
  Vary: "Accept-Encoding",
};

const mostTags = 20;

/** If-None-Match names this tag (RFC 9110, section 13.1.2: compared weakly). */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = new Set((header ?? "").split(",", mostTags).map((tag) => tag.trim()));
  return ["*", etag, etag.replace(/^W\//, "")].some((tag) => tags.has(tag));
}

/** Answers with a page, or with 304 when the client has it already. */
export async function sendPage(request: FastifyRequest, reply: FastifyReply, text: string): Promise<FastifyReply> {
  const body = Buffer.from(text);
  const etag = `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  void reply.headers({ ...pageHeaders, ETag: etag });
  if (isKnown(request.headers["if-none-match"], etag)) return reply.code(304).send();
  const coding = body.length > smallestCompressedBytes ? chooseCoding(request.headers["accept-encoding"]) : undefined;
  if (coding === undefined) return reply.send(body);
  return reply.header("Content-Encoding", coding).send(await compressWhole(body, coding));
}
