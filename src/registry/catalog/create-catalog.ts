import type { Catalog, CatalogEntry, CatalogProblem, Federation } from "./catalog.ts";
import { ownOrigins, splitUrl } from "./endpoint-url.ts";
import { createMembership } from "./membership.ts";

/** How the service itself is reached. */
export interface OwnAddresses {
  /** Public URL of this service, without a trailing slash. */
  readonly publicUrl: string;
  /** Other origins under which the service is reached, e.g. the listening address behind a proxy. */
  readonly ownOrigins?: readonly string[];
}

export interface CatalogOptions extends OwnAddresses {
  readonly federations?: readonly Federation[];
  /** Ids of the entries that a search for a text finds; without it, words are looked for in the entries' texts. */
  readonly search?: (text: string) => readonly string[];
}

/** What a catalogue is made of. */
export interface CatalogParts {
  readonly version: number;
  readonly entries: readonly CatalogEntry[];
  readonly federations: readonly Federation[];
  readonly problems: readonly CatalogProblem[];
  readonly keyOf: UrlKey;
  /** The key of an entry's URL; a catalogue that is rebuilt often remembers it. */
  readonly keyOfEntry: (entry: CatalogEntry) => string | undefined;
  readonly publicUrl: string;
  readonly search?: CatalogOptions["search"];
}

/** The comparison key of a URL; undefined when it is no http(s) URL. */
export type UrlKey = (url: string) => string | undefined;

const ownRoute = /^\/endpoints\/([a-z0-9._-]{1,64})\/sparql$/;

/**
 * Indexes entries by id and by URL. URLs are compared after WHATWG normalisation of scheme, host and default port;
 * path and query as written. All names of this service's own origin are equal. Of entries with equal id or URL the
 * first one wins; those who read a catalogue report the others before they come here.
 */
export function createCatalog(
  entries: readonly CatalogEntry[],
  problems: readonly CatalogProblem[],
  options: CatalogOptions,
): Catalog {
  const { federations = [], publicUrl, search } = options;
  const keyOf = urlKeys(options);
  const keyOfEntry = (entry: CatalogEntry): string | undefined => keyOf(entry.url);
  return indexCatalog({ version: 1, entries, federations, problems, keyOf, keyOfEntry, publicUrl, search });
}

/** One state of the catalogue, frozen. */
export function indexCatalog(parts: CatalogParts): Catalog {
  const { keyOf, keyOfEntry, version } = parts;
  const ids = firstById(parts.entries);
  const federations = firstById(parts.federations);
  const urls = new Map<string, CatalogEntry>();
  for (const entry of ids.values()) {
    const key = keyOfEntry(entry);
    if (key !== undefined && !urls.has(key)) urls.set(key, entry);
  }
  const prefix = keyOf(parts.publicUrl)?.replace(/\/$/, "");
  const ownEntry = (key: string): CatalogEntry | undefined => {
    if (prefix === undefined || !key.startsWith(prefix)) return undefined;
    const id = ownRoute.exec(key.slice(prefix.length))?.[1];
    return id === undefined ? undefined : ids.get(id);
  };
  const entries = inIdOrder(ids);
  return Object.freeze({
    version,
    entries,
    federations: inIdOrder(federations),
    problems: Object.freeze([...parts.problems]),
    byId: (id: string) => ids.get(id),
    byUrl: (url: string) => {
      const key = keyOf(url);
      return key === undefined ? undefined : (urls.get(key) ?? ownEntry(key));
    },
    federation: (id: string) => federations.get(id),
    membersOf: createMembership(entries, parts.search),
  });
}

function firstById<Named extends { readonly id: string }>(all: readonly Named[]): ReadonlyMap<string, Named> {
  const found = new Map<string, Named>();
  for (const each of all) if (!found.has(each.id)) found.set(each.id, each);
  return found;
}

const inIdOrder = <Named extends { readonly id: string }>(all: ReadonlyMap<string, Named>): readonly Named[] =>
  Object.freeze([...all.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)));

/** Makes URLs comparable: equal keys, same endpoint. */
export function urlKeys(options: OwnAddresses): UrlKey {
  const own = ownOrigins([options.publicUrl, ...(options.ownOrigins ?? [])]);
  return (url) => {
    const split = splitUrl(url);
    if (split === undefined) return undefined;
    return `${own.has(split.origin) ? "own:" : split.origin}${split.rest}`;
  };
}

/** What a key has in common with those that very likely mean the same endpoint: another scheme, a slash at the end. */
export const looseKey = (key: string): string => key.replace(/^https?:/, "").replace(/\/$/, "");
