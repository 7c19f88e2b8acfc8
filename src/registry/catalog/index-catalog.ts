import { atOnce } from "../../clock.ts";
import { publishedCatalog } from "./published/published-catalog.ts";
import type { PublishedFacts } from "./published/published-facts.ts";
import { describedFederation, registryEntry } from "./described-federation.ts";
import type { Catalog, CatalogEntry, CatalogProblem, Federation } from "./catalog.ts";

/** How the service itself is reached. */
interface OwnAddresses {
  /** Public URL of this service, without a trailing slash. */
  readonly publicUrl: string;
  /** Other origins under which the service is reached, e.g. the listening address behind a proxy. */
  readonly ownOrigins?: readonly string[] | undefined;
}

export interface CatalogOptions extends OwnAddresses {
  readonly federations?: readonly Federation[];
  /** Ids of the entries that a search for a text finds; none without it. */
  readonly search?: ((text: string) => readonly string[]) | undefined;
  /** True for described endpoints; absent: there is no federation of all described endpoints. */
  readonly isDescribed?: ((id: string) => boolean) | undefined;
  /** Published facts about endpoints; default none. */
  readonly published?: readonly PublishedFacts[] | undefined;
  /** Default 1. */
  readonly version?: number;
  /** The key of an entry's URL; a catalogue that is rebuilt often remembers it. */
  readonly keyOfEntry?: (entry: CatalogEntry) => string | undefined;
}

/** The comparison key of a URL; undefined when it is no http(s) URL. */
export type UrlKey = (url: string) => string | undefined;

const ownRoute = /^\/(endpoints|federations)\/([a-z0-9._-]{1,64})\/sparql$/;

/**
 * One state of the catalogue, frozen: entries by id and by URL. URLs are compared after WHATWG normalisation of scheme, host and
 * default port; path and query as written. All names of this service's own origin are equal. Of entries with equal id or URL the
 * first one wins; those who read a catalogue report the others before they come here.
 */
export const createCatalog = (
  all: readonly CatalogEntry[],
  problems: readonly CatalogProblem[],
  options: CatalogOptions,
): Catalog => atOnce(createCatalogSteps(all, problems, options));

/** The steps of `createCatalog`: none takes longer than to sort the entries by id. */
export function* createCatalogSteps(
  all: readonly CatalogEntry[],
  problems: readonly CatalogProblem[],
  options: CatalogOptions,
): Generator<void, Catalog> {
  const keyOf = urlKeys(options);
  const { version = 1, keyOfEntry = ({ url }) => keyOf(url) } = options;
  const ids = firstById(all);
  yield;
  const builtIn = options.isDescribed ? [describedFederation] : [];
  const federations = firstById([...builtIn, ...(options.federations ?? [])]);
  const own = options.isDescribed ? [registryEntry(options.publicUrl)] : [];
  const known = firstById([...ids.values(), ...own]);
  yield;
  const urls = new Map<string, CatalogEntry>();
  for (const entry of known.values()) {
    const key = entry.builtIn ? keyOf(entry.url) : keyOfEntry(entry);
    if (key !== undefined && !urls.has(key)) urls.set(key, entry);
    yield;
  }
  const prefix = keyOf(options.publicUrl)?.replace(/\/$/, "");
  /** The id in one of this service's own routes. */
  const ownId = (key: string | undefined, kind: "endpoints" | "federations"): string => {
    if (prefix === undefined || key?.startsWith(prefix) !== true) return "";
    const [, routes, id = ""] = ownRoute.exec(key.slice(prefix.length)) ?? [];
    return routes === kind ? id : "";
  };
  const entries = inIdOrder(ids);
  yield;
  const byUrl = (url: string): CatalogEntry | undefined => {
    const key = keyOf(url);
    if (key === undefined) return undefined;
    return urls.get(key) ?? known.get(ownId(key, "endpoints"));
  };
  const published = publishedCatalog(options.published ?? [], { entries, byUrl, keyOf });
  yield;
  return Object.freeze({
    version,
    entries,
    federations: inIdOrder(federations),
    problems: Object.freeze([...problems]),
    byId: (id: string) => known.get(id),
    byUrl,
    published,
    federation: (id: string) => federations.get(id),
    federationByUrl: (url: string) => federations.get(ownId(keyOf(url), "federations")),
    membersOf: createMembership(inIdOrder(known), published, options),
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

/** A looser key for URLs that very likely mean the same endpoint: without scheme and trailing slash. */
export const looseKey = (key: string): string => key.replace(/^https?:/, "").replace(/\/$/, "");

/** Members of a federation among the entries of one state of the catalogue (in id order). */
function createMembership(
  entries: readonly CatalogEntry[],
  published: Catalog["published"],
  { search = () => [], isDescribed = () => false }: CatalogOptions,
): Catalog["membersOf"] {
  let byKeyword: ReadonlyMap<string, readonly string[]> | undefined;
  // A copy would be asked for what its original is asked for.
  const isCopy = (id: string): boolean => published.originalOf(id) !== id && isDescribed(published.originalOf(id));
  return ({ members, memberKeywords, memberQuery, builtIn }) => {
    if (builtIn)
      return Object.freeze(entries.filter((entry) => !entry.builtIn && isDescribed(entry.id) && !isCopy(entry.id)));
    const ids = new Set(members);
    if (memberKeywords.length > 0) byKeyword ??= indexKeywords(entries);
    for (const keyword of memberKeywords) for (const id of byKeyword?.get(folded(keyword)) ?? []) ids.add(id);
    if (memberQuery !== undefined) for (const id of search(memberQuery)) ids.add(id);
    return Object.freeze(entries.filter(({ id }) => ids.has(id)));
  };
}

/** Keywords are equal whatever their case. */
function indexKeywords(entries: readonly CatalogEntry[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { id, keywords } of entries) {
    for (const keyword of new Set(keywords.map(folded))) {
      const known = found.get(keyword);
      if (known === undefined) found.set(keyword, [id]);
      else known.push(id);
    }
  }
  return found;
}

const folded = (text: string): string => text.normalize("NFC").toLowerCase();

const absolute = /^([a-z][a-z0-9+.-]{0,30}):\/\/([^/?#\\]*)((?:[/?#][^\\]*)?)$/i;

/** An http(s) IRI split where comparison rules differ: the origin is normalised, the rest is compared as written. */
interface SplitUrl {
  /** Scheme, host and non-default port as WHATWG URL writes them. */
  readonly origin: string;
  /** Path, query and fragment, verbatim; "/" when the IRI has none. */
  readonly rest: string;
}

/** Splits an absolute http(s) IRI; undefined for anything else and for IRIs with userinfo. */
export function splitUrl(iri: string): SplitUrl | undefined {
  const parts = absolute.exec(iri);
  const [, scheme, authority, rest] = parts ?? [];
  if (scheme === undefined || authority === undefined || authority.includes("@")) return undefined;
  const origin = originOf(`${scheme}://${authority}`);
  return origin === undefined ? undefined : { origin, rest: rest === undefined || rest === "" ? "/" : rest };
}

/**
 * All origins that mean this service: the given ones and, for a loopback host, the other names of loopback
 * (`localhost`, `127.0.0.1`, `[::1]`) at the same port.
 */
function ownOrigins(urls: readonly string[]): ReadonlySet<string> {
  const origins = new Set<string>();
  for (const url of urls) {
    const origin = originOf(url);
    if (origin === undefined) continue;
    for (const same of loopbackVariants(origin)) origins.add(same);
  }
  return origins;
}

const loopbackHosts = ["localhost", "127.0.0.1", "[::1]"];

function loopbackVariants(origin: string): readonly string[] {
  const { hostname, protocol, port } = new URL(origin);
  if (!loopbackHosts.includes(hostname)) return [origin];
  return loopbackHosts.map((host) => `${protocol}//${host}${port === "" ? "" : `:${port}`}`);
}

function originOf(url: string): string | undefined {
  const parsed = URL.parse(url);
  return parsed?.protocol === "http:" || parsed?.protocol === "https:" ? parsed.origin : undefined;
}
