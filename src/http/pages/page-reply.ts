import type { FastifyReply, FastifyRequest } from "fastify";
import { pageBelow } from "../base-path.ts";
import { hasTag, plainHeaders, tagOf, uncached } from "../common-headers.ts";
import { chooseCoding, compressWhole, smallestCompressedBytes } from "../compression.ts";
import type { FedwayError } from "../../errors/fedway-error.ts";
import { type Html, html } from "../../html.ts";
import { retryAfter } from "../problem-reply.ts";
import { askItem, page } from "./layout.ts";

const policies = {
  "default-src": "'none'",
  "style-src": "'self'",
  "img-src": "'self' data:",
  "form-action": "'self'",
  "base-uri": "'none'",
  "frame-ancestors": "'none'",
};

/** The policy of all pages, for one that needs more. */
export const policyWith = (more: Readonly<Record<string, string>> = {}): string =>
  Object.entries({ ...policies, ...more })
    .map((directive) => directive.join(" "))
    .join("; ");

/** Headers of every page: nothing runs, nothing is loaded from elsewhere, and it cannot be framed. */
const pageHeaders: Readonly<Record<string, string>> = {
  ...plainHeaders,
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": policyWith(),
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cache-Control": "no-cache",
  Vary: "Accept-Encoding",
};

/** A page as this service shows it. */
const shown = (text: string, { basePath, hasModel }: FastifyRequest["server"]): string =>
  pageBelow(hasModel ? text : text.replace(askItem, ""), basePath);

/** Answers with a page, or with 304 when the client has it already; `headers` replace those of every page. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  content: string | { readonly text: string; readonly headers: Readonly<Record<string, string>> },
): Promise<FastifyReply> {
  const text = typeof content === "string" ? content : content.text;
  const body = Buffer.from(shown(text, request.server));
  const etag = tagOf(body);
  void reply.headers({ ...pageHeaders, ETag: etag });
  if (typeof content !== "string") void reply.headers(content.headers);
  if (hasTag(request.headers["if-none-match"], etag)) return reply.code(304).send();
  const coding = body.length > smallestCompressedBytes ? chooseCoding(request.headers["accept-encoding"]) : undefined;
  if (coding === undefined) return reply.send(body);
  return reply.header("Content-Encoding", coding).send(await compressWhole(body, coding));
}

/** Headers of pages that differ from reader to reader. */
const privateHeaders = { ...pageHeaders, ...uncached };

/** Leads from a form that was sent to a page. */
export const seeOther = (reply: FastifyReply, path: string): FastifyReply =>
  reply.headers(privateHeaders).redirect(path, 303);

/** Answers with a page that is not to be kept. */
export const sendPrivatePage = (reply: FastifyReply, text: string): FastifyReply =>
  reply.headers(privateHeaders).send(shown(text, reply.server));

const suggestions = (ids: readonly string[]): Html => html`<p>Did you mean one of these?</p>
<ul>
${ids.map((id) => html`<li><a href="/endpoints/${id}"><code>${id}</code></a></li>\n`)}</ul>
`;

/** Advice that begins with the API page leads there. */
const linked = (next: string): Html => {
  const [start, path] = /^(?:GET \/api)?(\/(?:docs|runs|jobs|shards|federations))(?= )/.exec(next) ?? [];
  return start === undefined ? html`${next}` : html`<a href="${path}">${path}</a>${next.slice(start.length)}`;
};

/** Page in place of a problem document. */
function refusalPage(error: FedwayError): string {
  const { title, status } = error.kind;
  const { endpoints = [], next } = error.details;
  const advice = next === undefined || error.code === "ENDPOINT_UNKNOWN" ? "" : html`<p>${linked(next)}</p>`;
  return page({
    title,
    main: html`<h1>${title}</h1>
<div class="card"><p>${error.message}</p>
${endpoints.length > 0 ? suggestions(endpoints) : advice}
<p class="meta">Status ${status}, code <code>${error.code}</code></p></div>
<p><a href="/">Go to the catalogue</a></p>`,
  });
}

/** Answers with what a person sees instead of a problem document. */
export function sendRefusalPage(request: FastifyRequest, reply: FastifyReply, error: FedwayError): FastifyReply {
  request.state.code = error.code;
  return sendPrivatePage(reply.code(error.kind.status).headers(retryAfter(error)), refusalPage(error));
}
