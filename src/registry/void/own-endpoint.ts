import { isOwnHost } from "../../outbound/address-guard.ts";

const endpointParts = /^(https?):\/\/([^/?#\\@]{1,255})([^#\\]*)/iu;

/** What an endpoint's URL is, as far as a description can be trusted to write it: no scheme, no trailing slash. */
function looseUrl(url: string): string | undefined {
  const [, scheme, authority, rest] = endpointParts.exec(url) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) return undefined;
  const host = authority.toLowerCase().replace(/:(?:80|443)$/u, "");
  return host + rest.replace(/\/(?=$|\?)/u, "");
}

/** The endpoint that is being described, under all its spellings. */
export interface OwnEndpoint {
  /** `http` or `https`, with or without a trailing slash: the same endpoint. */
  is(url: string): boolean;
  /** All spellings, for queries. */
  readonly spellings: readonly string[];
}

/** The endpoint under its URL, and under those that its redirects lead to. */
export function ownEndpoint(...urls: readonly string[]): OwnEndpoint {
  const loose = new Set(urls.map(looseUrl).filter((url) => url !== undefined));
  const spellings = [...loose].flatMap((url) => {
    const [path = "", query] = url.split("?", 2);
    const ending = query === undefined ? "" : `?${query}`;
    return ["http", "https"].flatMap((scheme) => [`${scheme}://${path}${ending}`, `${scheme}://${path}/${ending}`]);
  });
  return {
    spellings,
    is(url) {
      const other = looseUrl(url);
      return other !== undefined && loose.has(other);
    },
  };
}

/** What is wrong with the endpoints that a description names; undefined when it may be about `own`. */
export function alienEndpoint(named: readonly string[], own: OwnEndpoint): string | undefined {
  const alien = named.filter((url) => !own.is(url));
  const local = alien.find((url) => isOwnHost(URL.parse(url)?.hostname ?? ""));
  if (local !== undefined) return `It names ${shown(local)} as its endpoint, which only its publisher can reach.`;
  const [first] = alien;
  if (first === undefined || alien.length < named.length) return undefined;
  return `It names another endpoint: ${shown(first)}.`;
}

const shown = (url: string): string => url.replaceAll(/[\p{C}\s<>"]/gu, "").slice(0, 200);
