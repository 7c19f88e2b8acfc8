import { twoTargets, unknownId } from "../errors/unknown-id.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { isWord, type Query } from "../sparql/query.ts";
import type { CatalogEntry, Federation } from "../registry/catalog.ts";
import { type Draft, draftOf } from "./decide-plan.ts";
import { similarIds } from "./meant-entries.ts";
import type { KnownFederation, Place, PlanContext, PlanRequest, PlanTask } from "./plan-request.ts";
import type { PlanNote } from "./query-plan.ts";
import { rankedHomes, usesWeight } from "./rank-homes.ts";

/**
 * The endpoint or federation that the request names.
 * @throws FedwayError `ENDPOINT_UNKNOWN`, `FEDERATION_UNKNOWN`, `REQUEST_INVALID`
 */
export function placeOf({ endpointId, federationId }: PlanRequest, context: PlanContext): Place {
  if (endpointId !== undefined && federationId !== undefined) throw twoTargets();
  if (endpointId !== undefined) return { entry: knownEntry(endpointId, context) };
  return federationId === undefined ? { entry: undefined } : overFederation(federationId, context);
}

/** The members of a federation as one graph, or its only member. */
function overFederation(id: string, context: PlanContext): Place {
  const over = knownFederation(id, context);
  const [only] = over.members;
  return over.members.length === 1 ? { entry: only } : { entry: undefined, over };
}

function knownFederation(id: string, { catalog }: PlanContext): KnownFederation {
  const federation = catalog.federation(id);
  if (!federation) throw unknownId("federation", id, catalog);
  const members = catalog.membersOf(federation);
  if (members.length > 0) return { federation, members };
  throw new FedwayError("REQUEST_INVALID", `The federation ${id} has no member in the catalogue.`, {
    next: federation.builtIn
      ? "Its members are the endpoints that are described: POST /api/endpoints/{id}/describe describes one."
      : "Give it members that are in the catalogue.",
  });
}

function knownEntry(id: string, context: PlanContext): CatalogEntry {
  const entry = context.catalog.byId(id);
  if (entry) return entry;
  throw unknownId("endpoint", id, { alike: similarIds(context, id) });
}

/**
 * The query over all described endpoints, if it names none and means some of them; and a note on how many the federation of all
 * described ones leaves unasked.
 */
export function withDescribed(draft: Draft): Draft {
  const { read, task, headNotes } = draft;
  const { context, request } = task;
  const meant = describedMeant(read, task);
  const placed = meant === undefined ? draft : draftOf(read, { ...task, ...overFederation(meant.id, context) });
  return { ...placed, headNotes: [...headNotes, ...describedNotes(context, request, meant !== undefined)] };
}

/**
 * The federation of all described endpoints, for a query that names no endpoint and is meant for some of them: none ranks higher
 * by what is known of its terms, and no term is known of other endpoints only. Undefined for what a federation has no answer to:
 * GRAPH, datasets, and DESCRIBE, which may be of any triple.
 */
export function describedMeant(parsed: Query, { context, request, entry, over }: PlanTask): Federation | undefined {
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
function isPlain(parsed: Query, { strict, defaultGraphs, namedGraphs }: PlanRequest): boolean {
  const isOther = strict || parsed.form === "DESCRIBE" || defaultGraphs.length + namedGraphs.length > 0;
  if (isOther || parsed.tokens.some((token) => isWord(token, "SERVICE", "GRAPH", "FROM"))) return false;
  return parsed.outside.length > 0;
}

/** How many endpoints the federation of all described ones leaves unasked, where a request names it or means it. */
function describedNotes(
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
