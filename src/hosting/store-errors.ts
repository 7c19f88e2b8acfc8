import { FedwayError } from "../errors/fedway-error.ts";
import { isUpdate } from "./query-form.ts";

/** The store is of no further use and did not answer. */
export class StoreLost extends Error {
  override readonly name = "StoreLost";
  readonly reason: "memory" | "trap";

  constructor(reason: StoreLost["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

const maxReasonLength = 200;
const located = /^error at (\d{1,9}):(\d{1,9}): ?(.*)/s;
const noService = /^The service (<[^>]{1,2000}>|\S{1,2000}) is not supported/;

interface FailedQuery {
  readonly endpoint: string;
  readonly query: string;
}

/** The error for a query that the store refused with a message of its own. */
export function refusedQuery(message: string, { endpoint, query }: FailedQuery): FedwayError {
  const syntax = located.exec(message);
  if (syntax !== null) return syntaxError(syntax, { endpoint, query });
  const service = noService.exec(message);
  if (service !== null) {
    return new FedwayError(
      "ENDPOINT_REJECTED_QUERY",
      `The hosted endpoint ${endpoint} calls no other endpoints, so SERVICE ${service[1]} cannot be used inside a query to it.`,
      { where: { endpoint }, next: "Put the SERVICE clauses side by side in one query to /sparql." },
    );
  }
  return new FedwayError(
    "ENDPOINT_REJECTED_QUERY",
    `The hosted endpoint ${endpoint} refused the query: ${shorten(message)}`,
    { where: { endpoint } },
  );
}

/** The error for data that no store loads as they are, with the reason. */
export const unfitData = (reason: string, endpoint: string): FedwayError =>
  new FedwayError(
    "ENDPOINT_DATA_INVALID",
    `The data of the hosted endpoint ${endpoint} cannot be loaded: ${shorten(reason.replace(/\.$/u, ""))}.`,
    { where: { endpoint }, next: "Build its data again, or get them anew." },
  );

/** The error for a query whose thread is gone. */
export function lostStore(lost: unknown, endpoint: string, memoryMb: number): FedwayError {
  const message =
    lost instanceof StoreLost && lost.reason === "memory"
      ? `The query needed more than the ${memoryMb} MB of memory that the hosted endpoint ${endpoint} has.`
      : `The hosted endpoint ${endpoint} failed on the query and is being restarted.`;
  return new FedwayError("ENDPOINT_FAILED", message, {
    where: { endpoint },
    next: "Make the query simpler or more selective before trying again.",
    cause: lost,
  });
}

/** The error for an answer above the endpoint's cap. */
export function tooLarge(bytes: number, maxBytes: number, endpoint: string): FedwayError {
  return new FedwayError(
    "ANSWER_TOO_LARGE",
    `The answer of the hosted endpoint ${endpoint} has ${bytes} bytes; at most ${maxBytes} are allowed.`,
    { where: { endpoint }, fault: "too-large", next: "Ask for fewer rows or columns, or add a LIMIT." },
  );
}

function syntaxError([, line, column, expected]: RegExpExecArray, { endpoint, query }: FailedQuery): FedwayError {
  if (isUpdate(query)) {
    return new FedwayError("UPDATE_REFUSED", `The hosted endpoint ${endpoint} is read-only.`, { where: { endpoint } });
  }
  const where = { line: Number(line), column: utf16Column(query, Number(line), Number(column)), endpoint };
  return new FedwayError(
    "QUERY_SYNTAX",
    `The query is not valid SPARQL at line ${where.line}, column ${where.column}: ${reasonOf(expected ?? "")}`,
    { where },
  );
}

/** The parser lists everything it would have taken; two entries of that list say what is wrong. */
function reasonOf(expected: string): string {
  if (expected.includes("Prefix not found")) return "a prefix is used that is not declared.";
  if (expected.includes("IRI parsing failed")) return "an IRI is relative or malformed.";
  return shorten(expected);
}

/** The store counts columns in characters, Fedway in UTF-16 code units. */
function utf16Column(query: string, line: number, column: number): number {
  const text = query.split("\n", line)[line - 1] ?? "";
  return (
    Array.from(text)
      .slice(0, column - 1)
      .join("").length + 1
  );
}

function shorten(message: string): string {
  const line = message.replaceAll(/\s+/g, " ");
  return line.length > maxReasonLength ? `${line.slice(0, maxReasonLength)} ...` : line;
}
