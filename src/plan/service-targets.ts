import { type ErrorWhere, FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry, Federation } from "../registry/catalog.ts";
import { type Query, elementsWithin, type ServiceClause } from "../sparql/query.ts";
import { entryMeant, longestTarget, nearMisses } from "./meant-entries.ts";
import { misplacedExtension } from "./offer-endpoints.ts";
import type { PlanContext, PlanTask } from "./plan-request.ts";
import type { PlannedEndpoint, PlanNote } from "./query-plan.ts";

/** Target of each SERVICE clause of a query. */
export interface ServiceTargets {
  /** Endpoint of each member clause with a constant target, by the token index at which the clause starts. */
  readonly members: ReadonlyMap<number, PlannedEndpoint>;
  /** Token indexes of clauses that extend their endpoint's engine and stay where they are. */
  readonly pseudo: ReadonlySet<number>;
  /** `SERVICE_NORMALISED` for each target that was taken to mean entries whose URLs are written otherwise. */
  readonly notes: readonly PlanNote[];
}

/** The endpoint of a clause whose variable names it, as plans write it until the values are known. */
export const isOpenTarget = ({ url }: PlannedEndpoint): boolean => url.startsWith("?");

/** A target variable that has a value in each solution that the clause is joined with, so that it can be asked with these. */
function isBoundTarget({ target, parent, inGraph, place, element }: ServiceClause): boolean {
  const isPlain = parent === undefined && inGraph === "none" && !place.includes("exists");
  return (
    target.kind === "variable" &&
    target.isBound &&
    isPlain &&
    !elementsWithin([element.group]).some(({ kind }) => kind === "service")
  );
}

/** A federation as SERVICE names it; one of a single member is that member. */
function plannedFederation(
  federation: Federation,
  place: ClausePlace,
  { catalog, publicUrl }: PlanContext,
): PlannedEndpoint {
  const { id } = federation;
  const [first, ...others] = catalog.membersOf(federation).map((entry) => plannedEndpoint(entry));
  if (first === undefined) throw refused(id, { place, why: "is a federation without a member in the catalogue" });
  if (others.length === 0) return first;
  const over = { federation: id, members: [first, ...others], onlyNamed: federation.builtIn };
  return { url: federationUrl(publicUrl, id), over };
}

/** Where this service answers for a federation. */
export const federationUrl = (publicUrl: string, id: string): string => `${publicUrl}/federations/${id}/sparql`;

/** An endpoint of the catalogue as plans name it. */
export function plannedEndpoint(entry: CatalogEntry): PlannedEndpoint {
  return {
    id: entry.id,
    url: entry.url,
    method: entry.method,
    rowCap: entry.rowCap,
    ...(entry.neverKept && { neverKept: true }),
    interface: entry.interface === "sparql" ? undefined : entry.interface,
  };
}

// The entries are replaced with every change of the catalogue.
const mirrorsKnown = new WeakMap<readonly CatalogEntry[], ReadonlyMap<string, CatalogEntry>>();

/** The first mirror of each endpoint that has one, by the endpoint's id. */
export function mirrorsIn(entries: readonly CatalogEntry[]): ReadonlyMap<string, CatalogEntry> {
  const known = mirrorsKnown.get(entries);
  if (known) return known;
  const mirrors = new Map<string, CatalogEntry>();
  for (const entry of entries) {
    const { id, mirrorOf, interface: reached } = entry;
    if (mirrorOf === undefined || mirrorOf === id || reached !== "sparql" || mirrors.has(mirrorOf)) continue;
    mirrors.set(mirrorOf, entry);
  }
  mirrorsKnown.set(entries, mirrors);
  return mirrors;
}

/**
 * Looks up every SERVICE target at every nesting level; those of a variable are checked for each of its values.
 * @throws FedwayError `SERVICE_TARGET_REFUSED`, `SERVICE_SELF`, `SERVICE_VARIABLE_UNBOUND`, `SERVICE_REQUIRED`
 */
export function serviceTargets(query: Query, task: PlanTask): ServiceTargets {
  const members = new Map<number, PlannedEndpoint>();
  const pseudo = new Set<number>();
  const normalised = new Map<string, PlannedEndpoint>();
  const notes: PlanNote[] = [];
  const lookUp = (iri: string, place: ClausePlace): PlannedEndpoint => {
    const endpoint = uncataloguedTarget(iri, place, task.context);
    if (iri !== endpoint.url) normalised.set(iri, endpoint);
    return endpoint;
  };
  const hasBase = query.prologue.base !== undefined;
  for (const clause of query.services) {
    const { target, element, where } = clause;
    const place = { where, hasBase };
    if (target.kind === "variable" && isBoundTarget(clause)) members.set(element.from, { url: `?${target.name}` });
    else if (target.kind === "variable") {
      for (const { iri, text } of valuesOf(clause)) {
        if (iri === undefined) throw refused(text, { place, why: "is not an IRI" });
        if (!cataloguedTarget(iri, place, task.context)) lookUp(iri, place);
      }
    } else if (isKeyword(target.iri))
      notes.push(keywordNote(target.iri, keywordEntries(target.iri, clause, task.context)));
    else if (isPseudo(target.iri, surroundingEntry(clause, members, task))) pseudo.add(element.from);
    else {
      const known = cataloguedTarget(target.iri, place, task.context);
      if (!known) refuseMisplaced(target.iri, clause, query, task.context);
      members.set(element.from, known ?? lookUp(target.iri, place));
    }
  }
  notes.push(...[...normalised].map(([iri, endpoint]) => normalisedNote(iri, endpoint, task.context)));
  return { members, pseudo, notes };
}

/** @throws FedwayError for a target that extends the engine of an endpoint and stands outside of it */
function refuseMisplaced(iri: string, clause: ServiceClause, query: Query, context: PlanContext): void {
  const misplaced = misplacedExtension(iri, query, { clause, context });
  if (misplaced) throw misplaced;
}

/**
 * The endpoint that a value of a SERVICE variable names.
 * @throws FedwayError `SERVICE_TARGET_REFUSED`, `SERVICE_SELF`
 */
export function endpointNamed(iri: string, context: PlanContext): PlannedEndpoint {
  try {
    return cataloguedTarget(iri, {}, context) ?? uncataloguedTarget(iri, {}, context);
  } catch (thrown) {
    const { code, message, details } = toFedwayError(thrown);
    const next =
      "Add the endpoint to the catalogue, leave the value out with a FILTER beside what binds it, or write SERVICE SILENT.";
    throw new FedwayError(code, message, { ...details, next });
  }
}

const keywordPrefix = "fedway:keyword/";
// Each is asked separately; more than this must be a federation.
const mostWithKeyword = 64;

/** True for `SERVICE <fedway:keyword/biology>`: all endpoints of the catalogue with this keyword. */
export const isKeyword = (iri: string): boolean => iri.startsWith(keywordPrefix);

/** The entries with the keyword of a target. */
export const withKeyword = (iri: string, { catalog }: PlanContext): readonly CatalogEntry[] =>
  catalog.membersOf({ members: [], memberKeywords: [keywordIn(iri)] });

function keywordIn(iri: string): string {
  const written = iri.slice(keywordPrefix.length);
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

/** @throws FedwayError `SERVICE_TARGET_REFUSED` when nothing has the keyword, or too much */
function keywordEntries(iri: string, place: ClausePlace, context: PlanContext): readonly CatalogEntry[] {
  const entries = withKeyword(iri, context);
  if (entries.length > 0 && entries.length <= mostWithKeyword) return entries;
  const where = whereIs(place, iri.slice(0, 200));
  const keyword = keywordIn(iri).slice(0, 200);
  if (entries.length === 0) {
    throw new FedwayError("SERVICE_TARGET_REFUSED", `No endpoint of the catalogue has the keyword "${keyword}".`, {
      where,
      next: "/api/endpoints lists the endpoints with their keywords.",
    });
  }
  throw new FedwayError(
    "SERVICE_TARGET_REFUSED",
    `${entries.length} endpoints have the keyword "${keyword}", and a SERVICE takes ${mostWithKeyword}.`,
    { where, next: "Make a federation with this keyword, and send it the query without SERVICE." },
  );
}

const keywordNote = (iri: string, entries: readonly CatalogEntry[]): PlanNote => ({
  code: "SERVICE_NORMALISED",
  message: `SERVICE <${iri.slice(0, 200)}> was taken to mean ${entries.map(({ id }) => id).join(", ")}.`,
});

function normalisedNote(iri: string, { id, url }: PlannedEndpoint, { catalog }: PlanContext): PlanNote {
  const other = catalog.published.byOtherUrl(iri);
  const facts = id === undefined || other === undefined ? undefined : catalog.published.facts(id);
  const why = other && facts ? `: ${otherUrlText[other.as]} (${facts.provenance})` : "";
  const named = id === undefined ? "" : `${id}, which is `;
  return {
    code: "SERVICE_NORMALISED",
    message: `SERVICE <${iri.slice(0, 200)}> was taken to mean ${named}<${url}>${why}.`,
  };
}

const otherUrlText = {
  alias: "it is another or a former URL of it",
  part: "it has a part of its data",
  page: "it is its query page",
} as const;

/** The catalogue entry whose endpoint evaluates what stands around a clause. */
function surroundingEntry(
  clause: ServiceClause,
  members: ReadonlyMap<number, PlannedEndpoint>,
  { context, entry }: PlanTask,
): CatalogEntry | undefined {
  if (!clause.parent) return entry;
  const id = members.get(clause.parent.element.from)?.id;
  if (id !== undefined) return context.catalog.byId(id);
  // A variable's values are known here, and its copies are looked up one by one once it is expanded.
  const { target } = clause.parent;
  const value = target.kind === "variable" ? target.values?.[0]?.iri : undefined;
  return value === undefined ? undefined : context.catalog.byUrl(value);
}

function isPseudo(iri: string, entry: CatalogEntry | undefined): boolean {
  return entry?.pseudoServices.includes(iri) ?? false;
}

function valuesOf(clause: ServiceClause): readonly { readonly iri?: string; readonly text: string }[] {
  const { target } = clause;
  if (target.kind === "iri") return [];
  if (target.values) return target.values;
  throw new FedwayError("SERVICE_VARIABLE_UNBOUND", `Nothing says which endpoints SERVICE ?${target.name} means.`, {
    where: clause.where,
    next: `Name them in the same group, VALUES ?${target.name} { <endpoint-1> <endpoint-2> } without UNDEF, or let a pattern before the clause bind ?${target.name} in each solution.`,
  });
}

interface ClausePlace {
  /** Absent for a value out of data. */
  readonly where?: ServiceClause["where"];
  /** With BASE an id in the place of a URL would be another URL. */
  readonly hasBase?: boolean;
}

const whereIs = ({ where }: ClausePlace, endpoint: string): ErrorWhere => ({ ...where, endpoint });

/** The federation or endpoint of the catalogue with this URL. */
function cataloguedTarget(iri: string, place: ClausePlace, context: PlanContext): PlannedEndpoint | undefined {
  const { catalog } = context;
  const federation = catalog.federationByUrl(iri);
  if (federation) return plannedFederation(federation, place, context);
  const entry = isPart(iri, context) ? undefined : catalog.byUrl(iri);
  return entry && plannedEndpoint(entry);
}

/** The endpoint that a target means whose URL is not in the catalogue. */
function uncataloguedTarget(iri: string, place: ClausePlace, context: PlanContext): PlannedEndpoint {
  const entry = isPart(iri, context) ? undefined : entryMeant(iri, context.catalog);
  if (entry) return plannedEndpoint(entry);
  const url = targetUrl(iri, place, context);
  if (url.username !== "" || url.password !== "") {
    throw refused(iri.replace(/\/\/[^/@]*@/, "//"), { place, why: "carried a user name or password", context });
  }
  if (isOwn(url, context)) throw selfCall(iri, place, context);
  if (iri.includes("#"))
    throw refused(iri, { place, why: "has a fragment and is no endpoint that could be called", context });
  if (context.egress === "catalog") throw refused(iri, { place, why: "is not in the catalogue", context });
  return { url: iri.replace(/(?<!%20)(?:%20)+$/, "") };
}

/** True for an endpoint with a part of an entry's data, which is asked itself where that is allowed. */
const isPart = (iri: string, { catalog, egress }: PlanContext): boolean =>
  egress === "public" && catalog.published.byOtherUrl(iri)?.as === "part";

function targetUrl(iri: string, place: ClausePlace, context: PlanContext): URL {
  // Remembered facts of endpoints, up to thousands of them, go by URL.
  if (iri.length > longestTarget) throw refused(iri, { place, why: `has more than ${longestTarget} characters` });
  const url = URL.parse(iri);
  if (url && (url.protocol === "http:" || url.protocol === "https:")) return url;
  throw refused(iri, { place, why: "is not an http or https URL", context });
}

/** Below the path of the public URL: other paths of that host are other services. */
export function isOwn({ origin, pathname }: URL, { publicUrl }: PlanContext): boolean {
  const own = URL.parse(`${publicUrl}/`);
  return own?.origin === origin && `${pathname}/`.startsWith(own.pathname);
}

/** Own URLs that are no catalogue endpoint: the federating routes would call themselves, the others do not exist. */
function selfCall(iri: string, place: ClausePlace, context: PlanContext): FedwayError {
  const path = URL.parse(iri)?.pathname ?? "";
  if (/\/(?:endpoint|federation)s\//.test(path))
    return refused(iri, { place, why: "is not in the catalogue", context });
  return new FedwayError("SERVICE_SELF", `SERVICE <${iri.slice(0, 200)}> is this service itself.`, {
    where: whereIs(place, iri.slice(0, 200)),
    next: "Name the endpoint or federation itself: SERVICE takes its URL or its id in the catalogue.",
  });
}

interface Refusal {
  readonly place: ClausePlace;
  readonly why: string;
  readonly context?: PlanContext;
}

function refused(iri: string, { place, why, context }: Refusal): FedwayError {
  const near = context ? nearMisses(context, iri) : [];
  const shown = iri.slice(0, 200);
  const [best] = near;
  const next = best
    ? `Did you mean SERVICE <${place.hasBase ? best.url : best.id}>, which is ${place.hasBase ? best.id : best.url}?`
    : "Use the id or the URL of an endpoint from /api/endpoints, or of a federation from /api/federations.";
  return new FedwayError("SERVICE_TARGET_REFUSED", `The SERVICE target ${shown} ${why}.`, {
    where: whereIs(place, shown),
    next,
    ...(near.length > 0 && { endpoints: near.map((entry) => entry.id) }),
  });
}
