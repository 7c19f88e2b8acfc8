import type { CatalogDocument, CatalogEntry, Federation } from "../registry/catalog.ts";
import { oneSentence, splitOver } from "../registry/schema.ts";
import type { EntryFilter } from "../registry/find.ts";
import type { HttpDeps } from "./http-deps.ts";

/** Description of an endpoint, and its author: Fedway or the entry. */
export interface EntryDescription {
  readonly text: string;
  readonly generated: boolean;
}

/** Entries and federations as the JSON API shows them. */
export type CatalogView = ReturnType<typeof createCatalogView>;

export function createCatalogView(deps: HttpDeps) {
  const { catalog, models, finder } = deps;
  const sentenceOf = (of: CatalogEntry): string | undefined =>
    oneSentence({ described: models.get(of.id)?.described, entry: of });

  const entry = (shown: CatalogEntry, status?: EntryFilter["status"]): object => {
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
      ...catalog.authorship("endpoint", shown.id),
    };
  };
  /** With `whole`, also who its members are. */
  const federation = (shown: Federation, whole: boolean): object => {
    const endpoints = catalog.membersOf(shown);
    return {
      ...shown,
      query: `/federations/${shown.id}/sparql`,
      endpointsTotal: endpoints.length,
      endpoints: whole ? endpoints.map(({ id, title }) => ({ id, title })) : undefined,
      split: whole ? splitOver(endpoints, deps) : undefined,
      missing: shown.members.filter((id) => catalog.byId(id) === undefined),
      ...catalog.authorship("federation", shown.id),
    };
  };
  return {
    entry,
    federation,
    /** The whole of what has this id; undefined when nothing has. */
    document(kind: CatalogDocument["kind"], id: string): object | undefined {
      const found = kind === "endpoint" ? catalog.byId(id) : catalog.federation(id);
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
