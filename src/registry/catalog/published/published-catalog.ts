import type { CatalogEntry } from "../catalog.ts";
import type { PublishedFacts } from "./published-facts.ts";

/** An entry that a URL means which is not the entry's own. */
interface OtherUrl {
  readonly entry: CatalogEntry;
  /** Another or former URL; a part of the data; a page for people. */
  readonly as: "alias" | "part" | "page";
}

/** Published facts of one state of the catalogue, by endpoint id. */
export interface PublishedCatalog {
  /** Ids of the entries with facts, in id order. */
  readonly ids: readonly string[];
  facts(id: string): PublishedFacts | undefined;
  /** The entry that a URL is known to mean without being its own. */
  byOtherUrl(url: string): OtherUrl | undefined;
  /** Id of the entry whose data an endpoint copies; its own where it is no copy, or one of several. */
  originalOf(id: string): string;
}

interface Entries {
  readonly entries: readonly CatalogEntry[];
  readonly byUrl: (url: string) => CatalogEntry | undefined;
  /** See `UrlKey`. */
  readonly keyOf: (url: string) => string | undefined;
}

/** The facts of the entries that are there; of other endpoints nothing is kept. */
export function publishedCatalog(
  published: readonly PublishedFacts[],
  { entries, byUrl, keyOf }: Entries,
): PublishedCatalog {
  const byId = new Map<string, PublishedFacts>();
  const others = new Map<string, OtherUrl>();
  const originals = new Map<string, Set<string>>();
  const addCopy = (copy: string, original: string): void =>
    void originals.set(copy, (originals.get(copy) ?? new Set()).add(original));
  for (const facts of published) {
    const entry = byUrl(facts.url);
    if (entry === undefined) continue;
    byId.set(entry.id, facts);
    const lists = [
      ["alias", facts.aliases],
      ["part", facts.parts],
      ["page", facts.pages],
    ] as const;
    for (const [as, urls] of lists) {
      for (const url of urls) {
        const key = keyOf(url);
        if (key !== undefined && !others.has(key)) others.set(key, { entry, as });
      }
    }
    for (const url of facts.mirrors) {
      const copy = byUrl(url);
      if (copy !== undefined) addCopy(copy.id, entry.id);
    }
  }
  for (const { id, mirrorOf } of entries) if (mirrorOf !== undefined) addCopy(id, mirrorOf);
  return {
    ids: [...byId.keys()].toSorted(),
    facts: (id) => byId.get(id),
    byOtherUrl: (url) => {
      const key = keyOf(url);
      return key === undefined ? undefined : others.get(key);
    },
    originalOf: (id) => {
      const [original, ...more] = originals.get(id) ?? [];
      return original === undefined || more.length > 0 ? id : original;
    },
  };
}
