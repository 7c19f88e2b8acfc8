import type { Catalog, CatalogEntry, Federation } from "./catalog.ts";

/** Who belongs to a federation, among the entries of one state of the catalogue (in id order). */
export function createMembership(
  entries: readonly CatalogEntry[],
  search: ((text: string) => readonly string[]) | undefined,
): Catalog["membersOf"] {
  const find = search ?? ((text: string) => entries.filter((entry) => hasWords(entry, text)).map(({ id }) => id));
  let byKeyword: ReadonlyMap<string, readonly string[]> | undefined;
  return ({ members, memberKeywords, memberQuery }: Federation) => {
    const ids = new Set(members);
    if (memberKeywords.length > 0) byKeyword ??= indexKeywords(entries);
    for (const keyword of memberKeywords) for (const id of byKeyword?.get(folded(keyword)) ?? []) ids.add(id);
    if (memberQuery !== undefined) for (const id of find(memberQuery)) ids.add(id);
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

/** Whether every word of a text occurs in what the entry says of itself. */
function hasWords({ id, title, description = "", keywords }: CatalogEntry, text: string): boolean {
  const said = folded([id, title, description, ...keywords].join(" "));
  return folded(text)
    .split(/\s+/)
    .every((word) => said.includes(word));
}
