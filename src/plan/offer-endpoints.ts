import { type ErrorWhere, FedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog/catalog.ts";
import type { AnalysedQuery } from "../sparql/analyse-query.ts";
import type { ParsedQuery } from "../sparql/parse-query.ts";
import { usedTerms } from "../sparql/used-terms.ts";
import { written } from "./known-terms.ts";
import type { PlanContext } from "./plan-request.ts";
import { extensionHolders, type Home, rankedHomes } from "./rank-homes.ts";

/** An endpoint to offer for a query that names none. */
export interface OfferedEndpoint {
  readonly entry: CatalogEntry;
  /** Those of the query's terms that it has, as the query writes them. */
  readonly has: readonly string[];
  /** Where that is known from, when its own description does not say so. */
  readonly provenance?: string | undefined;
  /** Ids of other endpoints with the same data. */
  readonly copies: readonly string[];
}

const offeredAtMost = 10;

/**
 * What to offer when a query names no endpoint, best first: by what is known of its terms; where nothing is, the endpoints whose
 * text or terms have their names. All of a small catalogue, else nothing: the first of many by the alphabet would be no
 * better than any other. Those that are down come last.
 */
export function offeredEndpoints(parsed: ParsedQuery, context: PlanContext): readonly OfferedEndpoint[] {
  const homes = offeredHomes(rankedHomes(parsed, context), parsed, context);
  if (homes.length > 0) return homes;
  const { catalog, terms } = context;
  const ids = [...(terms?.endpointsFound(namesOf(parsed)) ?? [])];
  const found = ids.flatMap((id) => catalog.byId(id) ?? []);
  const entries = found.length > 0 ? found : catalog.entries.length <= offeredAtMost ? catalog.entries : [];
  return downLast(entries, context)
    .slice(0, offeredAtMost)
    .map((entry) => ({ entry, has: [], copies: [] }));
}

/** Ranked homes as they are offered: one for all copies of the same data, the original where that is up. */
export function offeredHomes(
  homes: readonly Home[],
  parsed: ParsedQuery,
  context: PlanContext,
): readonly OfferedEndpoint[] {
  const { catalog } = context;
  const groups = Map.groupBy(homes, ({ id }) => catalog.published.originalOf(id));
  const offered = [...groups].flatMap(([original, group]) => {
    const first = group.toSorted((one, other) => Number(other.id === original) - Number(one.id === original));
    const [entry, ...copies] = downLast(
      first.flatMap(({ id }) => catalog.byId(id) ?? []),
      context,
    );
    if (entry === undefined) return [];
    const has = group.find(({ id }) => id === entry.id)?.has ?? [];
    const isDescribed = context.terms?.descriptionVersion(entry.id) !== undefined;
    return {
      entry,
      has: has.map((iri) => written(iri, parsed)),
      provenance: isDescribed ? undefined : catalog.published.facts(entry.id)?.provenance,
      copies: copies.map(({ id }) => id),
    };
  });
  const order = downLast(
    offered.map(({ entry }) => entry),
    context,
  );
  return offered
    .toSorted((one, other) => order.indexOf(one.entry) - order.indexOf(other.entry))
    .slice(0, offeredAtMost);
}

/** Local names of vocabulary that is about something; those of RDF and RDFS are everywhere. */
const namesOf = (parsed: ParsedQuery): string =>
  usedTerms(parsed)
    .flatMap(({ terms }) => terms)
    .filter(({ iri }) => !iri.startsWith("http://www.w3.org/"))
    .map(({ iri }) => /[^/#]*$/.exec(iri)?.[0] ?? "")
    .join(" ");

/** The same endpoints, those that are down last. */
export function downLast(
  entries: readonly CatalogEntry[],
  { availability }: Pick<PlanContext, "availability">,
): readonly CatalogEntry[] {
  if (availability === undefined) return entries;
  const isDown = ({ id }: CatalogEntry): boolean => availability.state(id) === "down";
  return [...entries.filter((entry) => !isDown(entry)), ...entries.filter((entry) => isDown(entry))];
}

interface Homeless {
  readonly where: ErrorWhere | undefined;
  /** What was done to the query to read it. */
  readonly note?: string | undefined;
}

/** The error of a query that names no endpoint, with what to name. */
export function serviceRequired(
  offered: readonly OfferedEndpoint[],
  { where, note }: Homeless,
  context: PlanContext,
): FedwayError {
  const endpoints = offered.map(({ entry }) => entry.id);
  const federation = federationOf(endpoints, context);
  const toFederation =
    federation === undefined
      ? ""
      : ` or to a federation (/federations/${federation}/sparql, --federation ${federation})`;
  const [best] = endpoints;
  return new FedwayError("SERVICE_REQUIRED", "The query reads data but names no endpoint to read it from.", {
    ...(where && { where }),
    next:
      best === undefined
        ? "Wrap the patterns: SERVICE <id> { ... }; /api/endpoints?property=IRI says which endpoints have what."
        : `Wrap the patterns: SERVICE <${best}> { ... }, or send the query to an endpoint (/endpoints/${best}/sparql, --endpoint ${best})${toFederation}.${evidenceText(offered)}${note === undefined ? "" : ` ${note}`}`,
    ...(endpoints.length > 0 && { endpoints }),
  });
}

/** What the first three are known to have, and from where. */
function evidenceText(offered: readonly OfferedEndpoint[]): string {
  const having = offered.filter(({ has }) => has.length > 0).slice(0, 3);
  const textOf = ({ entry, has, copies, provenance }: OfferedEndpoint): string => {
    const copied = copies.length > 0 ? ` (or a copy: ${copies.slice(0, 3).join(", ")})` : "";
    const from = provenance === undefined ? "" : ` (${provenance})`;
    return `${entry.id}${copied} has ${has.slice(0, 5).join(", ")}${from}`;
  };
  return having.length === 0 ? "" : ` By what is known of them, ${having.map(textOf).join("; ")}.`;
}

/**
 * The error of a SERVICE that extends the engine of an endpoint and stands outside of it; undefined for any other target.
 */
export function misplacedExtension(
  iri: string,
  { parsed, services, outside }: AnalysedQuery,
  { where, context }: { readonly where: ErrorWhere; readonly context: PlanContext },
): FedwayError | undefined {
  const holders = extensionHolders(iri, context);
  if (holders.size === 0) return undefined;
  const ranked = offeredHomes(rankedHomes(parsed, context, new Set(holders.keys())), parsed, context);
  const endpoints = ranked.map(({ entry }) => entry.id);
  const [best = ""] = endpoints;
  const isHomeless = services.length === 1 && outside.length > 0;
  const code = isHomeless ? "SERVICE_REQUIRED" : "SERVICE_TARGET_REFUSED";
  return new FedwayError(code, `SERVICE <${iri}> is no endpoint: it extends the engine of ${best}.`, {
    where,
    next: `Put it into SERVICE <${best}> { ... }, together with the patterns that it is for, or send the whole query to that endpoint (/endpoints/${best}/sparql, --endpoint ${best}).`,
    endpoints,
  });
}

/** The federation with most of these endpoints, the smallest of several. */
export function federationOf(ids: readonly string[], { catalog }: PlanContext): string | undefined {
  const named = catalog.federations.filter(({ builtIn }) => !builtIn);
  const sizes = named.map((each) => {
    const members = catalog.membersOf(each).map(({ id }) => id);
    return { id: each.id, shared: ids.filter((id) => members.includes(id)).length, size: members.length };
  });
  const [best] = sizes.toSorted((one, other) => other.shared - one.shared || one.size - other.size);
  return best !== undefined && best.shared > 0 ? best.id : undefined;
}
