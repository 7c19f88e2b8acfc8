import { setImmediate } from "node:timers/promises";
import type { CatalogDocument, CatalogEntry, Federation } from "../registry/catalog.ts";
import { oneSentence, splitOver } from "../registry/schema.ts";
import type { EntryFilter } from "../registry/find.ts";
import type { HttpDeps } from "./http-deps.ts";

type Kind = CatalogDocument["kind"];
type Named = CatalogEntry | Federation;

/** Description of an endpoint, and its author: Fedway or the entry. */
export interface EntryDescription {
  readonly text: string;
  readonly generated: boolean;
}

/** Entries and federations as the JSON API shows them. */
export type CatalogView = ReturnType<typeof createCatalogView>;

/** A view that remembers who said what, which costs time to find out. */
export function createCatalogView(deps: HttpDeps) {
  const { catalog, models, finder } = deps;
  const originOf = createOrigins(catalog);
  const sentenceOf = (of: CatalogEntry): string | undefined =>
    oneSentence({ described: models.get(of.id)?.described, entry: of });

  const entry = async (shown: CatalogEntry, status?: EntryFilter["status"]): Promise<object> => {
    const { description = sentenceOf(shown) } = shown;
    const isGenerated = shown.description === undefined && description !== undefined;
    const statusNow = (): EntryFilter["status"] =>
      finder.filterEntries([shown], { limit: 1, offset: 0 }).hits[0]?.status;
    return {
      ...shown,
      description,
      descriptionGenerated: isGenerated || undefined,
      query: `/endpoints/${shown.id}/sparql`,
      status: status ?? statusNow() ?? "unknown",
      ...(await originOf("endpoint", shown)),
    };
  };
  /** With `whole`, also who its members are. */
  const federation = async (shown: Federation, whole: boolean): Promise<object> => {
    const endpoints = catalog.membersOf(shown);
    return {
      ...shown,
      query: `/federations/${shown.id}/sparql`,
      endpointsTotal: endpoints.length,
      endpoints: whole ? endpoints.map(({ id, title }) => ({ id, title })) : undefined,
      split: whole ? splitOver(endpoints, deps) : undefined,
      missing: shown.members.filter((id) => catalog.byId(id) === undefined),
      ...(await originOf("federation", shown)),
    };
  };
  return {
    entry,
    federation,
    /** The whole of what has this id; undefined when nothing has. */
    async document(kind: Kind, id: string): Promise<object | undefined> {
      const found = named(catalog, kind, id);
      if (found === undefined) return undefined;
      return "members" in found ? federation(found, true) : entry(found);
    },
    /** The operator's own description, else one made from what is known of the data. */
    description(of: CatalogEntry): EntryDescription | undefined {
      if (of.description !== undefined) return { text: of.description, generated: false };
      const text = sentenceOf(of);
      return text === undefined ? undefined : { text, generated: true };
    },
  };
}

const named = (catalog: HttpDeps["catalog"], kind: Kind, id: string): Named | undefined =>
  kind === "endpoint" ? catalog.byId(id) : catalog.federation(id);

/**
 * Author and time of statements. The catalogue parses a document for that, so this is asked once an entry; entries are
 * replaced, never changed.
 */
function createOrigins(catalog: HttpDeps["catalog"]) {
  const known = new WeakMap<Named, object>();
  return async (kind: Kind, shown: Named): Promise<object> => {
    const found = known.get(shown);
    if (found !== undefined) return found;
    // Many in a row would keep others waiting.
    await setImmediate();
    const document = catalog.document(kind, shown.id);
    if (document === undefined) return {};
    const { origin, changedAt } = document;
    const told = { origin, changedAt };
    if (named(catalog, kind, shown.id) === shown) known.set(shown, told);
    return told;
  };
}
