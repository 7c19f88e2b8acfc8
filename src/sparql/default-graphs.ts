import { isWord, tokenize } from "./parse/tokens.ts";

const parameter = "default-graph-uri";

/** The endpoint of a URL, and the default graphs that the URL's query part gives it (SPARQL 1.1 Protocol, section 2.1.4). */
export function splitGraphs(url: string): { readonly bare: string; readonly defaultGraphs: readonly string[] } {
  if (!url.includes(`${parameter}=`)) return { bare: url, defaultGraphs: [] };
  const at = url.indexOf("?");
  const parts = url.slice(at + 1).split("&");
  const isGraph = (part: string): boolean => part.startsWith(`${parameter}=`);
  const others = parts.filter((part) => !isGraph(part)).join("&");
  const bare = others === "" ? url.slice(0, at) : `${url.slice(0, at)}?${others}`;
  return { bare, defaultGraphs: new URLSearchParams(parts.filter(isGraph).join("&")).getAll(parameter) };
}

/** The URL with these default graphs in its query part, each once. */
export function withGraphs(url: string, graphs: readonly string[]): string {
  if (graphs.length === 0) return url;
  const { bare, defaultGraphs } = splitGraphs(url);
  const parts = [...new Set([...defaultGraphs, ...graphs])].map((graph) => `${parameter}=${encodeURIComponent(graph)}`);
  return `${bare}${bare.includes("?") ? "&" : "?"}${parts.join("&")}`;
}

/** A query and its dataset parameters. */
interface Asked {
  readonly query: string;
  readonly defaultGraphs?: readonly string[] | undefined;
  readonly namedGraphs?: readonly string[] | undefined;
}

/** True if a request says which graphs it asks, so that the default graphs of its endpoint's URL do not count. */
export const bringsDataset = ({ query, defaultGraphs = [], namedGraphs = [] }: Asked): boolean =>
  defaultGraphs.length + namedGraphs.length > 0 ||
  (/\bfrom\b/iu.test(query) && tokenize(query).some((token) => isWord(token, "FROM")));
