import { FedwayError, type Repair } from "../../errors/fedway-error.ts";
import type { KnownTerms } from "../../plan/plan-request.ts";
import { downLast } from "../../plan/offer-endpoints.ts";
import type { PlanContext } from "../../plan/plan-request.ts";
import type { CatalogEntry } from "../../registry/catalog.ts";
import { type Query, parseQuery, wrapOutside } from "../../sparql/query.ts";
import { termsOf, type UsedTerm } from "../../sparql/patterns.ts";
import type { ParsedDraft } from "./draft-query.ts";
import type { Offer, QueryScope } from "./query-scope.ts";
import type { UnknownTerm } from "./unknown-terms.ts";

/** Sources for looking up endpoints. */
export type KnownEndpoints = Pick<PlanContext, "catalog" | "availability"> & { readonly terms: KnownTerms };

const mostCandidates = 5;

/** The endpoints that are known to have all of these terms; none for no terms. */
function endpointsWithAll(used: readonly UsedTerm[], known: KnownEndpoints): readonly CatalogEntry[] {
  const [first, ...others] = used;
  if (first === undefined) return [];
  const ids = [...known.terms.endpointsWith(first)].filter((id) =>
    others.every((term) => known.terms.hasTerm(id, term) === "yes"),
  );
  return downLast(
    ids.flatMap((id) => known.catalog.byId(id) ?? []),
    known.availability,
  );
}

/** The query with every pattern outside of a SERVICE in one for this endpoint; undefined where that cannot be written. */
function wrappedFor(parsed: Query, entry: CatalogEntry): Query | undefined {
  const query = parsed;
  const { pseudoServices } = entry;
  const [named] = query.services.flatMap(({ target }) => (target.kind === "iri" ? [target.iri] : []));
  const own = nameLike(named ?? entry.url, entry, query);
  const extensions = query.services.filter(
    ({ target }) => target.kind === "iri" && pseudoServices.includes(target.iri),
  );
  try {
    const text = wrapOutside(query, {
      isMember: ({ from }) => !extensions.some(({ element }) => element.from === from),
      urlOf: (service) => {
        const clause = query.services.find(({ element }) => element.from === service.from);
        return clause?.target.kind === "iri" ? clause.target.iri : own;
      },
      own,
    });
    return parseQuery(text);
  } catch (error) {
    if (error instanceof FedwayError) return undefined;
    throw error;
  }
}

/** Codes of rejections for want of a SERVICE. */
const lacksService: ReadonlySet<string> = new Set(["SERVICE_REQUIRED", "PATTERN_OUTSIDE_SERVICE"]);

/** Patterns outside of the only SERVICE went along to its endpoint, which does not have them. */
export function missedService(
  scope: QueryScope,
  unknown: readonly UnknownTerm[],
  { draft: { plan, parsed }, known }: { draft: ParsedDraft; known: KnownEndpoints },
): readonly Offer[] {
  const isSentOn = plan.kind === "direct" && plan.notes.some(({ code }) => code === "PATTERN_SENT_ON");
  const isRejected = plan.kind === "rejected" && lacksService.has(plan.reason.code);
  const isMeant = isRejected ? unknown.length === 0 : isSentOn && unknown.length > 0;
  if (scope.service !== undefined || !isMeant) return [];
  const having = endpointsWithAll(termsOf(scope.patterns), known);
  const offered = plan.kind === "rejected" ? (plan.reason.details.endpoints ?? []) : [];
  const others = offered.flatMap((id) => known.catalog.byId(id) ?? []).filter((entry) => !having.includes(entry));
  return [...having, ...others].slice(0, 3).flatMap((entry, rank) => {
    const replacement = wrappedFor(parsed, entry)?.text;
    if (replacement === undefined) return [];
    return [
      {
        repair: { kind: "service-missing", before: "", after: `SERVICE <${entry.id}>`, applied: false },
        edits: [{ range: { from: 0, to: parsed.tokens.length }, replacement }],
        score: having.length === 1 && rank === 0 ? 0.98 : 0.75 - rank / 100,
        why: having.includes(entry)
          ? `${entry.id} has all terms of the patterns outside of every SERVICE`
          : `of what is known of endpoints, ${entry.id} fits the query ${rank === 0 ? "best" : "too"}`,
      },
    ];
  });
}

/**
 * Another endpoint for a SERVICE whose own lacks some of its terms, while the other has them all; and for one that asks the same of
 * the same endpoint as another branch of a UNION, whose rows count twice. An endpoint that is asked the same elsewhere is not meant.
 * Swapping is offered with more confidence when there is one such endpoint.
 */
export function swappedTargets(
  scope: QueryScope,
  { scopes, parsed, known }: { scopes: readonly QueryScope[]; parsed: Query; known: KnownEndpoints },
): readonly Offer[] {
  const { service, target, ids } = scope;
  if (service === undefined || target === undefined) return [];
  const used = termsOf(scope.patterns);
  const lacking = used.filter((term) => ids.every((id) => known.terms.hasTerm(id, term) !== "yes"));
  const isCertain = lacking.some((term) => ids.every((id) => known.terms.hasTerm(id, term) === "no"));
  const same = scopes.filter((other) => other !== scope && groupOf(other) === groupOf(scope));
  const isTwice = same.some((other) => other.service === service && isAlternative(parsed, other, target));
  if (lacking.length === 0 && !isTwice) return [];
  const asked = new Set([...ids, ...same.flatMap((other) => other.ids)]);
  const having = endpointsWithAll(used, known).filter(({ id }) => !asked.has(id));
  const own = ids[0] ?? service;
  return having.slice(0, mostCandidates).map((entry, rank) => ({
    repair: { kind: "service-swapped", before: `SERVICE <${own}>`, after: `SERVICE <${entry.id}>`, applied: false },
    edits: [{ range: { from: target, to: target + 1 }, replacement: `<${nameLike(service, entry, parsed)}>` }],
    score: having.length === 1 && (isCertain || isTwice) ? 0.97 : 0.7 - rank / 100,
    why: isTwice
      ? `${own} is asked the same twice, so its rows count twice, and ${entry.id} is not asked`
      : `${entry.id} has all of its terms, ${ids[0] ?? "the endpoint"} does not`,
  }));
}

/** An endpoint as the query names others: by its id where it has one there; with BASE that would be another IRI. */
const nameLike = (written: string, { id, url }: CatalogEntry, { prologue }: Query): string =>
  prologue.base === undefined && !/[:/]/.test(written) ? id : url;

const groupOf = ({ patterns }: QueryScope): string =>
  JSON.stringify(patterns.map(({ subject, predicate, object }) => [subject, predicate, object]));

/** True if an earlier SERVICE is in another branch of a UNION than this one. */
const isAlternative = (query: Query, { target = Number.POSITIVE_INFINITY }: QueryScope, own: number): boolean =>
  target < own && query.areAlternatives(target, own);

/** A refused target of SERVICE or FROM, replaced by the first endpoint that it may have meant; SERVICE for the GRAPH of an endpoint. */
export function misnamed(
  error: FedwayError,
  text: string,
): { readonly repair: Repair; readonly suggested: string } | undefined {
  const { endpoints = [], where } = error.details;
  const [best] = endpoints;
  const shown = where?.endpoint ?? naming.exec(error.message)?.[1];
  if (best === undefined || shown === undefined) return undefined;
  const { before, after, suggested } =
    error.code === "SERVICE_TARGET_REFUSED" ? targetMeant(text, shown, best) : placeMeant(text, shown, best);
  return suggested === text
    ? undefined
    : { repair: { kind: "service-target", before, after, applied: false }, suggested };
}

const naming = /(?:endpoint "|relative IRI |names a graph, and )([^"\s]{1,200})/;

function targetMeant(text: string, shown: string, best: string) {
  const [before, after] = [`<${shown}>`, `<${best}>`];
  return { before, after, suggested: text.replaceAll(before, after) };
}

/** `FROM <librery>` and `GRAPH <library>`. */
function placeMeant(text: string, shown: string, best: string) {
  const [word, meant] = shown === best ? ["GRAPH", "SERVICE"] : ["FROM", "FROM"];
  const after = `${meant} <${best}>`;
  const suggested = text.replaceAll(/\b(FROM|GRAPH)\s+<([^<>\s]{1,200})>/gi, (written, found: string, name: string) =>
    found.toUpperCase() === word && name === shown ? after : written,
  );
  return { before: `${word} <${shown}>`, after, suggested };
}
