import type { FastifyError, FastifyReply } from "fastify";
import type { ErrorCode } from "../errors/codes.ts";
import { FedwayError, toFedwayError, toProblem } from "../errors/fedway-error.ts";
import { anyOriginHeaders } from "./common-headers.ts";
import type { HttpLog } from "../telemetry/log.ts";

const problemType = "application/problem+json";

const notJson = ["REQUEST_INVALID", "The body is not JSON.", "Check its quotes, commas and brackets."] as const;

/** Refusals of the web framework, in Fedway's words: code, message and what to do next. */
const frameworkErrors: Readonly<Record<string, readonly [code: ErrorCode, message: string, next: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    "MEDIA_TYPE_UNSUPPORTED",
    "The Content-Type of the body is missing or is not one that this route reads.",
    "SPARQL routes read application/x-www-form-urlencoded and application/sparql-query, /api routes application/json.",
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: [
    "REQUEST_TOO_LARGE",
    "The body is larger than this service reads.",
    "Send less at once.",
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    "REQUEST_INVALID",
    "The body has not the length that Content-Length says.",
    "Let the client library set Content-Length.",
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: [
    "REQUEST_INVALID",
    "The body is empty; a JSON object is expected.",
    "Send {} where no field is required.",
  ],
  FST_ERR_CTP_INVALID_JSON_BODY: notJson,
  FST_ERR_BAD_URL: [
    "REQUEST_INVALID",
    "The URL's path is not percent-encoded UTF-8.",
    "Encode each part of the path, as encodeURIComponent does.",
  ],
  FST_ERR_MAX_PARAM_LENGTH: [
    "REQUEST_INVALID",
    "A part of the URL's path is too long.",
    "Send an id of the catalogue.",
  ],
};

const isFrameworkError = (error: unknown): error is FastifyError =>
  error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("FST_");

/** Any error of a handler, a parser or the framework as ours. */
export function toHttpError(thrown: unknown): FedwayError {
  const isSyntax = thrown instanceof SyntaxError && "statusCode" in thrown && thrown.statusCode === 400;
  const [code, message, next] = (isSyntax ? notJson : isFrameworkError(thrown) && frameworkErrors[thrown.code]) || [];
  if (code !== undefined && message !== undefined) return new FedwayError(code, message, { next });
  return toFedwayError(thrown);
}

/** In whole seconds; none where the error knows no better time than now. */
export const retryAfter = ({ details: { retryAfterMs } }: FedwayError): Record<string, string> =>
  retryAfterMs === undefined ? {} : { "Retry-After": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };

function problemHeaders(error: FedwayError, run: string | undefined): Record<string, string> {
  return {
    ...anyOriginHeaders,
    "Content-Type": problemType,
    "Cache-Control": "no-store",
    ...retryAfter(error),
    ...(run !== undefined && { "Fedway-Run": run }),
    // What is left of a refused body is not read, so the connection cannot be used again.
    ...(error.kind.status === 413 && { Connection: "close" }),
  };
}

/** The answer to a failed request, before any byte of another answer went out. */
export function problemReply(
  error: FedwayError,
  run?: string,
): { readonly status: number; readonly headers: Record<string, string>; readonly body: string } {
  // For people, who meet it in a terminal or a browser; programs do not mind.
  const body = `${JSON.stringify(toProblem(error, run), undefined, 2)}\n`;
  const headers = problemHeaders(error, run);
  return {
    status: error.kind.status,
    headers: { ...headers, "Content-Length": String(Buffer.byteLength(body)) },
    body,
  };
}

/** Headers without the leave to scripts of other origins. */
export const withoutLeave = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("Access-Control-")));

/** Answers with the problem document of `thrown` and, when given, more headers. */
export type SendProblem = (reply: FastifyReply, thrown: unknown, more?: Readonly<Record<string, string>>) => void;

/** Faults of the service go to the log with their cause; the client gets no internals. */
export function createProblemSender(context: {
  readonly runOf: (error: unknown) => string | undefined;
  readonly log: HttpLog | undefined;
}): SendProblem {
  return (reply, thrown, more) => {
    const error = toHttpError(thrown);
    const { state } = reply.request;
    const run = context.runOf(thrown) ?? state.run;
    state.code = error.code;
    state.run = run;
    if (error.code === "INTERNAL") {
      context.log?.error({ id: reply.request.id, err: error.cause ?? error, run }, "unexpected error");
    }
    // A second failure, after the answer has begun, cannot be sent.
    if (reply.raw.headersSent) return;
    const { status, headers, body } = problemReply(error, run);
    if (!reply.sent) reply.hijack();
    const isGuarded = reply.request.routeOptions.config?.guarded === true;
    reply.raw.writeHead(status, { ...(isGuarded ? withoutLeave(headers) : headers), ...more });
    reply.raw.end(reply.request.method === "HEAD" ? undefined : body);
  };
}
