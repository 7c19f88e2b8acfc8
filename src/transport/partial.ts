import { FedwayError } from "../errors/fedway-error.ts";
import { headerOf, type ResponseHeaders } from "./headers.ts";
import type { PartialReason, SparqlRequest } from "./sparql-client.ts";

/** What the response headers say about missing rows. */
export interface PartialSigns {
  /** The headers alone prove that rows are missing. */
  readonly partial?: PartialReason;
  /** Virtuoso's row cap, sent with a plain 200; only the number of rows tells whether it was hit. */
  readonly rowCap?: number;
}

const none: PartialSigns = {};

const anytime: PartialSigns = {
  partial: {
    how: "virtuoso-anytime",
    detail: "The endpoint ran out of time and sent the rows it had so far (Virtuoso anytime query, S1TAT).",
  },
};
const status206: PartialSigns = {
  partial: { how: "status-206", detail: "The endpoint marked its answer as partial (HTTP status 206)." },
};

/** Reads the signs of a partial answer (HTTP 206, Virtuoso's S1TAT and X-SPARQL-MaxRows) from a response head. */
export function partialSigns(status: number, headers: ResponseHeaders): PartialSigns {
  if (headerOf(headers, "x-sql-state")?.trim().toUpperCase() === "S1TAT") return anytime;
  if (status === 206) return status206;
  const cap = headerOf(headers, "x-sparql-maxrows");
  if (cap === undefined || !/^\s*\d{1,12}\s*$/.test(cap)) return none;
  return { rowCap: Number(cap) };
}

/** LIMIT among the modifiers that end a query; terms with quotes, comments or brackets make the reading uncertain. */
const finalLimit = /^[^"'#<>{}]*?\bLIMIT\s+(\d{1,12})(?:\s+OFFSET\s+\d{1,12})?\s*$/iu;
const maxModifiersLength = 1000;

/** The rows that a query's outermost LIMIT asks for; undefined when there is none or that is not certain. */
export function askedRows(query: string): number | undefined {
  const close = query.lastIndexOf("}");
  if (query.length - close > maxModifiersLength) return undefined;
  const limit = finalLimit.exec(query.slice(close + 1))?.[1];
  if (limit === undefined) return undefined;
  // The bracket must not stand in a comment: no "#" before it on its line, except in IRIs.
  const line = query.slice(Math.max(query.lastIndexOf("\n", close), query.lastIndexOf("\r", close)) + 1, close);
  return line.replaceAll(/<[^<>\s]*>/gu, "").includes("#") ? undefined : Number(limit);
}

/**
 * The verdict on a row cap once all rows were seen. Rows that cannot be counted are never taken for complete; exactly
 * as many as the query's own LIMIT asks for are.
 */
export function cappedBy(
  rowCap: number | undefined,
  rows: number | undefined,
  { kind, query }: Pick<SparqlRequest, "kind" | "query">,
): PartialReason | undefined {
  if (rowCap === undefined || kind === "boolean") return undefined;
  if (rows === undefined) {
    const detail = `The endpoint cuts answers at ${rowCap} rows (MaxRows) and the rows of this one could not be counted.`;
    return { how: "virtuoso-maxrows", detail };
  }
  if (rows < rowCap || (kind === "bindings" && rows === askedRows(query))) return undefined;
  return { how: "virtuoso-maxrows", detail: `The endpoint cut the answer at its limit of ${rowCap} rows (MaxRows).` };
}

/** The error of a partial answer that the caller does not accept. @param status HTTP status of the answer */
export function partialRefused({ detail }: PartialReason, status: number): FedwayError {
  return new FedwayError("ENDPOINT_PARTIAL", detail, {
    fault: "partial",
    upstreamStatus: status,
    next: "Ask again with partial=true to take what there is, or narrow the query: add LIMIT or name more terms.",
  });
}
