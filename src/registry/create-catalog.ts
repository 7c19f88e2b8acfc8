import type { Catalog, CatalogEntry, CatalogProblem } from "./catalog.ts";
import { ownOrigins, splitUrl } from "./endpoint-url.ts";

/** How the service itself is reached. */
export interface CatalogOptions {
  /** Public URL of this service, without a trailing slash. */
  readonly publicUrl: string;
  /** Other origins under which the service is reached, e.g. the listening address behind a proxy. */
  readonly ownOrigins?: readonly string[];
}

const ownRoute = /^\/endpoints\/([a-z0-9._-]{1,64})\/sparql$/;

/**
 * Indexes entries by id and by URL. URLs are compared after WHATWG normalisation of scheme, host and default port;
 * path and query as written. All names of this service's own origin are equal. Of entries with equal id or URL the
 * first one wins; `loadCatalog` reports the others before they come here.
 */
export function createCatalog(
  entries: readonly CatalogEntry[],
  problems: readonly CatalogProblem[],
  options: CatalogOptions,
): Catalog {
  const keyOf = urlKeys(options);
  const ids = new Map<string, CatalogEntry>();
  const urls = new Map<string, CatalogEntry>();
  for (const entry of entries) {
    const key = keyOf(entry.url);
    if (!ids.has(entry.id)) ids.set(entry.id, entry);
    if (key !== undefined && !urls.has(key)) urls.set(key, entry);
  }
  const prefix = keyOf(options.publicUrl)?.replace(/\/$/, "");
  const ownEntry = (key: string): CatalogEntry | undefined => {
    if (prefix === undefined || !key.startsWith(prefix)) return undefined;
    const id = ownRoute.exec(key.slice(prefix.length))?.[1];
    return id === undefined ? undefined : ids.get(id);
  };
  return Object.freeze({
    entries: Object.freeze([...ids.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))),
    problems: Object.freeze([...problems]),
    byId: (id: string) => ids.get(id),
    byUrl: (url: string) => {
      const key = keyOf(url);
      return key === undefined ? undefined : (urls.get(key) ?? ownEntry(key));
    },
  });
}

/** The comparison key of a URL; undefined when it is no http(s) URL. */
export function urlKeys(options: CatalogOptions): (url: string) => string | undefined {
  const own = ownOrigins([options.publicUrl, ...(options.ownOrigins ?? [])]);
  return (url) => {
    const split = splitUrl(url);
    if (split === undefined) return undefined;
    return `${own.has(split.origin) ? "own:" : split.origin}${split.rest}`;
  };
}
