import type { CatalogEntry } from "../registry/catalog/catalog.ts";
import type { PlanContext } from "./plan-request.ts";

/** What suggestions are made from. */
type Known = Pick<PlanContext, "catalog" | "availability">;

const shownAtMost = 10;

/** The same endpoints, those that are down last. */
function downLast(entries: readonly CatalogEntry[], { availability }: Known): readonly CatalogEntry[] {
  if (availability === undefined) return entries;
  const isDown = ({ id }: CatalogEntry): boolean => availability.state(id) === "down";
  return [...entries.filter((entry) => !isDown(entry)), ...entries.filter((entry) => isDown(entry))];
}

/**
 * Catalogue ids close to one that does not exist, best first: same letters, contained, one or two typing errors. Of those
 * that are equally close, the ones that are down come last.
 */
export function similarIds(known: Known, id: string): readonly string[] {
  const wanted = id.slice(0, 64).toLowerCase();
  return downLast(known.catalog.entries, known)
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
    .replace(/(?<![/?#])[/?#]+$/, "");
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? "";

/** Catalogue entries that a refused SERVICE target may have meant, best first; of those equally good, those that are down last. */
export function nearMisses(known: Known, iri: string): readonly CatalogEntry[] {
  const target = iri.slice(0, 2_000);
  const bare = bareUrl(target);
  const host = hostOf(target.trim());
  const last = bare.split(/[/:#]/).at(-1) ?? "";
  const tests: readonly ((entry: CatalogEntry) => boolean)[] = [
    (entry) => bareUrl(entry.url) === bare,
    (entry) => entry.id === last || entry.id === bare,
    (entry) => host !== "" && hostOf(entry.url) === host,
  ];
  const entries = downLast(known.catalog.entries, known);
  const found = tests.flatMap((test) => entries.filter((entry) => test(entry)));
  return [...new Set(found)].slice(0, 5);
}

/** What to offer when a query names no endpoint: those that are down only when there are few others. */
export function offeredEntries(known: Known): readonly CatalogEntry[] {
  return downLast(known.catalog.entries, known).slice(0, shownAtMost);
}
