import { type ErrorDetails, FedwayError, type FaultKind } from "../errors/fedway-error.ts";

/** Whether the response head had arrived when the connection failed. */
export type ExchangePhase = "head" | "body";

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

function brokenConnection(phase: ExchangePhase, cause: unknown): FedwayError {
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
