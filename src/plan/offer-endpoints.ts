import { type ErrorWhere, FedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog.ts";
import type { Query, ServiceClause } from "../sparql/query.ts";
import { written } from "./known-terms.ts";
import type { PlanContext } from "./plan-request.ts";
import { extensionHolders, type Home, rankedHomes, usesWeight } from "./rank-homes.ts";

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

/**
 * The error of a query that names no endpoint while nothing is described, or strictly must name one. It offers endpoints that have to do
 * with it, else those whose ids are in the IRIs of its terms, or all of a small catalogue.
 */
export function serviceRequired(parsed: Query, where: ErrorWhere | undefined, context: PlanContext): FedwayError {
  const { entries, published } = context.catalog;
  const ranked = rankedHomes(parsed, context);
  const words = new Set(parsed.usedTerms.flatMap(({ terms }) => terms.flatMap(({ iri }) => iri.split(/[^a-z0-9]+/i))));
  const likely = entries.filter(({ id }) => entries.length <= offeredAtMost || words.has(id));
  const all = likely.map(({ id }) => ({ id, score: 0, has: [] }));
  const [best] = ranked;
  // Others have less to do with it.
  const fit = ranked.filter(({ score }) => 2 * score >= (best?.score ?? 0));
  const originals = new Set(fit.map(({ id }) => published.originalOf(id)));
  const fitting = ranked.filter(({ id }) => originals.has(published.originalOf(id)));
  const offered = offeredHomes(best ? fitting : all, parsed, context);
  const endpoints = offered.map(({ entry }) => entry.id);
  const [first] = endpoints;
  const target = targetText(offered[0]?.entry, parsed);
  const next =
    first === undefined
      ? "Name an endpoint: SERVICE <id> { ... } around the patterns; /api/endpoints?property=IRI says which endpoints have what."
      : `Send the query to an endpoint (/endpoints/${first}/sparql, --endpoint ${first}), or wrap its patterns: SERVICE ${target} { ... }.`;
  return new FedwayError("SERVICE_REQUIRED", "The query reads data but names no endpoint to read it from.", {
    ...(where && { where }),
    next: [next, ...evidenceText(offered)].join(" "),
    ...(endpoints.length > 0 && { endpoints }),
  });
}

/** An endpoint as a query names it: by its id, but in a query with BASE, where that would be another IRI. */
const targetText = (entry: CatalogEntry | undefined, { prologue }: Query): string =>
  `<${(prologue.base === undefined ? entry?.id : entry?.url) ?? ""}>`;

/** Says which undescribed endpoints have more to do with a query than all that are described; empty where none has. */
export function betterHomesText(parsed: Query, isDescribed: (id: string) => boolean, context: PlanContext): string {
  const { published } = context.catalog;
  const homes = rankedHomes(parsed, context);
  const own = homes.filter(({ id }) => isDescribed(id) || isDescribed(published.originalOf(id)));
  const most = (own[0]?.score ?? 0) * (1 + usesWeight);
  const had = new Set(own.flatMap(({ has }) => has));
  const better = homes.filter(
    (home) => !own.includes(home) && home.has.length > 0 && (home.score > most || !had.isSupersetOf(new Set(home.has))),
  );
  const [said] = evidenceText(offeredHomes(better, parsed, context));
  return said === undefined ? "" : ` ${said} Name such an endpoint to ask it.`;
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
    next: `Put it into SERVICE ${targetText(ranked[0]?.entry, query)} { ... }, together with the patterns that it is for, or send the whole query to that endpoint (/endpoints/${best}/sparql, --endpoint ${best}).`,
    endpoints,
  });
}
