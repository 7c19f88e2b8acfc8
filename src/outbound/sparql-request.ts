import type { Readable } from "node:stream";
import type { AnswerKind } from "../results/model.ts";
import { bringsDataset, splitGraphs } from "../sparql/default-graphs.ts";
import type { RequestBudget } from "./request-budget.ts";

/** How a query is put into an HTTP request (SPARQL 1.1 Protocol, section 2.1). */
export type RequestMethod = "post-form" | "post-direct" | "get";

/** How an endpoint must be asked, where requests have shown that it is unlike most. */
export interface LearnedManner {
  /** The method that worked after another one had been refused. */
  readonly method?: RequestMethod | undefined;
  /** The Accept that worked, by the kind of the answer, after a list of formats had been refused. */
  readonly accept?: Readonly<Partial<Record<AnswerKind, string | undefined>>> | undefined;
}

/** Facts that requests have shown of an endpoint. */
export interface LearnedFacts extends LearnedManner {
  /** Rows after which it cuts answers without a sign. */
  readonly rowCap?: number | undefined;
}

/** Facts about an endpoint needed for sending. */
export interface EndpointTarget {
  /** Catalogue id; absent for an endpoint that is not in the catalogue. Used in metrics and messages. */
  readonly id?: string | undefined;
  /** Absolute http(s) URL without userinfo. */
  readonly url: string;
  /** The only method to be tried; without it the client finds out and remembers. */
  readonly method?: RequestMethod | undefined;
  /** Manner to try first. */
  readonly learned?: LearnedManner | undefined;
  /** Rows after which its answers are known to be cut, be it without a sign. */
  readonly rowCap?: number | undefined;
  /** Rows of an answer that is known to have come whole. */
  readonly wholeRows?: number | undefined;
  /** Media types in which it is known to answer rightly; others are not asked for. */
  readonly formats?: readonly string[] | undefined;
  /** Largest URL that it is known to read, in bytes; at most 8,192 are ever sent. */
  readonly maxUrlBytes?: number | undefined;
  /** Its answers are never kept for other queries. */
  readonly neverKept?: true | undefined;
  /** An endpoint with the same data, asked in its place. */
  readonly mirror?: Omit<EndpointTarget, "mirror"> | undefined;
}

/** The columns of a SELECT, in any order. */
interface Columns {
  readonly asked: readonly string[];
  /** Columns that may be there too: engines differ on which variables SELECT * means. */
  readonly allowed?: readonly string[] | undefined;
}

/** The parts of a query that the HTTP message carries (SPARQL 1.1 Protocol, section 2.1). */
export interface ProtocolQuery {
  readonly query: string;
  /** Protocol dataset (`default-graph-uri`, `named-graph-uri`). */
  readonly defaultGraphs?: readonly string[] | undefined;
  readonly namedGraphs?: readonly string[] | undefined;
}

/** A query for one endpoint: plain data, which may cross to another process. */
export interface EndpointQuery extends ProtocolQuery {
  readonly endpoint: EndpointTarget;
  readonly kind: AnswerKind;
  /** The columns that the answer to a SELECT must have; absent where they are not known. */
  readonly columns?: Columns | undefined;
  /** The rows that the outermost LIMIT of a SELECT allows; absent when it has none or it is not known. */
  readonly limit?: number | undefined;
  /** Value of the Accept header, most wanted first; formats that the endpoint's engine gets wrong are left out. */
  readonly accept: string;
  /**
   * "decode": the body is delivered decoded. "pass": `acceptEncoding` is sent on and the body is delivered as the
   * endpoint encoded it, while a decoder beside it counts and looks for truncation.
   */
  readonly encoding: "decode" | "pass";
  /** Accept-Encoding to send with "pass"; default "identity". */
  readonly acceptEncoding?: string | undefined;
  /**
   * A partial answer is delivered and marked; otherwise it is the error `ENDPOINT_PARTIAL`, also when that shows only at
   * the end of the body (a row cap that was reached). Default false.
   */
  readonly acceptPartial?: boolean;
  /**
   * A probe: sent although the endpoint's circuit breaker is open, without taking its trial. Its outcome still counts for
   * or against the endpoint. Default false.
   */
  readonly pastBreaker?: boolean;
  /** Caps for this request; the client's own caps hold where these are absent or larger. */
  readonly maxBytes?: number;
  /**
   * The endpoint is asked whether there are more rows where a round number of them may be its cap, and nothing says so
   * (`checkForSilentCut`). Default false.
   */
  readonly checksForSilentCut?: boolean | undefined;
  /** With `checksForSilentCut`: a query that counts triples which the whole graph has; absent where there is none. */
  readonly tripleCount?: string | undefined;
}

/** The same on behalf of its owner. */
export interface SparqlRequest extends EndpointQuery {
  /** Ends the request and its body at any moment; the reason becomes the error. */
  readonly signal: AbortSignal;
  /** Moment (on the client's clock, milliseconds) at which the request must be over, body included. */
  readonly deadlineMs: number;
  /** Owner of the query, known to endpoints of this process; never sent. */
  readonly client?: string | undefined;
  /** Budget charged before the request is sent. @throws FedwayError `BUDGET_SPENT` */
  readonly budget?: RequestBudget | undefined;
  /** Neither an answer that is kept nor one that is under way will do. Default false. */
  readonly fresh?: boolean | undefined;
  /** The run that the request is part of: to a circuit breaker its faults are one. Never sent. */
  readonly partOf?: object | undefined;
  /** Trace context of the request, passed to the observer unchanged; never sent. */
  readonly trace?: unknown;
}

/** Why an answer is known to lack rows. */
export interface PartialReason {
  readonly how:
    | "status-206"
    | "virtuoso-anytime"
    | "virtuoso-maxrows"
    | "truncated"
    | "row-cap"
    | "row-cap-unknown"
    | "next-page"
    | "announced"
    | "failed-member";
  /** One sentence for the reader. */
  readonly detail: string;
}

/** Facts known once the last byte of an answer has arrived. */
export interface AnswerEnd {
  /** Bytes after content decoding. */
  readonly decodedBytes: number;
  /** Bytes on the wire (content-encoded). */
  readonly wireBytes: number;
  /** Solutions or triples seen; undefined where the format does not tell without being parsed. Never a guess. */
  readonly rows?: number | undefined;
  /** Triples at most, where they are not counted one by one. */
  readonly atMost?: number | undefined;
  readonly partial?: PartialReason | undefined;
  /** Further requests that showed whether it is whole. */
  readonly requests?: number | undefined;
}

/** Facts that come before the body of a successful answer: status 2xx and a media type that fits the request. */
export interface AnswerHead {
  readonly status: number;
  /** Lower case, without parameters, e.g. `application/sparql-results+json`. */
  readonly mediaType: string;
  /** Content coding of `body`; "identity" when it is plain. */
  readonly contentEncoding: string;
  /** Set when the response headers already say that rows are missing. */
  readonly partial?: PartialReason | undefined;
  /** Its end may show that rows are missing: the endpoint is known to cut answers. */
  readonly mayLackRows?: boolean | undefined;
  /** Milliseconds for which the endpoint lets it be kept (Cache-Control), 0 when it forbids that; undefined: it does not say. */
  readonly freshMs?: number | undefined;
  /** The mirror that gave it in the endpoint's place: its catalogue id or URL. */
  readonly mirror?: string | undefined;
  /** No request was sent for it: it came with an equal one that was under way, or was kept from an earlier one. */
  readonly saved?: "shared" | "cached" | undefined;
  /** Fact learned from its requests about how the endpoint must be asked, one sentence. */
  readonly learned?: string | undefined;
  /** HTTP requests this answer took (retries, method fallback and redirects included). */
  readonly requests: number;
}

/** A successful answer. */
export interface SparqlAnswer extends AnswerHead {
  /**
   * A small answer (Content-Length of at most 16 KiB; of at most 128 KiB when it comes in one go) arrives whole and
   * already verified, as a buffer or a `GatheredBody`; any other is a byte stream that is destroyed with a `FedwayError` when the answer turns out to be
   * broken.
   */
  readonly body: Buffer | Readable;
  /** Result of `end`, when the body is whole; undefined while bytes are to come. */
  readonly whole: AnswerEnd | undefined;
  /** Settles when the body has ended; rejects with the same `FedwayError` the body is destroyed with. */
  readonly end: Promise<AnswerEnd>;
}

/** The outbound SPARQL client: the only way a query leaves this service. */
export interface SparqlClient {
  /**
   * Sends one query.
   * @throws FedwayError `ADDRESS_REFUSED`, `ENDPOINT_*`, `CIRCUIT_OPEN`, `ANSWER_TOO_LARGE`, `DEADLINE_EXCEEDED`, `CANCELLED`
   */
  query(request: SparqlRequest): Promise<SparqlAnswer>;
}

/** One HTTP request, ready to be sent. */
export interface EncodedRequest {
  readonly method: "GET" | "POST";
  readonly origin: string;
  /** Path and query string. */
  readonly path: string;
  readonly body: Buffer | undefined;
  readonly contentType: string | undefined;
}

/** The longest URL that is sent; many servers and proxies cut off or refuse longer ones. */
export const maxUrlBytes = 8192;

/** The order in which methods are tried (SPARQL 1.1 Protocol, section 2.1). */
export const methodOrder: readonly RequestMethod[] = ["post-form", "post-direct", "get"];

// encodeURIComponent throws on lone surrogates, which the endpoint could not read either.
const component = (text: string): string => encodeURIComponent(text.toWellFormed());

/** The protocol's dataset parameters as `&name=value` pairs; empty when there are none. */
function datasetParameters({ defaultGraphs, namedGraphs }: ProtocolQuery): string {
  let text = "";
  for (const graph of defaultGraphs ?? []) text += `&default-graph-uri=${component(graph)}`;
  for (const graph of namedGraphs ?? []) text += `&named-graph-uri=${component(graph)}`;
  return text;
}

const queryParameters = (query: ProtocolQuery): string => `query=${component(query.query)}${datasetParameters(query)}`;

function pathWith(target: string, parameters: string): string {
  return parameters === "" ? target : `${target}${target.includes("?") ? "&" : "?"}${parameters}`;
}

/** Path and query part of an endpoint's URL, without the default graphs there where the query brings its own dataset. */
function targetOf(url: URL, query: ProtocolQuery): string {
  if (url.search === "") return url.pathname;
  const target = url.pathname + url.search;
  const { bare, defaultGraphs } = splitGraphs(target);
  return defaultGraphs.length > 0 && bringsDataset(query) ? bare : target;
}

/**
 * Puts a query into an HTTP request for `url`.
 * @returns undefined when the method is "get" and the URL would be longer than `maxUrlBytes`
 */
export function encodeRequest(
  method: RequestMethod,
  url: URL,
  query: ProtocolQuery & { readonly endpoint?: EndpointTarget },
): EncodedRequest | undefined {
  const { origin } = url;
  const target = targetOf(url, query);
  if (method === "post-form") {
    const contentType = "application/x-www-form-urlencoded";
    const body = Buffer.from(queryParameters(query), "latin1");
    return { method: "POST", origin, path: target, body, contentType };
  }
  if (method === "post-direct") {
    const path = pathWith(target, datasetParameters(query).slice(1));
    const body = Buffer.from(query.query.toWellFormed());
    return { method: "POST", origin, path, body, contentType: "application/sparql-query" };
  }
  // A redirect target usually carries the query already.
  const path = url.searchParams.has("query") ? target : pathWith(target, queryParameters(query));
  if (origin.length + path.length > Math.min(maxUrlBytes, query.endpoint?.maxUrlBytes ?? maxUrlBytes)) return undefined;
  return { method: "GET", origin, path, body: undefined, contentType: undefined };
}
