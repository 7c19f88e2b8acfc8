import { twoTargets, unknownId } from "../errors/unknown-id.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { parseQuery, type Query } from "../sparql/query.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import { itemAt } from "../values.ts";
import { type Draft, draftOf } from "./decide-plan.ts";
import { entryMeant, placeNamed, similarIds } from "./meant-entries.ts";
import type { KnownFederation, Place, PlanContext, PlanRequest, PlanTask } from "./plan-request.ts";
import { betterHomesText } from "./offer-endpoints.ts";
import { isOwn } from "./service-targets.ts";
import { lateNote, type PlanNote } from "./query-plan.ts";

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
 * The query at the endpoint or federation that its FROM names, else, if it names no place and reads data, over all described
 * endpoints; and a note on how many the federation of all described ones leaves unasked.
 */
export function withPlace(draft: Draft): Draft {
  const { read, task, headNotes } = draft;
  const { context, request, entry, over } = task;
  const isOpen = entry === undefined && over === undefined && request.federationId === undefined;
  const found = isOpen ? (placeInFrom(read, context) ?? describedMeant(read, task)) : undefined;
  const { query = read, sent = "", ...place } = found ?? { federationId: request.federationId };
  const notes = [...headNotes, ...describedNotes({ query, sent, ...place }, context)];
  if (found === undefined) return { ...draft, headNotes: notes };
  const placed = { ...request, ...place };
  return { ...draftOf(query, { ...task, request: placed, ...placeOf(placed, context) }), headNotes: notes };
}

/** A place that a query means. */
interface MeantPlace {
  readonly endpointId?: string | undefined;
  readonly federationId?: string | undefined;
  /** The query as it is sent there. */
  readonly query: Query;
  /** For its note. */
  readonly sent: string;
}

/**
 * The endpoint or federation that FROM names by its URL, and the query without this FROM, in which everything else keeps its place.
 * @throws FedwayError `REQUEST_INVALID` where FROM names several; `ENDPOINT_UNKNOWN` for a URL of this service that names none
 */
function placeInFrom(query: Query, context: PlanContext): MeantPlace | undefined {
  const named = query.datasets.flatMap(({ iri, named: isNamed }, at) => {
    const place = isNamed ? undefined : placeAt(iri, context);
    return place === undefined ? [] : [{ at, iri, place }];
  });
  const [first] = named;
  if (first === undefined) return undefined;
  const { endpointId, federationId } = first.place;
  const other = named.find(({ place }) => place.endpointId !== endpointId || place.federationId !== federationId);
  if (other) {
    throw new FedwayError("REQUEST_INVALID", `FROM names two places: ${first.iri} and ${other.iri}.`, {
      next: "Name one endpoint or federation, or leave out FROM: the query then runs over all described endpoints.",
    });
  }
  const blanked = named.map(({ at }) => {
    const { range } = itemAt(query.datasetEdits, at);
    return { range, replacement: query.textOf(range).replaceAll(/[^\r\n]/g, " ") };
  });
  const placed = parseQuery(query.cut(blanked));
  const unmatched = placed.datasets.length > 0 && placed.patterns.some(({ graph }) => graph === "none");
  if (unmatched) throw withoutDefaultGraph(first.iri);
  return { ...first.place, query: placed, sent: "" };
}

/** The place with a URL; undefined for an IRI that may be one of a graph, which routes of this service to places are not. */
function placeAt(iri: string, context: PlanContext): Pick<MeantPlace, "endpointId" | "federationId"> | undefined {
  const { catalog } = context;
  const federation = catalog.federationByUrl(iri);
  if (federation) return { federationId: federation.id };
  const entry = entryMeant(iri, catalog);
  if (entry) return { endpointId: entry.id };
  const url = URL.parse(iri);
  const [, id] = /\/(?:endpoints|federations|hosted)\/([^/]+)/.exec(url?.pathname ?? "") ?? [];
  if (url === null || id === undefined || !isOwn(url, context)) return undefined;
  const meant = placeNamed(id, catalog);
  return "entry" in meant ? { endpointId: meant.entry.id } : { federationId: meant.federation.id };
}

/** The query's FROM NAMED would empty the default graph that FROM was meant for (SPARQL 1.1 Query, section 13.2). */
const withoutDefaultGraph = (iri: string): FedwayError =>
  new FedwayError(
    "REQUEST_INVALID",
    `FROM <${iri}> names an endpoint or federation, whose default graph cannot be combined with FROM NAMED.`,
    { next: "Leave out FROM NAMED: GRAPH reads all named graphs of the place that FROM names." },
  );

/**
 * The federation of all described endpoints, for a query that names no endpoint and reads data. Undefined while nothing is described, and
 * for strict requests.
 */
function describedMeant(query: Query, { context: { catalog }, request: { strict } }: PlanTask): MeantPlace | undefined {
  const readsData = query.outside.length > 0 || query.form === "DESCRIBE";
  if (strict || query.services.length > 0 || !readsData) return undefined;
  const federation = catalog.federations.find(({ builtIn }) => builtIn);
  if (federation === undefined || catalog.membersOf(federation).length === 0) return undefined;
  const sent = `The query names no endpoint and was sent to all described ones (federation ${federation.id}). `;
  return { federationId: federation.id, query, sent };
}

/** How many endpoints the federation of all described ones leaves unasked, where it is asked. */
function describedNotes(
  { federationId, query: { text }, sent }: MeantPlace,
  context: PlanContext,
): readonly PlanNote[] {
  const { catalog, terms } = context;
  if (federationId === undefined || !catalog.federation(federationId)?.builtIn) return [];
  const message = (): string => {
    const { length: all } = catalog.entries;
    const isDescribed = (id: string): boolean => terms?.descriptionVersion(id) !== undefined;
    const { length: undescribed } = catalog.entries.filter(({ id }) => !isDescribed(id));
    if (undescribed === 0) return `${sent}All ${all} endpoints of the catalogue are described.`;
    const others = `${undescribed} of the ${all} endpoints of the catalogue are not described and were not asked.`;
    // Parsed again: a tree that waits for its reader would stay in the cache of plans.
    return `${sent}${others}${betterHomesText(parseQuery(text), isDescribed, context)}`;
  };
  return [lateNote("CATALOG_ASKED", message)];
}
