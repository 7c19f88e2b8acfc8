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
  const linked = (await finder.findEndpoints({ question: q, limit: mostLinked })).endpoints;
  await nextTurn();
  const { hits: worded } = await finder.filterEntriesInTurns(entries, { q, limit: mostWorded, offset: 0 });
  const reasons = new Map([
    ...worded.map(({ entry, why }) => [entry.id, why] as const),
    ...linked.flatMap((hit) => idsOf(hit).map((id) => [id, hit.why] as const)),
  ]);
  const ids = new Set([...linked.flatMap(idsOf), ...worded.map(({ entry }) => entry.id)]);
  const ranked = [...ids].flatMap((id) => catalog.byId(id) ?? []);
  const found = await finder.filterEntriesInTurns(ranked, filter);
  const hits = found.hits.map((hit) => ({ ...hit, why: [...(reasons.get(hit.entry.id) ?? []), ...hit.why] }));
  return { ...found, hits, federations: linked.filter(({ federation }) => federation !== undefined) };
}

const idsOf = ({ id, federation }: LinkedEndpoint): readonly string[] => federation?.matching ?? [id];
