import { setImmediate as nextTurn } from "node:timers/promises";
import type { EntryFilter, EntryPage, LinkedEndpoint } from "../registry/find.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import type { HttpDeps } from "./http-deps.ts";

interface Found extends EntryPage {
  /** Those whose members are needed together, for words only. */
  readonly federations: readonly LinkedEndpoint[];
}

/** As many as are ranked. */
const mostLinked = 100;
const mostWorded = 1_000;

/**
 * Endpoints that fit a filter. Words are ranked as `find_endpoints` ranks them, before what only has the words in its
 * entry; each hit says why it was found. @throws FedwayError `REQUEST_INVALID`
 */
export async function foundEntries(
  { finder, catalog }: HttpDeps,
  { q, ...filter }: EntryFilter,
  entries: readonly CatalogEntry[] = catalog.entries,
): Promise<Found> {
  if (q === undefined || q.trim() === "")
    return { ...(await finder.filterEntriesInTurns(entries, filter)), federations: [] };
  // Words take as long as the reading of all states before.
  await nextTurn();
  const { hits: linked } = await finder.rankEndpoints({ question: q, limit: mostLinked });
  await nextTurn();
  const { hits: worded } = await finder.filterEntriesInTurns(entries, { q, limit: mostWorded, offset: 0 });
  const wordedById = new Map(worded.map((hit) => [hit.entry.id, hit]));
  const linkedById = new Map(linked.flatMap((hit) => hit.ids.map((id) => [id, hit] as const)));
  const ids = new Set([...linkedById.keys(), ...wordedById.keys()]);
  const ranked = [...ids].flatMap((id) => catalog.byId(id) ?? []);
  const found = await finder.filterEntriesInTurns(ranked, filter);
  const reasonsOf = (id: string) => linkedById.get(id)?.reasons() ?? wordedById.get(id)?.why ?? [];
  const hits = found.hits.map((hit) => ({ ...hit, why: [...reasonsOf(hit.entry.id), ...hit.why] }));
  return { ...found, hits, federations: linked.filter((hit) => hit.isFederation).map((hit) => hit.lookUp()) };
}
