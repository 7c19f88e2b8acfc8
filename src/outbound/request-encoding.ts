import { bringsDataset, splitGraphs } from "../sparql/default-graphs.ts";
import type { EndpointTarget, ProtocolQuery, RequestMethod } from "./sparql-client.ts";

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

const headerText = (text: string): string => text.replaceAll(/[^\x20-\x7e]|[()\\]/g, "").trim();

/** `Fedway/<version> (<contact>)`, without characters that a header cannot hold. */
export function userAgent(version: string, contact = ""): string {
  const comment = headerText(contact);
  return comment === "" ? `Fedway/${headerText(version)}` : `Fedway/${headerText(version)} (${comment})`;
}
