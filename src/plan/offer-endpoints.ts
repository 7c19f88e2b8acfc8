import { type ErrorWhere, FedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry, Federation } from "../registry/catalog.ts";
import type { Query, ServiceClause } from "../sparql/query.ts";
import { type UsedTerm } from "../sparql/patterns.ts";
import { type MeantTerm, meantInstead, written } from "./known-terms.ts";
import type { PlanContext } from "./plan-request.ts";
import { extensionHolders, type Home, rankedHomes } from "./rank-homes.ts";

/** An endpoint to offer for a query that names none. */
interface OfferedEndpoint {
  readonly entry: CatalogEntry;
  /** Those of the query's terms that it has, as the query writes them. */
  readonly has: readonly string[];
  /** Where that is known from, when its own description does not say so. */
  readonly provenance?: string | undefined;
  /** Ids of other endpoints with the same data. */
  readonly copies: readonly string[];
}

const offeredAtMost = 10;

/** Ranked homes as they are offered: one for all copies of the same data, the original where that is up; those that are down last. */
function offeredHomes(homes: readonly Home[], parsed: Query, context: PlanContext): readonly OfferedEndpoint[] {
  const { catalog } = context;
  const groups = Map.groupBy(homes, ({ id }) => catalog.published.originalOf(id));
  const offered = [...groups].flatMap(([original, group]) => {
    const first = group.toSorted((one, other) => Number(other.id === original) - Number(one.id === original));
    const [entry, ...copies] = downLast(
      first.flatMap(({ id }) => catalog.byId(id) ?? []),
      context.availability,
    );
    if (entry === undefined) return [];
    const has = group.find(({ id }) => id === entry.id)?.has ?? [];
    const isDescribed = context.terms?.descriptionVersion(entry.id) !== undefined;
    return {
      entry,
      has: has.map((iri) => written(iri, parsed.prologue)),
      provenance: isDescribed ? undefined : catalog.published.facts(entry.id)?.provenance,
      copies: copies.map(({ id }) => id),
    };
  });
  const order = downLast(
    offered.map(({ entry }) => entry),
    context.availability,
  );
  return offered
    .toSorted((one, other) => order.indexOf(one.entry) - order.indexOf(other.entry))
    .slice(0, offeredAtMost);
}

/** The same endpoints, those that are down last. */
export function downLast(
  entries: readonly CatalogEntry[],
  availability: PlanContext["availability"],
): readonly CatalogEntry[] {
  if (availability === undefined) return entries;
  const isDown = ({ id }: CatalogEntry): boolean => availability.state(id) === "down";
  return [...entries.filter((entry) => !isDown(entry)), ...entries.filter((entry) => isDown(entry))];
}

interface Homeless {
  readonly where: ErrorWhere | undefined;
  /** Best first; of all readings of the query. */
  readonly homes: readonly Home[];
  /** Note on the changes that made the query readable for this endpoint. */
  readonly note?: (id: string) => string;
}

const mostMeant = 3;

/**
 * The error of a query that names no endpoint. It offers endpoints that have most of the terms that are known, else what was probably
 * meant by terms that are not, else who has something else to do with the query, or all of a small catalogue.
 */
export function serviceRequired(
  parsed: Query,
  { where, note = () => "", homes }: Homeless,
  context: PlanContext,
): FedwayError {
  const used = parsed.usedTerms.flatMap(({ terms }) => terms);
  const had = new Set(homes.flatMap(({ has }) => has));
  const unknown = used.filter(({ iri }) => !had.has(iri)).slice(0, mostMeant);
  const meant = unknown.flatMap((term) => meantInstead(term, homes, context) ?? []);
  const isGuess = had.size === 0 && meant.length > 0;
  const offered = isGuess ? [] : offeredHomes(fitting(homes, used, context), parsed, context);
  const [best] = offered;
  const said = [
    ...(isGuess ? [] : [offerText(best, homes, context)]),
    ...evidenceText(offered.length > 0 ? offered : offeredHomes(homes, parsed, context)),
    ...meant.map((each) => meantText(each, parsed, context)),
    ...(best ? [note(best.entry.id)] : []),
  ];
  const endpoints = isGuess ? meant.flatMap(({ holders }) => holders) : offered.map(({ entry }) => entry.id);
  return new FedwayError("SERVICE_REQUIRED", "The query reads data but names no endpoint to read it from.", {
    ...(where && { where }),
    next: said.join(" ").trim(),
    ...(endpoints.length > 0 && { endpoints: endpoints.slice(0, offeredAtMost) }),
    ...(meant.length > 0 && { suggestions: meant.map(({ suggestion }) => suggestion) }),
  });
}

/**
 * Homes, and copies of them, that have at least half as much to do with the query as the best one; where there is none, endpoints whose
 * text has the names of its terms, else all of a small catalogue.
 */
function fitting(homes: readonly Home[], used: readonly UsedTerm[], context: PlanContext): readonly Home[] {
  const { published } = context.catalog;
  const candidates = homes.length > 0 ? homes : foundByName(used, context);
  const [best] = candidates;
  // Others have less to do with it.
  if (best === undefined || lacksMost(best.id, used, context)) return [];
  const fit = candidates.filter(({ id, score }) => 2 * score >= best.score && !lacksMost(id, used, context));
  const originals = new Set(fit.map(({ id }) => published.originalOf(id)));
  return candidates.filter(({ id }) => originals.has(published.originalOf(id)));
}

function foundByName(used: readonly UsedTerm[], { catalog: { entries }, terms }: PlanContext): readonly Home[] {
  // Vocabulary of RDF and RDFS is everywhere.
  const own = used.filter(({ iri }) => !iri.startsWith("http://www.w3.org/"));
  const found = [
    ...(terms?.endpointsFound(own.map(({ iri }) => /(?<![^/#])[^/#]*$/.exec(iri)?.[0] ?? "").join(" ")) ?? []),
  ];
  const ids = found.length > 0 ? found : entries.length <= offeredAtMost ? entries.map(({ id }) => id) : [];
  return ids.map((id) => ({ id, score: 0, has: [] }));
}

/** True if an endpoint is known not to have half or more of the terms. */
function lacksMost(id: string, used: readonly UsedTerm[], { terms }: PlanContext): boolean {
  const lacking = used.filter((term) => terms?.hasTerm(id, term) === "no").length;
  return lacking > 0 && 2 * lacking >= used.length;
}

function offerText(best: OfferedEndpoint | undefined, homes: readonly Home[], context: PlanContext): string {
  const had = new Set(homes.flatMap(({ has }) => has));
  if (best === undefined) {
    return had.size > 0
      ? "No endpoint is known to have most of its terms: put each part into the SERVICE of an endpoint that has it."
      : "Wrap the patterns: SERVICE <id> { ... }; /api/endpoints?property=IRI says which endpoints have what.";
  }
  const { id } = best.entry;
  const isCovered = (members: ReadonlySet<string>): boolean =>
    new Set(homes.flatMap((home) => (members.has(home.id) ? home.has : []))).isSupersetOf(had);
  const federation = had.size === 0 ? undefined : federationWith(isCovered, context);
  const orFederation =
    federation === undefined || federation.builtIn
      ? ""
      : ` or to a federation (/federations/${federation.id}/sparql, --federation ${federation.id})`;
  return `Wrap the patterns: SERVICE <${id}> { ... }, or send the query to an endpoint (/endpoints/${id}/sparql, --endpoint ${id})${orFederation}.`;
}

/** Known terms of the first three endpoints, with their sources. */
function evidenceText(offered: readonly OfferedEndpoint[]): readonly string[] {
  const having = offered.filter(({ has }) => has.length > 0).slice(0, 3);
  const textOf = ({ entry, has, copies, provenance }: OfferedEndpoint): string => {
    const copied = copies.length > 0 ? ` (or a copy: ${copies.slice(0, 3).join(", ")})` : "";
    const from = provenance === undefined ? "" : ` (${provenance})`;
    return `${entry.id}${copied} has ${has.slice(0, 5).join(", ")}${from}`;
  };
  return having.length === 0 ? [] : [`By known facts, ${having.map(textOf).join("; ")}.`];
}

function meantText({ term, suggestion, holders }: MeantTerm, parsed: Query, context: PlanContext): string {
  const federation = federationWith((members) => holders.every((id) => members.has(id)), context);
  const where = holders.length > 1 && federation ? `federation ${federation.id}` : holders.slice(0, 3).join(", ");
  const iri = written(suggestion.term.slice(1, -1), parsed.prologue);
  return `No endpoint is known to have ${written(term.iri, parsed.prologue)}. Did you mean ${iri} (${where})?`;
}

/**
 * The error of a SERVICE that extends the engine of an endpoint and stands outside of it; undefined for any other target.
 */
export function misplacedExtension(
  iri: string,
  query: Query,
  { clause, context }: { readonly clause: ServiceClause; readonly context: PlanContext },
): FedwayError | undefined {
  const holders = extensionHolders(iri, context);
  if (holders.size === 0) return undefined;
  const ranked = offeredHomes(rankedHomes(query, context, new Set(holders.keys())), query, context);
  const endpoints = ranked.map(({ entry }) => entry.id);
  const [best = ""] = endpoints;
  const isHomeless = query.services.length === 1 && query.outside.length > 0;
  const code = isHomeless ? "SERVICE_REQUIRED" : "SERVICE_TARGET_REFUSED";
  return new FedwayError(code, `SERVICE <${iri}> is no endpoint: it extends the engine of ${best}.`, {
    where: clause.where,
    next: `Put it into SERVICE <${best}> { ... }, together with the patterns that it is for, or send the whole query to that endpoint (/endpoints/${best}/sparql, --endpoint ${best}).`,
    endpoints,
  });
}

/** The smallest federation whose members are as wanted; that of all described endpoints where no other is. */
export function federationWith(
  isWanted: (members: ReadonlySet<string>) => boolean,
  { catalog }: PlanContext,
): Federation | undefined {
  const sizes = catalog.federations.flatMap((federation) => {
    const members = catalog.membersOf(federation).map(({ id }) => id);
    return isWanted(new Set(members)) ? [{ federation, size: members.length }] : [];
  });
  const [best] = sizes.toSorted(
    (one, other) => lastOf(one.federation) - lastOf(other.federation) || one.size - other.size,
  );
  return best?.federation;
}

const lastOf = ({ builtIn }: Federation): number => (builtIn ? 1 : 0);
