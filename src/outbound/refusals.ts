import { type ErrorDetails, FedwayError, type FaultKind } from "../errors/fedway-error.ts";
import type { ErrorCode } from "../errors/codes.ts";
import type { AnswerKind } from "../results/model.ts";
import { bareMediaType } from "../results/negotiation.ts";
import { quoted } from "./excerpt.ts";
import { headerOf, type ResponseHeaders, isOtherKind } from "./media-types.ts";
import type { RequestMethod } from "./sparql-request.ts";

/** A response that is not the answer: another status than 200 or 206, or a media type that is no answer. */
export interface Refusal {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The decoded beginning of the body. */
  readonly text: string;
  /** States if the request had the endpoint's credentials, and the remedy; absent: it has none. */
  readonly credentials?: { readonly sent: boolean; readonly next: string } | undefined;
}

interface Meaning {
  readonly code: ErrorCode;
  readonly fault: FaultKind;
  readonly message: string;
  readonly next: string;
}

const later = "Try again later; if it goes on, ask the endpoint's operator.";
const simplify = "Ask for less: add LIMIT, name more terms, or split the query.";

const timedOut = (fault: FaultKind = "timeout"): Meaning => ({
  code: "ENDPOINT_TIMEOUT",
  fault,
  message: "The endpoint gave up on the query because it took too long",
  next: simplify,
});

const refused = (message: string, next: string): Meaning => ({
  code: "ENDPOINT_REFUSED",
  fault: "http-4xx",
  message,
  next,
});

const byStatus: Readonly<Record<number, Meaning>> = {
  400: {
    code: "ENDPOINT_REJECTED_QUERY",
    fault: "http-4xx",
    message: "The endpoint rejected the query",
    next: "Read the endpoint's message; it may not support a construct that the query uses.",
  },
  404: refused("There is no endpoint at this URL", "Check the endpoint's URL."),
  405: refused(
    "The endpoint takes queries by no method",
    "Check the endpoint's URL; it may be that of something else.",
  ),
  406: refused(
    "The endpoint answers in no format that Fedway reads",
    "Check the endpoint's URL; its operator should offer application/sparql-results+json.",
  ),
  408: timedOut(),
  413: refused("The query is too large for the endpoint", "Send a shorter query, for instance with fewer VALUES rows."),
  414: refused("The query is too long for the endpoint's URL", "Send a shorter query."),
  429: {
    code: "ENDPOINT_RATE_LIMITED",
    fault: "http-429",
    message: "The endpoint asks to be left alone for a while",
    next: "Wait before sending another query to this endpoint.",
  },
  504: timedOut(),
};

const timeoutWords = /time[ds]?[ -]?(?:out|limit)|deadline|took too long|cancell?ed due to/iu;

/** Fuseki's word for it, with 503; a gateway in front of an engine would not say "query". */
const queryTimedOut = /\bquery (?:timed out|timeout)\b/iu;

/** QLever reports a time-out as 429 without Retry-After and a JSON body with an `exception`. */
export function isEngineTimeout({ status, headers, text }: Refusal): boolean {
  if (status >= 500) {
    if (text.includes("S1T00") || headerOf(headers, "x-sql-state")?.trim() === "S1T00") return true;
    return status === 503 && headers["retry-after"] === undefined && queryTimedOut.test(text);
  }
  if (status !== 429 || headers["retry-after"] !== undefined) return false;
  return /"exception"\s{0,10}:/u.test(text) && timeoutWords.test(text);
}

/** Virtuoso refuses by estimated cost, with 500. */
const isCostRefusal = (text: string): boolean => /estimated execution time[^.]{0,80}exceeds the limit/iu.test(text);

const askedFor =
  "Use another endpoint. Its credentials go into the file that FEDWAY_CREDENTIALS names; those of callers are never sent on.";
const welcome =
  "Ask its operator whether automated clients are welcome, or name its credentials in FEDWAY_CREDENTIALS.";

function denied({ status, credentials }: Refusal): Meaning {
  const isAsked = status === 401;
  const verb = isAsked ? "asks for credentials" : "forbids the request";
  if (credentials?.sent) return refused(`The endpoint ${verb}, although credentials were sent`, credentials.next);
  return refused(`The endpoint ${verb}; no credentials were sent`, credentials?.next ?? (isAsked ? askedFor : welcome));
}

function meaningOf(refusal: Refusal): Meaning {
  const { status, text } = refusal;
  if (isEngineTimeout(refusal)) return timedOut();
  if (status === 401 || status === 403) return denied(refusal);
  const meaning = byStatus[status];
  if (meaning !== undefined) return meaning;
  if (status >= 500) {
    if (isCostRefusal(text)) {
      return { ...refused("The endpoint refused the query as too expensive", simplify), fault: "http-5xx" };
    }
    return { code: "ENDPOINT_FAILED", fault: "http-5xx", message: "The endpoint failed", next: later };
  }
  if (status >= 400) return refused("The endpoint refused the request", later);
  return {
    code: "ENDPOINT_REDIRECT",
    fault: "http-3xx",
    message: "The endpoint redirects without saying where to",
    next: "Use the URL that the endpoint really answers at.",
  };
}

function notSparql({ headers, text, status }: Refusal, kind: AnswerKind): FedwayError {
  const contentType = headerOf(headers, "content-type");
  const type = bareMediaType(contentType) || "no media type";
  const what = isOtherKind(contentType, kind)
    ? `The endpoint answered with ${type}, which cannot hold the answer of this query form`
    : `The endpoint answered with ${type} instead of SPARQL results`;
  return new FedwayError("ENDPOINT_NOT_SPARQL", `${what}${quoted(text)}.`, {
    fault: "wrong-media-type",
    upstreamStatus: status,
    next: "Check that the URL is a SPARQL endpoint and not a web page about one.",
  });
}

/** The error of a response that is not the answer. */
export function refusalError(refusal: Refusal, kind: AnswerKind, extra: ErrorDetails = {}): FedwayError {
  const { status, text } = refusal;
  if (status < 300) return notSparql(refusal, kind);
  const { code, fault, message, next } = meaningOf(refusal);
  return new FedwayError(code, `${message} (HTTP status ${status})${quoted(text)}.`, {
    fault,
    upstreamStatus: status,
    next,
    ...extra,
  });
}

const methodWords =
  /\b(?:POST|method)\b[^.\n]{0,40}\bnot (?:allowed|supported|implemented)\b|\b(?:no|missing|without)\b[^.\n]{0,30}\bquery\b[^.\n]{0,20}\b(?:parameter|param|argument)\b|\bunsupported (?:media|content)[- ]type\b/iu;

/** The status, or for 400, 403 and 404 the text, says that the way the query was put into the request is at fault. */
export function blamesMethod({ status, headers, text }: Refusal): boolean {
  if (status === 405) return headers["retry-after"] === undefined;
  if (status === 415 || status === 501) return true;
  return (status === 400 || status === 403 || status === 404) && methodWords.test(text.slice(0, 2000));
}

/**
 * The method to try instead, where a refusal does not blame the one in use but may mean it: POST is often answered by 404, 403,
 * a form or a description of the service, a form body by 400. A method learned earlier may be wrong by now.
 */
export function suspectedMethod({ status }: Refusal, method: RequestMethod): RequestMethod | undefined {
  if (status === 400) return method === "post-form" ? "post-direct" : "post-form";
  if (status !== 403 && status !== 404 && status >= 300) return undefined;
  return method === "get" ? "post-form" : "get";
}

/** A Retry-After longer than this is cut: no endpoint can shut itself out for days by one header. */
const maxRetryAfterMs = 15 * 60_000;

/** Retry-After (RFC 9110, section 10.2.3) as milliseconds from `nowMs`; undefined when absent or unreadable. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim();
  if (text === undefined || text === "" || text.length > 40) return undefined;
  if (/^\d{1,12}$/.test(text)) return Math.min(Number(text) * 1000, maxRetryAfterMs);
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : Math.min(Math.max(0, moment - nowMs), maxRetryAfterMs);
}

/** The endpoint wants fewer requests. */
export const isRateLimit = ({ status, headers }: Refusal): boolean =>
  status === 429 || (status === 405 && headers["retry-after"] !== undefined);

/** The error of an endpoint that wants fewer requests. */
export function rateLimited({ status }: Refusal, retryAfterMs: number | undefined): FedwayError {
  const seconds = retryAfterMs === undefined ? "" : ` of ${Math.ceil(retryAfterMs / 1000)} s`;
  const message = `The endpoint asks to be left alone for a while${seconds} (HTTP status ${status}).`;
  return new FedwayError("ENDPOINT_RATE_LIMITED", message, {
    fault: status >= 500 ? "http-5xx" : "http-429",
    upstreamStatus: status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    next: "Wait before sending another query to this endpoint.",
  });
}

/** Phase in which the connection failed: before or after the response head. */
type ExchangePhase = "head" | "body";

const retryNext = "Try again later; if it goes on, ask the endpoint's operator.";

const tlsCodes = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO)/;
const dnsCodes = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME", "ENODATA", "ESERVFAIL"]);
const resetCodes = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"]);

type Row = readonly [
  code: "ENDPOINT_TIMEOUT" | "ENDPOINT_MALFORMED" | "ANSWER_TOO_LARGE",
  fault: FaultKind,
  text: string,
];

const known: Readonly<Record<string, Row>> = {
  UND_ERR_HEADERS_TIMEOUT: [
    "ENDPOINT_TIMEOUT",
    "timeout",
    "The endpoint accepted the request but did not begin to answer.",
  ],
  UND_ERR_BODY_TIMEOUT: ["ENDPOINT_TIMEOUT", "timeout", "The endpoint stopped sending in the middle of its answer."],
  UND_ERR_HEADERS_OVERFLOW: ["ENDPOINT_MALFORMED", "malformed", "The endpoint's response headers are too large."],
  UND_ERR_RES_EXCEEDED_MAX_SIZE: ["ANSWER_TOO_LARGE", "too-large", "The endpoint's answer is larger than allowed."],
};

/** `code` of a thrown value; the first member's for an AggregateError (several addresses were tried). */
function codeOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return codeOf(thrown.errors[0]);
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return "";
  return typeof thrown.code === "string" ? thrown.code : "";
}

/** The HTTP parser gave up. In a response head, a length that does not fit can only be a contradictory header. */
const isBadHttp = (thrown: unknown, code: string, phase: ExchangePhase): boolean =>
  (thrown instanceof Error && thrown.name === "HTTPParserError") ||
  (phase === "head" && code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH");

function unreachable(fault: FaultKind, message: string, cause: unknown): FedwayError {
  return new FedwayError("ENDPOINT_UNREACHABLE", message, { fault, next: retryNext, cause });
}

/** The error of a connection that is closed too early. */
export function brokenConnection(phase: ExchangePhase, cause?: unknown): FedwayError {
  if (phase === "head") {
    return unreachable("reset", "The endpoint closed the connection without answering.", cause);
  }
  return brokeOff("The endpoint closed the connection in the middle of its answer.", { fault: "reset", cause });
}

/** The error of an answer that ends before it is complete. */
export function brokeOff(message: string, details: ErrorDetails): FedwayError {
  return new FedwayError("ENDPOINT_BROKE_OFF", message, {
    next: "The rows received so far are not the whole answer. Try again, or ask for less with LIMIT.",
    ...details,
  });
}

/** Any error of the HTTP client or its sockets as a `FedwayError`; those of our own pass unchanged. */
export function toNetworkError(thrown: unknown, phase: ExchangePhase): FedwayError {
  if (thrown instanceof FedwayError) return thrown;
  const code = codeOf(thrown);
  const row = Object.hasOwn(known, code) ? known[code] : undefined;
  if (row !== undefined) return new FedwayError(row[0], row[2], { fault: row[1], next: retryNext, cause: thrown });
  if (isBadHttp(thrown, code, phase)) {
    const message = "The endpoint's response is not valid HTTP.";
    return new FedwayError("ENDPOINT_MALFORMED", message, { fault: "malformed", next: retryNext, cause: thrown });
  }
  if (dnsCodes.has(code)) return unreachable("dns", "The endpoint's host name could not be resolved.", thrown);
  if (tlsCodes.test(code)) return unreachable("tls", "No secure connection to the endpoint could be made.", thrown);
  if (resetCodes.has(code)) return brokenConnection(phase, thrown);
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") {
    return new FedwayError("INTERNAL", "The request to the endpoint could not be built.", { cause: thrown });
  }
  if (phase === "body") return brokenConnection(phase, thrown);
  return unreachable("connect", "No connection to the endpoint could be made.", thrown);
}
