import { FedwayError } from "../errors/fedway-error.ts";
import type { Call } from "./call.ts";
import { headerOf, type ResponseHeaders } from "./media-types.ts";
import type { AnswerEnd, PartialReason, SparqlRequest } from "./sparql-client.ts";

/** Signs of missing rows in the response headers. */
export interface PartialSigns {
  /** The headers alone prove that rows are missing. */
  readonly partial?: PartialReason;
  /** Virtuoso's row cap, sent with a plain 200; only the number of rows shows if it was hit. */
  readonly rowCap?: number;
  /** A cap that is known of the endpoint while this answer names none: cut answers look like whole ones. */
  readonly silentCap?: number;
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

/** The signs in the head, and the row cap that is known of the endpoint; for a graph the one an earlier answer named. */
export function signsFor({ request, state }: Call, status: number, headers: ResponseHeaders): PartialSigns {
  const signs = partialSigns(status, headers);
  if (signs.rowCap !== undefined) {
    state.rowCap = signs.rowCap;
    return signs;
  }
  const silentCap = request.kind === "quads" ? (state.rowCap ?? request.endpoint.rowCap) : request.endpoint.rowCap;
  return silentCap === undefined ? signs : { ...signs, silentCap };
}

/** An answer with more rows than the cap that an earlier one named: the cap has been raised. */
export function reviewRowCap({ request, state }: Call, outcome: AnswerEnd | FedwayError): void {
  if (state.rowCap === undefined || request.kind !== "bindings" || outcome instanceof FedwayError) return;
  if (outcome.partial === undefined && (outcome.rows ?? 0) > state.rowCap) state.rowCap = undefined;
}

const capped = (detail: string): PartialReason => ({ how: "virtuoso-maxrows", detail });

/**
 * The verdict on a row cap once all rows were seen. Rows that cannot be counted are not taken for complete unless the
 * query's own LIMIT keeps them below the cap; exactly as many as that LIMIT allows are. It says nothing of triples.
 */
export function cappedBy(
  { rowCap, silentCap }: PartialSigns,
  rows: number | undefined,
  { kind, limit }: Pick<SparqlRequest, "kind" | "limit">,
): PartialReason | undefined {
  const cap = rowCap ?? silentCap;
  if (cap === undefined || kind === "boolean") return undefined;
  const asked = (kind === "bindings" && limit) || Number.POSITIVE_INFINITY;
  if (rows === undefined) return asked <= cap ? undefined : capped(uncounted(cap));
  if (rows < cap || rows === asked) return undefined;
  if (rowCap !== undefined) return capped(`The endpoint cut the answer at its limit of ${cap} rows (MaxRows).`);
  return isRaised(kind, rows - cap) ? undefined : capped(maybeCut(cap, rows));
}

/** More solutions than a silent cap: it has been raised since. Triples are no solutions. */
const isRaised = (kind: SparqlRequest["kind"], beyond: number): boolean => kind === "bindings" && beyond > 0;

const maybeCut = (cap: number, rows: number): string =>
  `The endpoint is known to cut answers at ${cap} rows without a sign: this one of ${rows} rows or triples may lack some.`;

const uncounted = (cap: number): string =>
  `The endpoint cuts answers at ${cap} rows (MaxRows) and the rows of this one could not be counted.`;

/** The error of a partial answer that the caller does not accept. @param status HTTP status of the answer */
export function partialRefused({ detail }: PartialReason, status: number): FedwayError {
  return new FedwayError("ENDPOINT_PARTIAL", detail, {
    fault: "partial",
    upstreamStatus: status,
    next: "Ask again with partial=true to take what there is, or narrow the query: add LIMIT or name more terms.",
  });
}
