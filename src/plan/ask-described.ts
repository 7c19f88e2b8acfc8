import { analyseQuery } from "../sparql/structure.ts";
import { isWord, type ParsedQuery } from "../sparql/query.ts";
import type { Federation } from "../registry/catalog.ts";
import type { PlanContext, PlanRequest, PlanTask } from "./plan-request.ts";
import type { PlanNote } from "./query-plan.ts";
import { rankedHomes, usesWeight } from "./rank-homes.ts";

/**
 * The federation of all described endpoints, for a query that names no endpoint and is meant for some of them: none ranks higher
 * by what is known of its terms, and no term is known of other endpoints only. Undefined for what a federation has no answer to:
 * GRAPH, datasets, and DESCRIBE, which may be of any triple.
 */
export function describedMeant(
  parsed: ParsedQuery,
  { context, request, entry, over }: PlanTask,
): Federation | undefined {
  const { catalog } = context;
  const federation = entry || over ? undefined : catalog.federations.find(({ builtIn }) => builtIn);
  if (federation === undefined || !isPlain(parsed, request)) return undefined;
  const members = new Set(catalog.membersOf(federation).map(({ id }) => id));
  const homes = rankedHomes(parsed, context);
  const own = homes.filter(({ id }) => members.has(id));
  const had = new Set(own.flatMap(({ has }) => has));
  const isBest = had.size > 0 && (own[0]?.score ?? 0) * (1 + usesWeight) >= (homes[0]?.score ?? 0);
  return isBest && homes.every(({ has }) => has.every((term) => had.has(term))) ? federation : undefined;
}

/** A federation can have an answer: there are triples to match, and no graphs to choose from. */
function isPlain(parsed: ParsedQuery, { strict, defaultGraphs, namedGraphs }: PlanRequest): boolean {
  const isOther = strict || parsed.form === "DESCRIBE" || defaultGraphs.length + namedGraphs.length > 0;
  if (isOther || parsed.tokens.some((token) => isWord(token, "SERVICE", "GRAPH", "FROM"))) return false;
  return analyseQuery(parsed).outside.length > 0;
}

/** How many endpoints the federation of all described ones leaves unasked, where a request names it or means it. */
export function describedNotes(
  { catalog, terms }: PlanContext,
  { federationId }: PlanRequest,
  meant: boolean,
): readonly PlanNote[] {
  if (!meant && (federationId === undefined || !catalog.federation(federationId)?.builtIn)) return [];
  const { length: all } = catalog.entries;
  const undescribed = catalog.entries.filter(({ id }) => terms?.descriptionVersion(id) === undefined).length;
  const sent = meant ? "The query names no endpoint and was sent to all described ones (federation catalog). " : "";
  const others =
    undescribed === 0
      ? `All ${all} endpoints of the catalogue are described.`
      : `${undescribed} of the ${all} endpoints of the catalogue are not described and were not asked.`;
  return [{ code: "CATALOG_ASKED", message: `${sent}${others}` }];
}
