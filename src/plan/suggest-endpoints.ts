import type { Catalog, CatalogEntry } from "../registry/catalog.ts";

const shownAtMost = 10;

/** Catalogue ids close to one that does not exist, best first: same letters, contained, one or two typing errors. */
export function similarIds(catalog: Catalog, id: string): readonly string[] {
  const wanted = id.slice(0, 64).toLowerCase();
  return catalog.entries
    .map((entry) => ({ id: entry.id, distance: idDistance(entry.id.toLowerCase(), wanted) }))
    .filter(({ distance }) => distance <= 2)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 5)
    .map((candidate) => candidate.id);
}

function idDistance(id: string, wanted: string): number {
  if (wanted.length > 2 && (id.includes(wanted) || wanted.includes(id))) return 1;
  return editDistance(id, wanted);
}

/** Levenshtein distance of two short strings. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of Array.from(a).entries()) {
    const row = [i + 1];
    for (const [j, other] of Array.from(b).entries()) {
      const changed = (previous[j] ?? 0) + (letter === other ? 0 : 1);
      row.push(Math.min(changed, (previous[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    previous = row;
  }
  return previous.at(-1) ?? 0;
}

/** An endpoint URL without what people get wrong: scheme, case, white space, trailing slash, query. */
function bareUrl(iri: string): string {
  return iri
    .replaceAll(/%20|\s/g, "")
    .toLowerCase()
    .replace(/^https?:\/\//, "")
    .replace(/[/?#]+$/, "");
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? "";

/** Catalogue entries that a refused SERVICE target may have meant, best first. */
export function nearMisses(catalog: Catalog, iri: string): readonly CatalogEntry[] {
  const target = iri.slice(0, 2_000);
  const last = bareUrl(target).split(/[/:#]/).at(-1) ?? "";
  const tests: readonly ((entry: CatalogEntry) => boolean)[] = [
    (entry) => bareUrl(entry.url) === bareUrl(target),
    (entry) => entry.id === last || entry.id === bareUrl(target),
    (entry) => hostOf(entry.url) !== "" && hostOf(entry.url) === hostOf(target.trim()),
  ];
  const found = tests.flatMap((test) => catalog.entries.filter((entry) => test(entry)));
  return [...new Set(found)].slice(0, 5);
}

/** Catalogue ids to offer when a query names no endpoint. */
export function offeredIds(catalog: Catalog): readonly string[] {
  return catalog.entries.slice(0, shownAtMost).map((entry) => entry.id);
}
