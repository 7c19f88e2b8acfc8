import { editDistance, nearest } from "../errors/nearest.ts";
import { unknownId } from "../errors/unknown-id.ts";
import type { Catalog, CatalogEntry, Federation } from "../registry/catalog.ts";
import { splitGraphs } from "../sparql/default-graphs.ts";
import { downLast } from "./offer-endpoints.ts";
import type { PlanContext } from "./plan-request.ts";

/** Longer URLs are not looked up. */
export const longestTarget = 2_048;

/** An endpoint or a federation of the catalogue. */
export type NamedPlace = { readonly entry: CatalogEntry } | { readonly federation: Federation };

/**
 * The endpoint or federation that people and models name, by an id in any case or a URL, in angle brackets or not.
 * @throws FedwayError `ENDPOINT_UNKNOWN` with the ids that are most like it, federations first
 */
export function placeNamed(name: string, catalog: Catalog): NamedPlace {
  const bare = name.trim().replace(/^<(.*)>$/s, "$1");
  for (const id of [bare, bare.toLowerCase()]) {
    const [known, named] = [catalog.byId(id), catalog.federation(id)];
    if (known) return { entry: known };
    if (named) return { federation: named };
  }
  const federation = catalog.federationByUrl(bare);
  if (federation) return { federation };
  const entry = entryMeant(bare, catalog);
  if (entry) return { entry };
  const alike = [catalog.federations, catalog.entries].flatMap((known) =>
    nearest(
      bare,
      known.map(({ id }) => id),
    ),
  );
  const named = [
    ...new Set(
      bare
        .slice(0, longestTarget)
        .toLowerCase()
        .split(/[^a-z0-9-]+/),
    ),
  ];
  const within = named.filter((word) => catalog.federation(word) ?? catalog.byId(word));
  throw unknownId("endpoint", bare, { alike: [...new Set([...within, ...alike])] });
}

/** The endpoints that are named, of a federation all its members. @throws FedwayError as `placeNamed` */
export function entriesNamed(names: readonly string[], catalog: Catalog): readonly CatalogEntry[] {
  const entries = names.flatMap((name) => {
    const place = placeNamed(name, catalog);
    return "entry" in place ? place.entry : catalog.membersOf(place.federation);
  });
  return [...new Set(entries)];
}

/** The entry that a SERVICE target names, if it is certain which. */
export function entryMeant(iri: string, catalog: Catalog): CatalogEntry | undefined {
  const [entry, ...others] = entriesMeant(iri, catalog);
  return others.length === 0 ? entry : undefined;
}

/**
 * The entry with this URL; else those whose URL differs only in white space around it (which the text
 * keeps as %20), http or https, the scheme's own port, a slash at the end. Case of scheme and host never counts. Else
 * the one with this URL and default graphs of its own; else the one that is known to be meant by this URL: its alias, a part of its data, its query page.
 */
function entriesMeant(iri: string, catalog: Catalog): readonly CatalogEntry[] {
  const exact = catalog.byUrl(iri);
  if (exact || iri.length > longestTarget) return exact ? [exact] : [];
  const bare = iri.replaceAll(/^(?:\s|%20)+|(?<!\s|%20)(?:\s|%20)+$/g, "");
  const [, rest = ""] = /^https?:(\/\/.*)$/is.exec(bare) ?? [];
  if (rest === "") return [];
  const path = rest.replace(/^(\/\/[^/?#]*?):(?:80|443)(?=[/?#]|$)/, "$1").replace(/(?<!\/)\/+$/, "");
  const written = ["https:", "http:"].flatMap((scheme) => [`${scheme}${path}`, `${scheme}${path}/`]);
  const own = written.flatMap((url) => catalog.byUrl(url) ?? []);
  const graphs = own.length > 0 ? own : inOwnGraphs(written, catalog);
  const meant = graphs.length > 0 ? graphs : written.flatMap((url) => catalog.published.byOtherUrl(url)?.entry ?? []);
  return [...new Set(meant)];
}

/** Entries whose URL with their default graphs taken off is one of these. */
const inOwnGraphs = (urls: readonly string[], { entries }: Catalog): readonly CatalogEntry[] =>
  entries.filter(({ url, defaultGraphs }) => defaultGraphs !== undefined && urls.includes(splitGraphs(url).bare));

/**
 * Catalogue ids close to one that does not exist, best first: same letters, contained, one or two typing errors. Of those
 * that are equally close, the ones that are down come last.
 */
export function similarIds(context: PlanContext, id: string): readonly string[] {
  const wanted = id.slice(0, 64).toLowerCase();
  return downLast(context.catalog.entries, context.availability)
    .map((entry) => ({ id: entry.id, distance: idDistance(entry.id.toLowerCase(), wanted) }))
    .filter(({ distance }) => distance <= 2)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 5)
    .map((candidate) => candidate.id);
}

function idDistance(id: string, wanted: string): number {
  if (wanted.length > 2 && (id.includes(wanted) || wanted.includes(id))) return 1;
  return editDistance(id, wanted, 2);
}

/** An endpoint URL without what people get wrong: scheme, case, white space, trailing slash, query. */
function bareUrl(iri: string): string {
  return iri
    .replaceAll(/%20|\s/g, "")
    .toLowerCase()
    .replace(/^https?:\/\//, "")
    .replace(/(?<![/?#])[/?#]+$/, "");
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? "";

/** Catalogue entries that a refused SERVICE target may have meant, best first; of those equally good, those that are down last. */
export function nearMisses(context: PlanContext, iri: string): readonly CatalogEntry[] {
  const target = iri.slice(0, 2_000);
  const bare = bareUrl(target);
  const host = hostOf(target.trim());
  const last = bare.split(/[/:#]/).at(-1) ?? "";
  const tests: readonly ((entry: CatalogEntry) => boolean)[] = [
    (entry) => bareUrl(entry.url) === bare,
    (entry) => entry.id === last || entry.id === bare,
    (entry) => host !== "" && hostOf(entry.url) === host,
  ];
  const entries = downLast(context.catalog.entries, context.availability);
  const found = tests.flatMap((test) => entries.filter((entry) => test(entry)));
  return [...new Set(found)].slice(0, 5);
}
