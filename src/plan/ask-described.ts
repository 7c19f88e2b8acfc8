import { analyseQuery } from "../sparql/analyse-query.ts";
import type { ParsedQuery } from "../sparql/parse-query.ts";
import { isWord } from "../sparql/tokens.ts";
import type { PlanContext, PlanTask } from "./plan-request.ts";
import type { PlanNote } from "./query-plan.ts";
import { rankedHomes, usesWeight } from "./rank-homes.ts";

/**
 * The federation of all described endpoints, for a query that names no endpoint and is meant for some of them: none ranks higher
 * by what is known of its terms, and no term is known of other endpoints only. Undefined for what a federation has no answer to:
 * GRAPH, datasets, and DESCRIBE, which may be of any triple.
 */
export function describedMeant(parsed: ParsedQuery, { context, request }: PlanTask): string | undefined {
  const { catalog } = context;
  const federation = catalog.federations.find(({ builtIn }) => builtIn);
  const hasDataset = request.defaultGraphs.length + request.namedGraphs.length > 0;
  if (federation === undefined || request.strict || hasDataset || parsed.form === "DESCRIBE") return undefined;
  if (parsed.tokens.some((token) => isWord(token, "SERVICE", "GRAPH", "FROM"))) return undefined;
  if (analyseQuery(parsed).outside.length === 0) return undefined;
  const members = new Set(catalog.membersOf(federation).map(({ id }) => id));
  const homes = rankedHomes(parsed, context);
  const own = homes.filter(({ id }) => members.has(id));
  const had = new Set(own.flatMap(({ has }) => has));
  const isBest = had.size > 0 && (own[0]?.score ?? 0) * (1 + usesWeight) >= (homes[0]?.score ?? 0);
  return isBest && homes.every(({ has }) => has.every((term) => had.has(term))) ? federation.id : undefined;
}

/** How many endpoints the federation of all described ones leaves unasked. */
export function describedNote({ catalog, terms }: PlanContext, isNamed: boolean): PlanNote {
  const { length: all } = catalog.entries;
  const undescribed = catalog.entries.filter(({ id }) => terms?.descriptionVersion(id) === undefined).length;
  const sent = isNamed ? "" : `The query names no endpoint and was sent to all described ones (federation catalog). `;
  const others =
    undescribed === 0
      ? `All ${all} endpoints of the catalogue are described.`
      : `${undescribed} of the ${all} endpoints of the catalogue are not described and were not asked.`;
  return { code: "CATALOG_ASKED", message: `${sent}${others}` };
}
